import { setFlagsFromString } from "node:v8";

// Starting makes much garbage, once. V8 would answer with a young generation of 32 MiB, and never give it back.
setFlagsFromString("--semi-space-growth-factor=1");

/** Lets the young generation grow with the work, once a host has started: a large one makes a busy host faster. */
export function letYoungHeapGrow(): void {
  setFlagsFromString("--semi-space-growth-factor=2");
}
