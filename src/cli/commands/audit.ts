import path from "node:path";
import { verifyAudit } from "../../calls/verify-audit.ts";
import { readAudit } from "../../files/audit-file.ts";
import { CliError, EXIT } from "../cli-error.ts";
import { defineCommand } from "../command.ts";
import { openRunnable } from "../open-workspace.ts";

/** `audit verify`: whether the audit log is whole and unchanged. */
export const auditVerifyCommand = defineCommand({
  usage: "audit verify [file]",
  summary: "Check that the audit log is whole: every record's hash and its link to the one before.",
  details: "Without FILE it is the log of the workspace, rotated files included. Exit code 1 when something was changed, taken out or cut off.",
  examples: ["aurora-mcp audit verify", "aurora-mcp audit verify data/audit.jsonl --json"],
  run: async (context, options, [given]) => {
    const file = given === undefined ? (await openRunnable(context, options)).plan.audit.file : path.resolve(context.cwd, given);
    const { lines, files, head } = await readAudit(file);
    if (lines.length === 0 && head === null) throw new CliError(`there is no audit log at ${file}; it begins with the first call`);
    const verdict = verifyAudit(lines, head);
    if (options.json) context.json({ ...verdict, files });
    else if (verdict.ok)
      context.out(
        `${context.style("green", "ok")}  ${verdict.records} records in ${files.length} file${files.length === 1 ? "" : "s"}${verdict.note === null ? "" : `; ${verdict.note}`}`,
      );
    else context.out(`${context.style("red", "broken")}  line ${verdict.line}: ${verdict.reason}`);
    return verdict.ok ? EXIT.ok : EXIT.problems;
  },
});
