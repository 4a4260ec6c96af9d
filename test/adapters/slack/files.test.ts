import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { FakeFile } from "../../fakes/slack/slack.ts";
import { type Bot, deliver, openBot } from "./harness.ts";

let bot: Bot;
beforeEach(async () => {
  bot = await openBot();
});
afterEach(() => bot.close());

const PNG = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");

async function send(files: FakeFile[], text = "what is this?") {
  const root = bot.slack.say(bot.ana, bot.ops, text, { mention: true, files });
  await bot.slack.idle();
  const [entry] = await bot.entries(bot.ops, root);
  if (entry?.kind !== "message") throw new Error("no message was kept");
  return { ...entry, key: bot.key(bot.ops, root) };
}

test("images, documents and texts that come with a message are kept with it, byte for byte", async () => {
  const { text, files, key } = await send([
    { name: "chart.png", mimetype: "image/png", content: PNG },
    { name: "web.log", mimetype: "text/plain", content: "GET / 500\n" },
    { name: "conf.json", mimetype: "application/json", content: "{}" },
  ]);
  expect(text).toBe("what is this?");
  expect(files).toMatchObject([
    { name: "chart.png", mediaType: "image/png" },
    { name: "web.log", mediaType: "text/plain" },
    { name: "conf.json", mediaType: "text/plain" },
  ]);
  const [chart, log] = files ?? [];
  const read = async (id: string | undefined) => bot.journal.readArtifact(key, id ?? "");
  expect(Buffer.from(await read(chart?.artifact.id))).toEqual(PNG);
  expect(Buffer.from(await read(log?.artifact.id)).toString()).toBe("GET / 500\n");
});

test("what cannot be shown to a model is named as not read, with why, and the message is kept all the same", async () => {
  const { text, files, unread } = await send([
    { name: "core.zip", mimetype: "application/zip", content: "PK" },
    { name: "fake.png", mimetype: "image/png", content: "this is no image" },
    { name: "binary.txt", mimetype: "text/plain", content: Buffer.from([0, 1, 2]) },
    { name: "empty.txt", mimetype: "text/plain", content: "" },
    { name: "huge.png", mimetype: "image/png", content: Buffer.alloc(5 * 1024 * 1024 + 1, PNG) },
  ]);
  expect(files).toBeUndefined();
  expect(text).toBe("what is this?");
  expect(unread).toMatchObject([
    { name: "core.zip", why: "type not supported" },
    { name: "fake.png", why: "not image/png, though it says so" },
    { name: "binary.txt", why: "not UTF-8 text" },
    { name: "empty.txt", why: "empty file" },
    { name: "huge.png", bytes: 5 * 1024 * 1024 + 1, why: "5 MB, limit 5 MB" },
  ]);
});

test("a message that is only a file is one", async () => {
  const { text, files } = await send(
    [{ name: "chart.png", mimetype: "image/png", content: PNG }],
    "",
  );
  expect([text, files?.length]).toEqual(["", 1]);
});

test("the token goes to Slack's hosts and to no other, whatever a file's address says", async () => {
  const asked: (string | undefined)[] = [];
  const thief = createServer((request, response) => {
    asked.push(request.headers.authorization);
    response.end(PNG);
  });
  await new Promise<void>((resolve) => thief.listen(0, "127.0.0.1", resolve));
  const { port } = thief.address() as AddressInfo;
  try {
    const { slack, ops, ana } = bot;
    const origin = new URL(slack.apiUrl).origin;
    const file = { name: "a.png", mimetype: "image/png", size: PNG.length };
    const addresses = [
      `http://127.0.0.1:${port}/a.png`,
      `${origin.replace("127.0.0.1", "localhost")}/files/a.png`,
      `http://files.slack.com@127.0.0.1:${port}/a.png`,
      "http://files.slack.com/a.png",
      "file:///etc/passwd",
      "no address",
    ];
    const files = addresses.map((url_private) => ({ ...file, url_private }));
    const root = slack.say(ana, ops, "hello", { mention: true });
    await slack.idle();
    await deliver(bot, {
      type: "message",
      subtype: "file_share",
      channel: ops.id,
      user: ana.id,
      ts: "1795000000.000100",
      thread_ts: root,
      text: "look",
      files,
    });
    const [, entry] = await bot.entries(ops, root);
    const unread = { name: "a.png", bytes: PNG.length, why: "the download failed" };
    expect(entry).toMatchObject({ text: "look", unread: Array.from({ length: 6 }, () => unread) });
    expect(asked).toEqual([]);
  } finally {
    await new Promise((resolve) => thief.close(resolve));
  }
});
