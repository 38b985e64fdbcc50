import { Writable } from "node:stream";

const write = process.stdout.write.bind(process.stdout);

/**
 * The real stdout, for the protocol alone. Importing this module, first of all, sends everything else that is written
 * to stdout, by console.log or any library, to stderr (guide 15.6).
 */
export const protocolStdout = new Writable({
  decodeStrings: false,
  write: (chunk: string | Uint8Array, encoding, done) => void write(chunk, encoding, done),
});

process.stdout.write = process.stderr.write.bind(process.stderr);
