import http from "node:http";

/** The least an MCP client over Streamable HTTP can be: one POST a request, kept-alive sockets, JSON answers. */
export class BareHttpClient {
  #url;
  #headers;
  #agent = new http.Agent({ keepAlive: true, maxSockets: 128 });
  #nextId = 0;

  constructor(url, token) {
    this.#url = new URL(url);
    this.#headers = {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    };
  }

  #post(message) {
    const body = JSON.stringify({ jsonrpc: "2.0", ...message });
    return new Promise((resolve, reject) => {
      const { hostname, port, pathname } = this.#url;
      const request = http.request(
        { hostname, port, path: pathname, method: "POST", agent: this.#agent, headers: { ...this.#headers, "content-length": Buffer.byteLength(body) } },
        (response) => {
          const session = response.headers["mcp-session-id"];
          if (session !== undefined) this.#headers["mcp-session-id"] = session;
          let text = "";
          response.setEncoding("utf8");
          response.on("data", (chunk) => (text += chunk));
          response.on("end", () => (response.statusCode < 300 ? resolve(text) : reject(new Error(`HTTP ${response.statusCode}: ${text.slice(0, 200)}`))));
        },
      );
      request.on("error", reject);
      request.end(body);
    });
  }

  async request(method, params) {
    const { result, error } = JSON.parse(await this.#post({ id: (this.#nextId += 1), method, params }));
    if (error) throw new Error(error.message);
    return result;
  }

  /** Says hello and lists the tools. */
  async connect() {
    await this.request("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "bench", version: "1.0.0" } });
    await this.#post({ method: "notifications/initialized" });
    const { tools } = await this.request("tools/list", {});
    return tools;
  }

  close() {
    this.#agent.destroy();
  }
}
