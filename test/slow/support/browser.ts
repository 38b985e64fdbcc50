import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { chromium, type BrowserContext, type Page } from "playwright-core";
import { describe, it } from "vitest";

const CANDIDATES = [process.env["CHROMIUM"], "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const executablePath = CANDIDATES.find((file) => file !== undefined && existsSync(file));
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** A headless Chromium with a profile of its own. */
export interface Browser {
  readonly context: BrowserContext;
  /** Its first page, with a bound on every wait. */
  readonly page: Page;
  close(): Promise<void>;
}

/** Runs tests in Chromium, or where there is none says that they were not tried. */
export function describeInBrowser(name: string, tests: () => void): void {
  if (executablePath !== undefined) return void describe(name, tests);
  it(`${name}: not tried, there is no Chromium here`, () => {
    console.log("browser: NOT TRIED. No Chromium was found; install it (Debian: apt-get install chromium) or set CHROMIUM to its path.");
  });
}

/** Starts Chromium with a window of a laptop's size. */
export async function openBrowser(): Promise<Browser> {
  const profile = await mkdtemp(path.join(tmpdir(), "aurora-browser-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: executablePath!,
    headless: true,
    args: FLAGS,
    viewport: { width: 1240, height: 800 },
  });
  const page = context.pages()[0] ?? (await context.newPage());
  page.setDefaultTimeout(15_000);
  return {
    context,
    page,
    async close() {
      await context.close();
      await rm(profile, { recursive: true, force: true });
    },
  };
}

/** Opens the page of a host in a tab as a person does who has just come: with a token typed in. */
export async function signIn(page: Page, { url, operator }: { readonly url: string; readonly operator: string }): Promise<void> {
  await page.goto(`${url}/`);
  await page.evaluate("sessionStorage.clear()");
  await page.goto(`${url}/`);
  await page.reload();
  await page.getByLabel("Operator token").fill(operator);
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "Graph" }).waitFor();
}
