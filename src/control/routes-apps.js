import { HttpError } from "./http-errors.ts";
import { countOf, jsonAnswer } from "./input.ts";
import { openEventStream } from "./sse.ts";
/** Status of the host and of its apps. */
export function appRoutes(kit) {
    return [
        {
            method: "GET",
            path: "/api/status",
            role: "caller",
            group: "apps",
            summary: "The state of the host: apps, gateway, inbox, exports, configuration.",
            answer: jsonAnswer("The shape of `status --json`."),
            handle: () => ({ json: kit.status() }),
        },
        {
            method: "GET",
            path: "/api/apps",
            role: "caller",
            group: "apps",
            summary: "The apps with their states.",
            answer: jsonAnswer("Array of app rows.", { type: "array", items: { type: "object" } }),
            handle: () => ({ json: kit.status().apps }),
        },
        {
            method: "GET",
            path: "/api/apps/{app}",
            role: "caller",
            group: "apps",
            summary: "One app with its state.",
            answer: jsonAnswer("The app's row."),
            handle: (context) => ({ json: appOf(kit, context) }),
        },
        {
            method: "POST",
            path: "/api/apps/{app}/restart",
            role: "operator",
            group: "apps",
            summary: "Starts an app anew, also one that is parked or failed.",
            answer: jsonAnswer("The app's row after the start, or after it failed."),
            handle: async (context) => ({ json: await kit.restartApp(appOf(kit, context).package) }),
        },
        {
            method: "GET",
            path: "/api/apps/{app}/logs",
            role: "operator",
            group: "apps",
            summary: "The last lines that an app wrote to stderr; with follow=true an event stream of `line` events goes on with new ones.",
            query: [
                { name: "follow", description: "true keeps the stream open.", values: ["true", "false"] },
                { name: "tail", description: "At most so many of the last lines." },
            ],
            answer: jsonAnswer("{ app, lines }; with follow=true text/event-stream."),
            handle(context) {
                const app = appOf(kit, context).package;
                const tail = countOf(context, "tail");
                const lines = kit.appLog(app).slice(tail === undefined ? 0 : -tail);
                if (context.query.get("follow") !== "true")
                    return { json: { app, lines } };
                openEventStream(context, (stream) => {
                    for (const line of lines)
                        stream.send("line", { line });
                    return kit.onAppLog(app, (line) => stream.send("line", { line }));
                });
                return undefined;
            },
        },
    ];
}
function appOf(kit, context) {
    const name = context.params.get("app");
    const found = kit.status().apps.find((app) => app.package === name);
    if (!found)
        throw new HttpError("NOT_FOUND", `there is no app ${JSON.stringify(name)}`);
    return found;
}
