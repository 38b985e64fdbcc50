import path from "node:path";
import { defineCommand } from "../command.ts";
import { openWorkspace } from "../open-workspace.ts";
import { writeNewFiles } from "../package-files.ts";
import { scaffoldApp } from "../scaffold-app.ts";

/** `apps new`: a small app that works as it is. */
export const appsNewCommand = defineCommand<{ package?: string }>({
  usage: "apps new <name>",
  summary: "Scaffold an app that works as it is: manifest, server, service, README, LICENSE, tests.",
  details:
    "Plain JavaScript with nothing to install, written to apps/aurora-app-NAME in the workspace. Where topology.yaml discovers apps/*, a running host starts it at once.",
  examples: ["aurora-mcp apps new notes", "aurora-mcp apps new notes --package org.example.notes"],
  options: (command) => command.option("--package <package>", "its package name; org.example.NAME by default"),
  run: async (context, options, [name]) => {
    const workspace = await openWorkspace(context, options);
    const app = await scaffoldApp(workspace.root, name!, options.package);
    const files = await writeNewFiles(app.files);
    if (options.json) return context.json({ ...app, files });
    for (const file of files) context.out(`wrote ${path.relative(context.cwd, file)}`);
    const now = await openWorkspace(context, options);
    if (now.plan !== null && !now.plan.apps.has(app.package))
      context.note(`topology.yaml does not discover it yet; add to discover:  - { glob: ../apps/*/manifest.yaml, trusted: true }`);
    context.note(
      `\ntry it:  aurora-mcp call ${app.package}.greet --args '{"name": "Ada"}'\ntest it: node --test ${path.relative(context.cwd, path.join(app.folder, "test"))}`,
    );
  },
});
