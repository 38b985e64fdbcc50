import type { TopologyConfig } from "../../generated/topology.d.ts";
import { errorAt, warningAt } from "../base/diagnostic-codes.ts";
import type { Diagnostic, Place } from "../base/diagnostics.ts";
import { soundItems } from "./sound.ts";
import { isLoopbackHost, isLoopbackUrl } from "./hosts.ts";
import { formatPath } from "./nodes.ts";
import { schemaShape } from "./shape.ts";
import type { KeyPath } from "./types.ts";

/** Checks what the schema of topology.yaml cannot say: a gateway open to the network, equal names. `wrong`: where something is wrong, and told. */
export function topologyRules(topology: TopologyConfig, wrong: readonly KeyPath[], place: (path: KeyPath) => Place): Diagnostic[] {
  const out: Diagnostic[] = [];
  const { gateway, inbox } = topology;
  if (gateway?.listen !== undefined) {
    const path = ["gateway", "listen"];
    const [, host = "", port = ""] = /^(.*):(\d+)$/.exec(gateway.listen) ?? [];
    if (Number(port) > 65_535)
      out.push(
        errorAt("out-of-range", place(path), `gateway.listen: there is no port ${port}`, {
          path: formatPath(path),
          help: ["ports end at 65535; 0 is any free one"],
        }),
      );
    if (!isLoopbackHost(host)) {
      if (!gateway.tls && !gateway.allow_insecure_listen && !wrong.some(mayMeanTls))
        out.push(
          errorAt("insecure-listen", place(path), `the gateway would listen on ${host} without TLS`, {
            path: formatPath(path),
            help: ["listen on 127.0.0.1, or set gateway.tls, or allow_insecure_listen: true behind a proxy that does TLS"],
          }),
        );
      if (gateway.auth?.mode === "none")
        out.push(
          errorAt("insecure-listen", place(["gateway", "auth", "mode"]), `auth mode none is for loopback only, and the gateway listens on ${host}`, {
            path: "gateway.auth.mode",
            help: ["write mode: token"],
          }),
        );
    }
  }
  out.push(
    ...duplicates(gateway?.clients, ["gateway", "clients"], "name", "client", place),
    ...duplicates(topology.exports, ["exports"], "file", "export file", place),
  );
  if (inbox?.webhook?.url.startsWith("http:") && !isLoopbackUrl(inbox.webhook.url))
    out.push(
      warningAt("plain-http", place(["inbox", "webhook", "url"]), "events are posted over plain http, so anyone on the way can read them", {
        path: "inbox.webhook.url",
        help: ["write https://"],
      }),
    );
  return out;
}

/** Whether what is wrong may be meant as TLS, or as leave to do without. */
function mayMeanTls([top, key]: KeyPath): boolean {
  if (top !== "gateway") return false;
  const known = schemaShape("topology.schema.json").properties.get("gateway")?.properties;
  return key === undefined || key === "tls" || key === "allow_insecure_listen" || !known?.has(String(key));
}

function duplicates<K extends string>(
  list: readonly Readonly<Record<K, string>>[] | undefined,
  at: KeyPath,
  key: K,
  what: string,
  place: (path: KeyPath) => Place,
): Diagnostic[] {
  const out: Diagnostic[] = [];
  const first = new Map<string, KeyPath>();
  for (const { index, item } of soundItems(list, undefined, at)) {
    const path = [...at, index, key];
    const earlier = first.get(item[key]);
    if (earlier === undefined) first.set(item[key], path);
    else
      out.push(
        errorAt("duplicate-name", place(path), `the ${what} "${item[key]}" is there twice`, {
          path: formatPath(path),
          related: [{ place: place(earlier), message: "first here" }],
        }),
      );
  }
  return out;
}
