import { afterEach, expect, it } from "vitest";
import { createMetrics, type Metrics } from "../../src/control/metrics.ts";
import type { CallRecord } from "../../src/kit-api.ts";
import { createFakeKit } from "../support/fake-kit.ts";

const kit = createFakeKit([]);
let metrics: Metrics;
afterEach(() => metrics.close());

const called = (more: Partial<CallRecord> = {}): void =>
  kit.emit("call", {
    app: "org.a",
    tool: "read",
    client: "c",
    risk: "low",
    decision: "allow",
    outcome: "succeeded",
    errorCode: null,
    durationMs: 1,
    resultTokens: 10,
    ...more,
  });
const valueOf = (text: string, series: string): number | null => {
  const line = text.split("\n").find((one) => one.startsWith(`${series} `));
  return line === undefined ? null : Number(line.slice(series.length + 1));
};
const READS = 'aurora_calls_total{app="org.a",tool="read",outcome="succeeded",code=""}';

it("counters only grow: every call counts once, before, between and after scrapes, also two at once", async () => {
  metrics = createMetrics(kit);
  called();
  called();
  const both = await Promise.all([metrics.text(), metrics.text()]);
  expect(both.map((text) => valueOf(text, READS))).toEqual([2, 2]);
  called({ resultTokens: 5 });
  called({ outcome: "failed", errorCode: "TIMEOUT", decision: null, resultTokens: 0 });
  for (let i = 0; i < 2; i += 1) {
    const text = await metrics.text();
    expect(valueOf(text, READS)).toBe(3);
    expect(valueOf(text, 'aurora_calls_total{app="org.a",tool="read",outcome="failed",code="TIMEOUT"}')).toBe(1);
    expect(valueOf(text, 'aurora_result_tokens_total{app="org.a"}')).toBe(25);
    expect(valueOf(text, 'aurora_decisions_total{decision="allow",risk="low"}')).toBe(3);
    expect(valueOf(text, 'aurora_call_duration_seconds_count{app="org.a"}')).toBe(4);
  }
});

it("each label has its own value, whatever a server calls its tools", async () => {
  metrics = createMetrics(kit);
  const odd = ["__proto__", "constructor", 'say "hi"', "a\\b", "two\nlines", "nul\0allow", "nul", "", "org.a"];
  for (const tool of odd) called({ tool });
  called({ app: null, tool: null, risk: null, decision: "deny", outcome: "denied" as CallRecord["outcome"], errorCode: "TOOL_NOT_FOUND" });
  const text = await metrics.text();
  const escaped = (tool: string): string => tool.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll('"', '\\"');
  for (const tool of odd) expect([tool, valueOf(text, READS.replace("read", escaped(tool)))]).toEqual([tool, 1]);
  expect(valueOf(text, 'aurora_calls_total{app="",tool="",outcome="denied",code="TOOL_NOT_FOUND"}')).toBe(1);
  expect(valueOf(text, 'aurora_decisions_total{decision="deny",risk=""}')).toBe(1);
});

it("more tools than are told apart count as other", async () => {
  metrics = createMetrics(kit);
  for (let i = 0; i < 2100; i += 1) called({ tool: `t${i}` });
  const text = await metrics.text();
  expect(valueOf(text, READS.replace("read", "t1999"))).toBe(1);
  expect(valueOf(text, READS.replace("read", "t2000"))).toBe(null);
  expect(valueOf(text, READS.replace("read", "other"))).toBe(100);
});
