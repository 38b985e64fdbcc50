import { exportTools } from "../../dist/llm/export.js";
import { EXPORT_FORMATS } from "../../dist/llm/types.js";
import { inTurns, median, timed } from "../support/measure.mjs";
import { fact, row } from "../support/table.mjs";

export const title = "10,000 tools to each target";

/** Every round exports fresh tools, so that nothing is remembered from the one before. A short run exports a fifth of them and says what all would take. */
export async function run({ short }) {
  const part = short ? 5 : 1;
  const count = 10_000 / part;
  const rows = [];
  let equal = true;
  for (const format of EXPORT_FORMATS) {
    const times = await inTurns(
      short ? 2 : 5,
      new Map([
        ["half", () => exported(format, tools(count / 2)).then(({ ms }) => ms)],
        ["whole", () => exported(format, tools(count)).then(({ ms }) => ms)],
      ]),
    );
    const growth = median(times.get("whole").map((ms, round) => ms / times.get("half")[round]));
    const what = `${format} (twice the tools take ${growth.toFixed(1)} times as long)`;
    rows.push(row({ what, unit: "ms", ours: median(times.get("whole")) * part, target: { max: 1000 } }));
    const [one, other] = [await exported(format, tools(1000)), await exported(format, tools(1000).reverse())];
    equal &&= one.value.text === other.value.text;
  }
  return [...rows, fact("the same tools in another order give the same bytes", equal)];
}

async function exported(format, given) {
  const made = await timed(() => exportTools(given, format, { maxTools: Infinity }));
  const { tools: out, leftOut } = made.value;
  if (out.length !== given.length) throw new Error(`${format}: ${out.length} of ${given.length} tools were exported: ${leftOut[0]?.reason}`);
  return made;
}

/** Schemas as servers send them: references, unions, tuples, formats, defaults. */
function tools(count) {
  return Array.from({ length: count }, (_, i) => {
    const app = `org.example.app${Math.floor(i / 10)}`;
    const inputSchema = {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: {
        query: { type: "string", minLength: 1, maxLength: 200, description: "What to look for" },
        when: { type: "string", format: "date-time" },
        limit: { type: "integer", minimum: 1, maximum: 100, default: 10 },
        kind: { enum: ["a", "b", `c${i}`] },
        where: { $ref: "#/$defs/place" },
        either: { anyOf: [{ type: "string" }, { type: "null" }] },
        ...(i % 4 === 0 ? { pair: { type: "array", prefixItems: [{ type: "number" }, { type: "string" }] } } : {}),
        tags: { type: "array", items: { type: "string", pattern: "^[a-z]+$" }, uniqueItems: true },
      },
      required: ["query"],
      additionalProperties: false,
      $defs: { place: { type: "object", properties: { lat: { type: "number" }, lon: { type: "number" } }, required: ["lat", "lon"] } },
    };
    const name = `tool_${i}`;
    const definition = { name, description: `Does thing number ${i}, and says what came of it.`, inputSchema };
    return {
      full: `${app}.${name}`,
      app,
      short: `app${Math.floor(i / 10)}_${name}`,
      name,
      title: null,
      description: definition.description,
      inputSchema,
      definition,
      risk: "medium",
      appTitle: app,
    };
  });
}
