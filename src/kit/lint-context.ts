import type { Snapshot } from "../runtime/snapshot.ts";
import type { LintContext } from "../tools/text-lint.ts";
import { ownToolName } from "../tools/own-name.ts";

/** Words that are tool names somewhere but say nothing about another server when they stand in a text. */
const COMMON_NAME = /^[a-z]+$/;

/** What the text lint of an app should know of the other apps: made anew from the snapshot at each question. */
export function createLintContext(snapshot: () => Snapshot): (app: string) => LintContext {
  return (app) => {
    const own = new Set<string>();
    const others = new Set<string>();
    const otherTools = new Set<string>();
    const { catalog, apps } = snapshot();
    for (const tool of apps.get(app)?.listing?.tools ?? []) own.add(ownToolName(app, tool.name));
    for (const tool of catalog.tools) {
      if (tool.app === app) continue;
      otherTools.add(tool.tool);
      others.add(tool.full).add(tool.short);
      if (!COMMON_NAME.test(tool.tool)) others.add(tool.tool);
    }
    for (const name of apps.keys()) if (name !== app) others.add(name);
    return { app, own, others, otherTools };
  };
}
