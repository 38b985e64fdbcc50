import type { JsonObject } from "../base/json.ts";
import { perform } from "../calls/execute.ts";
import { findResource, namedPrompts } from "../calls/targets.ts";
import type { CallOptions, Kit, ReadResult } from "../kit-api.ts";
import type { AppListing } from "../tools/types.ts";
import { completionOperation, promptOperation, resourceOperation } from "./operations.ts";
import type { Parts } from "./parts.ts";
import { operationOptions, readResult } from "./results.ts";
import { resourceSignal } from "./runtime-signals.ts";

/** Resources, prompts and instructions of all apps: what a kit offers beside tools. */
export interface Reads {
  listResources(): ReturnType<Kit["listResources"]>;
  listTemplates(): ReturnType<Kit["listTemplates"]>;
  listPrompts(): ReturnType<Kit["listPrompts"]>;
  instructions(): { readonly app: string; readonly text: string }[];
  readResource(uri: string, options: CallOptions & { readonly app?: string }): Promise<ReadResult>;
  getPrompt(name: string, args: Readonly<Record<string, string>>, options: CallOptions): Promise<ReadResult>;
  complete(ref: JsonObject, argument: { readonly name: string; readonly value: string }, context: JsonObject, options: CallOptions): Promise<ReadResult>;
  subscribe(uri: string): Promise<void>;
  unsubscribe(uri: string): Promise<void>;
}

/** Makes the reading side of a kit. Only accepted prompts, templates and instructions are shown; reads run the one way of every call. */
export function createReads({ calls, pins, runtime, ingest, resources }: Parts): Reads {
  const listed = <T>(pick: (listing: AppListing) => readonly T[]): { app: string; item: T }[] =>
    [...runtime.snapshot.apps.values()].flatMap((view) => (view.listing === null ? [] : pick(view.listing).map((item) => ({ app: view.package, item }))));
  const connectionOf = (app: string) => runtime.runner(app)?.connection ?? null;
  return {
    listResources: () => listed((l) => l.resources).map(({ app, item }) => ({ app, resource: item })),
    listTemplates: () =>
      listed((l) => l.templates)
        .filter(({ app, item }) => pins.check(app, "resource_template", item.uriTemplate).accepted)
        .map(({ app, item }) => ({ app, template: item })),
    listPrompts: () => namedPrompts(runtime.snapshot).filter((p) => pins.check(p.app, "prompt", p.name).accepted),
    instructions: () =>
      listed((l) => [l.instructions ?? ""])
        .filter(({ app, item }) => item !== "" && pins.check(app, "instructions", "").accepted)
        .map(({ app, item }) => ({ app, text: item })),
    async readResource(uri, options) {
      const done = await perform(calls, (snapshot) => resourceOperation(snapshot, uri, options.app), operationOptions(options));
      if (done.target && done.answer && runtime.snapshot.plan.inbox.resources === "all") void ingest.emit(resourceSignal(done.target.plan, "resources/read", uri, done.answer.result as JsonObject));
      return readResult(done);
    },
    async getPrompt(name, args, options) {
      return readResult(await perform(calls, (snapshot) => promptOperation(snapshot, name, args, pins), operationOptions(options)));
    },
    async complete(ref, argument, context, options) {
      return readResult(await perform(calls, (snapshot) => completionOperation(snapshot, ref, argument, context), operationOptions(options)));
    },
    async subscribe(uri) {
      const target = findResource(runtime.snapshot, uri);
      await resources.subscribe(target.plan, uri, connectionOf(target.app));
    },
    async unsubscribe(uri) {
      const target = findResource(runtime.snapshot, uri);
      await resources.unsubscribe(target.plan, uri, connectionOf(target.app));
    },
  };
}
