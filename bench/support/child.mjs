import { fork } from "node:child_process";

/** Runs a script of this folder in a fresh process and gives what it sends. */
export function inFreshProcess(script, args) {
  return new Promise((resolve, reject) => {
    const child = fork(new URL(script, import.meta.url), args, { stdio: ["ignore", "inherit", "inherit", "ipc"] });
    let result;
    child.on("message", (message) => (result = message));
    child.on("exit", (code) => (result === undefined ? reject(new Error(`${script} ended with code ${code}`)) : resolve(result)));
  });
}
