import fc from "fast-check";
import { runs } from "../support/explore.ts";
import { describe, expect, it } from "vitest";
import { childEnvironment } from "../../src/mcp/child-environment.ts";
import { proxyFor } from "../../src/mcp/http-proxy.ts";
import { endOfValue, isTooDeep, isWhole, MAX_NESTING } from "../../src/base/json-scan.ts";
import { LineReader } from "../../src/mcp/line-reader.ts";
import { plainLine } from "../../src/mcp/plain-line.ts";
import { adviseVersion } from "../../src/mcp/protocol-versions.ts";
import { SseReader } from "../../src/mcp/sse-reader.ts";
import { readStdoutLine } from "../../src/mcp/stdout-line.ts";
import { spawnLine } from "../../src/mcp/windows-command.ts";

/** Cuts a buffer at the given places. */
function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const at = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
  return [...at, bytes.length].map((end, i) => bytes.subarray(i === 0 ? 0 : at[i - 1], end));
}

describe("LineReader", () => {
  function read(chunks: readonly Buffer[], max = 1000): { lines: string[]; dropped: number[] } {
    const out = { lines: [] as string[], dropped: [] as number[] };
    const reader = new LineReader(max, { line: (line) => out.lines.push(line.toString()), oversize: (_head, _tail, bytes) => out.dropped.push(bytes) });
    for (const chunk of chunks) reader.push(chunk);
    reader.end();
    return out;
  }

  it("gives the same lines however the stream is cut", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 30, unit: "grapheme" }).map((s) => s.replaceAll("\n", ""))), fc.array(fc.nat()), (lines, places) => {
        const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(""));
        expect(read(cut(bytes, places)).lines).toEqual(lines);
      }),
    );
  });

  it("drops only lines over the cap, however the stream is cut", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(60), { maxLength: 20 }), fc.array(fc.nat()), (lengths, places) => {
        const bytes = Buffer.from(lengths.map((n) => `${"x".repeat(n)}\n`).join(""));
        const { lines, dropped } = read(cut(bytes, places), 30);
        expect(lines.map((line) => line.length)).toEqual(lengths.filter((n) => n <= 30));
        expect(dropped).toEqual(lengths.filter((n) => n > 30));
      }),
    );
  });
});

describe("SseReader", () => {
  function read(chunks: readonly Buffer[], max = 1000): { events: { event: string; data: string; id: string | null }[]; retries: number[]; dropped: number } {
    const out = { events: [] as never[], retries: [] as number[], dropped: 0 };
    const reader = new SseReader(max, {
      event: (event) => out.events.push(event as never),
      retry: (ms) => out.retries.push(ms),
      oversize: () => (out.dropped += 1),
    });
    for (const chunk of chunks) reader.push(chunk);
    return out;
  }
  const text =
    '\uFEFF: hello\r\nid: 1\r\ndata: {"a":"日本 🎉"}\r\n\r\nevent: endpoint\ndata:/x\ndata: y\n\nretry: 250\rdata\r\rid: 2\n\ndata: last\n\nunknown: z\n\n: keep-alive\n\n';

  it("reads every form of line break, comments, ids without data and retry, however the stream is cut", () => {
    fc.assert(
      fc.property(fc.array(fc.nat()), (places) => {
        const { events, retries, dropped } = read(cut(Buffer.from(text), places));
        expect(events).toEqual([
          { event: "message", data: '{"a":"日本 🎉"}', id: "1" },
          { event: "endpoint", data: "/x\ny", id: null },
          { event: "message", data: "", id: null },
          { event: "message", data: "", id: "2" },
          { event: "message", data: "last", id: null },
        ]);
        expect(retries).toEqual([250]);
        expect(dropped).toBe(0);
      }),
    );
  });

  it("drops an event over the cap alone, also over several lines", () => {
    const big = "x".repeat(60);
    for (const event of [`data: ${big}${big}\n\n`, `data: ${big}\ndata: ${big}\ndata: tail\n\n`]) {
      fc.assert(
        fc.property(fc.array(fc.nat()), (places) => {
          const { events, dropped } = read(cut(Buffer.from(`data: a\n\n${event}data: b\n\n`), places), 100);
          expect([events.map((e) => e.data), dropped]).toEqual([["a", "b"], 1]);
        }),
        runs(30),
      );
    }
  });

  it("does not count keep-alives towards the cap", () => {
    const { events, dropped } = read([Buffer.from(`${": keep-alive\n".repeat(100)}data: a\n\n`)], 50);
    expect([events.length, dropped]).toEqual([1, 0]);
  });
});

describe("the scan of a JSON text", () => {
  it("finds the end of a value, whatever stands in its strings", () => {
    fc.assert(
      fc.property(fc.oneof(fc.object(), fc.array(fc.anything())), fc.string(), (value, rest) => {
        const text = JSON.stringify(value);
        expect(endOfValue(`${text}${rest}`, 0)).toBe(text.length);
      }),
    );
    for (const text of ["{", '{"a', '{"a\\"}', "[[]", ""]) expect(endOfValue(text, 0)).toBe(-1);
  });

  it("knows what is whole", () => {
    for (const text of ["{}", " [1]\r{} \r\n", '\uFEFF{"a":"}{"}', '{"a":[{}]}{"b":1}']) expect([text, isWhole(text)]).toEqual([text, true]);
    for (const text of ["", " ", "{", '{"a":"}', "{}{", "{} x", "x {}", '{"a":{}', "{}]", "5"]) expect([text, isWhole(text)]).toEqual([text, false]);
  });

  it("knows what is nested too deep, but not what only looks like it, in linear time", () => {
    const nested = (depth: number): string => `${"[".repeat(depth)}${" ".repeat(2000)}${"]".repeat(depth)}`;
    expect([MAX_NESTING, MAX_NESTING + 1].map((depth) => isTooDeep(nested(depth)))).toEqual([false, true]);
    expect(isTooDeep(JSON.stringify({ text: "[".repeat(5000), quoted: '\\"['.repeat(5000) }))).toBe(false);
    const started = performance.now();
    isTooDeep(`"${"\\".repeat(2_000_000)}`);
    isTooDeep('"'.repeat(2_000_000));
    expect(performance.now() - started).toBeLessThan(2000);
  });
});

describe("readStdoutLine", () => {
  it("never takes part of a log text for a message", () => {
    for (const text of [
      'saw {"jsonrpc":"2.0","id":1,"result":{}} and went on',
      'x {"id":1,"result":{}}',
      '{"jsonrpc":"2.0"',
      "{{{{{{",
      '{"method":"x"}',
      '{"id":5}',
      "[1,2]",
      '"jsonrpc"',
    ]) {
      expect(readStdoutLine(Buffer.from(text)).kind, text).toBe("noise");
    }
  });

  it("never throws, in linear time", () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => void readStdoutLine(Buffer.from(bytes))));
    const started = performance.now();
    readStdoutLine(Buffer.from('{"jsonrpc":'.repeat(200_000)));
    for (const edge of [" ", "\0", "\u001b", "\u001b[0m", " \u001b[0"])
      for (const text of [`x${edge.repeat(200_000)}y`, edge.repeat(200_000), `{"id":1${edge.repeat(200_000)}{`])
        expect(readStdoutLine(Buffer.from(text)).kind).not.toBe("messages");
    expect(performance.now() - started).toBeLessThan(2000);
  });

  it("reads a message between colours and control characters", () => {
    const message = { jsonrpc: "2.0", method: "m" };
    for (const [before, after] of [
      ["\u001b[2K\u001b[0;31m \0", " \u001b[0m\u001b[0m"],
      ["\u001b\0", `${" ".repeat(40)}\u001b[0m \u001b`],
    ])
      expect(readStdoutLine(Buffer.from(`${before}${JSON.stringify(message)}${after}`))).toMatchObject({ kind: "messages", messages: [message] });
  });
});

describe("plainLine", () => {
  it("leaves no control, escape, bidi or zero-width character, whatever comes", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 300 }), (text) => {
        expect(plainLine(text)).not.toMatch(/[\p{Cc}\p{Cf}]/u);
      }),
    );
    expect(plainLine("\u001b]8;;https://evil.test\u0007link\u001b]8;;\u0007 \u009b31mred 天气")).toBe("link red 天气");
  });

  it("takes little time for hostile text", () => {
    const started = performance.now();
    for (const unit of ["\u001b[", "\u001b]", "\u001b[0;", "\u001b", "\u009b1"]) plainLine(unit.repeat(1_000_000));
    expect(performance.now() - started).toBeLessThan(1000);
  });
});

describe("on Windows (as text; not run there)", () => {
  it("a .cmd under a path with spaces becomes one verbatim line with an outer pair of quotes (glm-acp-agent#106)", () => {
    const line = spawnLine("C:\\Program Files\\nodejs\\npx.cmd", ["-y", "C:\\My Dir\\", "a&b", "100%", 'say "hi"'], "win32");
    expect(line).toMatchObject({ file: "cmd.exe", verbatim: true });
    expect(line.args.slice(0, 3)).toEqual(["/d", "/s", "/c"]);
    const text = line.args[3]!;
    expect(text.startsWith('"^"C:\\Program^ Files\\nodejs\\npx.cmd^" ')).toBe(true);
    expect(text.endsWith('"')).toBe(true);
    // What is left once cmd.exe has read the line, and the batch file its arguments.
    const afterShell = (value: string): string => value.replaceAll(/\^(.)/g, "$1");
    expect(afterShell(afterShell(text.slice(1, -1)))).toContain('"-y" "C:\\My Dir\\\\" "a&b" "100%" "say \\"hi\\""');
    // No character that the shell reads stands without a caret.
    expect(text.slice(1, -1).replaceAll(/\^./g, "")).not.toMatch(/[&|<>"%]/);
  });

  it("programs that are no batch files are left alone, and so is everything elsewhere", () => {
    expect(spawnLine("node.exe", ["a b"], "win32")).toEqual({ file: "node.exe", args: ["a b"], verbatim: false });
    expect(spawnLine("npx", ["a&b"], "linux")).toEqual({ file: "npx", args: ["a&b"], verbatim: false });
  });

  it("variables are matched without case, and set once", () => {
    const env = childEnvironment({ Path: "C:\\", SystemRoot: "C:\\Windows", OPENAI_API_KEY: "k", AppData: "d" }, [], { PATH: "D:\\" }, "win32");
    expect({ ...env }).toEqual({ SystemRoot: "C:\\Windows", AppData: "d", PATH: "D:\\" });
  });
});

describe("proxyFor", () => {
  const env = {
    HTTPS_PROXY: "http://upper:1",
    https_proxy: "lower:2",
    HTTP_PROXY: "http://plain:3",
    NO_PROXY: "a.test, .b.test *.c.test d.test:8443 10.0.0.1 [::5]",
  };
  it.each([
    ["https://x.test/", "http://lower:2/"],
    ["http://x.test/", "http://plain:3/"],
    ["https://a.test/", null],
    ["https://sub.a.test/", null],
    ["https://b.test/", null],
    ["https://sub.b.test/", null],
    ["https://sub.c.test/", null],
    ["https://nota.test/", "http://lower:2/"],
    ["https://d.test:8443/", null],
    ["https://d.test/", "http://lower:2/"],
    ["http://10.0.0.1/", null],
    ["http://10.0.0.11/", "http://plain:3/"],
    ["http://[::5]/", null],
    ["http://localhost:5/", null],
    ["http://127.8.8.8/", null],
    ["http://[::1]/", null],
  ])("%s goes through %s", (url, proxy) => expect(proxyFor(new URL(url), env)?.href ?? null).toBe(proxy));

  it("takes * for all, and ignores proxies of other kinds", () => {
    expect(proxyFor(new URL("https://x.test"), { ...env, NO_PROXY: "*" })).toBeNull();
    expect(proxyFor(new URL("https://x.test"), { HTTPS_PROXY: "socks5://x" })).toBeNull();
    expect(proxyFor(new URL("https://x.test"), { ALL_PROXY: "http://all:1" })?.host).toBe("all:1");
  });
});

describe("adviseVersion", () => {
  it.each([
    [
      "the newest known of those listed",
      { code: -32022, message: "no", data: { supported: ["2024-11-05", "2025-03-26", "2030-01-01"] } },
      { kind: "retry", version: "2025-03-26" },
    ],
    ["the next older, when none is named", { code: -32602, message: "bad params", data: undefined }, { kind: "retry", version: "2025-06-18" }],
    [
      "none, when only unknown ones are",
      { code: undefined, message: "Unsupported protocol version; use 2030-01-01", data: undefined },
      { kind: "none", listed: ["2030-01-01"] },
    ],
    ["nothing, for other errors", { code: -32603, message: "database down since 2024-11-05", data: undefined }, { kind: "other" }],
  ])("says %s", (_name, error, advice) => expect(adviseVersion("2025-11-25", error)).toEqual(advice));
});
