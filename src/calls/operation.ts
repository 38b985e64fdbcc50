import type { CancelSignal } from "../base/cancel-signal.ts";
import type { ErrorBody, Outcome } from "../base/errors.ts";
import type { JsonObject } from "../base/json.ts";
import type { Decision } from "../policy/types.ts";
import type { ServerRequestHandler } from "../runtime/generation.ts";
import type { Connection, Progress, RequestOptions, TaskWish } from "../runtime/ports.ts";
import type { Snapshot } from "../runtime/snapshot.ts";
import type { Tool } from "../tools/types.ts";
import type { Caller } from "./admit.ts";
import type { Target } from "./targets.ts";

/** Bounds of one send, and how it is to run. */
export interface SendOptions extends RequestOptions {
  readonly task?: TaskWish;
}

/** What a caller wants done: a tool call, a resource read or a prompt. */
export interface Wanted {
  readonly kind: Target["kind"];
  /** As the caller said it; the records of a call have it when nothing is called that. */
  readonly name: string;
  /** Finds it in a snapshot. Throws a KitError. */
  find(snapshot: Snapshot): Operation;
}

/** An operation found in one snapshot. */
export interface Operation {
  readonly target: Target;
  /** MCP method that is sent. */
  readonly method: string;
  /** Canonical arguments, checked against the tool's own schema. Throws a KitError INVALID_ARGUMENTS. */
  arguments(): JsonObject;
  send(connection: Connection, args: JsonObject, options: SendOptions): Promise<JsonObject>;
  /** Looks at the raw answer; throws a KitError when it cannot be taken. */
  read(raw: JsonObject): Answer;
}

/** An answer of an app that was looked at. */
export interface Answer {
  readonly result: JsonObject;
  readonly error: ErrorBody | null;
  readonly notes: readonly string[];
}

/** What a caller may say with an operation. */
export interface OperationOptions extends Caller {
  readonly turn?: string | undefined;
  readonly signal?: CancelSignal | undefined;
  readonly approvalId?: string | undefined;
  readonly waitMs?: number | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  readonly onSent?: ((source: Pick<Tool, "app" | "tool" | "trust">) => void) | undefined;
  readonly onServerRequest?: ServerRequestHandler | undefined;
  readonly onNotification?: ((method: string, params: JsonObject) => void) | undefined;
  readonly clientCapabilities?: JsonObject | undefined;
  readonly meta?: JsonObject | undefined;
  readonly task?: TaskWish | undefined;
  /** The caller will cut a result over this many bytes of text, so the whole is kept on the disk. */
  readonly messageBytes?: number | undefined;
}

/** Everything that is known of an operation after it ended. */
export interface Performed {
  readonly callId: string;
  readonly outcome: Outcome;
  readonly answer: Answer | null;
  readonly error: ErrorBody | null;
  readonly durationMs: number;
  /** Estimated tokens of the answer's texts; null where there was no answer. */
  readonly resultTokens: number | null;
  readonly wanted: Pick<Wanted, "kind" | "name">;
  /** Null when nothing is called that. */
  readonly target: Target | null;
  /** Whether it left for the app, and so has a record of that. */
  readonly sent: boolean;
  readonly method: string | null;
  readonly args: JsonObject | null;
  readonly decision: Decision | null;
  readonly approvalId: string | null;
  /** Where the whole result is kept when it is over `messageBytes`. */
  readonly resultRef: string | null;
}

/** A call that may run: the operation, the decision that lets it, and the arguments that must be sent. */
export interface Granted {
  readonly snapshot: Snapshot;
  readonly operation: Operation;
  readonly decision: Decision;
  readonly args: JsonObject;
  readonly approvalId?: string;
}
