import { fileURLToPath } from "node:url";
import type { ServerScript } from "./host.ts";

const SERVER = fileURLToPath(new URL("server.mjs", import.meta.url));

/** The arguments with which node runs a scenario's server; its calls are written to `log`. */
export function serverArgs(server: ServerScript, log: string): string[] {
  const { name, tools, toolsLater, answers, instructions, prompts, promptText } = server;
  return [SERVER, JSON.stringify({ name, log, tools, toolsLater, answers, instructions, prompts, promptText })];
}
