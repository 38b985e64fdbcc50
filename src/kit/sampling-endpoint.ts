import type { SamplingGrant } from "../../generated/app.d.ts";
import { isObject, own, type Json, type JsonObject } from "../base/json.ts";
import type { ServerRequest } from "../runtime/ports.ts";

const DEFAULT_MAX_TOKENS = 1_000;
const TIMEOUT_MS = 60_000;
const MAX_ANSWER_BYTES = 4 * 1024 ** 2;
const STOP_REASONS: Readonly<Record<string, string>> = { stop: "endTurn", length: "maxTokens", stop_sequence: "stopSequence" };

/**
 * Answers sampling/createMessage (MCP 2025-11-25, client/sampling) from an OpenAI-compatible endpoint. No tools are given to the model, so one
 * answer never starts another call. At most the grant's `max_tokens`. Throws with the endpoint's status when it refuses.
 */
export async function sampleFrom(grant: SamplingGrant & { readonly endpoint: string }, request: ServerRequest): Promise<JsonObject> {
  const { params } = request;
  const wanted = own(params, "maxTokens");
  const most = grant.max_tokens ?? DEFAULT_MAX_TOKENS;
  const body = {
    model: grant.model ?? "default",
    messages: [...systemMessage(params), ...messagesOf(params)],
    max_tokens: typeof wanted === "number" ? Math.min(wanted, most) : most,
    ...(typeof own(params, "temperature") === "number" ? { temperature: own(params, "temperature") } : {}),
    ...(Array.isArray(own(params, "stopSequences")) ? { stop: own(params, "stopSequences") } : {}),
  };
  const response = await fetch(`${grant.endpoint.replace(/\/+$/, "")}/chat/completions`, {
    method: "POST",
    redirect: "error",
    headers: { "content-type": "application/json", ...(grant.api_key === undefined ? {} : { authorization: `Bearer ${grant.api_key}` }) },
    body: JSON.stringify(body),
    signal: AbortSignal.any([request.signal, AbortSignal.timeout(TIMEOUT_MS)]),
  });
  const text = await boundedText(response);
  if (!response.ok) throw new Error(`the sampling endpoint answered with status ${response.status}`);
  const answer: unknown = JSON.parse(text);
  const choices = own(answer, "choices");
  const choice: unknown = Array.isArray(choices) ? choices[0] : undefined;
  const content = own(own(choice, "message"), "content");
  if (typeof content !== "string") throw new Error("the sampling endpoint gave no text");
  const reason = own(choice, "finish_reason");
  return {
    role: "assistant",
    content: { type: "text", text: content },
    model: String(own(answer, "model") ?? body.model),
    stopReason: STOP_REASONS[String(reason)] ?? "endTurn",
  };
}

function systemMessage(params: JsonObject): Json[] {
  const text = own(params, "systemPrompt");
  return typeof text === "string" ? [{ role: "system", content: text }] : [];
}

function messagesOf(params: JsonObject): Json[] {
  const messages = own(params, "messages");
  if (!Array.isArray(messages)) throw new Error("sampling/createMessage needs messages");
  return messages.filter(isObject).map((message) => {
    const blocks = [own(message, "content")].flat();
    return { role: own(message, "role") === "assistant" ? "assistant" : "user", content: blocks.map(partOf) };
  });
}

function partOf(block: unknown): Json {
  if (own(block, "type") === "text") return { type: "text", text: String(own(block, "text") ?? "") };
  if (own(block, "type") === "image")
    return { type: "image_url", image_url: { url: `data:${String(own(block, "mimeType"))};base64,${String(own(block, "data"))}` } };
  throw new Error(`a message part of type ${String(own(block, "type"))} cannot be passed to the sampling endpoint`);
}

/** The body as text, at most a few MiB. */
async function boundedText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > MAX_ANSWER_BYTES) throw new Error("the sampling endpoint's answer is too large");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
