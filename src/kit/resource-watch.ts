import { messageOf } from "../base/errors.ts";
import { own, type JsonObject } from "../base/json.ts";
import type { AppPlan, Plan } from "../plan/types.ts";
import type { Connection, Logger } from "../runtime/ports.ts";
import type { Ingest } from "../runtime/ingest.ts";
import { resourceSignal } from "./runtime-signals.ts";

/** Subscribes to resources and turns their updates into events (guide 16.1, resource.observed). */
export interface ResourceWatch {
  /** Subscribes to what the app's `subscribe` names and what gateway clients asked for; after every start anew. */
  appStarted(app: AppPlan, connection: Connection | null): void;
  /** The app's `subscribe` was changed while its server runs on. */
  appChanged(before: AppPlan, after: AppPlan, connection: Connection | null): Promise<void>;
  /** A server says that a resource changed. */
  updated(app: AppPlan, params: JsonObject, connection: Connection | null): void;
  /** A gateway client wants updates of a resource; counted, so that several may. */
  subscribe(app: AppPlan, uri: string, connection: Connection | null): Promise<void>;
  /** One of them wants none any more, also when the app shows the resource no longer or is gone; nothing where nobody wanted any. */
  unsubscribe(uri: string, connectionOf: (app: string) => Connection | null): Promise<void>;
}

/** What the watch works with. */
export interface ResourceWatchDeps {
  readonly ingest: Ingest;
  readonly plan: () => Plan;
  readonly onUpdate: (app: string, uri: string) => void;
  readonly log: Logger;
}

/** Makes a watch without subscriptions. */
export function createResourceWatch(deps: ResourceWatchDeps): ResourceWatch {
  const wanted = new Map<string, Map<string, number>>();
  const canSubscribe = (connection: Connection): boolean => own(own(connection.capabilities, "resources"), "subscribe") === true;
  const ask = async (app: AppPlan, uri: string, connection: Connection): Promise<void> => {
    try {
      await connection.request("resources/subscribe", { uri }, { timeoutMs: app.callTimeoutMs });
    } catch (error) {
      deps.log.warn({ app: app.package, uri, error: messageOf(error) }, "subscribing to a resource failed");
    }
  };
  const leave = async (app: AppPlan, uri: string, connection: Connection): Promise<void> => {
    await connection.request("resources/unsubscribe", { uri }, { timeoutMs: app.callTimeoutMs }).catch(() => undefined);
  };
  /** What is being read, and whether it changed again meanwhile. */
  const reading = new Map<string, boolean>();
  /** One reading at a time of each resource, and one more for all changes that come meanwhile. */
  const observe = async (app: AppPlan, uri: string, connection: Connection): Promise<void> => {
    const key = `${app.package} ${uri}`;
    if (reading.has(key)) return void reading.set(key, true);
    do {
      reading.set(key, false);
      await observeOnce(app, uri, connection);
    } while (reading.get(key) === true && !connection.closed);
    reading.delete(key);
  };
  const observeOnce = async (app: AppPlan, uri: string, connection: Connection): Promise<void> => {
    let content: JsonObject | null = null;
    try {
      content = await connection.request("resources/read", { uri }, { timeoutMs: app.callTimeoutMs });
    } catch (error) {
      deps.log.warn({ app: app.package, uri, error: messageOf(error) }, "reading an updated resource failed");
    }
    await deps.ingest.emit(resourceSignal(app, "notifications/resources/updated", uri, content));
  };
  return {
    appStarted(app, connection) {
      const uris = new Set([...app.subscribe, ...(wanted.get(app.package)?.keys() ?? [])]);
      if (!connection || uris.size === 0) return;
      if (!canSubscribe(connection)) {
        deps.log.warn({ app: app.package }, "the app's `subscribe` has no effect: its server does not offer resource subscriptions");
        return;
      }
      for (const uri of uris) void ask(app, uri, connection);
    },
    async appChanged(before, after, connection) {
      if (!connection || !canSubscribe(connection)) return;
      const others = wanted.get(after.package);
      for (const uri of after.subscribe) if (!before.subscribe.includes(uri) && !others?.has(uri)) await ask(after, uri, connection);
      for (const uri of before.subscribe) if (!after.subscribe.includes(uri) && !others?.has(uri)) await leave(after, uri, connection);
    },
    updated(app, params, connection) {
      const uri = own(params, "uri");
      if (typeof uri !== "string") return;
      deps.onUpdate(app.package, uri);
      const setting = deps.plan().inbox.resources;
      if (!connection || setting === "off" || (setting === "subscribed" && !app.subscribe.includes(uri))) return;
      void observe(app, uri, connection);
    },
    async subscribe(app, uri, connection) {
      let uris = wanted.get(app.package);
      if (!uris) wanted.set(app.package, (uris = new Map()));
      const count = uris.get(uri) ?? 0;
      uris.set(uri, count + 1);
      if (count === 0 && connection && canSubscribe(connection)) await ask(app, uri, connection);
    },
    async unsubscribe(uri, connectionOf) {
      const found = [...wanted].find(([, uris]) => uris.has(uri));
      if (!found) return;
      const [name, uris] = found;
      const count = uris.get(uri)!;
      if (count > 1) return void uris.set(uri, count - 1);
      uris.delete(uri);
      if (uris.size === 0) wanted.delete(name);
      const app = deps.plan().apps.get(name);
      const connection = connectionOf(name);
      if (app && !app.subscribe.includes(uri) && connection && canSubscribe(connection)) await leave(app, uri, connection);
    },
  };
}
