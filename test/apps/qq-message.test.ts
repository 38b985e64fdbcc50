import { describe, expect, test } from "vitest";
import { parseCq, readMessage } from "../../apps/aurora-app-qq/message.ts";

describe("CQ codes", () => {
  test.each([
    ["hello", [{ type: "text", data: { text: "hello" } }]],
    [
      "a[CQ:at,qq=1]b",
      [
        { type: "text", data: { text: "a" } },
        { type: "at", data: { qq: "1" } },
        { type: "text", data: { text: "b" } },
      ],
    ],
    ["[CQ:shake]", [{ type: "shake", data: {} }]],
    ["[CQ:image,file=a&#44;b.png,url=http://x/?a=1&amp;b=2]", [{ type: "image", data: { file: "a,b.png", url: "http://x/?a=1&b=2" } }]],
    ["&#91;CQ:at,qq=1&#93; &amp;#91;", [{ type: "text", data: { text: "[CQ:at,qq=1] &#91;" } }]],
    ["[CQ:at,qq=1", [{ type: "text", data: { text: "[CQ:at,qq=1" } }]],
    ["[]", [{ type: "text", data: { text: "[]" } }]],
    ["", []],
  ])("%j", (message, expected) => {
    expect(parseCq(message)).toEqual(expected);
  });

  test("are read in linear time, however the text is made", () => {
    const started = performance.now();
    for (const piece of ["[CQ:a,", "[CQ:a,b=", ",,,,,", "[CQ:"]) parseCq(piece.repeat(100_000));
    expect(performance.now() - started).toBeLessThan(3000);
  });
});

describe("a message", () => {
  test("reads the same from segments and from CQ codes", () => {
    const segments = [
      { type: "reply", data: { id: 77 } },
      { type: "at", data: { qq: "10001" } },
      { type: "text", data: { text: " 今天天气怎么样, [真的]" } },
      { type: "image", data: { file: "x.png" } },
    ];
    const cq = "[CQ:reply,id=77][CQ:at,qq=10001] 今天天气怎么样&#44; &#91;真的&#93;[CQ:image,file=x.png]";
    const expected = { text: "@10001  今天天气怎么样, [真的][图片]", mentions: ["10001"], replyTo: "77" };
    expect(readMessage(segments)).toEqual(expected);
    expect(readMessage(cq)).toEqual(expected);
  });

  test("names what it cannot show, and bears odd shapes", () => {
    expect(readMessage([{ type: "dice", data: null }, { type: "at", data: { qq: "all" } }, null, 5]).text).toBe("[dice]@全体成员");
    expect(readMessage(undefined)).toEqual({ text: "", mentions: [], replyTo: undefined });
    expect(readMessage({ type: "text", data: { text: "one" } }).text).toBe("one");
    expect(readMessage([{ type: "text", data: JSON.parse('{"__proto__":{"text":"no"}}') }]).text).toBe("");
  });
});
