/** Thrown by a {@link Connection}. `sent`: the request may have reached the server, so its outcome is unknown unless it answered. */
export class LinkError extends Error {
    kind;
    sent;
    /** JSON-RPC error code or HTTP status, where there is one. */
    code;
    data;
    retryAfterMs;
    constructor(kind, message, options = {}) {
        super(message, options.cause === undefined ? undefined : { cause: options.cause });
        this.name = "LinkError";
        this.kind = kind;
        this.sent = options.sent ?? false;
        this.code = options.code;
        this.data = options.data;
        this.retryAfterMs = options.retryAfterMs;
    }
}
/** Why a start failed. `retry` false: a fault of the configuration (program not found, 404, 401) that trying again cannot mend. */
export class StartError extends Error {
    retry;
    stderrTail;
    constructor(message, options) {
        super(message, options.cause === undefined ? undefined : { cause: options.cause });
        this.name = "StartError";
        this.retry = options.retry;
        this.stderrTail = options.stderrTail ?? [];
    }
}
