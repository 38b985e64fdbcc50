import { describe, expect, it } from "vitest";
import { summaryWithoutChat, withoutChatText } from "../../src/base/chat-text.ts";
import { ExactNumber } from "../../src/base/exact-json.ts";

describe("chat texts", () => {
  it("are only counted in a logged body, at every depth, and everything else stays", () => {
    const given = {
      arguments: {
        group: 7,
        text: "see you at nine",
        message: [{ type: "text", data: { text: "hello" } }, "word"],
        id: new ExactNumber("12345678901234567890"),
      },
      result: { content: [{ type: "text", text: "sent" }], structuredContent: { ok: true, at: "2026-06-17" } },
    };
    expect(withoutChatText(given)).toEqual({
      arguments: {
        group: 7,
        text: "string(15)",
        message: [{ type: "text", data: { text: "string(5)" } }, "string(4)"],
        id: new ExactNumber("12345678901234567890"),
      },
      result: { content: [{ type: "text", text: "string(4)" }], structuredContent: { ok: true, at: "2026-06-17" } },
    });
    expect(given.arguments.text).toBe("see you at nine");
  });

  it("are taken out of a summary that repeats them", () => {
    expect(summaryWithoutChat("Mia: see you at nine", { from: "Mia", message: ["see you", "see you at nine"] })).toBe("Mia: …");
    expect(summaryWithoutChat("Mia: see you at nine", { from: "Mia", text: "see you at nine" })).toBe("Mia: …");
    expect(summaryWithoutChat("a new message", { text: "a" })).toBe("a new message");
  });
});
