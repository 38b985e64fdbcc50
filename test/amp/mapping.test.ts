import { readFileSync } from "node:fs";
import fc from "fast-check";
import "../support/explore.ts";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { BUILT_IN_SIGNALS } from "../../src/amp/built-in.ts";
import { explainSignal } from "../../src/amp/explain-signal.ts";
import { mapSignal } from "../../src/amp/map-signal.ts";
import { compileSignals } from "../../src/amp/mapping.ts";
import { runSignalFixtures } from "../../src/amp/signal-fixtures.ts";
import { compileTemplate, render } from "../../src/amp/template.ts";
import type { Signal } from "../../src/amp/types.ts";
import { loaded, mapEnv, rulesOf, schemaIssues, sealer, signal } from "./support.ts";

const none = rulesOf({});
const types = (s: Signal, rules = none): string[] => mapSignal(rules, s, mapEnv()).map((e) => e.type);

describe("built-in table", () => {
  test("is the shipped YAML file, and fits its schema", () => {
    const shipped: unknown = parse(readFileSync(new URL("../../docs/built-in-signals.yaml", import.meta.url), "utf8"));
    expect(shipped).toEqual(BUILT_IN_SIGNALS);
    expect(schemaIssues("signals", shipped)).toEqual([]);
  });

  test.each([
    [signal({ kind: "lifecycle", method: "started" }), ["lifecycle.started"]],
    [signal({ kind: "lifecycle", method: "stopped" }), ["lifecycle.stopped"]],
    [signal({ kind: "lifecycle", method: "crashed" }), ["lifecycle.crashed"]],
    [signal({ method: "notifications/tools/list_changed" }), ["capability.changed"]],
    [signal({ method: "notifications/resources/list_changed" }), ["capability.changed"]],
    [signal({ method: "notifications/prompts/list_changed" }), ["capability.changed"]],
    [signal({ kind: "tool_result", method: "tools/call", params: { outcome: "succeeded" } }), ["tool.completed"]],
    [signal({ kind: "tool_result", method: "tools/call", params: { outcome: "failed" } }), ["tool.failed"]],
    [signal({ kind: "tool_result", method: "tools/call", params: { outcome: "unknown" } }), ["tool.failed"]],
    [signal({ kind: "resource", method: "resources/read", params: { uri: "a://b" } }), ["resource.observed"]],
    [signal({ kind: "error", method: "protocol" }), ["mcp.error"]],
    [signal({ kind: "event", method: "aurora/event", params: { type: "message.received" } }), ["message.received"]],
    [signal({ kind: "host", app: "aurora-mcp-kit", method: "config.rejected" }), ["config.rejected"]],
    [signal({ method: "notifications/progress" }), []],
    [signal({ method: "notifications/message", params: { level: "info" } }), []],
    [signal({ method: "notifications/message", params: { level: "error" } }), ["mcp.notification.message"]],
    [signal({ method: "notifications/foo/bar" }), ["mcp.notification.foo.bar"]],
    [signal({ method: "custom" }), ["mcp.notification.custom"]],
  ])("%j", (s, expected) => {
    expect(types(s)).toEqual(expected);
    for (const event of mapSignal(none, s, mapEnv())) expect(schemaIssues("amp", sealer().seal(event, s))).toEqual([]);
  });

  test("an unknown outcome is told in the data", () => {
    const [event] = mapSignal(none, signal({ kind: "tool_result", params: { outcome: "unknown", tool: "t" } }), mapEnv());
    expect(event?.data).toMatchObject({ outcome: "unknown" });
  });
});

describe("user rules", () => {
  const repo = rulesOf({
    rules: [
      {
        id: "repo",
        when: { app: "org.example.*", method: "notifications/resources/updated", params: { uri: { glob: "repo://*" } } },
        emit: { type: "repo.changed", session_id: "repo:{params.uri}", summary: "{params.uri} changed", data: "{params}", expires_in: "5m" },
      },
    ],
  });

  test("a rule that matches replaces the built-in one, all else stays", () => {
    const [event, ...more] = mapSignal(repo, signal({ method: "notifications/resources/updated", params: { uri: "repo://main" } }), mapEnv());
    expect(more).toEqual([]);
    expect(event).toMatchObject({
      type: "repo.changed",
      session_id: "repo:repo://main",
      summary: "repo://main changed",
      data: { uri: "repo://main" },
      expiresInMs: 300_000,
      method: "mcp.notification",
    });
    expect(types(signal({ method: "notifications/resources/updated", params: { uri: "file://x" } }), repo)).toEqual(["mcp.notification.resources.updated"]);
  });

  test("several rules emit; a drop wins; otherwise-rules come last", () => {
    const rules = rulesOf({
      rules: [
        { id: "a", when: { method: "m" }, emit: { type: "a" } },
        { id: "b", when: { app: "*" }, emit: { type: "b" } },
        { id: "secret", when: { params: { secret: true } }, drop: true },
        { id: "rest", when: { app: "*" }, drop: true, otherwise: true },
      ],
    });
    expect(types(signal({ method: "m" }), rules)).toEqual(["a", "b"]);
    expect(types(signal({ method: "m", params: { secret: true } }), rules)).toEqual([]);
    const only = rulesOf({
      rules: [
        { id: "one", when: { method: "m" }, emit: { type: "a" } },
        { id: "rest", when: { app: "*" }, drop: true, otherwise: true },
      ],
    });
    expect(types(signal({ method: "m" }), only)).toEqual(["a"]);
    expect(types(signal({ method: "other" }), only)).toEqual([]);
  });

  test.each<[unknown, unknown, boolean]>([
    ["x", "x", true],
    [5, 5, true],
    [5, "5", false],
    [[1, 2], [1, 2], true],
    [{ equals: { a: 1 } }, { a: 1 }, true],
    [{ one_of: ["a", "b"] }, "b", true],
    [{ glob: "a*" }, "abc", true],
    [{ glob: "a*" }, 5, false],
    [{ matches: "^[0-9]+$" }, "123", true],
    [{ present: true }, null, true],
    [{ present: false }, undefined, true],
    [{ present: false }, 0, false],
    [{ type: "array" }, [], true],
    [{ type: "object" }, [], false],
    [{ min: 2, max: 3 }, 2.5, true],
    [{ min: 2, max: 3 }, 4, false],
    [{ min: 0 }, "1", false],
  ])("matcher %j on %j: %j", (matcher, value, expected) => {
    const rules = rulesOf({ rules: [{ id: "r", when: { params: { "a.b": matcher } }, emit: { type: "hit" } }] });
    const params = value === undefined ? { a: {} } : { a: { b: value as never } };
    expect(types(signal({ params }), rules)[0] === "hit").toBe(expected);
  });

  test("names of the prototype are no values", () => {
    const rules = rulesOf({ rules: [{ id: "r", when: { params: { constructor: { present: true } } }, emit: { type: "hit" } }] });
    expect(types(signal({}), rules)).not.toContain("hit");
    const t = compileTemplate("{params.__proto__}");
    expect(t.ok && render(t.template, signal({}))).toBeUndefined();
  });

  test("a key with dots in it is found", () => {
    const t = compileTemplate("{params._meta.io.example/task.id}");
    expect(t.ok && render(t.template, signal({ params: { _meta: { "io.example/task": { id: 7 } } } }))).toBe(7);
  });

  test("data keeps types, leaves out what is missing, and wraps what is no object", () => {
    const rules = rulesOf({
      rules: [
        {
          id: "r",
          when: { app: "*" },
          emit: { type: "t", data: { n: "{params.n}", gone: "{params.x}", text: "n={params.n} x={params.x}", list: ["{params.n}", "{params.x}"], fixed: 3 } },
        },
      ],
    });
    expect(mapSignal(rules, signal({ params: { n: 5 } }), mapEnv())[0]?.data).toEqual({ n: 5, text: "n=5 x=", list: [5, null], fixed: 3 });
    const wrapped = rulesOf({ rules: [{ id: "r", when: { app: "*" }, emit: { type: "t", data: "{params.n}" } }] });
    expect(mapSignal(wrapped, signal({ params: { n: 5 } }), mapEnv())[0]?.data).toEqual({ value: 5 });
  });

  test("a server's words cannot make a reserved type", () => {
    const rules = rulesOf({ rules: [{ id: "r", when: { app: "*" }, emit: { type: "{params.t}" } }] });
    expect(types(signal({ params: { t: "tool.completed" } }), rules)).toEqual(["app.tool.completed"]);
    expect(types(signal({ params: { t: "Lifecycle.started" } }), rules)).toEqual(["app.Lifecycle.started"]);
    expect(types(signal({ params: { t: "chat.line" } }), rules)).toEqual(["chat.line"]);
    const split = rulesOf({ rules: [{ id: "r", when: { app: "*" }, emit: { type: "to{params.t}" } }] });
    expect(types(signal({ params: { t: "ol.completed" } }), split)).toEqual(["app.tool.completed"]);
  });

  test("sample and at_most hold back without falling through", () => {
    const sampled = rulesOf({ rules: [{ id: "r", when: { app: "*" }, emit: { type: "t" }, sample: 0.5 }] });
    expect(mapSignal(sampled, signal({}), mapEnv({ random: () => 0.49 }))).toHaveLength(1);
    expect(mapSignal(sampled, signal({}), mapEnv({ random: () => 0.5 }))).toHaveLength(0);
    const limited = rulesOf({ rules: [{ id: "r", when: { app: "*" }, emit: { type: "t" }, at_most: "2/min" }] });
    const counters = new Map();
    const at = (nowMs: number): number => mapSignal(limited, signal({}), mapEnv({ nowMs, counters })).length;
    expect([at(0), at(10_000), at(20_000), at(59_999), at(60_000), at(60_001), at(70_000)]).toEqual([1, 1, 0, 0, 1, 0, 1]);
    // The clock is set back an hour: the limit starts anew rather than blocking for an hour.
    expect(at(-3_600_000)).toBe(1);
  });
});

describe("findings", () => {
  test.each<[object, RegExp]>([
    [{ emit: { type: "{parms.a}" } }, /unknown expression \{parms\.a\}; did you mean \{params\.a\}/],
    [{ emit: { type: "a}" } }, /stands alone/],
    [{ emit: { type: "a", data: { deep: ["{"] } } }, /stands alone/],
    [{ emit: { type: "{app.x}" } }, /has no parts/],
    [{ emit: { type: "a", expires_in: "5 parsecs" } }, /not a duration/],
    [{ emit: { type: "a" }, at_most: "lots" }, /not a rate/],
    [{ emit: { type: "a" }, drop: true }, /either emit or drop/],
    [{}, /either emit or drop/],
    [{ when: { params: { a: { globb: "x" } } }, drop: true }, /unknown matcher "globb"; did you mean "glob"/],
    [{ when: { params: { a: { matches: "(a)\\1" } } }, drop: true }, /cannot be used/],
    [{ when: { params: { a: {} } }, drop: true }, /empty matcher/],
  ])("%j", (rule, message) => {
    const { rules, diagnostics } = compileSignals([loaded({ rules: [{ id: "r", when: { app: "*" }, ...rule } as never] })]);
    expect(diagnostics).toHaveLength(1);
    expect(diagnostics[0]).toMatchObject({ code: "signal-rule", severity: "error" });
    expect(diagnostics[0]!.message).toMatch(message);
    expect(rules.user).toEqual([]);
  });

  test.each([
    [{ when: { params: { a: { matches: "[a" } } }, drop: true }, "close the [ with ]"],
    [{ emit: { type: "{app.x}" } }, "write {params.NAME}"],
    [{ emit: { type: "a", data: { deep: "{pramas.x}" } } }, "write {params.NAME}"],
  ])("%j is told with how to mend it", (rule, help) => {
    const { diagnostics } = compileSignals([loaded({ rules: [{ id: "r", when: { app: "*" }, ...rule } as never] })]);
    expect(diagnostics).toMatchObject([{ help: [expect.stringContaining(help)] }]);
  });

  test("a method that its kind never has is a warning with the near word; of free kinds, any method is fine", () => {
    const look = (when: object) => compileSignals([loaded({ rules: [{ id: "r", when, drop: true } as never] })]);
    const { rules, diagnostics } = look({ kind: "lifecycle", method: "crashd" });
    expect(diagnostics).toEqual([
      expect.objectContaining({
        code: "signal-rule",
        severity: "warning",
        path: "rules[0].when.method",
        message: 'signal rule "r" matches nothing: no signal of kind lifecycle has the method "crashd"',
        label: 'did you mean "crashed"?',
      }),
    ]);
    expect(rules.user).toHaveLength(1);
    for (const when of [
      { kind: "host", method: "aproval.*" },
      { kind: "tool_result", method: "search" },
      { kind: "error", method: "timeout" },
    ])
      expect(look(when).diagnostics).toHaveLength(1);
    const fine = [{ kind: "lifecycle", method: "st*" }, { kind: "notification", method: "notifications/odd" }, { method: "crashd" }, { kind: "event" }];
    for (const when of fine) expect(look(when).diagnostics).toEqual([]);
    for (const kind of [undefined, "notification"])
      expect(look({ ...(kind && { kind }), method: "notification/progress" }).diagnostics).toMatchObject([
        { severity: "warning", path: "rules[0].when.method", label: 'did you mean "notifications/progress"?' },
      ]);
    expect(look({ method: "notifications/tasks/stat?s" }).diagnostics).toEqual([]);
  });

  test("an id in two files names both places", () => {
    const rule = { id: "r", when: { app: "*" }, drop: true as const };
    const { diagnostics, rules } = compileSignals([loaded({ rules: [rule] }, "signals/a.yaml"), loaded({ rules: [rule] }, "signals/b.yaml")]);
    expect(diagnostics[0]).toMatchObject({ code: "duplicate-id", place: { file: "signals/b.yaml" }, related: [{ place: { file: "signals/a.yaml" } }] });
    expect(rules.user).toHaveLength(1);
  });
});

describe("properties of templates", () => {
  test("any text, with its braces doubled, renders as itself", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const compiled = compileTemplate(text.replaceAll("{", "{{").replaceAll("}", "}}"));
        expect(compiled.ok && render(compiled.template, signal({}))).toBe(text);
      }),
    );
  });

  test("a whole expression keeps any JSON value; compiling never throws", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.string(), (value, source) => {
        const compiled = compileTemplate("{params.v}");
        expect(compiled.ok && render(compiled.template, signal({ params: { v: value as never } }))).toEqual(value);
        expect(() => compileTemplate(source)).not.toThrow();
      }),
    );
  });

  test("whatever a server sends, every envelope fits the schema and its bounds", () => {
    fc.assert(
      fc.property(
        fc.string(),
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.constantFrom<Signal["kind"]>("lifecycle", "notification", "tool_result", "resource", "error", "host"),
        (method, params, kind) => {
          const s = signal({ kind, method, params: params as never });
          for (const event of mapSignal(none, s, mapEnv())) {
            const envelope = sealer().seal(event, s);
            expect(schemaIssues("amp", envelope)).toEqual([]);
            expect(envelope.payload.summary?.length ?? 0).toBeLessThanOrEqual(500);
          }
        },
      ),
    );
  });
});

describe("explain and fixtures", () => {
  const rules = rulesOf({ rules: [{ id: "mine", when: { method: "notifications/a" }, emit: { type: "mine", summary: "{params.n} of {app}" } }] });

  test("explains rule by rule", () => {
    const { rules: verdicts, events, dropped } = explainSignal(rules, signal({ method: "notifications/a" }), mapEnv());
    expect(verdicts.find((v) => v.rule === "mine")).toMatchObject({ verdict: "decides", file: "signals/test.yaml", line: 1 });
    expect(verdicts.find((v) => v.rule === "notification")).toMatchObject({ verdict: "covered", set: "built_in" });
    expect(verdicts.find((v) => v.rule === "progress")).toMatchObject({ verdict: "no", reason: expect.stringContaining("notifications/progress") });
    expect([dropped, events.length]).toEqual([false, 1]);
  });

  test("runs fixtures, and says what differs", () => {
    const results = runSignalFixtures(
      rules,
      {
        tests: [
          {
            name: "good",
            signal: { app: "x.y", method: "notifications/a", params: { n: 1 } },
            expect: [{ type: "mine", summary: "1 of x.y", expires: false }],
          },
          { name: "drop", signal: { app: "x.y", method: "notifications/progress" }, expect: [] },
          { name: "bad", signal: { app: "x.y", method: "notifications/a" }, expect: [{ type: "other" }] },
          { name: "count", signal: { app: "x.y", method: "notifications/a" }, expect: [] },
          {
            name: "event",
            signal: { app: "x.y", kind: "event", method: "aurora/event", params: { type: "a.b", data: { n: 1, m: 2 } } },
            expect: [{ type: "a.b", method: "aurora/event", data: { n: 1 } }],
          },
          {
            name: "refused",
            signal: { app: "x.y", kind: "event", method: "aurora/event", params: { type: "tool.completed" } },
            expect: [{ type: "tool.completed" }],
          },
          { signal: { app: "x.y" }, expect: [] },
          { nmae: "x", signal: { app: "x.y", method: "m", parms: {} } },
        ],
      },
      false,
    );
    expect(results.map((r) => r.ok)).toEqual([true, true, false, false, true, false, false, false]);
    expect(results[7]!.problems).toEqual([
      'unknown key "nmae" in the test; did you mean "name"? (known: name, signal, expect)',
      expect.stringContaining('unknown key "parms" in `signal`; did you mean "params"?'),
      "`expect` must be a list; an empty one for a drop",
    ]);
    expect(results[2]!.problems).toEqual(['expect[0].type: expected "other", got "mine"']);
    expect(results[5]!.problems.join()).toContain("reserved");
    expect(results[6]!.name).toBe("test 7");
    expect(runSignalFixtures(rules, 5, false)[0]!.ok).toBe(false);
  });
});
