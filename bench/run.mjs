// Measures the built project (dist/) against floors that run in the same minutes: `npm run bench`, `-- --short`, `-- --only NAME`.
// A missed target is printed and changes nothing; only a section that breaks makes the exit code 1.
import { fork } from "node:child_process";
import { cpus, loadavg } from "node:os";
import { parseArgs } from "node:util";
import { printTable } from "./support/table.mjs";

/** In the order in which they run; each is `sections/<name>.mjs`. */
const SECTIONS = ["config", "policy", "export", "inbox", "calls", "starts", "gateway", "reload"];
/** A section that hangs is a broken one. */
const LIMIT_MS = 10 * 60_000;

const { values } = parseArgs({ options: { short: { type: "boolean", default: false }, only: { type: "string", multiple: true } } });
const unknown = (values.only ?? []).filter((name) => !SECTIONS.includes(name));
if (unknown.length > 0) {
  console.error(`no section ${unknown.join(", ")}; there are: ${SECTIONS.join(", ")}`);
  process.exit(2);
}

console.log(
  `Node ${process.version}, ${cpus().length} cores, load ${loadavg()[0].toFixed(1)}${values.short ? ", short" : ""}. Compare ratios, not times: both sides of a ratio ran in the same moments.`,
);
let missed = 0;
const broken = [];
for (const name of SECTIONS) {
  if (values.only && !values.only.includes(name)) continue;
  try {
    const { title, rows } = await runSection(name);
    console.log(`\n## ${name}: ${title}\n`);
    printTable(rows);
    missed += rows.filter((row) => row.met === false).length;
  } catch (error) {
    broken.push(name);
    console.error(`\n## ${name}: broken\n\n${error.message}`);
  }
}
console.log(
  `\n${missed === 0 ? "Every target was met" : `${missed} target${missed === 1 ? " was" : "s were"} missed`}${broken.length === 0 ? "." : `; broken: ${broken.join(", ")}.`}`,
);
process.exitCode = broken.length === 0 ? 0 : 1;

/** Runs a section in a process of its own, so that none inherits another's heap, caches or compiled code. */
function runSection(name) {
  return new Promise((resolve, reject) => {
    const child = fork(new URL("./support/section-process.mjs", import.meta.url), [name, ...(values.short ? ["--short"] : [])], {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    const timer = setTimeout(() => child.kill(), LIMIT_MS);
    let report = null;
    child.on("message", (message) => (report = message));
    child.on("exit", (code, signal) => {
      clearTimeout(timer);
      if (report !== null && code === 0) resolve(report);
      else reject(new Error(`the section ended with ${signal ?? `code ${code}`}; its error stands above`));
    });
  });
}
