import { mkdtemp, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { expect, onTestFinished, test } from "vitest";
import { readCapped } from "../../src/core/read-capped.ts";
import { readSmallFile } from "../../src/core/small-file.ts";

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

test("a file that the configuration names is read whole, or refused for what it is", async () => {
  const folder = await mkdtemp(join(tmpdir(), "small-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, "ca.pem");
  await writeFile(path, "PEM");
  expect(readSmallFile(path)).toBe("PEM");
  await truncate(path, 1024 * 1024 + 1);
  expect(() => readSmallFile(path)).toThrow("larger than 1 MiB");
  expect(() => readSmallFile("/dev/zero")).toThrow("expected a regular file");
});
