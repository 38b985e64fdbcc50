import { readFile } from "node:fs/promises";
import path from "node:path";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { CallResult } from "../../src/kit-api.ts";
import { until } from "../support/kit.ts";
import { changingFiles, householdFiles, startWebHost, type WebHost } from "../support/web-host.ts";
import { describeInBrowser, openBrowser, signIn, type Browser } from "./support/browser.ts";

/** Folder for the pictures of docs/; none are taken without it. */
const pictures = process.env["AURORA_SCREENSHOTS"];

describeInBrowser("the web page in Chromium", () => {
  let host: WebHost;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  const told: string[] = [];
  const asked: string[] = [];

  beforeAll(async () => {
    host = await startWebHost(householdFiles());
    browser = await openBrowser();
    ({ context, page } = browser);
    page.on("console", (message) => void (message.type() === "error" && told.push(message.text())));
    page.on("pageerror", (error) => told.push(String(error)));
    page.on("request", (request) => asked.push(request.url()));
    await signIn(page, host);
  });
  afterAll(async () => {
    await browser?.close();
    await host?.stop();
  });

  const open = async (view: string): Promise<void> => {
    await page.goto(`${host.url}/#${view}`);
    await page.locator("main > div").waitFor();
  };
  const ask = (tool: string, args: Record<string, string>): Promise<CallResult> =>
    host.kit.callTool(tool, args, { client: "bot", session: "chat-1", waitMs: 60_000 });
  const picture = async (name: string, tab = page): Promise<void> => {
    if (pictures === undefined) return;
    await tab.waitForTimeout(700);
    await tab.screenshot({ path: path.join(pictures, name) });
  };
  const scrollWidth = (): Promise<unknown> => page.evaluate("document.documentElement.scrollWidth");

  it("refuses a token that nobody has, and says so", async () => {
    const other = await context.newPage();
    await other.goto(`${host.url}/`);
    await other.getByLabel("Operator token").fill("x".repeat(43));
    await other.getByRole("button", { name: "Open" }).click();
    await other.getByText("Nobody has this token.").waitFor();
    expect(await other.evaluate("sessionStorage.length")).toBe(0);
    await other.close();
  });

  it("shows an app go down and come up again, with the picture open", async () => {
    await open("graph");
    const card = page.locator('[data-key="app:im.polaris.clock"]');
    await card.and(page.getByRole("button", { name: /^im\.polaris\.clock: ready/ })).waitFor();
    await page
      .locator('[data-key="app:org.example.search"]')
      .and(page.getByRole("button", { name: /parked.*exited/ }))
      .waitFor();
    const pid = host.kit.status().apps.find((app) => app.package === "im.polaris.clock")!.pid!;
    process.kill(pid, "SIGKILL");
    await card.and(page.getByRole("button", { name: /^im\.polaris\.clock: (backoff|starting)/ })).waitFor();
    await card.and(page.getByRole("button", { name: /^im\.polaris\.clock: ready.*1 restart/ })).waitFor();
  });

  it("draws which rule reaches which app, and whose signals a mapping takes", async () => {
    const edge = (from: string, to: string) => page.locator(`.edge[data-from="${from}"][data-to="${to}"]`).count();
    expect(await edge("rule:message-rate", "app:im.polaris.qq")).toBe(1);
    expect(await edge("rule:message-rate", "app:im.polaris.diary")).toBe(0);
    expect(await edge("app:im.polaris.qq", "signal:group-message")).toBe(1);
    expect(await edge("app:im.polaris.diary", "signal:group-message")).toBe(0);
    await page.locator('[data-key="rule:no-shell"]').click();
    await page.getByText("nobody needs a shell here").waitFor();
    expect(await page.locator(".detail code").first().textContent()).toMatch(/rules\.yaml:3$/);
  });

  it("restarts an app and follows its log", async () => {
    await open("graph/app%3Aorg.example.search");
    await page.getByText("Log", { exact: true }).click();
    await page.getByRole("log").getByText("no index at /srv/index").first().waitFor();
    const before = await page.getByRole("log").getByText("no index at /srv/index").count();
    await page.getByRole("button", { name: "Restart org.example.search" }).click();
    await until(async () => (await page.getByRole("log").getByText("no index at /srv/index").count()) > before, 15_000, "no new line came");
  });

  it("approves a call whose arguments it shows with nothing hidden, by keyboard alone", async () => {
    await open("graph");
    const call = ask("im.polaris.qq.send_message", {
      target: "group:123456",
      text: 'on my way\u202e\u200b <img src=x onerror="document.title=1">\nsecond line',
    });
    await page.getByRole("link", { name: "Approvals, 1" }).waitFor();
    await page.locator(".brand").focus();
    await tabTo("Approvals, 1");
    await page.keyboard.press("Enter");
    const card = page.getByRole("article", { name: "Approval of im.polaris.qq.send_message" });
    await card.waitFor();
    expect(await card.locator("pre").textContent()).toContain(
      String.raw`"text": "on my way\u{202e}\u{200b} <img src=x onerror=\"document.title=1\">\nsecond line"`,
    );
    await card.getByText("2 characters in these arguments").waitFor();
    expect(await page.locator("main img").count()).toBe(0);
    void ask("im.polaris.diary.delete_entry", { date: "2026-06-17" });
    await page.getByRole("article", { name: "Approval of im.polaris.diary.delete_entry" }).waitFor();
    await picture("web-approvals.png");
    await tabTo("Approve im.polaris.qq.send_message");
    await page.keyboard.press("Enter");
    expect((await call).outcome).toBe("succeeded");
    await card
      .getByText("used", { exact: true })
      .or(card.getByText("approved", { exact: true }))
      .waitFor();
  });

  it("denies one with a reason, and moves no other card", async () => {
    await open("approvals");
    const second = ask("im.polaris.diary.delete_entry", { date: "2026-06-18" });
    const card = page.getByRole("article").filter({ hasText: "2026-06-18" });
    await card.waitFor();
    const order = (): Promise<string[]> => page.locator("article pre").allInnerTexts();
    const before = await order();
    await card.getByLabel(/Reason/).fill("not this one");
    await card.getByRole("button", { name: /^Deny/ }).click();
    const { error } = await second;
    expect(error?.error_code).toBe("APPROVAL_DENIED");
    await card.getByText("denied", { exact: true }).waitFor();
    expect(before.length).toBeGreaterThan(2);
    expect(await order()).toEqual(before);
  });

  it("shows an event as it arrives, its text as text", async () => {
    await open("events");
    await host.kit.callTool("im.polaris.qq.get_friends", {});
    const row = page.locator(".events li").filter({ hasText: "group.message.received" }).first();
    await row.waitFor();
    expect(await row.innerText()).toContain(String.raw`Mia: see you at <b>eight</b>\u{202e}`);
    await row.locator("summary").click();
    await row.locator("pre").getByText('"group:123456"').first().waitFor();
    await page.getByLabel("Filter events").fill("tool.completed");
    await row.waitFor({ state: "detached" });
  });

  it("shows a tool with risk, decision and every provider's schema and cost", async () => {
    await open("tools");
    await page.getByLabel("Search tools").fill("shell machine");
    expect(await page.locator(".tool-row").count()).toBe(0);
    await page.getByLabel("Search tools").fill("send message");
    await page.locator(".tool-row").first().click();
    await page.getByRole("heading", { name: "Schema by target, with tokens" }).waitFor();
    await page.getByText("message-rate").first().waitFor();
    for (const target of ["openai-strict", "gemini-legacy", "anthropic"]) {
      await page.getByRole("button", { name: new RegExp(`^${target} \\d+$`) }).click();
      await page.locator(".detail pre").getByText("group:").or(page.locator(".detail pre").getByText('"target"')).first().waitFor();
    }
  });

  it("accepts exactly the definition that it shows, with nothing hidden in it, and lets nothing change under the pointer", async () => {
    const own = await startWebHost(changingFiles());
    const other = await context.newPage();
    other.setDefaultTimeout(15_000);
    try {
      await signIn(other, own);
      await own.kit.callTool("org.example.notes.poke", {});
      await other.getByRole("link", { name: "Pins, 1" }).click();
      const card = other.getByRole("article", { name: "Pin of org.example.notes/find_note" });
      await card.getByText("changed since it was first seen:").waitFor();
      await card.getByText(String.raw`"Finds notes." → "Finds notes.\u{202e}\u{200b} <img src=x onerror="document.title=1"> First`).waitFor();
      expect(await other.locator("main img").count()).toBe(0);
      await other.getByText("1 difference in use").waitFor();
      await picture("web-pins.png", other);

      await own.kit.callTool("org.example.notes.poke", {});
      await card.getByText("The server shows something else now; this is no longer it.").waitFor();
      expect(await card.getByRole("button", { name: /^Accept/ }).count()).toBe(0);
      await card.getByText("First put what").first().waitFor();
      await card.getByRole("button", { name: "Show what is there now" }).click();
      await card.getByText('"Finds notes." → "Finds notes by words."').waitFor();
      await card.getByRole("button", { name: "Accept org.example.notes/find_note" }).click();
      await card.getByText("Accepted.").waitFor();
      expect(await card.getByRole("button").count()).toBe(0);
      expect(own.kit.catalog().byFull("org.example.notes.find_note")?.state).toBe("exposed");
      const { pin } = own.kit.lockDiff().find((entry) => entry.name === "find_note")!;
      expect(await readFile(path.join(own.workspace.root, "topology/tools.lock.json"), "utf8")).toContain(pin!);
      await other.getByText("Nothing waits.", { exact: false }).waitFor();
    } finally {
      await other.close();
      await own.stop();
    }
  });

  it("reloads with a typo and shows the line, and goes on with the mended file", async () => {
    await open("graph");
    const file = "topology/policies/rules.yaml";
    const good = householdFiles()[file]!;
    await host.workspace.write(file, good.replace("tools: [write_entry]", "tols: [write_entry]"));
    await page.getByRole("button", { name: "Reload", exact: true }).click();
    await page
      .getByText(/policies\/rules\.yaml:4:\d+/)
      .first()
      .waitFor();
    await page.getByText('did you mean "tools"?').first().waitFor();
    await page.getByRole("link", { name: "Config, 1" }).waitFor();
    await host.workspace.write(file, good);
    await page.getByRole("button", { name: "Reload now" }).click();
    await page.getByRole("heading", { name: "No errors" }).waitFor();
  });

  it.each([360, 320])("fits a screen of %i px in every view, and the picture stays a picture", async (width) => {
    await page.setViewportSize({ width, height: 740 });
    for (const view of ["graph", "graph/app%3Aim.polaris.qq", "approvals", "events", "tools", "tools/im.polaris.qq.send_message", "pins", "config"]) {
      await open(view);
      await page.waitForTimeout(200);
      expect([view, await scrollWidth()]).toEqual([view, width]);
    }
    await open("graph");
    await page.locator(".node").nth(8).waitFor();
    for (const part of [page.getByRole("link", { name: /^Config/ }), page.getByRole("button", { name: "Sign out" }), page.locator("#host-name")]) {
      const { x, width: size } = (await part.boundingBox())!;
      expect(x + size).toBeLessThanOrEqual(width);
    }
    await page.setViewportSize({ width: 1240, height: 800 });
  });

  it("shows what was chosen far down on a small screen, begins each view at its top, and keeps the focus where it was", async () => {
    await page.setViewportSize({ width: 360, height: 640 });
    await open("graph");
    const node = page.locator('[data-key="app:org.example.search"]');
    await node.focus();
    await page.keyboard.press("Enter");
    const close = page.getByRole("link", { name: "Close" });
    await expect.poll(async () => (await close.boundingBox())!.y).toBeLessThan(200);
    const focused = (): Promise<unknown> => page.evaluate("document.activeElement.dataset.key");
    await expect.poll(focused).toBe("app:org.example.search");
    await close.focus();
    await page.keyboard.press("Enter");
    await close.waitFor({ state: "detached" });
    await expect.poll(focused).toBe("app:org.example.search");
    expect(await page.evaluate("scrollY")).toBeGreaterThan(0);
    await page.getByRole("link", { name: "Tools" }).click();
    await page.locator(".tool-row").first().waitFor();
    expect(await page.evaluate("scrollY")).toBe(0);
    await page.locator(".tool-row").last().focus();
    const row = await focused();
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "All tools" }).press("Enter");
    await expect.poll(focused).toBe(row);
    await page.setViewportSize({ width: 1240, height: 800 });
  });

  it("is dark where the system is, and quiet where motion is not wanted", async () => {
    const ground = (): Promise<string> => page.evaluate("getComputedStyle(document.body).backgroundColor");
    const light = await ground();
    await page.emulateMedia({ colorScheme: "dark", reducedMotion: "reduce" });
    expect(await ground()).not.toBe(light);
    await open("graph/app%3Aim.polaris.qq");
    await picture("web-graph.png");
    await page.emulateMedia({ colorScheme: "light", reducedMotion: "no-preference" });
  });

  it("shows a caller states and tools, and nothing to decide", async () => {
    const other = await context.newPage();
    await signIn(other, { url: host.url, operator: host.caller });
    await other.getByText("caller: read only").waitFor();
    expect(await other.getByRole("link", { name: /^(Approvals|Events|Pins)/ }).count()).toBe(0);
    expect(await other.getByRole("button", { name: "Reload" }).isVisible()).toBe(false);
    await other.locator('[data-key="app:im.polaris.qq"]').waitFor();
    await other.close();
  });

  it("asked nothing of anyone else, kept no cookie, and broke none of its own rules", async () => {
    expect(asked.filter((url) => new URL(url).origin !== host.url)).toEqual([]);
    expect(await context.cookies()).toEqual([]);
    expect(await page.evaluate("localStorage.length")).toBe(0);
    // Answers of 401 are part of coming in; a broken CSP or script would be told here too.
    expect(told.filter((line) => !line.includes("401"))).toEqual([]);
  });

  it("signs out: the token is gone and the data too", async () => {
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Operator token").waitFor();
    expect(await page.evaluate("sessionStorage.length")).toBe(0);
    expect(await page.locator(".node").count()).toBe(0);
  });

  async function tabTo(name: string): Promise<void> {
    for (let i = 0; i < 60; i += 1) {
      const focused = await page.evaluate("document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent");
      if (focused === name) return;
      await page.keyboard.press("Tab");
    }
    throw new Error(`Tab never reached ${name}`);
  }
});
