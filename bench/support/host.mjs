import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const CLI = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

/** Runs `aurora-mcp up` for a workspace. Resolves when it is ready, with its status; `stop()` ends it in order. */
export async function startHost({ root, topology }) {
  const child = spawn(process.execPath, [CLI, "up", "--json", "--log-level", "error", "--topology", topology], {
    cwd: root,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const status = await new Promise((resolve, reject) => {
    let text = "";
    child.stdout.setEncoding("utf8").on("data", (chunk) => {
      text += chunk;
      try {
        resolve(JSON.parse(text));
      } catch {
        // Not whole yet.
      }
    });
    child.once("exit", (code) => reject(new Error(`up ended with code ${code} before it was ready`)));
  });
  return {
    pid: child.pid,
    status,
    token: readFileSync(path.join(root, "data/run/caller.token"), "utf8").trim(),
    async stop() {
      child.kill("SIGTERM");
      await ended;
    },
  };
}
