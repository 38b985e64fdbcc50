import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { extname } from "node:path";
import { HttpError } from "../control/http-errors.ts";
import type { Reply, RequestContext, Route } from "../control/route.ts";

/** Plain files, served as they stand; the package ships them, so that nothing has to be built or copied. */
const ASSETS = new URL("../../src/web/assets/", import.meta.url);

const TYPES: ReadonlyMap<string, string> = new Map([
  [".html", "text/html; charset=utf-8"],
  [".css", "text/css; charset=utf-8"],
  [".js", "text/javascript; charset=utf-8"],
  [".svg", "image/svg+xml"],
]);

/**
 * Everything comes from this server and nothing is inline. Trusted types are required and no policy may make one, so a text
 * can become HTML by no way at all.
 */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const HEADERS: Readonly<Record<string, string>> = {
  "Content-Security-Policy": CONTENT_SECURITY_POLICY,
  "Referrer-Policy": "no-referrer",
  "X-Frame-Options": "DENY",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Cache-Control": "no-cache",
};

/** The rows of the web page: `/` and its parts under `/web/`. Public, because they hold nothing of this host; the data comes from the API, with a token. */
export async function webRoutes(): Promise<Route[]> {
  const replies = new Map<string, Reply>();
  for (const name of await readdir(ASSETS)) {
    const type = TYPES.get(extname(name));
    if (type !== undefined) replies.set(name, fileReply(await readFile(new URL(name, ASSETS), "utf8"), type));
  }
  const serve = (name: string, { req }: RequestContext): Reply => {
    const reply = replies.get(name);
    if (!reply) throw new HttpError("NOT_FOUND", `the web page has no part ${JSON.stringify(name)}`);
    if (req.headers["if-none-match"] !== reply.headers!["ETag"]) return reply;
    return { status: 304, headers: reply.headers! };
  };
  const row = (path: string, summary: string, type: string, handle: Route["handle"]): Route => {
    return { method: "GET", path, role: "public", group: "web", summary, answer: { type, description: "The file." }, handle };
  };
  return [
    row("/", "The web page for operators.", "text/html", (context) => serve("index.html", context)),
    row("/web/{file}", "A part of the web page.", "text/javascript", (context) => serve(context.params.get("file")!, context)),
  ];
}

function fileReply(text: string, type: string): Reply {
  const etag = `"${createHash("sha256").update(text).digest("base64url")}"`;
  return { text, type, headers: { ...HEADERS, ETag: etag } };
}
