// A host process of its own, to be killed by tests: connects to the stdio servers of the app plans given as JSON ({dataDir, plans, source: the built connector}) and prints their pids.
import { pathToFileURL } from "node:url";

const { dataDir, plans, source } = JSON.parse(process.argv[2]);
const { createConnector } = await import(pathToFileURL(source).href);
const silent = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent };
const connector = createConnector({
  dataDir,
  clientName: "host",
  clientVersion: "0",
  listLimits: () => ({ toolsPerApp: 10, listPages: 10 }),
  hostEnv: process.env,
  log: silent,
  mask: (text) => text,
});
const connections = await Promise.all(plans.map((plan) => connector.connect(plan, "shared", {}, new AbortController().signal)));
process.on("SIGUSR2", () => {
  throw new Error("an error nobody catches");
});
process.stdout.write(`${JSON.stringify(connections.map((connection) => connection.pid))}\n`);
setInterval(() => {}, 1000);
