import { spawn } from "node:child_process";
import type { ChildProcessByStdio } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { systemClock } from "../base/clock.ts";
import type { Clock } from "../base/clock.ts";
import { stringifyExact } from "../base/exact-json.ts";
import type { JsonObject } from "../base/json.ts";
import { isWhole } from "../base/json-scan.ts";
import { LinkError, StartError } from "../runtime/ports.ts";
import type { CloseReason } from "../runtime/ports.ts";
import type { Children } from "./children.ts";
import { LineReader } from "./line-reader.ts";
import { plainLine, seconds } from "./plain-line.ts";
import { groupAlive, signalGroup } from "./process-group.ts";
import { checkCwd, spawnFault } from "./start-faults.ts";
import { StderrLog } from "./stderr-log.ts";
import { readStdoutLine } from "./stdout-line.ts";
import { spawnLine } from "./windows-command.ts";
import type { Wire, WireMessage } from "./wire.ts";
import { answeredId } from "./wire-text.ts";

/** What a {@link StdioTransport} starts and whom it tells. */
export interface StdioOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The child's whole environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Largest message that the server may send. */
  readonly lineBytes: number;
  readonly children: Children;
  /** One line of stderr, free of control characters. */
  readonly onStderr: (line: string) => void;
  /** Something the server did wrong on stdout that cost nothing but is worth a line. */
  readonly onNote: (note: string) => void;
  readonly clock?: Clock;
  /** How long the server may take after its stdin closed, and after SIGTERM. */
  readonly graceMs?: number;
}

const GRACE_MS = 2000;
/** After the exit of the process, what it wrote before may still be on its way; a grandchild may hold the pipe for ever. */
const EXIT_DRAIN_MS = 250;
const KILL_WAIT_MS = 1000;
const GROUP_WAIT_MS = 500;
/** A line that does not end is looked at after this silence. */
const UNENDED_LINE_MS = 200;
/** What may wait for a server that does not read. */
const STDIN_BYTES = 16 * 1024 * 1024;
const NOISE_CHARS = 200;
const DONE = Promise.resolve();

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

/** One server as a child process in a process group of its own, speaking one JSON object a line. */
export class StdioTransport implements Wire {
  onmessage?: ((message: WireMessage) => void) | undefined;
  onlost?: ((id: number | string | null, error: LinkError) => void) | undefined;
  onclose?: ((reason: CloseReason) => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;

  readonly #options: StdioOptions;
  readonly #clock: Clock;
  readonly #stderr: StderrLog;
  readonly #lines: LineReader;
  #child: Child | undefined;
  /** Messages of this turn of the event loop. */
  #outgoing = "";
  #unended: NodeJS.Timeout | undefined;
  #startedAt = 0;
  #exit: { readonly code: number | null; readonly signal: string | null } | undefined;
  #gone: Promise<void> = DONE;
  #closing: Promise<void> | undefined;
  #planned = false;
  #force = false;
  #hurry: () => void = () => {};
  #closed = false;
  #fault: string | null = null;
  #heard = false;
  #afterContentLength = false;

  constructor(options: StdioOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#stderr = new StderrLog(this.#clock, options.onStderr);
    this.#lines = new LineReader(options.lineBytes, {
      line: (line) => this.#onLine(line),
      oversize: (head, tail, bytes) => this.#onOversize(head, tail, bytes),
    });
  }

  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  /** The last lines of stderr, free of control characters. */
  get stderrTail(): readonly string[] {
    return this.#stderr.tail();
  }

  /** Spawns the process. Throws a StartError when the system refuses. */
  start(): Promise<void> {
    const { command, args, cwd, env } = this.#options;
    try {
      checkCwd(cwd);
    } catch (error) {
      return Promise.reject(error);
    }
    const line = spawnLine(command, args, process.platform, env["COMSPEC"]);
    this.#startedAt = this.#clock.monotonic();
    let child: Child;
    try {
      // A group of its own, so that wrappers (npx, sh -c, docker) and what they started end together.
      child = spawn(line.file, line.args, {
        cwd,
        env,
        stdio: ["pipe", "pipe", "pipe"],
        detached: process.platform !== "win32",
        windowsHide: true,
        windowsVerbatimArguments: line.verbatim,
      });
    } catch (error) {
      return Promise.reject(new StartError(`${command} could not be started: ${(error as Error).message}`, { retry: false, cause: error }));
    }
    this.#child = child;
    const started = new Promise<void>((resolve, reject) => {
      child.once("spawn", resolve);
      child.on("error", (error) => {
        if (child.pid !== undefined) return this.onerror?.(error);
        this.#closed = true;
        reject(spawnFault(error, { command, args, cwd, path: env["PATH"] }));
      });
    });
    // Without a process there are no pipes to listen at; where the system is out of descriptors, none were made.
    if (child.pid === undefined) return started;
    this.#options.children.add(child.pid);
    this.#gone = new Promise((resolve) => child.once("exit", () => resolve()));
    child.once("exit", (code, signal) => this.#onExit(code, signal));
    // EPIPE and the like: the exit or the end of stdout tells the rest.
    child.stdin.on("error", (error) => this.onerror?.(error));
    child.stdin.once("close", () => this.#onPipeEnd("closed its stdin"));
    child.stdout.on("data", (chunk: Buffer) => {
      this.#lines.push(chunk);
      if (this.#lines.waiting) this.#lookAtUnended();
    });
    child.stdout.on("error", (error) => this.onerror?.(error));
    child.stdout.once("end", () => this.#onPipeEnd("closed its stdout"));
    child.stderr.on("data", (chunk: Buffer) => this.#stderr.push(chunk));
    child.stderr.on("error", (error) => this.onerror?.(error));
    child.stderr.once("end", () => this.#stderr.end());
    return started;
  }

  send(message: JsonObject): Promise<void> {
    const stdin = this.#child?.stdin;
    if (stdin === undefined || this.#closed || this.#exit !== undefined || !stdin.writable) {
      return Promise.reject(new LinkError("closed", "the server's process has ended"));
    }
    if (stdin.writableLength + this.#outgoing.length > STDIN_BYTES) {
      return Promise.reject(new LinkError("overloaded", `the server does not read its input: ${stdin.writableLength} bytes wait for it`));
    }
    // What is sent in one turn goes out in one write: a write costs more than all the rest of a message.
    if (this.#outgoing === "") process.nextTick(() => this.#flush());
    this.#outgoing += `${stringifyExact(message)}\n`;
    return DONE;
  }

  #flush(): void {
    const stdin = this.#child?.stdin;
    if (this.#outgoing !== "" && stdin?.writable) stdin.write(this.#outgoing);
    this.#outgoing = "";
  }

  /** Stdin closed, then SIGTERM, then SIGKILL for the whole group. Resolves when nothing is left. `force` kills at once, also a stop that is under way. */
  close(options: { readonly force?: boolean } = {}): Promise<void> {
    this.#planned = true;
    if (options.force === true) {
      this.#force = true;
      this.#hurry();
    }
    this.#closing ??= this.#stop();
    return this.#closing;
  }

  async #stop(): Promise<void> {
    const child = this.#child;
    const pid = child?.pid;
    if (child === undefined || pid === undefined) return this.#finish();
    const grace = this.#options.graceMs ?? GRACE_MS;
    this.#flush();
    child.stdin.end();
    if (!(await this.#goneWithin(grace))) {
      signalGroup(pid, "SIGTERM");
      if (!(await this.#goneWithin(grace))) {
        signalGroup(pid, "SIGKILL");
        await this.#within(this.#gone, KILL_WAIT_MS);
      }
    }
    await this.#endGroup(pid);
    child.stdin.destroy();
    child.stdout.destroy();
    child.stderr.destroy();
    this.#options.children.remove(pid);
    this.#finish();
  }

  /** Ends what a leader that is gone has left behind. */
  async #endGroup(pid: number): Promise<void> {
    if (!groupAlive(pid)) return;
    if (!this.#force) {
      signalGroup(pid, "SIGTERM");
      for (let waited = 0; waited < GROUP_WAIT_MS && !this.#force && groupAlive(pid); waited += 25) await sleep(25);
    }
    if (groupAlive(pid)) signalGroup(pid, "SIGKILL");
    for (let waited = 0; waited < GROUP_WAIT_MS && groupAlive(pid); waited += 25) await sleep(25);
  }

  async #goneWithin(ms: number): Promise<boolean> {
    if (this.#force && this.#exit === undefined) return false;
    const hurried = new Promise<void>((resolve) => (this.#hurry = resolve));
    await this.#within(Promise.race([this.#gone, hurried]), ms);
    return this.#exit !== undefined;
  }

  async #within(event: Promise<void>, ms: number): Promise<void> {
    if (this.#exit !== undefined) return;
    let timer: NodeJS.Timeout | undefined;
    await Promise.race([event, new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)))]);
    clearTimeout(timer);
  }

  #onExit(code: number | null, signal: string | null): void {
    this.#exit = { code, signal };
    const drained = (): void => {
      clearTimeout(timer);
      this.#lines.end();
      // What it started ends with it, and the group's number is free again.
      this.#closing ??= this.#stop();
      this.#finish();
    };
    const timer = setTimeout(drained, EXIT_DRAIN_MS);
    const stdout = this.#child!.stdout;
    if (stdout.readableEnded || stdout.destroyed) drained();
    else stdout.once("end", drained);
  }

  #onPipeEnd(fault: string): void {
    if (this.#exit !== undefined || this.#closing !== undefined) return;
    // Usually the first sign of an exit; a server that lives on without one of them can never answer again.
    setTimeout(() => {
      if (this.#exit !== undefined || this.#closing !== undefined) return;
      this.#fault = fault;
      this.#closing = this.#stop();
      this.#finish();
    }, EXIT_DRAIN_MS);
  }

  #finish(): void {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#unended);
    this.onclose?.({
      planned: this.#planned,
      message: this.#endInWords(),
      exitCode: this.#exit?.code ?? null,
      signal: this.#exit?.signal ?? null,
      stderrTail: this.stderrTail,
    });
  }

  #endInWords(): string {
    const after = `after ${seconds(this.#clock.monotonic() - this.#startedAt)}`;
    if (this.#fault !== null) return `${this.#fault} ${after}`;
    if (this.#exit === undefined) return `was stopped ${after}`;
    return this.#exit.signal === null ? `exited with code ${this.#exit.code} ${after}` : `was ended by ${this.#exit.signal} ${after}`;
  }

  /** Some servers never end a line, or end it with a carriage return alone: a message that is whole is taken all the same. */
  #lookAtUnended(): void {
    if (this.#unended !== undefined) return void this.#unended.refresh();
    this.#unended = setTimeout(() => {
      this.#unended = undefined;
      this.#lines.endIf((bytes) => {
        if (!isWhole(bytes.toString("utf8")) || readStdoutLine(bytes).kind !== "messages") return false;
        this.#options.onNote("wrote a message without a newline behind it; it was taken after a while, each such message comes late");
        this.#onLine(bytes);
        return true;
      });
    }, UNENDED_LINE_MS).unref();
  }

  #onLine(bytes: Buffer): void {
    const line = readStdoutLine(bytes);
    switch (line.kind) {
      case "messages":
        this.#heard = true;
        this.#afterContentLength = false;
        if (line.note !== null) this.#options.onNote(line.note);
        for (const message of line.messages) this.onmessage?.(message);
        return;
      case "content-length":
        this.#afterContentLength = !this.#heard;
        if (this.#heard) this.#options.onNote("wrote a Content-Length line to stdout; it was skipped");
        return;
      case "blank":
        // A header block and then the body, which ends without a newline: nothing more would ever arrive.
        if (!this.#afterContentLength) return;
        this.#fault = "server uses Content-Length framing; MCP stdio needs one JSON object per line";
        this.#closing ??= this.#stop();
        this.#finish();
        return;
      case "broken":
        this.#options.onNote(`answered request ${plainLine(String(line.id))} with what cannot be read: ${line.why}`);
        this.onlost?.(line.id, new LinkError("invalid", `the server answered with what cannot be read: ${line.why}`, { sent: true }));
        return;
      case "noise":
        this.#afterContentLength = false;
        this.#options.onNote(`wrote to stdout what is not JSON-RPC: ${plainLine(line.text.slice(0, NOISE_CHARS))}`);
    }
  }

  #onOversize(head: Buffer, tail: Buffer, bytes: number): void {
    const error = new LinkError(
      "too-large",
      `the server sent a message of ${bytes} bytes, over the limit of ${this.#options.lineBytes} (line_bytes); it was dropped`,
      { sent: true },
    );
    this.#options.onNote(`sent a message of ${bytes} bytes, over line_bytes (${this.#options.lineBytes}); it was dropped`);
    this.onlost?.(answeredId(head.toString("latin1"), tail.toString("latin1")), error);
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
