// A host inside your own program: start it, look at its tools, call one, listen, stop.
// Run it from the repository: node examples/library.mjs [topology.yaml]
import { createKit } from "aurora-mcp-kit";

const kit = createKit({ topology: process.argv[2] ?? "topology/topology.yaml" });
kit.on("app", (app) => console.log(`${app.package} is ${app.state}${app.reason ? `: ${app.reason}` : ""}`));

// Resolves once the configuration is in force; apps join by themselves when they are up.
await kit.start();
await new Promise((resolve) => {
  const done = () => setImmediate(() => kit.status().apps.every((app) => app.state !== "starting") && resolve());
  kit.on("app", done);
  done();
});

const { tools } = kit.tools("openai");
console.log(`${tools.length} tools for a model, such as ${tools[0]?.function.name}`);

// Nothing is thrown for a call that fails: outcome and error say what became of it.
const call = await kit.callTool("im.polaris.clock.get_time", { timezone: "Asia/Shanghai" }, { session: "example", client: "library" });
console.log(call.ok ? call.result.content[0].text : `${call.error.error_code}: ${call.error.message}`);

await kit.close();
