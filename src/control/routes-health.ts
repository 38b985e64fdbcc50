import type { Kit } from "../kit-api.ts";
import { jsonAnswer } from "./input.ts";
import type { Route } from "./route.ts";

/** Liveness and readiness for supervisors, which tell nothing but that, and who a token makes one. */
export function healthRoutes(kit: Kit): Route[] {
  return [
    {
      method: "GET",
      path: "/healthz",
      role: "public",
      group: "health",
      summary: "200 while the process serves.",
      answer: jsonAnswer("{ ok: true }"),
      handle: () => ({ json: { ok: true } }),
    },
    {
      method: "GET",
      path: "/api/whoami",
      role: "caller",
      group: "health",
      summary: "Role and name that the token of this request stands for.",
      answer: jsonAnswer("{ role, client }"),
      handle: ({ principal }) => ({ json: { role: principal.role, client: principal.client } }),
    },
    {
      method: "GET",
      path: "/readyz",
      role: "public",
      group: "health",
      summary: "200 once the host runs, 503 before and while it stops.",
      answer: jsonAnswer("{ ok, state }"),
      handle() {
        const { state } = kit.status();
        const ok = state === "running";
        return { status: ok ? 200 : 503, json: { ok, state } };
      },
    },
  ];
}
