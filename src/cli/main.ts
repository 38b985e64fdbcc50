#!/usr/bin/env node
// First, so that it holds while all the rest is loaded.
import "./young-heap.ts";
import { createContext } from "./context.ts";
import { version } from "../kit/version.ts";
import { runCli } from "./program.ts";

const context = createContext();
const code = await runCli(process.argv.slice(2), context, version());
// Sockets that linger must not keep a finished command alive, and what was written must be out before it ends.
process.stdout.write("", () => process.stderr.write("", () => process.exit(code)));
