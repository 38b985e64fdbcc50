#!/usr/bin/env node
import { createContext } from "./context.ts";
import { packageVersion } from "./package-files.ts";
import { runCli } from "./program.ts";

const context = createContext();
const code = await runCli(process.argv.slice(2), context, await packageVersion());
// Sockets that linger must not keep a finished command alive, and what was written must be out before it ends.
process.stdout.write("", () => process.stderr.write("", () => process.exit(code)));
