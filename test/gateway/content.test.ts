import { CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { strictResult } from "../../src/mcp/gateway-content.ts";

const good = { type: "text", text: "good" };
const isTaken = (result: JsonObject): boolean => CallToolResultSchema.safeParse(result).success;

describe("what a strict client is given", () => {
  it("is the app's own result, untouched, where that is as it must be", () => {
    const result: JsonObject = {
      content: [
        good,
        { type: "image", data: "aGk=", mimeType: "image/png", annotations: { priority: 1 } },
        { type: "resource_link", uri: "a://b", name: "b" },
        { type: "resource", resource: { uri: "a://b", blob: "aGk=" } },
      ],
      structuredContent: { a: 1 },
      _meta: { own: true },
      isError: false,
    };
    expect(strictResult(result)).toBe(result);
    expect(isTaken(result)).toBe(true);
  });

  it.each<[string, JsonObject]>([
    ["blocks that are none", { content: [null, "x", 5, [], good] }],
    [
      "blocks without their members",
      { content: [{ type: "text" }, { type: "image", data: "aGk=" }, { type: "resource", resource: {} }, { type: "resource_link", uri: "a" }, good] },
    ],
    ["an unknown kind of block", { content: [{ type: "hologram", beam: 1 }, good] }],
    ["bad base64", { content: [{ type: "image", mimeType: "image/png", data: "***" }, good] }],
    ["null for optional members", { content: [{ ...good, annotations: null, _meta: null }], structuredContent: null, isError: null, _meta: null }],
    ["lists and texts for optional members", { content: [{ ...good, annotations: [], _meta: "x" }], structuredContent: [1], isError: "true", _meta: ["x"] }],
    [
      "odd members of links and resources",
      {
        content: [
          { type: "resource_link", uri: "a:b", name: "b", title: 5, description: null, mimeType: null, size: "5", icons: [{ src: 5 }] },
          { type: "resource", resource: { uri: "a:b", text: "", mimeType: null, _meta: [] } },
          good,
        ],
      },
    ],
    [
      "odd members of annotations and _meta",
      {
        content: [good, { ...good, annotations: { audience: ["alien"], priority: 5, lastModified: "2026-02-30T00:00:00Z" }, _meta: { progressToken: {} } }],
        _meta: { "io.modelcontextprotocol/related-task": { taskId: 5 } },
      },
    ],
    ["base64 of a wrong length", { content: [{ type: "image", mimeType: "image/png", data: "aGk=a" }, { type: "audio", mimeType: "a/b", data: "A" }, good] }],
  ])("costs only what is odd: %s", (_name, result) => {
    expect(isTaken(result)).toBe(false);
    const shown = strictResult(result);
    expect(isTaken(shown)).toBe(true);
    expect(shown["content"]).toContainEqual(good);
    expect((shown["content"] as unknown[]).length).toBe((result["content"] as unknown[]).length);
  });

  it("says what a bad block is, with its JSON, and keeps that a tool failed", () => {
    expect(strictResult({ content: [{ type: "hologram", beam: 1 }], isError: "true" })).toEqual({
      content: [{ type: "text", text: '[a block of type "hologram" that the protocol does not know like this: {"type":"hologram","beam":1}]' }],
      isError: true,
    });
  });

  it("has structured content as text too, where there is no other", () => {
    expect(strictResult({ content: [], structuredContent: { a: 1 } })).toEqual({ content: [{ type: "text", text: '{"a":1}' }], structuredContent: { a: 1 } });
  });
});
