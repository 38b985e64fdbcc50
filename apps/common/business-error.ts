/**
 * A failure of the app's own business (city not found, provider down), as opposed to a fault in the code.
 * It reaches the caller as an `isError` result with exactly these fields (guide 10.4), so its message holds no secrets.
 */
export class BusinessError extends Error {
  /** Stable, upper case, for programs: `CITY_NOT_FOUND`. */
  readonly code: string;
  /** Whether the same call may work later without a change. */
  readonly retryable: boolean;

  constructor(code: string, message: string, options: { readonly retryable: boolean; readonly cause?: unknown }) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "BusinessError";
    this.code = code;
    this.retryable = options.retryable;
  }
}
