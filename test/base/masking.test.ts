import fc from "fast-check";
import "../support/explore.ts";
import { describe, expect, it } from "vitest";
import { parseExact } from "../../src/base/exact-json.ts";
import { errorFields, jsonLine, shapeOf } from "../../src/base/log-safe.ts";
import { createMasker, isPlaceName, isSecretName } from "../../src/base/masking.ts";
import { createNeedles } from "../../src/base/needles.ts";
import { hasSecretToken } from "../../src/base/secret-shapes.ts";

const SECRET = "tok-4f9a81c2d7e6";
const hard = 'p"w\\d ü/+=&%\n9';

describe("known secrets", () => {
  const masker = createMasker([SECRET, hard]);
  it.each([
    ["raw", SECRET],
    ["user info", `https://bot:${SECRET}@api.invalid/mcp`],
    ["in a word", `x${SECRET}y`],
    ["hex", Buffer.from(SECRET).toString("hex")],
    ["upper hex", Buffer.from(SECRET).toString("hex").toUpperCase()],
    ["each byte percent-encoded", Buffer.from(SECRET).toString("hex").replace(/../g, "%$&")],
    ["JSON in JSON", JSON.stringify({ a: JSON.stringify({ b: SECRET }) })],
  ])("%s", (_form, text) => {
    expect(masker.text(`before ${text} after`)).not.toMatch(/4f9a81|3466396138|tok-/i);
    expect(masker.text(`before ${text} after`)).toMatch(/^before .*after$/);
  });

  it.each([
    ["raw", hard],
    ["JSON", JSON.stringify({ a: hard })],
    ["JSON twice", JSON.stringify(JSON.stringify({ a: hard }))],
    ["URL", `?q=${encodeURIComponent(hard)}`],
    ["URL in small letters", `?q=${encodeURIComponent(hard).replace(/%../g, (c) => c.toLowerCase())}`],
    ["form", `q=${encodeURIComponent(hard).replaceAll("%20", "+")}`],
  ])("with hard characters: %s", (_form, text) => {
    const out = masker.text(text);
    expect(out).toContain("***");
    expect(out).not.toMatch(/w.{0,4}d/);
  });

  it("base64 at every offset, plain and URL-safe", () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 8, maxLength: 40, unit: "grapheme-ascii" }),
        fc.string({ maxLength: 7 }),
        fc.string({ maxLength: 7 }),
        (secret, before, after) => {
          fc.pre(secret.trim().length >= 8);
          const text = createMasker([secret.trim()]).text(Buffer.from(before + secret.trim() + after).toString("base64"));
          // What little is left at the seams holds at most two characters of the secret.
          const middle = Buffer.from(secret.trim()).subarray(2, -2).toString("latin1");
          expect(Buffer.from(text.replaceAll("*", " "), "base64").toString("latin1").includes(middle)).toBe(false);
        },
      ),
    );
  });

  it("keys as well as values, and never the input itself", () => {
    const input = { [SECRET]: 1, list: [{ note: `is ${SECRET}` }], password: "x", pin: 1234 };
    const copy = structuredClone(input);
    expect(masker.value(input)).toEqual({ "***": 1, list: [{ note: "is ***" }], password: "***", pin: 1234 });
    expect(input).toEqual(copy);
    expect(Object.keys(masker.value(JSON.parse('{"__proto__":{"a":1}}')) as object)).toEqual(["__proto__"]);
  });

  it("numbers that count tokens are none, all others under such names are", () => {
    const counts = {
      maxTokens: 50,
      max_tokens: 50,
      tokens: 3,
      token_count: 4,
      totalTokens: 5,
      prompt_tokens: 6,
      tokensPerMinute: 7,
      "cached-tokens": 8,
      token_limit: 9,
    };
    expect(masker.value(counts)).toEqual(counts);
    expect(masker.value({ streamTokens: true, token: false })).toEqual({ streamTokens: true, token: false });
    const secrets = {
      token: 12345678,
      access_token: 1,
      inputToken: 2,
      apiKey: 3,
      password: 4,
      maxTokens: "abc",
      tokens: "abc",
      token_count: "abc",
      secret_count: 5,
      resetTokens: 6,
    };
    expect(masker.value(secrets)).toEqual(Object.fromEntries(Object.keys(secrets).map((name) => [name, "***"])));
    expect(masker.value(parseExact('{"password":12345678901234567890,"maxTokens":12345678901234567890}'))).toMatchObject({
      password: "***",
      maxTokens: { digits: "12345678901234567890" },
    });
  });

  it("in errors with stack and causes", () => {
    const error = new Error(`connect ${SECRET}`, { cause: new AggregateError([new Error(SECRET)], `x ${SECRET}`) });
    const text = jsonLine(masker.value(errorFields(error)));
    expect(text).not.toContain("4f9a81");
    expect(JSON.parse(text)).toMatchObject({ name: "Error", message: "connect ***", cause: { name: "AggregateError", errors: [{ message: "***" }] } });
  });

  it("several lines, also when each is printed by itself", () => {
    const key = `-----BEGIN THING-----\n${"AbCdEfGhIjKl01".repeat(3)}\n${"MnOpQrStUvWx23".repeat(3)}\n-----END THING-----\n`;
    const lines = createMasker([key]);
    for (const line of key.split("\n").slice(1, 3)) expect(lines.text(`stderr: ${line}`)).toBe("stderr: ***");
  });

  it("short ones are left alone, for they would mask ordinary words", () => {
    expect(createMasker(["abc"]).text("abc abcdef")).toBe("abc abcdef");
  });
});

describe("secret shapes", () => {
  const masker = createMasker();
  const x = (n: number) => "x9".repeat(n / 2);
  it.each([
    `sk-ant-${x(20)}`,
    `ghp_${x(36)}`,
    `github_pat_${x(30)}`,
    `glpat-${x(20)}`,
    `xoxb-${x(20)}`,
    `AKIA${"A1".repeat(8)}`,
    `AIza${x(34)}`,
    `sk_live_${x(24)}`,
    `npm_${x(36)}`,
    `hf_${x(30)}`,
    `eyJ${x(20)}.eyJ${x(20)}.${x(20)}`,
    `ya29.${x(30)}`,
    `SG.${x(20)}.${x(20)}`,
    `hooks.slack.com/services/T00/B00/${x(24)}`,
    `discord.com/api/webhooks/123456789012345678/${x(40)}`,
    `bot123456789:${x(34)}`,
    `-----BEGIN RSA PRIVATE KEY-----\nMIIE${x(60)}\n-----END RSA PRIVATE KEY-----`,
    `-----BEGIN ENCRYPTED PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\n${x(40)}\n-----END ENCRYPTED PRIVATE KEY-----`,
  ])("%s", (token) => {
    const out = masker.text(`a ${token} b`);
    expect(out).toBe("a *** b");
    expect(hasSecretToken(`a ${token} b`)).toBe(true);
  });

  it.each([
    ["Authorization: Bearer abcdefghijkl", "Authorization: Bearer ***"],
    ["authorization: opaque-value-1", "authorization: ***"],
    ['{"Authorization":"Basic dXNlcjpwYXNz"}', '{"Authorization":"Basic ***"}'],
    ["Proxy-Authorization: Digest abcdef12", "Proxy-Authorization: Digest ***"],
    ["got Bearer abcdefgh", "got Bearer ***"],
    ["Cookie: sid=abcdef; theme=dark", "Cookie: ***"],
    ['{"set-cookie":"sid=abcdef; Path=/"}', '{"set-cookie":"***"}'],
    ["https://bot:pa55word@api.invalid/mcp", "https://***@api.invalid/mcp"],
    ["https://onlytoken@api.invalid/mcp", "https://***@api.invalid/mcp"],
    ["redis://:secret1@127.0.0.1:6379/0", "redis://***@127.0.0.1:6379/0"],
    ["https://a.invalid/x?api_key=abc&b=1", "https://a.invalid/x?api_key=***&b=1"],
    ["https://a.invalid/x?access_token=abc#f", "https://a.invalid/x?access_token=***#f"],
    ["OPENAI_API_KEY=abcd1234", "OPENAI_API_KEY=***"],
    ["aws_secret_access_key = wJalrXUtnFEMI/K7MDENG", "aws_secret_access_key = ***"],
    ["login with password: hunter22!", "login with password: ***"],
    ['Authorization: Digest username="bot", response="6629fae49393a05397450978507c4ef1"', "Authorization: Digest ***"],
    ["password='hunter22'", "password='***'"],
    ['body {"client_secret": "abcd-1234", "n": 1}', 'body {"client_secret": "***", "n": 1}'],
    ['{\\"token\\":\\"abcd-1234\\"}', '{\\"token\\":\\"***\\"}'],
    ["https://a.invalid/x?api_key=abc1\\n   |", "https://a.invalid/x?api_key=***\\n   |"],
    ["https://a.invalid/x?api_key=ab\\ncd\\\\tef\\n   |", "https://a.invalid/x?api_key=***\\n   |"],
    ["https://a.invalid/x?api_key=${X}realsecret", "https://a.invalid/x?api_key=***"],
    ["https://a.invalid/x?api_key=${X}\\realsecret", "https://a.invalid/x?api_key=***"],
    ["https://a.invalid/x?api_key=${X}\\nrealsecret", "https://a.invalid/x?api_key=***"],
    ["https://a.invalid/x?api_key=abc${X}", "https://a.invalid/x?api_key=***"],
    ["https://a.invalid/x?api_key=${X:-realsecret}", "https://a.invalid/x?api_key=***"],
    ["Authorization: Bearer ${X}realsecret", "Authorization: Bearer ***"],
    ["Authorization: Bearer ***realsecret", "Authorization: Bearer ***"],
    ["password=${X}realsecret", "password=***"],
    ["https://bot${X}:pa55@api.invalid/", "https://***@api.invalid/"],
    ["secret: hunter22\\n  x", "secret: ***\\n  x"],
  ])("%s", (text, masked) => {
    expect(masker.text(text)).toBe(masked);
    expect(masker.text(masked), "masked again").toBe(masked);
  });

  it.each([
    "http://127.0.0.1:7800/mcp",
    "C:\\Users\\me\\app",
    "/home/me/data/run/caller.token",
    "the token bucket has 5 tokens: 1200 left",
    "basic authentication needs a token",
    "Token expired",
    "mail me@example.org",
    "ssh://host.invalid/path?page=2&limit=10",
    "task-1234 risk-level sketch",
    "cookies are off",
    "password: required",
    "secret: see the manual",
    "key=value",
    "usage: total_tokens=12",
    "sha256:9f86d081884c7d659a2feaa0c55ad015",
    "max_tokens: 1000",
    "https://a.invalid/x?api_key=${NAME}",
    "https://a.invalid/x?api_key=${NAME}\\n    |   ^",
    "Authorization: Bearer ${REMOTE_TOKEN}",
    "Authorization: Bearer ${REMOTE_TOKEN}\\n",
    '{"Authorization":"${env:REMOTE_TOKEN}"}',
    "password=${file:run/db.txt}",
    "https://${USER_1}:${PASS_1}@api.invalid/",
    "api_key: ${KEY_2}",
  ])("%s stays readable", (text) => {
    expect(masker.text(text)).toBe(text);
  });
});

describe("speed", () => {
  it("10 kB with 50 known secrets takes little, and hostile texts take no longer", () => {
    const masker = createMasker(Array.from({ length: 50 }, (_, i) => `secret-value-number-${i}-abcdef`));
    const line =
      `${JSON.stringify({ level: "info", app: "im.polaris.weather", url: "http://127.0.0.1:3000/a/b?c=d", text: "查询指定城市的天气 and some words" })} `
        .repeat(70)
        .slice(0, 10_000);
    for (let i = 0; i < 20; i += 1) masker.text(line);
    const start = performance.now();
    for (let i = 0; i < 50; i += 1) masker.text(line);
    const each = (performance.now() - start) / 50;
    // The goal is 0.3 ms on a quiet machine, measured by the benchmark; here only a search that is not linear should show.
    expect(each).toBeLessThan(30);
    const hostile = [
      "Bearer ",
      "://",
      "-----BEGIN PRIVATE KEY-----",
      "eyJaaaaaaaa.",
      "authorization: ",
      "?key",
      "cookie:",
      "password=",
      "secret-value-number-",
      "a@",
      "%2f",
      "sk-",
      "token\\\\\\\\\\\\",
      "?key=\\n\\t\\\\",
      "?key=${A",
      "\\n",
      " \t",
    ];
    for (const piece of hostile) {
      const begin = performance.now();
      masker.text(piece.repeat(Math.ceil(100_000 / piece.length)));
      expect(performance.now() - begin, piece).toBeLessThan(1500);
    }
  });
});

describe("names", () => {
  it.each(["Authorization", "X-Api-Key", "apiKey", "OPENAI_API_KEY", "clientSecret", "db_password", "session_cookie", "GITHUB_TOKEN", "credentials"])(
    "%s is secret",
    (name) => {
      expect(isSecretName(name)).toBe(true);
    },
  );
  it.each(["url", "keyboard", "path", "monkey", "port", "tokenizer", "author"])("%s is not", (name) => {
    expect(isSecretName(name)).toBe(false);
  });
  it("a place where a secret lies is none", () => {
    expect(["token_file", "KEY_PATH", "authUrl"].every((n) => isPlaceName(n))).toBe(true);
    expect(["token", "profile_key"].some((n) => isPlaceName(n))).toBe(false);
  });
});

describe("log lines", () => {
  it("one value is one line that parses back", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.string({ unit: "binary" }), (value, text) => {
        const line = jsonLine({ value, text });
        expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u200b]/);
        expect(JSON.parse(line)).toEqual(JSON.parse(JSON.stringify({ value, text })));
      }),
    );
  });

  it("shapes hold no content", () => {
    expect(shapeOf({ q: "hello", n: 1, list: ["a", true], many: Array(9).fill("x"), none: null })).toEqual({
      q: "string(5)",
      n: "number",
      list: ["string(1)", "boolean"],
      many: "list(9)",
      none: "null",
    });
  });
});

describe("a text that was cut in the midst of a secret", () => {
  const masker = createMasker([SECRET]);
  it.each(["", "…", "; whether it took effect is unknown"])("hides the part that is left before %j", (rest) => {
    for (let kept = 8; kept < SECRET.length; kept += 1) expect(masker.text(`said ${SECRET.slice(0, kept)}${rest}`)).toBe(`said ***${rest}`);
  });

  it("is left alone elsewhere, and in data", () => {
    expect(masker.text(`${SECRET.slice(0, 10)} and more`)).toBe(`${SECRET.slice(0, 10)} and more`);
    expect(masker.text(SECRET.slice(0, 7))).toBe(SECRET.slice(0, 7));
    expect(masker.known(SECRET.slice(0, 10))).toBe(SECRET.slice(0, 10));
  });
});

describe("needles", () => {
  it("finds what a plain search finds, the longest at a place", () => {
    const piece = fc.string({ minLength: 4, maxLength: 8, unit: fc.constantFrom("a", "b", "c") });
    fc.assert(
      fc.property(fc.array(piece, { minLength: 1, maxLength: 6 }), fc.string({ maxLength: 60, unit: fc.constantFrom("a", "b", "c") }), (words, text) => {
        const needles = createNeedles();
        for (const word of words) needles.add(word);
        const out = needles.replace(text, "*");
        const pattern = new RegExp([...words].sort((a, b) => b.length - a.length).join("|"), "g");
        expect(out).toBe(text.replace(pattern, "*"));
      }),
    );
  });
});
