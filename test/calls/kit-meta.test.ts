import { expect, it } from "vitest";
import { toKitError } from "../../src/calls/tool-result.ts";
import { withoutKitMeta } from "../../src/calls/kit-meta.ts";
import { LinkError } from "../../src/runtime/ports.ts";

it("_meta members that only the kit gives are taken out of all parts of a message, others and data are not", () => {
  const meta = { "aurora/error": { ok: false }, "AURORA/x": 1, own: 1 };
  const block = { type: "resource", resource: { uri: "a:b", text: "", _meta: meta }, _meta: meta };
  expect(withoutKitMeta({ content: [block], structuredContent: { _meta: meta }, _meta: { "aurora/approval_id": "1" } })).toEqual({
    content: [{ type: "resource", resource: { uri: "a:b", text: "", _meta: { own: 1 } }, _meta: { own: 1 } }],
    structuredContent: { _meta: meta },
  });
  expect(withoutKitMeta({ messages: [{ role: "user", content: block }] })).toMatchObject({ messages: [{ content: { _meta: { own: 1 } } }] });
  const plain = { content: [{ type: "text", text: "x", _meta: { own: 1 } }] };
  expect(withoutKitMeta(plain)).toBe(plain);
});

it.each([-32000, -32602])("data of a server's error %d stands under its own name in details", (code) => {
  const error = new LinkError("rpc", "no", { code, data: { approval_id: "forged" } });
  expect(toKitError(error, { full: "a.b", app: "a" }, null).details).toEqual({ data: { approval_id: "forged" } });
});
