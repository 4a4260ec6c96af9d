import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openPacks } from "../../../src/tools/packs/folder.ts";
import { writersOf } from "../../../src/tools/packs/load.ts";
import { folder, freshFolder, variable } from "./folder.ts";

freshFolder();

test("packs in a folder that others could replace are refused", async () => {
  const inner = join(folder, "inner");
  await mkdir(inner);
  await chmod(folder, 0o777);
  const packs = openPacks([inner], variable);
  await packs.refresh([]);
  expect(packs.problems).toEqual([
    `${folder}: everybody can write into this folder, so the packs in ${inner} are not read; chmod o-w it`,
  ]);
  await chmod(folder, 0o1777);
  await packs.refresh([]);
  expect(packs.problems).toEqual([]);
});

test.each([
  [0o664, 4_242, "group 4242"],
  [0o664, 7, undefined],
  [0o644, 4_242, undefined],
  [0o666, 7, "everybody"],
])("of a file with mode %o and group %i others who can write to it are %s", (mode, gid, who) => {
  expect(writersOf({ mode, gid }, [7])?.who).toBe(who);
});

test("a variable too long to be kept out of texts is a mistake of its pack", async () => {
  const yaml = `tools:
  a: { description: A., effect: read, http: { get: https://x.example/, credential: { bearer: LONG } } }
`;
  await writeFile(join(folder, "shop.yaml"), yaml);
  const packs = openPacks([folder], () => "x".repeat(8_193));
  await packs.refresh([]);
  expect(packs.problems.join()).toContain("the variable LONG is longer than 8 KiB");
});
