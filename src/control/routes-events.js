import { compileGlob } from "../base/glob.ts";
import { openEventStream } from "./sse.ts";
/** What happens in the host, as an event stream. */
export function eventRoutes(kit) {
    return [
        {
            method: "GET",
            path: "/api/events",
            role: "operator",
            group: "events",
            summary: "Envelopes as they go to the inbox (`envelope` events), and with state=true changes of the host (`app`, `catalog`, `reload`, `approval`).",
            query: [
                { name: "type", description: "Only envelopes of this type; a glob, may be repeated." },
                { name: "app", description: "Only envelopes of this app; a glob, may be repeated." },
                { name: "session", description: "Only envelopes of this conversation." },
                { name: "state", description: "true adds changes of the host.", values: ["true", "false"] },
            ],
            answer: { type: "text/event-stream", description: "Server-sent events; every `data` is one JSON value." },
            handle(context) {
                const wanted = envelopeFilter(context.query);
                openEventStream(context, (stream) => {
                    const stops = [
                        kit.on("envelope", (envelope) => {
                            if (wanted(envelope))
                                stream.send("envelope", envelope);
                        }),
                    ];
                    if (context.query.get("state") === "true") {
                        stops.push(kit.on("app", (status) => stream.send("app", status)), kit.on("catalog", (catalog) => stream.send("catalog", { digest: catalog.digest, tools: catalog.tools.length })), kit.on("reload", (result) => stream.send("reload", result)), kit.on("approval", (row) => stream.send("approval", row)));
                    }
                    return () => {
                        for (const stop of stops)
                            stop();
                    };
                });
                return undefined;
            },
        },
    ];
}
/** The filter of an events query: every given condition must hold; of a repeated one, any. */
function envelopeFilter(query) {
    const types = query.getAll("type").map((pattern) => compileGlob(pattern));
    const apps = query.getAll("app").map((pattern) => compileGlob(pattern));
    const session = query.get("session");
    return ({ header, payload }) => (types.length === 0 || types.some((glob) => glob.matches(payload.type))) &&
        (apps.length === 0 || apps.some((glob) => glob.matches(header.source.app))) &&
        (session === null || payload.session_id === session);
}
