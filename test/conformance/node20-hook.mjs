// The suite's bundle imports fs.globSync for one command that is never run here; Node 20 has no such function, and a missing
// import stops the whole bundle from loading. Preloaded with --import, this takes that one name out of the bundle's import list.
import fs from "node:fs";
import { register } from "node:module";

const HOOK = `
const BUNDLE = /\\/(?:conformance|conformance-next)\\/dist\\/index\\.js$/;
const IMPORT = /\\bglobSync(?:\\s+as\\s+([\\w$]+))?\\s*,?/;
export async function load(url, context, nextLoad) {
  const loaded = await nextLoad(url, context);
  if (!BUNDLE.test(url) || loaded.source == null) return loaded;
  const text = Buffer.from(loaded.source).toString("utf8");
  let local = null;
  const source = text.replace(/import\\s*\\{[^}]*\\}\\s*from\\s*["'](?:node:)?fs["']/g, (statement) =>
    statement.replace(IMPORT, (_all, alias) => ((local = alias ?? "globSync"), "")));
  return { ...loaded, source: local === null ? source : source + "\\nfunction " + local + "() { throw new Error('fs.globSync needs Node 22'); }\\n" };
}`;

if (typeof fs.globSync !== "function") register(`data:text/javascript,${encodeURIComponent(HOOK)}`);
