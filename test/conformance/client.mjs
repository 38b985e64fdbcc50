// The client under test: the kit's own connector and sign-in, driven as a host drives them. The suite gives the server's URL as the
// last argument, the scenario in MCP_CONFORMANCE_SCENARIO and, for some, credentials in MCP_CONFORMANCE_CONTEXT.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createConnector } from "../../dist/mcp/connector.js";
import { login } from "../../dist/mcp/oauth-login.js";
import { LinkError } from "../../dist/runtime/ports.js";

const url = process.argv.at(-1);
const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? "";
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}");
const dataDir = mkdtempSync(join(tmpdir(), "aurora-conformance-"));
const CLIENT_NAME = "aurora-mcp-kit";
/** How often a person signs in again before giving up. */
const MAX_LOGINS = 3;

/** What a person would write under `mcp.auth.oauth` for the scenario. */
function oauthSettings() {
  const { client_id, client_secret, private_key_pem: private_key, signing_algorithm } = context;
  switch (scenario) {
    case "auth/client-credentials-jwt":
      return { grant: "client_credentials", client_id, private_key, signing_algorithm: signing_algorithm ?? "ES256" };
    case "auth/client-credentials-basic":
      return { grant: "client_credentials", client_id, client_secret };
    case "auth/pre-registration":
      return { client_id, client_secret };
    default:
      return { client_metadata_url: "https://conformance-test.local/client-metadata.json" };
  }
}

/** Required members only, each with some value of its type. */
function argumentsFor(schema) {
  const values = { number: 1, integer: 1, boolean: true, string: "x", array: [], object: {} };
  return Object.fromEntries((schema?.required ?? []).map((key) => [key, values[schema.properties?.[key]?.type] ?? "x"]));
}

/** A person who sends a form off as it is shown: with its defaults. */
function acceptForm({ requestedSchema }) {
  const filled = Object.entries(requestedSchema?.properties ?? {}).filter(([, property]) => property.default !== undefined);
  return { action: "accept", content: Object.fromEntries(filled.map(([key, property]) => [key, property.default])) };
}

const oauth = scenario.startsWith("auth/") ? oauthSettings() : null;
const plan = {
  package: "org.example.conformance",
  protocol: "auto",
  grants: { elicitation: { forward: true } },
  startTimeoutMs: 20_000,
  healthTimeoutMs: 5000,
  callTimeoutMs: 20_000,
  connect: { transport: "http", url, headers: {}, bearer: null, oauth, ca: null, insecure: false, bodyBytes: 4 * 1024 * 1024 },
};
const note = (text) => process.stderr.write(`${text}\n`);
const silent = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent };
const connector = createConnector({
  dataDir,
  clientName: CLIENT_NAME,
  clientVersion: "0",
  hostEnv: process.env,
  log: silent,
  mask: (text) => text,
  listLimits: () => ({ toolsPerApp: 1000, listPages: 20 }),
});
const hooks = {
  clientCapabilities: { elicitation: { form: {} } },
  onLog: (line, source) => note(`${source}: ${line}`),
  onProtocolError: (message) => note(`protocol: ${message}`),
  onServerRequest: async ({ method, params }) => {
    if (method === "elicitation/create") return acceptForm(params);
    throw new Error(`${method} is not answered here`);
  },
};

/** Signs in as `aurora-mcp apps login` does; the "browser" follows redirects back to the loopback listener. */
const signIn = () =>
  login(plan, {
    dataDir,
    clientName: CLIENT_NAME,
    hostEnv: process.env,
    openBrowser: async (address) => void (await fetch(address)),
    signal: AbortSignal.timeout(20_000),
  });

let logins = 0;
/** Runs a step; where the server wants a (better) sign-in, signs in and runs it again. */
async function signedIn(step) {
  for (;;) {
    try {
      return await step();
    } catch (error) {
      const link = error instanceof LinkError ? error : error.cause;
      const wanted = link instanceof LinkError && (link.kind === "unauthorized" || link.kind === "forbidden");
      if (!wanted || oauth === null || oauth.grant === "client_credentials" || (logins += 1) > MAX_LOGINS) throw error;
      note(`signing in: ${error.message}`);
      await signIn();
    }
  }
}

let connection;
try {
  connection = await signedIn(() => connector.connect(plan, "shared", hooks, AbortSignal.timeout(60_000)));
  const listing = await signedIn(() => connection.list());
  for (const { name, inputSchema } of listing.tools) {
    const args = name === "add_numbers" ? { a: 5, b: 3 } : argumentsFor(inputSchema);
    await signedIn(() => connection.request("tools/call", { name, arguments: args }, { timeoutMs: 20_000 }));
  }
  note(`called ${listing.tools.length} tools`);
} catch (error) {
  note(error.stack ?? String(error));
  process.exitCode = 1;
} finally {
  await connection?.close();
  connector.killAll();
  rmSync(dataDir, { recursive: true, force: true });
}
