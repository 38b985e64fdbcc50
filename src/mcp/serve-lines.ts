import type { Readable, Writable } from "node:stream";
import { parseExact, stringifyExact } from "../base/exact-json.ts";
import type { Json, JsonObject } from "../base/json.ts";
import { isTooDeep, MAX_NESTING } from "../base/json-scan.ts";
import { INVALID_REQUEST, PARSE_ERROR, rpcFault } from "./gateway-rpc.ts";
import { LineReader } from "./line-reader.ts";

/** Largest message that is taken from standard input. */
const MAX_LINE_BYTES = 4 * 1024 * 1024;

/** Newline-delimited JSON-RPC towards a client that started this process. */
export interface Lines {
  /** Writes one message. Nothing else may ever be written to the output. */
  write(message: JsonObject): void;
  /** Writes a message that is JSON text already. */
  writeText(text: string): void;
  /** Resolves when the input has ended, the output has broken, or the signal fired. */
  readonly ended: Promise<void>;
}

/** Reads one message a line; a line that is no JSON is answered with a parse error, as the protocol asks. */
export function openLines(input: Readable, output: Writable, signal: AbortSignal, onMessage: (message: Json, text: string) => void): Lines {
  const writeText = (text: string): void => {
    if (output.writable) output.write(`${text}\n`);
  };
  const write = (message: JsonObject): void => writeText(stringifyExact(message));
  const reader = new LineReader(MAX_LINE_BYTES, {
    line(line) {
      const text = line.toString("utf8").trim();
      if (text === "") return;
      if (isTooDeep(text)) return write(rpcFault(null, INVALID_REQUEST, `the message is nested deeper than ${MAX_NESTING} levels`));
      let message: Json;
      try {
        message = parseExact(text) as Json;
      } catch {
        write(rpcFault(null, PARSE_ERROR, "the line is not JSON"));
        return;
      }
      onMessage(message, text);
    },
    oversize: (_head, _tail, bytes) => write(rpcFault(null, PARSE_ERROR, `the line has ${bytes} bytes; ${MAX_LINE_BYTES} are taken`)),
  });
  const ended = new Promise<void>((resolve) => {
    input.on("end", () => {
      reader.end();
      resolve();
    });
    for (const event of ["close", "error"]) input.on(event, () => resolve());
    // EPIPE: the client has gone.
    output.on("error", () => resolve());
    signal.addEventListener("abort", () => resolve(), { once: true });
    if (signal.aborted) resolve();
  });
  input.on("data", (chunk: Buffer | string) => reader.push(typeof chunk === "string" ? Buffer.from(chunk) : chunk));
  return { write, writeText, ended };
}
