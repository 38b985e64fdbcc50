import type { ErrorBody, ErrorCode } from "../base/errors.ts";
import type { Json } from "../base/json.ts";
import { REFUSED } from "../mcp/gateway-rpc.ts";

/** Every error code of the HTTP door itself, beside those of the kit (docs/http-api.md lists the same rows; a test holds them together). */
export const HTTP_ERRORS = {
  BAD_REQUEST: { status: 400, meaning: "The request line, query or body cannot be read." },
  UNAUTHORIZED: { status: 401, meaning: "No token, or one that nobody has." },
  FORBIDDEN: { status: 403, meaning: "The Host or Origin is not allowed, or the route needs the operator token." },
  NOT_FOUND: { status: 404, meaning: "No such route, app, session or approval." },
  METHOD_NOT_ALLOWED: { status: 405, meaning: "The route exists for other methods, named in Allow." },
  NOT_ACCEPTABLE: { status: 406, meaning: "The Accept header asks for a form that the route does not give." },
  CONFLICT: { status: 409, meaning: "The thing is no longer in the state that the request needs." },
  BODY_TOO_LARGE: { status: 413, meaning: "The body is over 4 MiB." },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, meaning: "The body is not plain application/json." },
  OVERLOADED: { status: 503, meaning: "A bound of the door is reached for now." },
} as const satisfies Record<string, { readonly status: number; readonly meaning: string }>;

export type HttpErrorCode = keyof typeof HTTP_ERRORS;

/** A refusal of the HTTP door. `close`: the connection ends with the answer, because the body was not read. */
export class HttpError extends Error {
  readonly code: HttpErrorCode;
  readonly status: number;
  readonly details: Json | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** Its code where the route speaks JSON-RPC. */
  readonly rpcCode: number;

  constructor(code: HttpErrorCode, message: string, options: { details?: Json; headers?: Readonly<Record<string, string>>; rpcCode?: number } = {}) {
    super(message);
    this.name = "HttpError";
    this.code = code;
    this.status = HTTP_ERRORS[code].status;
    this.details = options.details;
    this.headers = options.headers ?? {};
    this.rpcCode = options.rpcCode ?? REFUSED;
  }

  /** The one error shape of all borders. */
  toBody(): ErrorBody {
    return {
      ok: false,
      error_code: this.code,
      message: this.message,
      retryable: this.code === "OVERLOADED",
      source: "kit",
      ...(this.details === undefined ? {} : { details: this.details }),
    };
  }
}

const KIT_STATUS: Readonly<Partial<Record<ErrorCode, number>>> = {
  TOOL_NOT_FOUND: 404,
  RESOURCE_NOT_FOUND: 404,
  PROMPT_NOT_FOUND: 404,
  INVALID_ARGUMENTS: 400,
  TOOL_QUARANTINED: 403,
  POLICY_DENIED: 403,
  DATA_FLOW_DENIED: 403,
  APPROVAL_DENIED: 403,
  APPROVAL_REQUIRED: 403,
  ELICITATION_REQUIRED: 403,
  APPROVAL_EXPIRED: 409,
  RATE_LIMITED: 429,
  CANCELLED: 499,
  PROTOCOL_ERROR: 502,
  RESULT_INVALID: 502,
  TOOL_FAILED: 502,
  RESULT_TOO_LARGE: 502,
  APP_UNAVAILABLE: 503,
  APP_REMOVED: 503,
  TIMEOUT: 504,
};

/** HTTP status for an error code of the kit; an app's own codes are 502. */
export function statusOf(code: string): number {
  if (code === "INTERNAL") return 500;
  return Object.hasOwn(KIT_STATUS, code) ? (KIT_STATUS[code as ErrorCode] ?? 500) : 502;
}
