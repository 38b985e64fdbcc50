import type { Json } from "./json.ts";

/** What is known about a call after it ended (contracts 6). `unknown`: it was sent and no answer is known. */
export type Outcome = "succeeded" | "failed" | "unknown";

interface ErrorRow {
  /** Whether the same call may work later without a change; never where its outcome is unknown. */
  readonly retryable: boolean;
  /** Whether the call was refused before it was sent to the app. */
  readonly sent: boolean;
  readonly meaning: string;
}

/** Every error code of the kit (contracts 6). docs/errors.md lists the same rows; a test holds them together. */
export const ERROR_CODES = {
  TOOL_NOT_FOUND: { retryable: false, sent: false, meaning: "No tool has this name." },
  TOOL_QUARANTINED: { retryable: false, sent: false, meaning: "The tool is new or changed and waits for a person to accept it." },
  INVALID_ARGUMENTS: { retryable: false, sent: false, meaning: "The arguments do not fit the tool's schema." },
  POLICY_DENIED: { retryable: false, sent: false, meaning: "A policy rule or the risk table denies the call." },
  APPROVAL_REQUIRED: { retryable: true, sent: false, meaning: "A person must approve the call first." },
  APPROVAL_DENIED: { retryable: false, sent: false, meaning: "A person refused the call." },
  APPROVAL_EXPIRED: { retryable: true, sent: false, meaning: "The approval was not answered or used in time." },
  DATA_FLOW_DENIED: { retryable: false, sent: false, meaning: "The session has read a low-trust source and the call reaches a high-risk tool." },
  RATE_LIMITED: { retryable: true, sent: false, meaning: "A limit of the policy is used up for now." },
  APP_UNAVAILABLE: { retryable: true, sent: false, meaning: "The app is not running." },
  APP_REMOVED: { retryable: false, sent: true, meaning: "The app was taken out of the configuration while the call ran." },
  TIMEOUT: {
    retryable: true,
    sent: true,
    meaning:
      "The app did not answer in time; whether the call took effect is unknown. Where it waited for a person, `details.approval_id` says for which approval.",
  },
  CANCELLED: { retryable: true, sent: true, meaning: "The caller gave the call up." },
  PROTOCOL_ERROR: { retryable: false, sent: true, meaning: "The app broke the protocol or answered with a JSON-RPC error." },
  RESULT_TOO_LARGE: { retryable: false, sent: true, meaning: "The result is over limits.result_bytes." },
  RESULT_INVALID: { retryable: false, sent: true, meaning: "The result breaks the tool's outputSchema." },
  TOOL_FAILED: { retryable: false, sent: true, meaning: "The tool says that it failed." },
  ELICITATION_REQUIRED: { retryable: true, sent: true, meaning: "The app runs nothing before a person has opened the addresses in details.elicitations." },
  RESOURCE_NOT_FOUND: { retryable: false, sent: false, meaning: "No app shows this resource." },
  PROMPT_NOT_FOUND: { retryable: false, sent: false, meaning: "No app shows this prompt." },
  INTERNAL: { retryable: false, sent: false, meaning: "A fault in the kit itself." },
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof ERROR_CODES;

/** The one shape of an error that crosses a border (guide 10.4). */
export interface ErrorBody {
  readonly ok: false;
  readonly error_code: string;
  readonly message: string;
  readonly retryable: boolean;
  readonly source: "kit" | "app";
  readonly details?: Json;
}

/** An error with a code of the table. Its message holds no secrets and names what the user named. */
export class KitError extends Error {
  readonly code: ErrorCode;
  readonly details: Json | undefined;
  readonly retryable: boolean;
  /** Outcome to report; `unknown` when the call had been sent and its fate is not known. */
  readonly outcome: Outcome;

  constructor(code: ErrorCode, message: string, options: { details?: Json; retryable?: boolean; outcome?: Outcome; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "KitError";
    this.code = code;
    this.details = options.details;
    this.outcome = options.outcome ?? (code === "TIMEOUT" ? "unknown" : "failed");
    // Whoever sends a call again whose fate is unknown may do the thing twice.
    this.retryable = options.retryable ?? (this.outcome !== "unknown" && ERROR_CODES[code].retryable);
  }

  /** The border shape of this error. */
  toBody(): ErrorBody {
    return {
      ok: false,
      error_code: this.code,
      message: this.message,
      retryable: this.retryable,
      source: "kit",
      ...(this.details === undefined ? {} : { details: this.details }),
    };
  }
}

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  if (error instanceof Error) return error.message;
  return typeof error === "string" ? error : String(error);
}

/** The thing is no longer in the state that the request needs; the message says which, and what to do. */
export class ConflictError extends Error {
  override readonly name = "ConflictError";
}
