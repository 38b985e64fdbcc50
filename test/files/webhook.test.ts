import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { openWebhook, signWebhook, teeInbox, type WebhookOptions } from "../../src/files/webhook.ts";
import type { Inbox } from "../../src/runtime/ports.ts";
import { envelope, eventFiles, testFolder, testInbox, until } from "./support/inbox.ts";

interface Post {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

async function receiver(answer: (count: number) => number): Promise<{ url: string; posts: Post[] }> {
  const posts: Post[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      posts.push({ headers: request.headers, body });
      response.writeHead(answer(posts.length), { location: "http://127.0.0.1:1/elsewhere" }).end("ok");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, posts };
}

async function webhook(url: string, spoolDir: string, options: Partial<WebhookOptions> = {}): Promise<Inbox> {
  const inbox = await openWebhook({
    spoolDir,
    target: { url, secret: "s3cret" },
    retryMs: 10,
    format: "amp",
    fsync: false,
    maxPending: 1000,
    clock: systemClock,
    ...options,
  });
  onTestFinished(() => inbox.close());
  return inbox;
}

test("posts every event, signed, in order, and again until it is taken", async () => {
  const { url, posts } = await receiver((n) => (n === 1 ? 503 : n === 2 ? 302 : 204));
  const inbox = await webhook(url, await testFolder());
  const events = [envelope(), envelope(), envelope()];
  for (const event of events) expect(await inbox.put(event, "normal")).toBe("written");
  await until(() => posts.length >= 5);
  expect(posts.map((p) => p.headers["webhook-id"])).toEqual([0, 0, 0, 1, 2].map((i) => events[i]!.header.message_id));
  for (const { headers, body } of posts) {
    expect(headers["webhook-signature"]).toBe(signWebhook("s3cret", String(headers["webhook-id"]), String(headers["webhook-timestamp"]), body));
    expect(headers["content-type"]).toBe("application/json");
  }
  expect(JSON.parse(posts[4]!.body)).toEqual(events[2]);
});

test("signs as Standard Webhooks has it", () => {
  // The example of the specification.
  expect(signWebhook("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", '{"test": 2432232314}')).toBe(
    "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  );
  expect(signWebhook("a", "i", "1", "b")).toBe("v1,JFLe1Zfx7Fr880Yn7zc9G1meLxMosAA6gp3Xx+35ig0=");
});

test("what the receiver refuses for good goes to dead/, and the next is posted", async () => {
  const { url, posts } = await receiver((n) => (n === 1 ? 422 : 200));
  const spool = await testFolder();
  const inbox = await webhook(url, spool);
  await inbox.put(envelope(), "normal");
  await inbox.put(envelope(), "normal");
  await until(() => posts.length === 2);
  await until(async () => (await eventFiles(path.join(spool, "dead"))).length === 1);
});

test("events wait over a restart while nobody listens, and an id is posted once", async () => {
  const spool = await testFolder();
  const first = await webhook("http://127.0.0.1:1/", spool);
  const event = envelope({ key: "k" });
  await first.put(event, "normal");
  await first.close();
  const { url, posts } = await receiver(() => 200);
  const second = await webhook(url, spool);
  await until(() => posts.length === 1);
  expect(await second.put(envelope({ key: "k" }), "normal")).toBe("duplicate");
  expect(posts[0]!.headers["webhook-id"]).toBe(event.header.message_id);
});

test("beside the files: both get every event", async () => {
  const { url, posts } = await receiver(() => 200);
  const dir = await testFolder();
  const both = teeInbox(await testInbox(dir), [await webhook(url, await testFolder())]);
  expect(await both.put(envelope(), "normal")).toBe("written");
  expect(await eventFiles(dir)).toHaveLength(1);
  await until(() => posts.length === 1);
  expect(both.stats()).toMatchObject({ dir, written: 1, degraded: null });
});
