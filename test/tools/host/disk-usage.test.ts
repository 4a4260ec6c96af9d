import { expect, it } from "vitest";
import { diskUsage } from "../../../src/tools/host/disk-usage.ts";
import { hostContext, makeFolder, writeProgram } from "./context.ts";

const say = (rows: string[]) => ["Filesystem a b c d Mounted on", ...rows].join("\n");

/** A df that says `space` when it is asked for blocks and `inodes` when it is asked for inodes. */
async function withDf(space: string[], inodes: string[] = []) {
  const folder = await makeFolder();
  await writeProgram(
    folder,
    "df",
    `case "$*" in *-i*) cat <<'X'\n${say(inodes)}\nX\n;; *) cat <<'X'\n${say(space)}\nX\n;; esac`,
  );
  return hostContext(folder);
}

it("tells how full this machine's root filesystem is", async () => {
  const { text, failed } = await diskUsage.run({}, hostContext());
  expect(failed).toBeUndefined();
  expect(text).toMatch(/^\/: \d+ % used, .+ of .+, .+ available/m);
});

it("tells of the filesystem that holds a path, also a pseudo one", async () => {
  const folder = await makeFolder();
  expect((await diskUsage.run({ path: folder }, hostContext())).text.split("\n")).toHaveLength(2);
  expect((await diskUsage.run({ path: "/proc" }, hostContext())).text).toContain("/proc: ");
});

it("says so when the path does not exist", async () => {
  const output = await diskUsage.run({ path: "/no/such/path" }, hostContext());
  expect(output).toMatchObject({ failed: true });
  expect(output.text).toContain("No such file");
});

it("puts the fullest first and points out what is at 90 % or more, in space or in inodes", async () => {
  const ctx = await withDf(
    [
      "/dev/a 1048576 104858 943718 10% /a",
      "/dev/b 1048576 996147 52429 95% /b c",
      "/dev/d 1048576 524288 524288 50% /d",
      "store.example.com:/x 1048576 524288 524288 89% /e",
    ],
    ["/dev/a 100 1 99 1% /a", "/dev/d 100 91 9 91% /d", "/dev/b 0 0 0 - /b c"],
  );
  expect((await diskUsage.run({}, ctx)).text).toBe(
    [
      "2 of 4 filesystems are at 90 % or more: /b c, /d",
      "! /b c: 95 % used, 972.8 MiB of 1 GiB, 51.2 MiB available (/dev/b)",
      "! /d: 50 % used, 512 MiB of 1 GiB, 512 MiB available, inodes 91 % (/dev/d)",
      "/e: 89 % used, 512 MiB of 1 GiB, 512 MiB available (store.example.com:/x)",
      "/a: 10 % used, 102.4 MiB of 1 GiB, 921.6 MiB available, inodes 1 % (/dev/a)",
    ].join("\n"),
  );
});

const row = (percent: number, mount: string) =>
  `x 1000 ${percent * 10} ${1000 - percent * 10} ${percent}% ${mount}`;

it("leaves out what has no size and what is only memory, unless that is full", async () => {
  const quiet = await withDf([row(10, "/"), row(10, "/dev/shm"), "proc 0 0 0 - /proc"]);
  const { text } = await diskUsage.run({}, quiet);
  expect(text).toContain("Left out: 2 ");
  expect(text).not.toContain("/dev/shm");
  const full = await withDf([row(10, "/"), row(97, "/dev/shm")]);
  expect((await diskUsage.run({}, full)).text).toContain("! /dev/shm: 97 % used");
});

it("ends with the call when a network mount hangs", async () => {
  const folder = await makeFolder();
  await writeProgram(folder, "df", "exec sleep 300");
  const stop = new AbortController();
  const running = diskUsage.run({}, hostContext(folder, stop.signal));
  setTimeout(() => stop.abort(), 50);
  await expect(running).rejects.toMatchObject({ code: "ABORTED" });
});

it.each(["-h", "--help", "relative", "", "/a\0b"])("refuses %j for a path", (path) => {
  expect(diskUsage.input.safeParse({ path }).success).toBe(false);
});
