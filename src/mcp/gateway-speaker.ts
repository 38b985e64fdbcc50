import type { Tool } from "../tools/types.ts";

/** An app that works for a conversation: a call of it was sent, so the conversation is marked where it is a data-flow source. */
export interface Speaker {
  readonly source: Pick<Tool, "app" | "tool" | "trust">;
  readonly conversation: string;
}
