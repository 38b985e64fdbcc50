import type { Operation } from "../calls/operation.ts";
import type { Snapshot } from "../runtime/snapshot.ts";
import { own, type JsonObject } from "../base/json.ts";
import { judge, refuseDenied } from "../calls/admit.ts";
import { perform } from "../calls/execute.ts";
import { namedPrompts, readSubject } from "../calls/targets.ts";
import type { CallOptions, Kit, ReadResult } from "../kit-api.ts";
import { decide } from "../policy/decide.ts";
import type { AppListing } from "../tools/types.ts";
import { completionOperation, promptOperation, resourceOperation } from "./operations.ts";
import type { Parts } from "./parts.ts";
import { operationOptions, readResult } from "./results.ts";
import { resourceSignal } from "./runtime-signals.ts";

/** Resources, prompts and instructions of all apps: what a kit offers beside tools. */
export interface Reads {
  listResources(client?: string): ReturnType<Kit["listResources"]>;
  listTemplates(client?: string): ReturnType<Kit["listTemplates"]>;
  listPrompts(client?: string): ReturnType<Kit["listPrompts"]>;
  instructions(): { readonly app: string; readonly text: string }[];
  readResource(uri: string, options: CallOptions & { readonly app?: string }): Promise<ReadResult>;
  getPrompt(name: string, args: Readonly<Record<string, string>>, options: CallOptions): Promise<ReadResult>;
  complete(ref: JsonObject, argument: { readonly name: string; readonly value: string }, context: JsonObject, options: CallOptions): Promise<ReadResult>;
  subscribe(uri: string, options: CallOptions): Promise<void>;
  unsubscribe(uri: string): Promise<void>;
}

/** Makes the reading side of a kit. Only what was accepted and is not denied is shown; reads run the one way of every call. */
export function createReads({ calls, pins, runtime, ingest, resources }: Parts): Reads {
  const listed = <T>(pick: (listing: AppListing) => readonly T[]): { app: string; item: T }[] =>
    [...runtime.snapshot.apps.values()].flatMap((view) => (view.listing === null ? [] : pick(view.listing).map((item) => ({ app: view.package, item }))));
  const connectionOf = (app: string) => runtime.runner(app)?.connection ?? null;
  const mayRead = (kind: "resource" | "prompt", app: string, name: string, client = ""): boolean => {
    const plan = runtime.snapshot.plan.apps.get(app);
    return plan !== undefined && decide(runtime.snapshot.plan.policy, readSubject(kind, plan, name), { client, args: null }, false).action !== "deny";
  };
  /** The resource that a client may hear of; that it changes is told to whoever may read it, or may ask to. */
  const heard = (uri: string, options: CallOptions) => {
    const { snapshot } = runtime;
    const { target, arguments: args } = resourceOperation(snapshot, uri, undefined, pins.check);
    const caller = operationOptions(options);
    const marks = calls.sessions.marks(caller.client, caller.session);
    refuseDenied(judge(snapshot, target, args(), caller, marks), target, marks);
    return target;
  };
  return {
    listResources: (client) =>
      listed((l) => l.resources)
        .filter(({ app, item }) => pins.check(app, "resources", "").accepted && mayRead("resource", app, item.uri, client))
        .map(({ app, item }) => ({ app, resource: item })),
    listTemplates: (client) =>
      listed((l) => l.templates)
        .filter(({ app, item }) => pins.check(app, "resource_template", item.uriTemplate).accepted && mayRead("resource", app, item.uriTemplate, client))
        .map(({ app, item }) => ({ app, template: item })),
    listPrompts: (client) =>
      namedPrompts(runtime.snapshot).filter((p) => pins.check(p.app, "prompt", p.name).accepted && mayRead("prompt", p.app, p.name, client)),
    instructions: () =>
      listed((l) => [l.instructions ?? ""])
        .filter(({ app, item }) => item !== "" && pins.check(app, "instructions", "").accepted)
        .map(({ app, item }) => ({ app, text: item })),
    async readResource(uri, options) {
      const done = await perform(
        calls,
        { kind: "resource", name: uri, find: (snapshot) => resourceOperation(snapshot, uri, options.app, pins.check) },
        operationOptions(options),
      );
      if (done.target && done.answer && runtime.snapshot.plan.inbox.resources === "all")
        void ingest.emit(resourceSignal(done.target.plan, "resources/read", uri, done.answer.result as JsonObject));
      return readResult(done);
    },
    async getPrompt(name, args, options) {
      return readResult(
        await perform(calls, { kind: "prompt", name, find: (snapshot) => promptOperation(snapshot, name, args, pins.check) }, operationOptions(options)),
      );
    },
    async complete(ref, argument, context, options) {
      const [kind, name] = own(ref, "type") === "ref/prompt" ? (["prompt", own(ref, "name")] as const) : (["resource", own(ref, "uri")] as const);
      const find = (snapshot: Snapshot): Operation => completionOperation(snapshot, ref, argument, context, pins.check);
      return readResult(await perform(calls, { kind, name: String(name), find }, operationOptions(options)));
    },
    async subscribe(uri, options) {
      const target = heard(uri, options);
      await resources.subscribe(target.plan, uri, connectionOf(target.app));
    },
    unsubscribe: (uri) => resources.unsubscribe(uri, connectionOf),
  };
}
