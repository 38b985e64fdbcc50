import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { projectRoot } from "../support/built-cli.ts";

/** A fenced block of a page. */
export interface Block {
  /** The word behind the fence: sh, text, yaml, js … */
  readonly kind: string;
  readonly text: string;
}

/** The text of a page, by its path in the repository. */
export function readPage(file: string): Promise<string> {
  return readFile(path.join(projectRoot, file), "utf8");
}

/** All fenced blocks, in order. */
export function blocksOf(page: string): Block[] {
  return [...page.matchAll(/^```(\w*).*\n([\s\S]*?)^```$/gm)].map(([, kind, text]) => ({ kind: kind!, text: text! }));
}

/** Headings as their level and text, fenced blocks left out. */
export function headingsOf(page: string): { readonly level: number; readonly text: string }[] {
  return [...page.replaceAll(/^```[\s\S]*?^```$/gm, "").matchAll(/^(#+) (.+)$/gm)].map(([, marks, text]) => ({ level: marks!.length, text: text! }));
}

/** Targets of links and images outside of code, in order. */
export function linksOf(page: string): string[] {
  const prose = page.replaceAll(/^ *```[\s\S]*?^ *```$/gm, "").replaceAll(/`[^`\n]*`(?!\])/g, "");
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1]!);
}

/** What GitHub makes of a heading as an anchor. */
export function anchorOf(heading: string): string {
  return heading
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(" ", "-");
}

/** Every page that people read: of the repository itself, docs/, examples/ and apps/. */
export async function allPages(): Promise<string[]> {
  const pages = (await readdir(projectRoot)).filter((name) => name.endsWith(".md"));
  for (const folder of ["docs", "examples", "apps", "bench"]) {
    const names = await readdir(path.join(projectRoot, folder), { recursive: true }).catch(() => []);
    pages.push(...names.filter((name) => name.endsWith(".md") && !name.includes("node_modules")).map((name) => path.join(folder, name)));
  }
  return pages.sort();
}
