import { context, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor, type ReadableSpan } from "@opentelemetry/sdk-trace-base";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openGatewayDoor, RawSession, type GatewayDoor } from "../support/gateway-door.ts";
import { scriptedApp, startKit, topologyText, type TestKit } from "../support/kit.ts";
import { request } from "../support/door.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const PARENT = `00-${TRACE}-b7ad6b7169203331-01`;
const OTHER = `00-${"1".repeat(32)}-${"2".repeat(16)}-01`;

const exporter = new InMemorySpanExporter();
let running: TestKit;
let door: GatewayDoor;
let session: RawSession;

beforeAll(async () => {
  const rules = [
    { id: "no-env", tools: ["env"], action: "deny" },
    { id: "low", apps: ["org.low"], action: "allow" },
  ];
  const on = {
    "tools/list": [
      {
        result: { tools: ["echo", "journal", "env", "broken"].map((name) => ({ name, inputSchema: { type: "object" }, annotations: { readOnlyHint: true } })) },
      },
    ],
  };
  const broken = { "tools/call broken": [{ result: { content: [{ type: "text", text: "SECRET-RESULT" }], isError: true } }] };
  running = await startKit({
    "topology/topology.yaml": topologyText(
      { "org.own": scriptedApp({ on: { ...on, ...broken } }), "org.low": scriptedApp({}, { trust: "low" }) },
      { policies: ["p.yaml"], pins: "off" },
    ),
    "topology/p.yaml": JSON.stringify({ rules, data_flow: { sinks: { risk: "critical" } } }),
  });
  door = await openGatewayDoor(running.kit);
  session = await RawSession.open(door);
});
afterAll(async () => {
  trace.disable();
  context.disable();
  await door?.stop();
  await running?.stop();
});

const call = async (name: string, args: object, options: { meta?: object; headers?: Record<string, string> } = {}): Promise<Record<string, unknown>> => {
  const params = { name, arguments: args, ...(options.meta ? { _meta: options.meta } : {}) };
  const answer = await session.post({ jsonrpc: "2.0", id: Math.random(), method: "tools/call", params }, options.headers);
  return (answer.json as { result: Record<string, unknown> }).result;
};
/** `_meta` of the last call of `echo` that the app received. */
const received = async (app = "org.own"): Promise<Record<string, unknown>> => {
  const { result } = await running.kit.callTool(`${app}.journal`, {}, { meta: {} });
  const texts = JSON.parse((result!["content"] as { text: string }[])[0]!.text) as {
    method?: string;
    params?: { name?: string; _meta?: Record<string, unknown> };
  }[];
  return texts.filter((m) => m.method === "tools/call" && m.params?.name === "echo").at(-1)!.params!._meta ?? {};
};
const parent = (span: ReadableSpan): string | undefined => span.parentSpanContext?.spanId;
const wire = (span: ReadableSpan): string => `00-${span.spanContext().traceId}-${span.spanContext().spanId}-01`;

describe("without an SDK", () => {
  it("a trace context passes through as it came, from `_meta` and from the HTTP header", async () => {
    await call("org_own_echo", {}, { meta: { traceparent: PARENT, tracestate: "a=1" } });
    expect(await received()).toMatchObject({ traceparent: PARENT, tracestate: "a=1" });
    await call("org_own_echo", {}, { headers: { traceparent: OTHER } });
    expect(await received()).toMatchObject({ traceparent: OTHER });
  });

  it("nothing is sent to an app when nobody traces", async () => {
    await call("org_own_echo", {});
    expect(await received()).not.toHaveProperty("traceparent");
  });
});

describe("with an SDK", () => {
  beforeAll(() => {
    trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  });
  beforeEach(() => exporter.reset());

  it("one trace goes from the client's header through gateway and call to the app", async () => {
    await call("org_own_echo", {}, { headers: { traceparent: PARENT, tracestate: "vendor=x" } });
    const [inner, outer] = exporter.getFinishedSpans() as [ReadableSpan, ReadableSpan];
    expect([outer.kind, outer.name, parent(outer)]).toEqual([SpanKind.SERVER, "tools/call org_own_echo", "b7ad6b7169203331"]);
    expect([inner.kind, inner.name, parent(inner)]).toEqual([SpanKind.CLIENT, "tools/call echo", outer.spanContext().spanId]);
    expect(await received()).toMatchObject({ traceparent: wire(inner), tracestate: "vendor=x" });
    expect(outer.attributes).toMatchObject({
      "mcp.method.name": "tools/call",
      "gen_ai.tool.name": "org_own_echo",
      "mcp.session.id": session.id,
      "mcp.protocol.version": "2025-11-25",
      "network.transport": "tcp",
    });
    expect(inner.attributes).toMatchObject({
      "mcp.method.name": "tools/call",
      "gen_ai.tool.name": "echo",
      "aurora.app": "org.own",
      "network.transport": "pipe",
      "aurora.outcome": "succeeded",
    });
  });

  it("the context in the message counts more than that of the HTTP hop; a malformed one counts nothing", async () => {
    await call("org_own_echo", {}, { meta: { traceparent: PARENT }, headers: { traceparent: OTHER } });
    expect(exporter.getFinishedSpans().map((span) => span.spanContext().traceId)).toEqual([TRACE, TRACE]);
    exporter.reset();
    for (const bad of ["", "00-zz", `00-${"0".repeat(32)}-${"2".repeat(16)}-01`, `ff-${TRACE}-b7ad6b7169203331-01`, `${PARENT}-more`])
      await call("org_own_echo", {}, { meta: { traceparent: bad } });
    for (const span of exporter.getFinishedSpans()) expect(span.spanContext().traceId).not.toBe(TRACE);
    expect((await received())["traceparent"]).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
  });

  it("refusals and failures have their code, and no span holds arguments, results or messages of apps", async () => {
    await call("org_own_env", { key: "SECRET-ARG" });
    await call("org_own_broken", { key: "SECRET-ARG" });
    await call("org_own_nothing", { key: "SECRET-ARG" });
    const spans = exporter.getFinishedSpans();
    expect(spans.map((span) => [span.kind === SpanKind.SERVER, span.attributes["error.type"], span.status.code])).toEqual([
      [false, "POLICY_DENIED", SpanStatusCode.ERROR],
      // Hidden from this client, so unknown to it; the call's own span says why.
      [true, "TOOL_NOT_FOUND", SpanStatusCode.ERROR],
      [false, "TOOL_FAILED", SpanStatusCode.ERROR],
      [true, "tool_error", SpanStatusCode.ERROR],
      [true, "TOOL_NOT_FOUND", SpanStatusCode.ERROR],
    ]);
    const told = JSON.stringify(spans.map((span) => [span.name, span.attributes, span.events, span.status]));
    expect(told).not.toContain("SECRET");
  });

  it("lists are spans of the gateway too", async () => {
    await session.rpc("tools/list");
    expect(exporter.getFinishedSpans().map((span) => [span.name, span.kind])).toEqual([["tools/list", SpanKind.SERVER]]);
  });

  it("a library call is a child of the span that is active around it", async () => {
    const tracer = trace.getTracer("test");
    await tracer.startActiveSpan("turn", async (span) => {
      await running.kit.callTool("org.own.echo", {});
      span.end();
    });
    const [inner, outer] = exporter.getFinishedSpans() as [ReadableSpan, ReadableSpan];
    expect([inner.name, parent(inner)]).toEqual(["tools/call echo", outer.spanContext().spanId]);
  });

  it("the control API takes the header too", async () => {
    await request(door, "POST", "/api/call", { token: door.caller, body: { tool: "org.own.echo" }, headers: { traceparent: PARENT } });
    expect(exporter.getFinishedSpans().map((span) => [span.name, parent(span)])).toEqual([["tools/call echo", "b7ad6b7169203331"]]);
  });

  it("baggage reaches an own app of a library caller, and never a low-trust one; the gateway passes none", async () => {
    for (const app of ["org.own", "org.low"]) await running.kit.callTool(`${app}.echo`, {}, { meta: { baggage: "user=mia", "x.y/z": 1 } });
    expect(await received("org.own")).toMatchObject({ baggage: "user=mia", "x.y/z": 1 });
    expect(await received("org.low")).toMatchObject({ "x.y/z": 1 });
    expect(await received("org.low")).not.toHaveProperty("baggage");
    await call("org_own_echo", {}, { meta: { baggage: "user=mia" } });
    expect(await received("org.own")).not.toHaveProperty("baggage");
  });
});
