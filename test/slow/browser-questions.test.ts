import { fileURLToPath } from "node:url";
import type { Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { topologyText } from "../support/kit.ts";
import { startWebHost, type WebHost } from "../support/web-host.ts";
import { describeInBrowser, openBrowser, signIn, type Browser } from "./support/browser.ts";

const ASKING = fileURLToPath(new URL("../support/servers/asking.mjs", import.meta.url));

/** A question with every kind of field that MCP has (2025-11-25). */
const FORM = {
  message: "Where to?",
  requestedSchema: {
    type: "object",
    properties: {
      city: { type: "string", title: "City", description: "Where the <b>train</b>\u202e ends" },
      day: { type: "string", format: "date" },
      seats: { type: "integer", minimum: 1, maximum: 9 },
      price: { type: "number", default: 12.5 },
      window: { type: "boolean", default: true },
      class: { type: "string", enum: ["first", "second"], default: "second" },
      meal: {
        type: "string",
        oneOf: [
          { const: "v", title: "Vegetarian" },
          { const: "m", title: "Meat" },
        ],
      },
      extras: { type: "array", items: { type: "string", enum: ["bike", "dog"] } },
      days: {
        type: "array",
        minItems: 1,
        items: {
          anyOf: [
            { const: "sa", title: "Saturday" },
            { const: "su", title: "Sunday" },
          ],
        },
        default: ["su"],
      },
      note: { type: "string" },
    },
    required: ["city", "seats"],
  },
};

describeInBrowser("questions of apps, in Chromium", () => {
  let host: WebHost;
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    host = await startWebHost({
      "topology/topology.yaml": topologyText(
        {
          "org.test.asking": {
            trust: "high",
            mcp: { command: [process.execPath, ASKING] },
            grants: { elicitation: { approvals: true } },
          },
        },
        { gateway: { listen: "127.0.0.1:0" }, pins: "off", policies: ["policies/*.yaml"] },
      ),
      "topology/policies/p.yaml": "approvals: {}\n",
    });
    browser = await openBrowser();
    ({ page } = browser);
    await signIn(page, host);
    await page.goto(`${host.url}/#approvals`);
  });
  afterEach(async () => {
    for (const { id } of host.kit.listApprovals()) await host.kit.decideApproval(id, "cancel", "the test");
    await page.waitForFunction("document.querySelector('.approval.open') === null");
  });
  afterAll(async () => {
    await browser?.close();
    await host?.stop();
  });

  /** Has the server ask; gives the card of the question and what the server will have heard. */
  const ask = async (params: object): Promise<{ readonly card: Locator; readonly heard: Promise<unknown> }> => {
    const heard = host.kit
      .callTool("org.test.asking.ask", params as never, { client: "bot", session: "chat-1" })
      .then(({ result, error }) => (error === null ? (JSON.parse((result!["content"] as { text: string }[])[0]!.text) as unknown) : error));
    const card = page.locator(".approval.open");
    await card.waitFor();
    return { card, heard };
  };

  it("a form with every kind of field: what was filled in is what the server gets, and what was not is left out", async () => {
    const { card, heard } = await ask(FORM);
    expect(await card.locator(".question-form").innerText()).toContain(String.raw`Where the <b>train</b>\u{202e} ends`);
    await card.getByLabel(/^City \(needed\)/).fill("上海");
    await card.getByLabel("day", { exact: true }).fill("2026-12-24");
    await card.getByLabel("seats (needed)").fill("2");
    await card.getByLabel("window").uncheck();
    await card.getByLabel("meal").selectOption("Vegetarian");
    await card.getByRole("group", { name: "extras" }).getByLabel("dog").check();
    await card.getByRole("group", { name: "days" }).getByLabel("Saturday").check();
    await card.getByRole("button", { name: /^Approve/ }).click();
    expect(await heard).toEqual({
      action: "accept",
      content: { city: "上海", day: "2026-12-24", seats: 2, price: 12.5, window: false, class: "second", meal: "v", extras: ["dog"], days: ["sa", "su"] },
    });
    await page.locator(".approval.done").first().waitFor();
  });

  it("an answer that does not fit is said, field by field; what was typed stays, and can be mended", async () => {
    const { card, heard } = await ask(FORM);
    await card.getByLabel("seats (needed)").fill("many");
    await card.getByRole("button", { name: /^Approve/ }).click();
    const told = card.getByRole("alert");
    await told.getByText(/city.*seats must be integer|seats must be integer.*city/).waitFor();
    await card.getByLabel("seats (needed)").fill("12345678901234567890");
    await card.getByRole("button", { name: /^Approve/ }).click();
    await told.getByText(/seats: a browser cannot keep this many digits/).waitFor();
    expect(await card.getByLabel("seats (needed)").inputValue()).toBe("12345678901234567890");
    await card.getByLabel("seats (needed)").fill("9");
    await card.getByLabel(/^City/).fill("Oslo");
    await card.getByRole("button", { name: /^Approve/ }).click();
    expect(await heard).toMatchObject({ action: "accept", content: { city: "Oslo", seats: 9 } });
  });

  it("is answered by keyboard alone", async () => {
    const { card, heard } = await ask({
      message: "Sure?",
      requestedSchema: { type: "object", properties: { sure: { type: "boolean" }, why: { type: "string" } } },
    });
    await card.getByLabel("sure").focus();
    await page.keyboard.press("Space");
    await page.keyboard.press("Tab");
    await page.keyboard.type("because");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    expect(await heard).toEqual({ action: "accept", content: { sure: true, why: "because" } });
  });

  it.each([
    ["Deny", "decline"],
    ["Cancel", "cancel"],
  ])("%s is %s for the server, whatever was filled in", async (button, action) => {
    const { card, heard } = await ask(FORM);
    await card.getByLabel(/^City/).fill("Oslo");
    await card.getByLabel(/^Reason/).fill("not today");
    await card.getByRole("button", { name: new RegExp(`^${button} `) }).click();
    expect(await heard).toEqual({ action });
  });

  it("a second person sees the answer of the first, and confirms just that", async () => {
    await host.workspace.write("topology/policies/p.yaml", "approvals: { four_eyes: true }\n");
    await host.kit.reload();
    const { card, heard } = await ask(FORM);
    await card.getByLabel(/^City/).fill("Bergen");
    await host.kit.decideApproval(host.kit.listApprovals()[0]!.id, "approve", "ann", undefined, { city: "Oslo", seats: 1, window: true });
    await card.getByText("ann", { exact: true }).waitFor();
    expect(await card.locator("pre").last().textContent()).toContain('"city": "Oslo"');
    expect(await card.locator(".question-form").count()).toBe(0);
    await card.getByRole("button", { name: /^Approve/ }).click();
    expect(await heard).toEqual({ action: "accept", content: { city: "Oslo", seats: 1, window: true } });
    await host.workspace.write("topology/policies/p.yaml", "approvals: {}\n");
    await host.kit.reload();
  });

  it("an address: its site stands by itself, the link opens exactly that in a tab that knows nothing of this one, and nobody else fetches it", async () => {
    const visits: string[] = [];
    await browser.context.route("**/*.example/**", (route) => {
      visits.push(route.request().url());
      return route.fulfill({ contentType: "text/html", body: "<script>document.title = String(opener) + document.referrer</script>" });
    });
    const { card, heard } = await ask({ mode: "url", elicitationId: "e-1", message: "Sign in", url: "http://xn--80ak6aa92e.example/go" });
    await card.getByText("xn--80ak6aa92e.example", { exact: true }).first().waitFor();
    await card.getByText("аррӏе.example").waitFor();
    const opened = browser.context.waitForEvent("page");
    await card.getByRole("link", { name: "Open xn--80ak6aa92e.example in a new tab" }).click();
    const tab = await opened;
    await tab.waitForLoadState();
    expect([tab.url(), await tab.title()]).toEqual(["http://xn--80ak6aa92e.example/go", "null"]);
    expect(visits).toHaveLength(1);
    await tab.close();
    await card.getByRole("button", { name: /^Approve/ }).click();
    expect(await heard).toEqual({ action: "accept" });
  });

  it("a form that asks for a secret never comes here: the server is refused", async () => {
    const call = await host.kit.callTool(
      "org.test.asking.ask",
      { message: "Log in", requestedSchema: { type: "object", properties: { password: { type: "string" } } } },
      { client: "bot", session: "chat-1" },
    );
    expect(JSON.stringify(call.result)).toContain("must not ask for passwords");
    expect(await page.locator(".approval.open").count()).toBe(0);
  });
});
