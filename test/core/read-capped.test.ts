import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { readCapped } from "../../src/core/read-capped.ts";

test("a stream is read to its end, up to exactly as many bytes as may be", async () => {
  const read = await readCapped(Readable.from([Buffer.from("ab"), Buffer.from("cd")]), 4);
  expect([read.bytes.toString(), read.isWhole]).toEqual(["abcd", true]);
});

test("of a longer stream the beginning is kept, and it is ended", async () => {
  const stream = Readable.from([Buffer.from("ab"), Buffer.from("cd"), Buffer.from("ef")]);
  const read = await readCapped(stream, 3);
  expect([read.bytes.toString(), read.isWhole, stream.destroyed]).toEqual(["abc", false, true]);
});

test("what arrived before an error is kept", async () => {
  async function* broken() {
    yield Buffer.from("ab");
    throw new Error("cut");
  }
  const read = await readCapped(broken(), 4);
  expect([read.bytes.toString(), read.isWhole, read.error]).toEqual([
    "ab",
    false,
    new Error("cut"),
  ]);
});
