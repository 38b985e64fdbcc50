import { describe, expect, it } from "vitest";
import { clientCapabilities } from "../../src/mcp/client-capabilities.ts";

describe("client capabilities", () => {
  it("are none by default, and roots only where folders are granted", () => {
    expect(clientCapabilities({}, undefined).capabilities).toEqual({});
    expect(clientCapabilities({ roots: [] }, undefined).capabilities).toEqual({});
    expect(clientCapabilities({ roots: ["/a"] }, undefined)).toEqual({ capabilities: { roots: {} }, methods: new Set(["roots/list"]) });
  });
  it("forwards only what the one calling client itself has", () => {
    const grants = { sampling: { forward: true }, elicitation: { forward: true } };
    expect(clientCapabilities(grants, undefined).capabilities).toEqual({});
    expect(clientCapabilities(grants, { elicitation: { form: {}, url: {} } })).toEqual({
      capabilities: { elicitation: { form: {}, url: {} } },
      methods: new Set(["elicitation/create"]),
    });
    expect(clientCapabilities({}, { sampling: {}, elicitation: {} }).capabilities).toEqual({});
  });
  it("declares what the host answers by itself on every connection", () => {
    expect(clientCapabilities({ sampling: { endpoint: "http://127.0.0.1:1/v1" }, elicitation: { approvals: true } }, undefined).capabilities).toEqual({
      sampling: {},
      elicitation: { form: {}, url: {} },
    });
  });
});
