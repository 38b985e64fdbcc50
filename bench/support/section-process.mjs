// One section in a process of its own: runs it, sends its rows to the parent, leaves nothing behind.
import { removeTempFolders } from "./temp.mjs";

const [name, ...flags] = process.argv.slice(2);
const section = await import(`../sections/${name}.mjs`);
try {
  const rows = await section.run({ short: flags.includes("--short") });
  await new Promise((resolve) => process.send({ title: section.title, rows }, resolve));
} finally {
  removeTempFolders();
}
process.exit(0);
