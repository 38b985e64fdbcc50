import type { AnyCommandSpec } from "./command.ts";
import { approvalsCommands } from "./commands/approvals.ts";
import { appsAddCommand, importCommand } from "./commands/apps-add.ts";
import { appsCheckCommand } from "./commands/apps-check.ts";
import { appsLoginCommands } from "./commands/apps-login.ts";
import { appsNewCommand } from "./commands/apps-new.ts";
import { appsCommands } from "./commands/apps.ts";
import { auditVerifyCommand } from "./commands/audit.ts";
import { callCommand } from "./commands/call.ts";
import { configCommand } from "./commands/config.ts";
import { doctorCommand } from "./commands/doctor.ts";
import { eventsCommands } from "./commands/events.ts";
import { explainCommand } from "./commands/explain.ts";
import { exportCommand } from "./commands/export.ts";
import { initCommand } from "./commands/init.ts";
import { lintCommand } from "./commands/lint.ts";
import { lockCommand } from "./commands/lock.ts";
import { applyCommand, planCommand, reloadCommand } from "./commands/plan.ts";
import { policyCommands } from "./commands/policy.ts";
import { resourcesCommands } from "./commands/resources.ts";
import { serveCommand } from "./commands/serve.ts";
import { signalsCommands } from "./commands/signals.ts";
import { statusCommand } from "./commands/status.ts";
import { toolsCommands } from "./commands/tools.ts";
import { upCommand } from "./commands/up.ts";
import { validateCommand } from "./commands/validate.ts";

/** Every command, in the order of `--help`. */
export const commands: readonly AnyCommandSpec[] = [
  initCommand,
  upCommand,
  validateCommand,
  configCommand,
  planCommand,
  applyCommand,
  reloadCommand,
  statusCommand,
  ...appsCommands,
  appsAddCommand,
  appsCheckCommand,
  appsNewCommand,
  ...appsLoginCommands,
  ...toolsCommands,
  ...resourcesCommands,
  callCommand,
  explainCommand,
  exportCommand,
  lockCommand,
  lintCommand,
  ...approvalsCommands,
  ...eventsCommands,
  ...policyCommands,
  ...signalsCommands,
  auditVerifyCommand,
  serveCommand,
  importCommand,
  doctorCommand,
];
