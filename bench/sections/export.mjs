import { exportTools } from "../../dist/llm/export.js";
import { EXPORT_FORMATS } from "../../dist/llm/types.js";
import { inTurns, median, timed } from "../support/measure.mjs";
import { fact, row } from "../support/table.mjs";

export const title = "10,000 tools to each target";

const TOOLS = 10_000;

/** Every round exports fresh tools, so that nothing is remembered from the one before. */
export async function run({ short }) {
  const rows = [];
  let equal = true;
  for (const format of EXPORT_FORMATS) {
    const measure = async (count, factor) => {
      const made = await timedExport(format, count);
      equal &&= made.same;
      return made.ms * factor;
    };
    const times = await inTurns(short ? 1 : 5, new Map([["half", () => measure(TOOLS / 2, 2)], ["whole", () => measure(TOOLS, 1)]]));
    const growth = median(times.get("whole").map((ms, round) => ms / times.get("half")[round]));
    rows.push(row({ what: `${format} (twice the tools cost ${(growth * 2).toFixed(1)} times as much)`, unit: "ms", ours: median(times.get("whole")), target: { max: 1000 } }));
  }
  return [...rows, fact("the same tools in another order give the same bytes", equal)];
}

async function timedExport(format, count) {
  const made = await timed(() => exportTools(tools(count), format, { maxTools: Infinity }));
  if (made.value.tools.length !== count) throw new Error(`${format}: ${made.value.tools.length} of ${count} tools were exported: ${made.value.leftOut[0]?.reason}`);
  const again = count === TOOLS ? exportTools(tools(count).reverse(), format, { maxTools: Infinity }) : made.value;
  return { ms: made.ms, same: again.text === made.value.text };
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
    return { full: `${app}.${name}`, app, short: `app${Math.floor(i / 10)}_${name}`, name, title: null, description: definition.description, inputSchema, definition, risk: "medium", appTitle: app };
  });
}
