import { jsonAnswer } from "./input.ts";
/** Liveness and readiness for supervisors; they tell nothing but that. */
export function healthRoutes(kit) {
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
