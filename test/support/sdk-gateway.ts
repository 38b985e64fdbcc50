import path from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { readToken, tokenFiles } from "../../src/control/tokens.ts";
import { openDoor, type Door } from "../../src/door.ts";
import { loadWorkspace } from "../../src/workspace.ts";
import { memoryLog } from "./fake-kit.ts";
import { startKit, type TestKit } from "./kit.ts";

/** A running kit behind its own door, and clients of the MCP SDK that call at its gateway as `caller`. */
export interface SdkGateway extends TestKit {
  /** Connects a client; `prepare` sets its handlers before it does. */
  connect(capabilities: object, prepare?: (client: Client) => void): Promise<Client>;
}

/** Starts a kit over these files and opens the door that their topology asks for. What `stop` ends: the clients, the door and the kit. */
export async function startGateway(files: Readonly<Record<string, string>>): Promise<SdkGateway> {
  const t = await startKit(files);
  const clients: Client[] = [];
  let door: Door | undefined;
  const stop = async (): Promise<void> => {
    await Promise.all(clients.map((client) => client.close()));
    await door?.close();
    await t.stop();
  };
  try {
    const { plan } = await loadWorkspace({ cwd: t.workspace.root, env: {}, topology: t.workspace.topology });
    const { url } = (door = await openDoor({ kit: t.kit, plan: plan!, log: memoryLog(), version: "0.0.0" }));
    const token = await readToken(tokenFiles(path.join(t.workspace.root, "data")).caller);
    const connect = async (capabilities: object, prepare: (client: Client) => void = () => undefined): Promise<Client> => {
      const client = new Client({ name: "t", version: "1" }, { capabilities });
      clients.push(client);
      prepare(client);
      await client.connect(
        new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers: { authorization: `Bearer ${token}` } } }) as never,
      );
      return client;
    };
    return { ...t, connect, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
