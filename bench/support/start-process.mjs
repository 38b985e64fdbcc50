// How long it takes until 30 servers have listed their tools, in a process that has done nothing else: `bare` starts all at once
// with the least of clients, `kit` through a kit.
import { startKit } from "./kit.mjs";
import { timed } from "./measure.mjs";
import { BareStdioClient } from "./stdio-client.mjs";
import { ECHO_COMMAND } from "./workspace.mjs";

const [mode, count, topology] = process.argv.slice(2);
const started = await timed(mode === "bare" ? bare : () => startKit(topology));
process.send({ ms: started.ms });
if (mode === "bare") await Promise.all(started.value.map((client) => client.close()));
else await started.value.close();
process.exit(0);

async function bare() {
  const clients = Array.from({ length: Number(count) }, () => new BareStdioClient(ECHO_COMMAND));
  await Promise.all(clients.map((client) => client.connect()));
  return clients;
}
