import { expect, it } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { Generation, type CallHooks } from "../../src/runtime/generation.ts";
import type { AppListing } from "../../src/tools/types.ts";
import { appPlan, scripted } from "../support/app-plan.ts";
import { open } from "../mcp/support.ts";

it("whoever runs hears of the server, each call for itself, and nobody whose call has ended", async () => {
  const connect = scripted({});
  const { connection } = await open(connect);
  const life = new Generation(appPlan(connect, { maxConcurrentCalls: 3 }), connection, {} as AppListing, 0);
  const heard: string[] = [];
  const hooks = (name: string): CallHooks => ({
    onServerRequest: async () => ({ name }),
    onNotification: (method) => void heard.push(`${name} ${method}`),
  });
  const lease = (of: CallHooks) => life.tryLease(life.hold, of)!;
  const answer = async (): Promise<JsonObject | undefined> => life.handlerFor(connection.scope)?.({ method: "ping", params: {} } as never);
  expect(await answer()).toBeUndefined();
  const [first, second] = [lease(hooks("first")), lease(hooks("second"))];
  // Either may have caused it.
  expect(await answer()).toBeUndefined();
  first.release();
  first.release();
  expect(await answer()).toEqual({ name: "second" });
  const third = lease(hooks("third"));
  life.notify(connection.scope, "news", {});
  second.release();
  expect(await answer()).toEqual({ name: "third" });
  // One who takes part in two calls is there until both have ended.
  third.release();
  const shared = hooks("shared");
  const twice = [lease(shared), lease(shared), lease({})];
  expect(life.tryLease(life.hold, {})).toBeNull();
  twice[0]!.release();
  expect(await answer()).toEqual({ name: "shared" });
  for (const one of twice) one.release();
  life.notify(connection.scope, "late", {});
  expect([await answer(), life.leases, heard]).toEqual([undefined, 0, ["second news", "third news"]]);
});
