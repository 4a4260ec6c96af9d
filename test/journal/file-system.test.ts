import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { whyLost } from "../../src/journal/sqlite/file-system.ts";
import { openSqliteJournal, readSqliteJournal } from "../../src/journal/sqlite/journal.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "wk-place-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

test.each([
  ["NFS", 0x6969],
  ["SMB", 0xfe534d42],
  // As a number with a sign, which it is on some machines.
  ["SMB", 0xfe534d42 | 0],
  ["CIFS", 0xff534d42],
  ["CephFS", 0x00c36400],
])("a store on %s is refused by everyone, before anything is made there", async (name, kind) => {
  const data = join(folder, "data");
  const asked: string[] = [];
  const options = {
    path: join(data, "watchkeeper.db"),
    kindOf: (at: string) => {
      asked.push(at);
      return kind;
    },
  };
  const refused = {
    code: "STORE_UNSAFE",
    message: expect.stringMatching(new RegExp(`${data} is on .*${name}.*DATA_DIR.*REDIS_URL`)),
  };
  await expect(openSqliteJournal(options)).rejects.toMatchObject(refused);
  await expect(readSqliteJournal(options)).rejects.toMatchObject(refused);
  expect(existsSync(data)).toBe(false);
  // It is the folder in which the store's would be made.
  expect(asked).toEqual([folder, folder]);
});

test("a store that is there already is refused too, by its own folder", async () => {
  const path = join(folder, "watchkeeper.db");
  writeFileSync(path, "");
  await expect(openSqliteJournal({ path, kindOf: () => 0x6969 })).rejects.toMatchObject({
    code: "STORE_UNSAFE",
  });
});

test("where a container would lose the store, that is said, and elsewhere nothing", () => {
  const data = join(folder, "data");
  expect(whyLost(data, () => 0x794c7630)).toMatch(/layer \(overlay\).*DATA_DIR.*volume/);
  expect(whyLost(data, () => 0x01021994)).toContain("tmpfs");
  for (const local of [0xef53, 0x58465342, 0x9123683e, 0x2fc12fc1])
    expect(whyLost(data, () => local)).toBeUndefined();
});
