import { describe, expect, it } from "vitest";
import type { CloseReason, LinkError } from "../../src/runtime/ports.ts";
import { scripted } from "../support/app-plan.ts";
import { open, textOf, toolCall, until } from "./support.ts";

const ok = (text: string): object => ({ content: [{ type: "text", text }] });
const frame = (text: string): string => `{"jsonrpc":"2.0","id":$id,"result":${JSON.stringify(ok(text))}}`;

describe("stdout that is not only JSON-RPC", () => {
  it("skips lines of a pretty-printed object one by one (actual-mcp#161)", async () => {
    const noise = "[Breadcrumb] {\n  message: 'x'\n}\n";
    const { connection, notes } = await open(
      scripted({ on: { start: [{ stdout: noise }], "tools/call": [{ stdout: noise }, { result: ok("fine") }, { stdout: noise }] } }),
    );
    expect(textOf(await connection.request(...toolCall()))).toBe("fine");
    expect(textOf(await connection.request(...toolCall()))).toBe("fine");
    expect(notes.join("\n")).toContain("[Breadcrumb] {");
  });

  it.each([
    ["CRLF", `${frame("fine")}\r\n`],
    ["a byte order mark", `\uFEFF${frame("fine")}\n`],
    ["blank lines", `\n\r\n${frame("fine")}\n\n`],
    ["JSON scalars and broken JSON", `42\n"text"\nnull\n[]\n{not json}\n{"level":30,"msg":"log"}\n${frame("fine")}\n`],
    ["text glued in front", `Loading model... done {x} ${frame("fine")}\n`],
    ["a log object glued in front", `{"level":30}${frame("fine")}\n`],
    ["extra top-level keys", `${frame("fine").replace('{"jsonrpc"', '{"timing":3,"jsonrpc"')}\n`],
    ["no jsonrpc member", `${frame("fine").replace('"jsonrpc":"2.0",', "")}\n`],
    ["a batch", `[${frame("fine")},{"jsonrpc":"2.0","method":"notifications/message","params":{}}]\n`],
    ["a batch with what is no message", `[1,null,"x",${frame("fine")}]\n`],
    ["words behind it", `${frame("fine")} INFO done\n`],
    ["another message behind it", `{"jsonrpc":"2.0","method":"notifications/message","params":{}}\r${frame("fine")}\r\n`],
    ["colours on the same line", `\u001b[0m${frame("fine")}\u001b[0m\n`],
    ["NUL bytes", `\0${frame("fine")}\0\n`],
    ["colours around", `\u001b[32minfo\u001b[0m\n${frame("fine")}\n`],
  ])("is read past: %s", async (_name, raw) => {
    const { connection } = await open(scripted({ on: { "tools/call": [{ raw }] } }));
    expect(textOf(await connection.request(...toolCall(), { timeoutMs: 2000 }))).toBe("fine");
  });

  const deep = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;
  it.each([
    ["NaN", '{"jsonrpc":"2.0","id":$id,"result":{"content":[],"structuredContent":{"a":NaN}}}', "NaN"],
    ["an unfinished object", '{"jsonrpc":"2.0","id":$id,"result":{"content":[]', "JSON"],
    ["its id at the end", '{"result":{"content":[],"x":Infinity},"id":$id,"jsonrpc":"2.0"}', "JSON"],
    ["a result nested without end", `{"jsonrpc":"2.0","id":$id,"result":{"content":[],"structuredContent":${deep}}}`, "deeper than 500 levels"],
    ["an error nested without end", `{"jsonrpc":"2.0","id":$id,"error":{"code":1,"message":"x","data":${deep}}}`, "deeper than 500 levels"],
  ])("ends the call at once where its answer cannot be read: %s", async (_name, raw, why) => {
    const { connection } = await open(scripted({ on: { "tools/call": [{ raw: `${raw}\n` }], "tools/call#2": [{ result: ok("fine") }] } }));
    await expect(connection.request(...toolCall(), { timeoutMs: 20_000 })).rejects.toMatchObject({
      kind: "invalid",
      sent: true,
      message: expect.stringContaining(why),
    });
    expect(textOf(await connection.request(...toolCall()))).toBe("fine");
  });

  it("takes an HTTP log line with a method for noise, not for a notification", async () => {
    const heard: string[] = [];
    const { connection } = await open(scripted({ on: { "tools/call": [{ stdout: '{"method":"GET","url":"/"}\n' }, { result: ok("fine") }] } }));
    connection.onNotification((method) => heard.push(method));
    await connection.request(...toolCall());
    expect(heard).toEqual([]);
  });

  it("survives a flood of noise, and tells it at a bounded rate", async () => {
    const { connection, notes } = await open(scripted({ on: { "tools/call": [{ stdout: "noise\n", repeat: 100_000 }, { result: ok("fine") }] } }));
    expect(textOf(await connection.request(...toolCall()))).toBe("fine");
    expect(notes.length).toBeLessThan(1000);
  });
});

describe("bytes", () => {
  it("keeps multibyte text that is flushed byte by byte (mcp-proxy#89)", async () => {
    const { connection } = await open(scripted({ on: { "tools/call": [{ result: ok("naïve 日本 🎉"), bytewise: true }] } }));
    expect(textOf(await connection.request(...toolCall()))).toBe("naïve 日本 🎉");
  });

  it("replaces invalid UTF-8, says so, and goes on (codebase-memory-mcp#511)", async () => {
    const hex = Buffer.concat([
      Buffer.from('{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"'),
      Buffer.from([0xc7, 0xd1]),
      Buffer.from('"}]}}\n'),
    ]).toString("hex");
    const { connection, notes } = await open(scripted({ on: { "tools/call": [{ hex }], "tools/call#2": [{ result: ok("fine") }] } }));
    expect(textOf(await connection.request(...toolCall(), { timeoutMs: 2000 }))).toMatch(/^\uFFFD+$/);
    expect(notes.join()).toContain("not UTF-8");
    expect(textOf(await connection.request(...toolCall()))).toBe("fine");
  });

  it("does not warn about a real U+FFFD", async () => {
    const { connection, notes } = await open(scripted({ on: { "tools/call": [{ result: ok("\uFFFD") }] } }));
    expect(textOf(await connection.request(...toolCall()))).toBe("\uFFFD");
    expect(notes).toEqual([]);
  });

  it("reads 25 MiB on one line in linear time", async () => {
    const { connection } = await open(
      scripted({
        on: {
          "tools/call": [
            { stdout: '{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"' },
            { stdout: "x".repeat(1024), repeat: 25 * 1024 },
            { stdout: '"}]}}\n' },
          ],
        },
      }),
    );
    const started = Date.now();
    expect(textOf(await connection.request(...toolCall(), { timeoutMs: 15_000 }))).toHaveLength(25 * 1024 * 1024);
    expect(Date.now() - started).toBeLessThan(8000);
  });

  it.each([
    ["id first", '{"jsonrpc":"2.0","id":$id,"result":{"content":[{"type":"text","text":"', '"}]}}\n'],
    ["id last", '{"result":{"content":[{"type":"text","text":"', '"}]},"jsonrpc":"2.0","id":$id}\n'],
    ["id nowhere to be seen", '{"result":{"content":[{"type":"text","text":"', "\n"],
  ])("drops a message over line_bytes alone and fails its request at once: %s", async (_name, head, tail) => {
    const { connection, notes } = await open(
      scripted(
        { on: { "tools/call": [{ raw: head }, { stdout: "x".repeat(1024), repeat: 200 }, { raw: tail }], "tools/call#2": [{ result: ok("fine") }] } },
        { lineBytes: 100_000 },
      ),
    );
    const started = Date.now();
    await expect(connection.request(...toolCall())).rejects.toMatchObject({ kind: "too-large", sent: true });
    expect(Date.now() - started).toBeLessThan(3000);
    expect(notes.join()).toContain("line_bytes");
    expect(textOf(await connection.request(...toolCall()))).toBe("fine");
  });
});

describe("framing", () => {
  it("takes a message that is whole although its line never ends, or ends with a carriage return alone, and says so", async () => {
    const answer = (end: string): object[] => [{ raw: `{"jsonrpc":"2.0","id":$id,"result":{"content":[{"type":"text","text":"a } b"}]}}${end}` }];
    const news = { raw: '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}\r' };
    for (const end of ["", "\r", " \r\r"]) {
      const { connection, notes } = await open(scripted({ on: { "tools/call": [news, ...answer(end)] } }));
      for (let n = 0; n < 2; n += 1) expect(textOf(await connection.request(...toolCall()))).toBe("a } b");
      expect(notes).toContainEqual(expect.stringContaining("wrote a message without a newline behind it"));
    }
  });

  it("never takes a part of a message, however long the rest takes", async () => {
    const first = '{"jsonrpc":"2.0","id":9999,"result":{}}';
    const parts = ['{"jsonrpc":"2.0","id":$id,"result":{"content":[{"type":"text","text":"{\\"a\\":{}}', ' and more"}]', "}", "}\n"];
    const { connection, notes } = await open(scripted({ on: { "tools/call": parts.flatMap((raw) => [{ raw }, { delay: 400 }]) } }));
    expect(textOf(await connection.request(...toolCall()))).toBe('{"a":{}} and more');
    expect(notes).toEqual([]);
    const glued = await open(scripted({ on: { "tools/call": [{ raw: first + parts[0]! }, { delay: 400 }, { raw: parts.slice(1).join("") }] } }));
    expect(textOf(await glued.connection.request(...toolCall()))).toBe('{"a":{}} and more');
  });

  it("detects Content-Length framing within the start (agent-os#898)", async () => {
    const body = '{"jsonrpc":"2.0","id":0,"result":{}}';
    const started = Date.now();
    await expect(open(scripted({ on: { initialize: [{ raw: `Content-Length: ${body.length}\r\n\r\n${body}` }] } }))).rejects.toMatchObject({
      message: expect.stringContaining("server uses Content-Length framing; MCP stdio needs one JSON object per line"),
      retry: false,
    });
    expect(Date.now() - started).toBeLessThan(8000);
  });
});

describe("stderr", () => {
  it("is drained during a call (mcp-go#956)", async () => {
    const { connection } = await open(scripted({ on: { "tools/call": [{ stderr: "x".repeat(1023) + "\n", repeat: 256 }, { result: ok("fine") }] } }));
    expect(textOf(await connection.request(...toolCall()))).toBe("fine");
  });

  it("takes carriage returns for line breaks and stays bounded (ruby-mcp-client#142)", async () => {
    const { connection, stderr } = await open(
      scripted({ on: { "tools/call": [{ stderr: "\r 12%", repeat: 2_000_000 }, { stderr: "\n" }, { result: ok("fine") }] } }),
    );
    expect(textOf(await connection.request(...toolCall(), { timeoutMs: 15_000 }))).toBe("fine");
    await until(() => stderr.length > 0);
    expect(stderr[0]).toBe(" 12%");
    expect(stderr.length).toBeLessThan(2000);
    expect(stderr.some((line) => line.includes("lines of stderr left out"))).toBe(true);
  });

  it("has no escape sequences or control characters, and cuts endless lines", async () => {
    const { stderr } = await open(
      scripted({
        on: {
          start: [
            { stderr: "\u001b[31mred\u001b[0m \u001b]0;title\u0007bell\u0007\tx\u0000\u202Eevil\n" },
            { stderr: "y".repeat(1024), repeat: 200 },
            { stderr: "\n" },
          ],
        },
      }),
    );
    await until(() => stderr.length > 2);
    expect(stderr[0]).toBe("red bell x\\u{202e}evil");
    expect(Math.max(...stderr.map((line) => line.length))).toBeLessThanOrEqual(64 * 1024);
  });

  it("gives its last lines with the end of the connection", async () => {
    const { connection } = await open(scripted({ on: { "tools/call": [{ stderr: "fatal: out of cheese\n" }, { delay: 50 }, { exit: 7 }] } }));
    const closed = new Promise((resolve) => connection.onClosed(resolve));
    await expect(connection.request(...toolCall())).rejects.toMatchObject({
      kind: "closed",
      sent: true,
      message: expect.stringContaining("exited with code 7"),
    });
    expect(await closed).toMatchObject({ planned: false, exitCode: 7, signal: null, stderrTail: ["fatal: out of cheese"] });
  });
});

describe("stdin", () => {
  it("that the server does not read fails calls instead of filling memory", async () => {
    const { connection } = await open(scripted({ on: { "tools/call": [{ raw: "" }] } }));
    process.kill(connection.pid!, "SIGSTOP");
    const big = "x".repeat(8 * 1024 * 1024);
    const results = await Promise.allSettled([1, 2, 3, 4, 5].map(() => connection.request(...toolCall("echo", { big }), { timeoutMs: 300 })));
    const kinds = results.map((result) => (result.status === "rejected" ? (result.reason as { kind: string; sent: boolean }) : null));
    expect(kinds.filter((error) => error?.kind === "overloaded" && !error.sent).length).toBeGreaterThanOrEqual(2);
    process.kill(connection.pid!, "SIGCONT");
  });

  it("that the server closed ends in a typed error, never in a crash", async () => {
    const { connection } = await open(scripted({ on: { "tools/call": [{ kill: "SIGKILL" }] } }));
    const results = await Promise.allSettled(Array.from({ length: 20 }, () => connection.request(...toolCall())));
    expect(results.every((result) => result.status === "rejected" && (result.reason as { kind: string }).kind === "closed")).toBe(true);
    await expect(connection.request(...toolCall())).rejects.toMatchObject({ kind: "closed", sent: false });
  });
});

describe("stdin that closes", () => {
  it("while the process lives ends the connection, at the next message, for it can never be asked again", async () => {
    const { connection } = await open(scripted({ ignoreEof: true, on: { "tools/call": [{ result: ok("deaf now") }, { closeStdin: true }] } }));
    const ended = new Promise<CloseReason>((resolve) => connection.onClosed(resolve));
    expect(textOf(await connection.request(...toolCall()))).toBe("deaf now");
    const started = Date.now();
    await until(async () => (await connection.request(...toolCall(), { timeoutMs: 200 }).catch((error: unknown) => error as LinkError)).kind === "closed");
    expect(Date.now() - started).toBeLessThan(3000);
    expect(await ended).toMatchObject({ planned: false, message: expect.stringContaining("closed its stdin") });
  });
});

describe("stdout that closes", () => {
  it("while the process lives ends the connection", async () => {
    const { connection } = await open(scripted({ ignoreEof: true, ignoreTerm: false, on: { "tools/call": [{ closeStdout: true }] } }));
    const started = Date.now();
    await expect(connection.request(...toolCall())).rejects.toMatchObject({ kind: "closed" });
    expect(Date.now() - started).toBeLessThan(3000);
  });
});
