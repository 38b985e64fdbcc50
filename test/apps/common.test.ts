import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { compileCheck, describeIssues } from "../../apps/common/check-schema.ts";
import { ConfigError, loadConfig, type ConfigSpec } from "../../apps/common/config.ts";
import { createLogger } from "../../apps/common/logger.ts";
import { newFolder } from "./app-process.ts";

const SPEC: ConfigSpec = {
  properties: {
    url: { type: "string", format: "http-url", default: "http://127.0.0.1:1" },
    token: { type: "string", writeOnly: true },
    wait: { type: "integer", minimum: 1, default: 5 },
  },
  env: { APP_URL: "url", APP_TOKEN: "token", APP_WAIT: "wait" },
};

async function file(text: string): Promise<Record<string, string>> {
  const path = join(await newFolder(), "config.json");
  await writeFile(path, text);
  return { AURORA_APP_CONFIG: path };
}

describe("settings", () => {
  test("come from defaults, then the file, then the environment; empty variables do not count", async () => {
    expect(loadConfig(SPEC, {}).config).toEqual({ url: "http://127.0.0.1:1", wait: 5, log_level: "info" });
    const env = await file('{"url":"https://a.example","wait":7,"token":"abcdef"}');
    const loaded = loadConfig(SPEC, { ...env, APP_WAIT: "9", APP_URL: "", AURORA_APP_LOG_LEVEL: "debug" });
    expect(loaded.config).toEqual({ url: "https://a.example", wait: 9, token: "abcdef", log_level: "debug" });
    expect(loaded.secrets).toEqual(["abcdef"]);
  });

  test("a file that is not there is told, and the defaults stand", () => {
    const loaded = loadConfig(SPEC, { AURORA_APP_CONFIG: "/nowhere/config.json" });
    expect(loaded.config).toMatchObject({ wait: 5 });
    expect(loaded.notes).toEqual([expect.stringContaining("/nowhere/config.json")]);
  });

  test.each([
    ['{"url":"https://a.example"', "is not valid JSON"],
    ["[]", "one JSON object"],
    ['{"urll":"x"}', 'unknown key "urll"'],
    ['{"wait":"7"}', "/wait must be integer"],
    ['{"wait":0}', "/wait must be >= 1"],
    ['{"url":"ftp://a"}', "http-url"],
    ['{"url":"http://user:secret-word@host"}', "http-url"],
    ['{"log_level":"loud"}', "/log_level must be one of"],
    ['{"__proto__":{"wait":1}}', 'unknown key "__proto__"'],
  ])("%s is refused: %s", async (text, message) => {
    const env = await file(text);
    expect(() => loadConfig(SPEC, env)).toThrow(ConfigError);
    expect(() => loadConfig(SPEC, env)).toThrow(message);
    expect(() => loadConfig(SPEC, env)).not.toThrow("secret-word");
  });

  test("a variable that is no number is named", () => {
    expect(() => loadConfig(SPEC, { APP_WAIT: "soon" })).toThrow('APP_WAIT: "soon" is not a number');
  });
});

describe("checks", () => {
  test("fill defaults in on a copy and tell every fault", () => {
    const check = compileCheck({
      type: "object",
      properties: { city: { type: "string" }, days: { type: "integer", minimum: 1, default: 1 } },
      required: ["city"],
      additionalProperties: false,
    });
    const input = { city: "x" };
    expect(check(input)).toEqual({ ok: true, value: { city: "x", days: 1 } });
    expect(input).toEqual({ city: "x" });
    const bad = check({ days: 0, dayz: 1 });
    expect(bad.ok ? "" : describeIssues(bad.issues)).toBe('"city" is missing; unknown key "dayz"; /days must be >= 1');
    expect(check([])).toMatchObject({ ok: false });
    expect(check(JSON.parse('{"city":"x","__proto__":{"days":3}}'))).toMatchObject({ ok: false });
  });
});

describe("the log", () => {
  test("hides secrets in every form and keeps to its level", () => {
    const lines: string[] = [];
    const log = createLogger("im.test", { level: "info", secrets: ["p@ss word"], write: (line) => lines.push(line) });
    log.debug("hidden");
    log.info("p@ss word and p%40ss%20word, Bearer abc.def, http://me:pw@host/?access_token=q1&x=2");
    expect(lines).toEqual([expect.stringMatching(/^\S+Z INFO im\.test: \*\*\* and \*\*\*, Bearer \*\*\*, http:\/\/\*\*\*@host\/\?access_token=\*\*\*&x=2\n$/)]);
  });
});
