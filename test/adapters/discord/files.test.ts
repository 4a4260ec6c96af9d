import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { pino } from "pino";
import { afterEach, beforeEach, expect, test } from "vitest";
import { attachedFile, createDiscordFiles } from "../../../src/adapters/discord/files.ts";

const log = pino({ level: "silent" });
let asked: string[];
let origin: string;
const server = createServer((request, response) => {
  asked.push(request.url ?? "");
  if (request.url === "/moved") response.writeHead(302, { location: "/a.txt" }).end();
  else response.end("x".repeat(100));
});
beforeEach(async () => {
  asked = [];
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

function file(path: string, size = 100) {
  const url = `${origin}${path}`;
  return attachedFile({ filename: "a.txt", content_type: "text/plain", size, url });
}
const kept = { name: "a.txt", mediaType: "text/plain" };

test("nothing is fetched but from where Discord keeps files, or the server it was pointed at", async () => {
  const read = createDiscordFiles(`${origin}/api`, log);
  expect(await read([file("/a.txt")])).toMatchObject({ files: [kept], unread: [] });
  const closed = createDiscordFiles("http://127.0.0.2:1/api", log);
  expect(await closed([file("/b.txt")])).toEqual({
    files: [],
    unread: [{ name: "a.txt", bytes: 100, why: "the download failed" }],
  });
  expect(await createDiscordFiles(undefined, log)([file("/c.txt")])).toMatchObject({ files: [] });
  expect(asked).toEqual(["/a.txt"]);
});

test("a redirect is not followed, and what says that it is too large is not fetched", async () => {
  const read = createDiscordFiles(`${origin}/api`, log);
  expect(await read([file("/moved")])).toMatchObject({ files: [] });
  expect(asked).toEqual(["/moved"]);
  expect(await read([file("/a.txt", 9 * 1024 * 1024)])).toMatchObject({ files: [] });
  expect(asked).toEqual(["/moved"]);
});

test("of many files the first eight are read", async () => {
  const read = createDiscordFiles(`${origin}/api`, log);
  const { files, unread } = await read(Array.from({ length: 10 }, () => file("/a.txt")));
  expect([files.length, unread.length]).toEqual([8, 2]);
  expect(unread[0]?.why).toBe("only 8 files of a message are read");
});
