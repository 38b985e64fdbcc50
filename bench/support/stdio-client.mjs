import { spawn } from "node:child_process";

/** The least an MCP client over stdio can be: JSON lines, a map of open requests, no checks. The floor of what calls through a pipe cost. */
export class BareStdioClient {
  #child;
  #nextId = 0;
  #open = new Map();
  #rest = "";

  constructor([command, ...args], env = {}) {
    this.#child = spawn(command, args, { env: { ...process.env, ...env }, stdio: ["pipe", "pipe", "ignore"] });
    this.#child.stdout.setEncoding("utf8");
    this.#child.stdout.on("data", (chunk) => {
      const lines = (this.#rest + chunk).split("\n");
      this.#rest = lines.pop();
      for (const line of lines) this.#take(JSON.parse(line));
    });
  }

  #take({ id, result, error }) {
    const open = this.#open.get(id);
    this.#open.delete(id);
    if (error) open?.reject(new Error(error.message));
    else open?.resolve(result);
  }

  #send(message) {
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  request(method, params) {
    return new Promise((resolve, reject) => {
      const id = (this.#nextId += 1);
      this.#open.set(id, { resolve, reject });
      this.#send({ id, method, params });
    });
  }

  /** Says hello and lists the tools. */
  async connect() {
    await this.request("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "bench", version: "1.0.0" } });
    this.#send({ method: "notifications/initialized" });
    const { tools } = await this.request("tools/list", {});
    return tools;
  }

  close() {
    return new Promise((resolve) => {
      this.#child.once("exit", resolve);
      this.#child.stdin.end();
    });
  }
}
