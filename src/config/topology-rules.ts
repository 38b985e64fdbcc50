import type { TopologyConfig } from "../../generated/topology.d.ts";
import { errorAt, warningAt } from "../base/diagnostic-codes.ts";
import type { Diagnostic, Place } from "../base/diagnostics.ts";
import { isLoopbackHost, isLoopbackUrl } from "./hosts.ts";
import { formatPath } from "./nodes.ts";
import type { KeyPath } from "./types.ts";

/** Checks what the schema of topology.yaml cannot say: a gateway open to the network, equal names. */
export function topologyRules(topology: TopologyConfig, place: (path: KeyPath) => Place): Diagnostic[] {
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
      if (!gateway.tls && !gateway.allow_insecure_listen)
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
    ...duplicates(
      (gateway?.clients ?? []).map((client) => client.name),
      (i) => ["gateway", "clients", i, "name"],
      "client",
      place,
    ),
  );
  out.push(
    ...duplicates(
      (topology.exports ?? []).map((entry) => entry.file),
      (i) => ["exports", i, "file"],
      "export file",
      place,
    ),
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

function duplicates(names: readonly string[], path: (index: number) => KeyPath, what: string, place: (path: KeyPath) => Place): Diagnostic[] {
  const out: Diagnostic[] = [];
  const first = new Map<string, number>();
  for (const [index, name] of names.entries()) {
    const earlier = first.get(name);
    if (earlier === undefined) first.set(name, index);
    else
      out.push(
        errorAt("duplicate-name", place(path(index)), `the ${what} "${name}" is there twice`, {
          path: formatPath(path(index)),
          related: [{ place: place(path(earlier)), message: "first here" }],
        }),
      );
  }
  return out;
}
