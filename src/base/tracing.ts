import {
  context,
  createTraceState,
  isSpanContextValid,
  ProxyTracerProvider,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type SpanContext,
} from "@opentelemetry/api";
import { own, type JsonObject } from "./json.ts";

/** One step of a trace. Costs next to nothing where no OpenTelemetry SDK is registered. */
export interface TraceSpan {
  /** W3C trace context for the next hop, as `_meta` members; empty where nobody traces. */
  readonly meta: JsonObject;
  rename(name: string): void;
  set(attributes: Attributes): void;
  /** Ends the step; `error` is the error code of one that failed. */
  end(error: string | null): void;
}

const TRACER = "aurora-mcp-kit";
const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const MAX_STATE = 512;
const NO_META: JsonObject = {};
const NO_SPAN: TraceSpan = { meta: NO_META, rename() {}, set() {}, end() {} };

/** Whether an OpenTelemetry SDK is registered. */
function isHeard(): boolean {
  const provider = trace.getTracerProvider();
  return !(provider instanceof ProxyTracerProvider) || provider.getDelegateTracer(TRACER) !== undefined;
}

/**
 * Begins a span. Its parent is the trace context in `meta` (`traceparent`, `tracestate`; W3C), else the span that is active in this
 * process. Without an SDK a given context is passed on as it came.
 */
export function startSpan(name: string, kind: "client" | "server", meta: JsonObject | undefined, attributes: Attributes): TraceSpan {
  if (!isHeard() && (meta === undefined || own(meta, "traceparent") === undefined)) return NO_SPAN;
  const parent = parentOf(meta);
  const span = trace.getTracer(TRACER).startSpan(name, { kind: kind === "client" ? SpanKind.CLIENT : SpanKind.SERVER, attributes }, parent);
  const spanContext = span.spanContext();
  return {
    meta: isSpanContextValid(spanContext) ? metaOf(spanContext) : NO_META,
    rename: (next) => void span.updateName(next),
    set: (more) => void span.setAttributes(more),
    end(error) {
      if (error !== null) {
        span.setAttribute("error.type", error);
        span.setStatus({ code: SpanStatusCode.ERROR });
      }
      span.end();
    },
  };
}

function parentOf(meta: JsonObject | undefined): Context {
  const remote = meta === undefined ? null : readTraceparent(own(meta, "traceparent"), own(meta, "tracestate"));
  return remote === null ? context.active() : trace.setSpanContext(ROOT_CONTEXT, remote);
}

/** Reads a W3C trace context; null for one that is missing or malformed, which the standard says to ignore. */
function readTraceparent(parent: unknown, state: unknown): SpanContext | null {
  const match = typeof parent === "string" ? TRACEPARENT.exec(parent) : null;
  if (!match || match[1] === "ff" || (match[1] === "00" && match[5] !== undefined)) return null;
  const found: SpanContext = {
    traceId: match[2]!,
    spanId: match[3]!,
    traceFlags: Number.parseInt(match[4]!, 16) & 1,
    isRemote: true,
    ...(typeof state === "string" && state.length <= MAX_STATE ? { traceState: createTraceState(state) } : {}),
  };
  return isSpanContextValid(found) ? found : null;
}

function metaOf({ traceId, spanId, traceFlags, traceState }: SpanContext): JsonObject {
  const state = traceState?.serialize() ?? "";
  return { traceparent: `00-${traceId}-${spanId}-${(traceFlags & 1).toString(16).padStart(2, "0")}`, ...(state === "" ? {} : { tracestate: state }) };
}

/** The trace context that an HTTP request brought in its headers, as `_meta` members. */
export function traceHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): JsonObject {
  const { traceparent, tracestate } = headers;
  if (typeof traceparent !== "string") return NO_META;
  return { traceparent, ...(typeof tracestate === "string" ? { tracestate } : {}) };
}
