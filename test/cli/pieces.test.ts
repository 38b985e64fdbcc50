import { InvalidArgumentError, type Command } from "commander";
import { describe, expect, it } from "vitest";
import { formatLogLine } from "../../src/base/log-line.ts";
import { readPairs, wholeNumber } from "../../src/cli/arguments.ts";
import { commands } from "../../src/cli/commands.ts";
import { createProgram } from "../../src/cli/program.ts";
import { checkClock, checkInotify, checkNode } from "../../src/cli/doctor/machine.ts";
import { reportLines } from "../../src/cli/export-texts.ts";
import { exportTools } from "../../src/llm/export.ts";
import { toolWith } from "../llm/support/export-one.ts";
import { printPlan, printReload } from "../../src/cli/print-plan.ts";
import { searchTools } from "../../src/cli/search-tools.ts";
import { styleFor, wantsColor } from "../../src/cli/style.ts";
import { displayWidth, table } from "../../src/cli/table.ts";
import type { ToolRow } from "../../src/kit-api.ts";

const plain = styleFor({}, {});

describe("table", () => {
  it("keeps columns in line when names are Chinese", () => {
    const lines = table(
      ["NAME", "X"],
      [
        ["天气应用", "1"],
        ["clock", "2"],
      ],
      plain,
    ).split("\n");
    expect(lines).toEqual(["NAME      X", "天气应用  1", "clock     2"]);
    expect(displayWidth("天气应用")).toBe(8);
  });

  it("escapes what would draw on the terminal", () => {
    const text = table(["NAME"], [["a\u001b[2Jb\u202Ec\nd"]], plain);
    expect(text).toBe("NAME\na\\u{1b}[2Jb\\u{202e}c\\nd");
  });
});

describe("colour", () => {
  it.each([
    [{ isTTY: true }, {}, true],
    [{ isTTY: true }, { NO_COLOR: "1" }, false],
    [{ isTTY: true }, { NO_COLOR: "" }, true],
    [{ isTTY: true }, { TERM: "dumb" }, false],
    [{}, {}, false],
  ])("%j with %j: %s", (stream, env, expected) => {
    expect(wantsColor(stream, env)).toBe(expected);
    expect(styleFor(stream, env)("red", "x") !== "x").toBe(expected);
  });
});

describe("search", () => {
  const row = (tool: string, description: string): ToolRow => ({
    name: `app.${tool}`,
    short_name: tool,
    app: "app",
    tool,
    title: null,
    description,
    risk: "low",
    risk_source: "",
    action: "allow",
    state: "exposed",
    reason: null,
    tokens: 1,
  });
  const rows = [row("write_entry", "Writes a diary entry."), row("get_weather", "Weather of a city."), row("list_cities", "Cities that have weather.")];

  it("puts a word in the name before one in the description", () => {
    expect(searchTools(rows, "weather").map((r) => r.tool)).toEqual(["get_weather", "list_cities"]);
  });
  it("wants every word somewhere", () => {
    expect(searchTools(rows, "weather diary")).toEqual([]);
    expect(searchTools(rows, "DIARY entry").map((r) => r.tool)).toEqual(["write_entry"]);
  });
  it("finds nothing for no words", () => expect(searchTools(rows, " ")).toEqual([]));
});

describe("options", () => {
  it("reads NAME=VALUE, also with names that objects have by birth", () => {
    const pairs = readPairs(["a=1=2", "__proto__=x"], "--arg");
    expect(Object.entries(pairs)).toEqual([
      ["a", "1=2"],
      ["__proto__", "x"],
    ]);
    expect(Object.getPrototypeOf(pairs)).toBe(Object.prototype);
    expect(() => readPairs(["=x"], "--arg")).toThrow("--arg =x: write it as NAME=VALUE");
  });
  it("reads counts", () => {
    expect(wholeNumber()("3")).toBe(3);
    for (const wrong of ["0", "1.5", "x", "", "0x10", "1e3", "-1", " 2"]) expect(() => wholeNumber()(wrong), wrong).toThrow(InvalidArgumentError);
  });
  it("every option with a number refuses another value in one line, before anything runs", async () => {
    const numbers = /<(count|number|lines|length)>/;
    const tried: string[] = [];
    for (const spec of commands) {
      const words = spec.usage.split(" ").filter((word) => /^[a-z]/.test(word));
      const find = (): Command => {
        const program = createProgram("0", async () => expect.unreachable(spec.usage));
        return words.reduce((at, word) => at.commands.find((c) => c.name() === word)!, program);
      };
      for (const option of find().options.filter((o) => numbers.test(o.flags))) {
        let said = "";
        const command = find().configureOutput({ writeErr: (text) => (said += text) });
        await expect(command.parseAsync([`${option.long}=x`], { from: "user" })).rejects.toMatchObject({ code: "commander.invalidArgument" });
        expect(said).toContain(`${option.flags}' argument 'x' is invalid. Write a whole number`);
        tried.push(option.long!);
      }
    }
    expect(tried.sort()).toEqual(["--count", "--limit", "--max-name", "--max-tools", "--tail"]);
  });
});

describe("the report of an export", () => {
  it("says of each change what was there, what is shown, and why it matters; a renamed property by its name", () => {
    const tool = toolWith({ type: "object", properties: { "a b": { type: "string", pattern: "(?=x)y" } } });
    const lines = (["openai-strict", "anthropic"] as const).flatMap((format) => {
      const { report } = exportTools([tool], format);
      const tools = report.map((row) => ({ tool: row.full, name: row.name, strict: row.strict, fallback: [], tokens: 1, changes: row.relaxations }));
      return reportLines({ format, tokens: 1, tools, left_out: [], warnings: [] });
    });
    expect(lines).toContainEqual(
      expect.stringMatching(/^ {4}renamed {3}property\.renamed {2}property "a b": "a b" -> "[a-z_0-9]+" {2}\(the provider refuses the name; /),
    );
    expect(lines).toContainEqual(
      expect.stringMatching(/^ {4}widened {3}pattern\.dropped {2}.+: "\(\?=x\)y" -> .+ {2}\(the model may say more than the tool takes; /),
    );
  });
});

describe("a plan for people", () => {
  const changes = { start: [], stop: [], restart: ["org.a", "org.b"], reconnect: [], relist: [], live: [], unchanged: [], parked: [], host: [] };
  const flags = { policy: false, signals: false, exports: false, settings: false, empty: false };
  const result = { result: "pending", revision: 1, changes: { ...changes, ...flags }, errors: [], warnings: [], text: "" } as const;

  it("says how each app restarts", () => {
    expect(printPlan({ ...result, report: { handover: { "org.a": "overlap", "org.b": "stop_first" }, calls_in_flight: { "org.b": 1 } } }, plain)).toBe(
      "~ org.a restarts beside the running one, then takes over\n~ org.b restarts: the running one stops first, then the new one starts (1 call runs and finishes first)",
    );
  });
  it("says no more than it knows", () => expect(printReload(result, plain)).toContain("~ org.a restarts\n~ org.b restarts"));
});

describe("log lines for people", () => {
  it("shows a message of many lines as it is written, behind the fields and indented", () => {
    expect(formatLogLine('{"level":"error","revision":2,"msg":"rejected:\\nerror[x]: no\\n   --> a:1\\n\\n12:30:05 INFO  forged\\u001b\\n"}\n')).toBe(
      " ERROR rejected:  revision=2\n  error[x]: no\n     --> a:1\n\n  12:30:05 INFO  forged\\u{1b}\n",
    );
  });
  it("says time, level, app, message and fields", () => {
    expect(formatLogLine('{"level":"info","time":"2026-11-30T12:30:05.123Z","app":"im.polaris.clock","pid":4711,"why":"a b","msg":"ready"}\n')).toBe(
      '12:30:05 INFO  im.polaris.clock: ready  pid=4711  why="a b"\n',
    );
  });
  it("escapes control characters and keeps what is no JSON", () => {
    expect(formatLogLine('{"level":"warn","msg":"x\\u001b[31m\\ry","why":"a\\nb"}\n')).toBe(' WARN  x\\u{1b}[31m\\ry  why="a\\nb"\n');
    expect(formatLogLine("plain\n")).toBe("plain\n");
  });
});

describe("doctor", () => {
  it.each([
    ["v20.19.0", "ok"],
    ["v22.1.0", "ok"],
    ["v20.18.9", "problem"],
    ["v18.20.0", "problem"],
  ])("Node %s: %s", (version, state) => expect(checkNode(version).state).toBe(state));

  it("sees a clock that was never set, and files stamped by another clock", () => {
    const now = Date.parse("2026-11-30T12:00:00Z");
    expect(checkClock(now, now - 1000).state).toBe("ok");
    expect(checkClock(Date.parse("1970-01-01T00:00:09Z"), null)).toMatchObject({ state: "problem", help: expect.stringContaining("set the clock") });
    expect(checkClock(now, now - 3_600_000)).toMatchObject({ state: "warning", message: expect.stringContaining("3600s apart") });
  });

  it.runIf(process.platform === "linux")("names the kernel setting that is too low", async () => {
    const read =
      (limits: Record<string, string>) =>
      async (file: string): Promise<string> =>
        limits[file.split("/").at(-1)!] ?? "";
    expect(await checkInotify(read({ max_user_watches: "100\n", max_user_instances: "128\n" }))).toMatchObject({
      state: "warning",
      help: expect.stringContaining("sysctl fs.inotify.max_user_watches="),
    });
    expect(await checkInotify(read({ max_user_watches: "65536\n", max_user_instances: "10\n" }))).toMatchObject({
      message: "fs.inotify.max_user_instances is only 10",
    });
    expect(await checkInotify(read({ max_user_watches: "65536\n", max_user_instances: "128\n" }))).toMatchObject({ state: "ok" });
  });
});
