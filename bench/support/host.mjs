import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
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
  const tokenOf = (role) => readFileSync(path.join(root, `data/run/${role}.token`), "utf8").trim();
  const statusUrl = new URL("/api/status", status.gateway?.url ?? "http://localhost");
  return {
    pid: child.pid,
    status,
    token: tokenOf("caller"),
    /** Resolves when no event waits for the inbox any more. */
    async settled() {
      for (;;) {
        const { inbox } = await (await fetch(statusUrl, { headers: { authorization: `Bearer ${tokenOf("operator")}` } })).json();
        if (inbox.queued === 0) return;
        await sleep(50);
      }
    },
    async stop() {
      child.kill("SIGTERM");
      await ended;
    },
  };
}
