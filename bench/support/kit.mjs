import { createKit } from "../../dist/index.js";

/** Starts a kit and waits until every app is ready. */
export async function startKit(topology, options = {}) {
  const kit = createKit({ topology, watch: false, ...options });
  const ready = new Promise((resolve, reject) => {
    kit.on("app", (app) => {
      if (app.state === "failed" || app.state === "parked") reject(new Error(`${app.package} is ${app.state}: ${app.reason}`));
      else if (kit.status().apps.every((one) => one.state === "ready")) resolve();
    });
  });
  await kit.start();
  await ready;
  return kit;
}
