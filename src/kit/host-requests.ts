import path from "node:path";
import { pathToFileURL } from "node:url";
import type { JsonObject } from "../base/json.ts";
import type { AppPlan } from "../plan/types.ts";
import type { ServerRequest } from "../runtime/ports.ts";

/** Answers a server's request that no running call answers: the granted roots. Everything else is refused; the grants of the app say what may arrive at all. */
export async function hostRequests(app: AppPlan, request: ServerRequest): Promise<JsonObject> {
  if (request.method === "roots/list") return { roots: (app.grants.roots ?? []).map((folder) => ({ uri: pathToFileURL(folder).href, name: path.basename(folder) })) };
  throw new Error(`${request.method} needs the calling client to answer it, and no call of ${app.package} that could is running`);
}
