import path from "node:path";
import { pathToFileURL } from "node:url";
import type { JsonObject } from "../base/json.ts";
import { realPath, rootFolder } from "../files/real-path.ts";
import type { AppPlan, Plan } from "../plan/types.ts";

/** Where the granted folders lay when they were granted, so that a link swapped later shows a server nothing more. */
export interface RootGrants {
  /** Notes where the roots of a plan lie that were not there before, and forgets those that are gone. */
  follow(plan: Plan): void;
  /** The answer to `roots/list`: the real path of every granted folder that still lies where it was granted. */
  answer(app: AppPlan): JsonObject;
}

/** Makes the memory of granted folders; `onMoved` is told of each folder that is held back, in words. */
export function createRootGrants(onMoved: (app: AppPlan, message: string) => void): RootGrants {
  let followed: Plan | null = null;
  /** App and root to where it lay; null: a link that led nowhere. */
  let granted = new Map<string, string | null>();
  return {
    follow(plan) {
      if (plan === followed) return;
      followed = plan;
      const next = new Map<string, string | null>();
      for (const app of plan.apps.values())
        for (const root of app.grants.roots ?? []) {
          const key = keyOf(app, root);
          const known = granted.get(key);
          next.set(key, known === undefined ? realPath(rootFolder(root)) : known);
        }
      granted = next;
    },
    answer(app) {
      const roots = (app.grants.roots ?? []).flatMap((root) => {
        const then = granted.get(keyOf(app, root)) ?? null;
        const now = realPath(rootFolder(root));
        if (now !== null && now === then) return [{ uri: pathToFileURL(now).href, name: path.basename(rootFolder(root)) }];
        onMoved(
          app,
          `root ${root} is not shown: it leads to ${now ?? "nowhere"}, and led to ${then ?? "nowhere"} when it was granted; take it out of grants.roots and put it in again to grant what is there now`,
        );
        return [];
      });
      return { roots };
    },
  };
}

function keyOf(app: AppPlan, root: string): string {
  return JSON.stringify([app.package, root]);
}
