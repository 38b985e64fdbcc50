// Parses every event file the moment it appears. Prints {"parsed": n, "errors": [...]} when a file named stop.txt is there.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";

const dir = process.argv[2];
const seen = new Set();
const errors = [];
for (let stopping = false; ;) {
  if (existsSync(path.join(dir, "stop.txt"))) stopping = true;
  for (const name of readdirSync(dir)) {
    if (!name.endsWith(".json") || name.startsWith(".") || seen.has(name)) continue;
    seen.add(name);
    try {
      const event = JSON.parse(readFileSync(path.join(dir, name), "utf8"));
      if (!name.includes(event.header.message_id)) errors.push(`${name}: another id`);
    } catch (error) {
      errors.push(`${name}: ${error.message}`);
    }
  }
  if (stopping) break;
  await new Promise((resolve) => setTimeout(resolve, 1));
}
process.stdout.write(JSON.stringify({ parsed: seen.size, errors: errors.slice(0, 20) }));
