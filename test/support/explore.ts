import fc from "fast-check";

/** How many times as many random cases as usual are tried, each time others; 0: the usual ones, the same each time. */
const EXPLORE = Number(process.env["AURORA_EXPLORE"] ?? 0);

// A suite that fails by chance is not believed: new cases are looked for by `npm run test:soak`, and what it finds becomes a test.
if (EXPLORE === 0) fc.configureGlobal({ seed: 20_261_130 });

/** Parameters of a property that is tried on `count` random cases. */
export function runs(count: number): { readonly numRuns: number } {
  return { numRuns: count * Math.max(1, EXPLORE) };
}
