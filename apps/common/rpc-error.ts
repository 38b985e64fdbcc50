/** JSON-RPC and MCP error codes that the apps answer with. */
export const RPC = { methodNotFound: -32601, invalidParams: -32602, internal: -32603, resourceNotFound: -32002 } as const;

/** A protocol error: the SDK's server turns `code`, `message` and `data` into the JSON-RPC error of the request. */
export class RpcError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.name = "RpcError";
    this.code = code;
    this.data = data;
  }
}
