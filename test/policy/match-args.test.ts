import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { compileArgumentTest } from "../../src/policy/match-args.ts";
import { normalizePath, spellingsOf } from "../../src/policy/spellings.ts";

type Matcher = Parameters<typeof compileArgumentTest>[1];

const judge = (matcher: object, args: JsonObject, path = "x") => compileArgumentTest(path, matcher as Matcher).test.judge(args);

describe("values", () => {
  it.each([
    [{ equals: "a" }, "a", "yes"],
    [{ equals: "a" }, "b", "no"],
    [{ equals: 5 }, "5", "unclear"],
    [{ equals: "5" }, 5, "unclear"],
    [{ equals: { a: 1, b: 2 } }, { b: 2, a: 1 }, "yes"],
    [{ equals: null }, null, "yes"],
    [{ one_of: ["a", 2] }, 2, "yes"],
    [{ one_of: ["a", 2] }, "c", "no"],
    [{ min: 1, max: 10 }, 10, "yes"],
    [{ max: 100 }, 101, "no"],
    [{ max: 100 }, "1e9", "unclear"],
    [{ max: 100 }, null, "no"],
    [{ max_length: 3 }, "abc", "yes"],
    [{ max_length: 3 }, "abcd", "no"],
    [{ max_length: 2 }, "👍👍", "yes"],
    [{ max_length: 3 }, ["a", "b"], "yes"],
    [{ max_length: 3 }, ["abcd"], "no"],
    [{ matches: "^gr(oup)?:" }, "group:1", "yes"],
    [{ glob: "group:*" }, "group:1", "yes"],
    [{ glob: "group:*" }, { group: 1 }, "unclear"],
    [{ glob: "1*" }, 12, "yes"],
    [{ glob: "x*", max_length: 2 }, "xyz", "no"],
    [{ present: true }, null, "yes"],
  ] as const)("%j on %j: %s", (matcher, value, verdict) => {
    expect(judge(matcher, { x: value as never })).toBe(verdict);
  });

  it("a missing argument satisfies nothing but present: false", () => {
    for (const matcher of [
      { equals: "a" },
      { one_of: [1] },
      { glob: "*" },
      { matches: "" },
      { min: 0 },
      { max: 9 },
      { max_length: 9 },
      { under: "/" },
      { present: true },
    ])
      expect(judge(matcher, {})).toBe("no");
    expect(judge({ present: false }, {})).toBe("yes");
    expect(judge({ present: false }, { x: null })).toBe("no");
  });

  it("lists: all elements for yes, any element for unclear", () => {
    expect(judge({ glob: "https://good.invalid*" }, { x: ["https://good.invalid", "https://good.invalid/a"] })).toBe("yes");
    expect(judge({ glob: "https://good.invalid*" }, { x: ["https://good.invalid", "https://evil.invalid"] })).toBe("unclear");
    expect(judge({ glob: "https://good.invalid*" }, { x: ["https://evil.invalid"] })).toBe("no");
    expect(judge({ glob: "a" }, { x: [] })).toBe("no");
    expect(judge({ glob: "a" }, { x: [["a"], ["b"]] })).toBe("unclear");
  });

  it("dotted paths walk maps and lists, and a name with dots counts too", () => {
    expect(judge({ equals: 1 }, { a: { b: 1 } }, "a.b")).toBe("yes");
    expect(judge({ equals: 1 }, { a: [{ b: 1 }, { b: 2 }] }, "a.b")).toBe("unclear");
    expect(judge({ equals: 1 }, { a: [{ b: 1 }, {}] }, "a.b")).toBe("unclear");
    expect(judge({ equals: 1 }, { "a.b": 1 }, "a.b")).toBe("yes");
    expect(judge({ equals: 1 }, { "a.b": 2, a: { b: 1 } }, "a.b")).toBe("unclear");
    expect(judge({ equals: 1 }, { a: "text" }, "a.b")).toBe("no");
  });
});

describe("paths", () => {
  it.each([
    ["/data/a..b/c.txt", "yes"],
    ["/data", "yes"],
    ["/data/", "yes"],
    ["/data//x/./y", "yes"],
    ["/data/../data/x", "yes"],
    ["file:///data/x", "yes"],
    ["/data/../etc/passwd", "no"],
    ["/database/x", "no"],
    ["/data/%2e%2e/etc/passwd", "unclear"],
    ["/data/..%2f..%2fetc", "unclear"],
    ["/data/%252e%252e/etc", "unclear"],
    ["/data/．．/etc", "unclear"],
    ["/data\\..\\etc", "no"],
    ["/DATA/x", "unclear"],
    ["~/x", "unclear"],
    ["$HOME/x", "unclear"],
    ["../data/x", "unclear"],
    ["x/y", "no"],
    ["/data/x\0.txt", "unclear"],
    [7, "no"],
    [{ path: "/data" }, "unclear"],
  ] as const)("%j under /data: %s", (value, verdict) => {
    expect(judge({ under: "/data" }, { x: value as never })).toBe(verdict);
  });

  it("a relative folder holds relative paths only", () => {
    expect(judge({ under: "docs" }, { x: "./docs/a" })).toBe("yes");
    expect(judge({ under: "docs" }, { x: "/docs/a" })).toBe("no");
    expect(judge({ under: "." }, { x: "a/b" })).toBe("yes");
    expect(judge({ under: "." }, { x: "/a" })).toBe("no");
    expect(judge({ under: "/" }, { x: "/a" })).toBe("yes");
  });

  it("a glob sees every spelling of a path", () => {
    for (const path of ["./x/../secret/k", "/w/secret/k", "secret/k", "/w/%73ecret/k", "\\w\\secret\\k", "/w//secret/./k"])
      expect(judge({ glob: "**/secret/**" }, { x: path }), path).not.toBe("no");
    expect(judge({ glob: "**/secret/**" }, { x: "/w/secrets/k" })).toBe("no");
    expect(judge({ glob: "/data/*" }, { x: "/data/../etc/passwd" })).toBe("unclear");
    expect(judge({ glob: "https://good.invalid/*" }, { x: "https://good.invalid/a/b?c=d" })).toBe("yes");
  });

  it.each([
    ["/a/./b//c/../d", "/a/b/d"],
    ["../../x", "../../x"],
    ["/../../x", "/x"],
    ["a/..", "."],
    ["C:\\a\\..\\b", "C:/b"],
    ["https://h/a/../b", "https://h/b"],
    ["file:///a/b", "/a/b"],
    ["file://localhost/a", "/a"],
    ["file:/a", "/a"],
  ])("normalizePath(%s) = %s", (path, normal) => {
    expect(normalizePath(path)).toBe(normal);
    expect(normalizePath(normal)).toBe(normal);
  });

  it("text in full-width letters is judged in plain ones too", () => {
    expect(judge({ glob: "*delete*" }, { x: "ｄelete all" })).toBe("unclear");
    expect(judge({ glob: "群：*" }, { x: "群：1" })).toBe("yes");
    expect(spellingsOf("plain text").texts).toEqual(["plain text"]);
  });
});

describe("a value in another dress", () => {
  it.each([
    [{ under: "/etc" }, " /etc/passwd"],
    [{ under: "/etc" }, "\t/etc/passwd\n"],
    [{ under: "/etc" }, "\u3000/etc/passwd"],
    [{ equals: "rm" }, " rm "],
    [{ glob: "rm *" }, " rm -r x"],
    [{ glob: "file:///etc/**" }, "file:////etc/passwd"],
    [{ glob: "file:///etc/**" }, "FILE:///etc/passwd"],
    [{ glob: "file:///etc/**" }, "file:/etc/passwd"],
    [{ glob: "file:///etc/**" }, "file://localhost/etc/passwd"],
    [{ glob: "file:///etc/**" }, " file:///etc/passwd"],
    [{ glob: "file:///etc/**" }, "file:///tmp/../etc/passwd"],
    [{ glob: "https://bank.example/**" }, "HTTPS://BANK.example:443/pay"],
    [{ glob: "https://bank.example/**" }, "https:bank.example/pay"],
    [{ glob: "https://bank.example/**" }, "https://bank.example\\pay"],
    [{ glob: "https://bank.example/**" }, "ht\ntps://bank.example/pay"],
    [{ matches: "^https://bank\\.example/" }, "https://BANK.example/../pay"],
  ] as const)("%j does not let %j pass as something else", (matcher, value) => {
    expect(judge(matcher, { x: value })).not.toBe("no");
  });

  it.each([
    [{ glob: "https://bank.example/**" }, "https://bank.example/pay?x=1 2"],
    [{ glob: "file:///srv/**" }, "file:///srv/a b.txt"],
    [{ glob: "note: *" }, "note: see https://x.example/"],
  ] as const)("%j still takes %j for what it is", (matcher, value) => {
    expect(judge(matcher, { x: value })).not.toBe("no");
  });

  it("a plain URL that fits is clearly a match", () => {
    expect(judge({ glob: "https://bank.example/**" }, { x: "https://bank.example/pay/now" })).toBe("yes");
    expect(judge({ glob: "https://bank.example/**" }, { x: "https://evil.example/https://bank.example/pay" })).toBe("no");
  });
});

describe("patterns", () => {
  it.each([
    ["(?:a{0,1000}){0,1000}", "pattern-too-large"],
    ["x".repeat(1001), "pattern-too-large"],
    ["(?=a)b", "bad-pattern"],
    ["(a)\\1", "bad-pattern"],
    ["(", "bad-pattern"],
  ])("pattern %#", (matches, code) => {
    expect(compileArgumentTest("x", { matches }).faults).toMatchObject([{ key: "matches", code }]);
  });

  it("a pattern that freezes the built-in engine runs in linear time", () => {
    const { test } = compileArgumentTest("x", { matches: "^(\\w+\\s?)*$" });
    const start = performance.now();
    expect(test.judge({ x: `${"word ".repeat(2000)}!` })).toBe("no");
    expect(performance.now() - start).toBeLessThan(1000);
  });
});
