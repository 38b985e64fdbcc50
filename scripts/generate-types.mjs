// Makes generated/*.d.ts from schemas/*.schema.json; with --check it only compares and fails on drift.
import { readdir, readFile, writeFile, mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import path from "node:path";
import { compile } from "json-schema-to-typescript";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const schemasDir = path.join(root, "schemas");
const check = process.argv.includes("--check");

/**
 * The generator does not know our `x-` keywords. A `$ref` with a description beside it would be copied under a new
 * name (Risk1, Risk2 …), so it becomes a reference by type name that keeps the description.
 */
const prepare = (node, defs) => {
  if (Array.isArray(node)) return node.map((item) => prepare(item, defs));
  if (node === null || typeof node !== "object") return node;
  const def = typeof node.$ref === "string" ? defs?.[node.$ref.replace("#/$defs/", "")] : undefined;
  if (def?.title && Object.keys(node).length > 1) return { description: node.description, tsType: def.title };
  const out = {};
  for (const [key, value] of Object.entries(node)) if (!key.startsWith("x-")) out[key] = prepare(value, defs);
  return out;
};

let drift = 0;
await mkdir(path.join(root, "generated"), { recursive: true });
for (const file of (await readdir(schemasDir)).filter((f) => f.endsWith(".schema.json")).sort()) {
  const parsed = JSON.parse(await readFile(path.join(schemasDir, file), "utf8"));
  const schema = prepare(parsed, parsed.$defs);
  const text = await compile(schema, schema.title, {
    cwd: schemasDir + path.sep,
    additionalProperties: false,
    bannerComment: `/* Made from schemas/${file} by \`npm run generate\`. Do not edit. */`,
    declareExternallyReferenced: true,
    unreachableDefinitions: true,
    unknownAny: true,
    format: true,
    $refOptions: { resolve: { http: false } },
  });
  const target = path.join(root, "generated", file.replace(".schema.json", ".d.ts"));
  const old = await readFile(target, "utf8").catch(() => "");
  if (old === text) continue;
  if (check) {
    drift += 1;
    process.stderr.write(`generated/${path.basename(target)} differs from schemas/${file}: run \`npm run generate\`\n`);
  } else {
    await writeFile(target, text);
  }
}
process.exit(drift > 0 ? 1 : 0);
