import { describe, expect, it } from "vitest";
import { createMasker } from "../../src/base/masking.ts";
import { remember } from "../../src/base/remember.ts";

describe("remember", () => {
  it("works a short text out once, until told to forget, and long ones every time", () => {
    let made = 0;
    const length = remember((text) => ((made += 1), text.length));
    expect([length("abc"), length("abc"), length("__proto__")]).toEqual([3, 3, 9]);
    expect(made).toBe(2);
    length.forget();
    expect([length("abc"), made]).toEqual([3, 3]);
    const long = "x".repeat(1000);
    length(long);
    length(long);
    expect(made).toBe(5);
  });

  it("stays right however many texts it sees", () => {
    const length = remember((text) => text.length);
    for (let round = 0; round < 2; round += 1) for (let i = 0; i < 5000; i += 1) expect(length("y".repeat(i % 150) + i)).toBe((i % 150) + String(i).length);
  });
});

describe("a masker", () => {
  it("masks a text that it saw before the secret was known", () => {
    const masker = createMasker();
    expect(masker.text("say hush-hush-9 now")).toBe("say hush-hush-9 now");
    masker.add("hush-hush-9");
    expect(masker.text("say hush-hush-9 now")).toBe("say *** now");
    expect(masker.value({ a: ["hush-hush-9"] })).toEqual({ a: ["***"] });
  });
});
