import { spawn } from "node:child_process";
import { isLoopback } from "./http-proxy.ts";

/** Opens an address in the person's browser: as one argument of the system's opener, never through a shell. Gives false when that is not possible. Refuses everything but https, and http on loopback. */
export async function openBrowser(address: string, platform: NodeJS.Platform = process.platform): Promise<boolean> {
  const url = new URL(address);
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isLoopback(url.hostname))) return false;
  const [program, ...args] = platform === "darwin" ? ["open"] : platform === "win32" ? ["rundll32", "url.dll,FileProtocolHandler"] : ["xdg-open"];
  return await new Promise((resolve) => {
    const child = spawn(program!, [...args, url.href], { stdio: "ignore", detached: true, shell: false });
    child.once("error", () => resolve(false));
    child.once("spawn", () => {
      child.unref();
      resolve(true);
    });
  });
}
