import { open, readFile, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { beforeEach, describe, expect, test } from "vitest";
import { createEncoder } from "../../../src/security/encoder.ts";
import { createSearchHostLogs } from "../../../src/tools/host/search-host-logs.ts";
import { readWindow } from "../../../src/tools/logs/file-lines.ts";
import { Miner } from "../../../src/tools/logs/miner.ts";
import { timeOfLine } from "../../../src/tools/logs/time-of-line.ts";
import type { ToolContext, ToolOutput } from "../../../src/tools/tool.ts";
import { hostContext, makeFolder, writeProgram } from "./context.ts";

const HELD = "hunter2-held-hunter2-held";
const NOW = Date.parse("2026-11-23T05:00:00Z");
let root: string;

beforeEach(async () => {
  root = await makeFolder();
});

async function search(
  args: Record<string, unknown>,
  {
    programs,
    encoder,
    permit,
  }: { programs?: string } & Partial<Pick<ToolContext, "encoder" | "permit">> = {},
): Promise<ToolOutput> {
  const tool = createSearchHostLogs({ roots: [root] });
  const host = hostContext(programs, new AbortController().signal, encoder);
  const ctx = { ...host, ...(permit && { permit }) };
  const until = { until: new Date(NOW).toISOString() };
  return tool.run(tool.input.parse({ ...until, ...args }), ctx);
}

async function log(lines: readonly string[], name = "app.log"): Promise<void> {
  await writeFile(join(root, name), lines.map((line) => `${line}\n`).join(""));
}

/** Rows without the head. */
async function rows(args: Record<string, unknown>, encoder?: ToolContext["encoder"]) {
  const { text } = await search(args, encoder && { encoder });
  return text.split("\n").slice(1);
}

const at = (minute: number) => `2026-11-23T04:${String(minute).padStart(2, "0")}:00Z`;
const HOUR = { path: "app.log", since: "2026-11-23T04:00Z" };

/** The templates of lines, the most frequent first. */
function templatesOf(lines: readonly string[], limits?: { shapes: number; known: number }) {
  const bytes = Buffer.from(lines.join("\n"));
  const miner = new Miner(limits);
  miner.mine({
    bytes,
    from: 0,
    to: bytes.length,
    service: "",
    timeAt: () => undefined,
    encoded: (from, to) => bytes.toString("utf8", from, to),
  });
  const { templates, ...counts } = miner.result();
  const sorted = templates.toSorted((a, b) => b.count - a.count);
  return {
    ...counts,
    rows: sorted.map(({ count, severity, text }) => `×${count} ${severity} ${text}`),
  };
}

describe("a template is told by", () => {
  test.each([
    [
      "numbers and ids",
      ["job 17 took 3.5ms id=5f3a-1", "job 8 took 12s id=deadbeef"],
      "job ‹17› took ‹3.5ms› id=‹5f3a-1›",
    ],
    [
      "addresses and paths",
      ["GET /a/1 from 10.0.0.1:80", "GET /a/2 from fe80::1"],
      "GET /a/‹1› from ‹10.0.0.1:80›",
    ],
    [
      "quoted texts",
      ['relation "users" is gone', 'relation "a b c" is gone'],
      'relation "‹users›" is gone',
    ],
    [
      "the level and message of JSON",
      [
        '{"ts":1,"level":"warn","msg":"slow 5","user":"ana"}',
        '{"ts":2,"level":"warn","msg":"slow 66","user":"bob"}',
      ],
      'warn slow ‹5› user="‹ana›"',
    ],
    [
      "colours or none",
      ["\u001b[33mjob 1 waits\u001b[0m", "\u001b[32mjob 2 waits\u001b[0m"],
      "\u001b[33mjob ‹1› waits\u001b[0m",
    ],
  ])("%s", (_what, lines, text) => {
    const { rows: found } = templatesOf(lines);
    expect(found).toHaveLength(1);
    expect(found[0]?.slice(found[0].indexOf(" ", 3) + 1)).toBe(text);
  });

  test("words as long as they are few: many in one place vary", () => {
    const states = ["opened", "closed"].map((state) => `connection ${state} by peer`);
    expect(templatesOf(states).rows).toHaveLength(2);
    const names = Array.from(
      { length: 26 },
      (_, i) => `login of user${String.fromCharCode(97 + i)} accepted`,
    );
    expect(templatesOf([...names, ...names]).rows).toEqual(["×52 info login of ‹usera› accepted"]);
  });

  test("what varies by its form takes names in, not words, in whatever order they come", () => {
    const lines = [
      "retry to web.example.com now",
      "retry to 10.0.0.7 now",
      "retry to db.example.org now",
      "worker 17 now",
      "worker stopped now",
    ];
    for (const each of [lines, lines.toReversed()])
      expect(templatesOf(each).rows.map((row) => row.replaceAll(/‹.*›/g, "‹›"))).toEqual(
        expect.arrayContaining([
          "×3 info retry to ‹› now",
          "×1 info worker ‹› now",
          "×1 info worker stopped now",
        ]),
      );
    const eight = Array.from(
      { length: 8 },
      (_, i) => `login of ${String.fromCharCode(97 + i)} done`,
    );
    expect(templatesOf(["login of u9 done", ...eight, "login of root done"]).rows).toHaveLength(1);
  });

  test("a number with its unit", () => {
    const sizes = ["4.5 KB", "12 B", "3 MiB", "120 ms", "7 s", "9 GB"].map(
      (size) => `took ${size} of it`,
    );
    expect(templatesOf(sizes).rows).toEqual(["×6 info took ‹4.5 KB› of it"]);
  });

  test("status codes, error codes and levels too", () => {
    const { rows: found } = templatesOf([
      '10.0.0.1 "GET / HTTP/1.1" 200 17',
      '10.0.0.2 "GET / HTTP/1.1" 200 18',
      '10.0.0.3 "GET / HTTP/1.1" 502 17',
      "ORA-00600: internal error",
      "ORA-01555: snapshot too old",
    ]);
    expect(found.map((row) => row.split(" ")[1])).toEqual(["info", "error", "error", "info"]);
  });

  test("the same text in whatever order and however often it is read", () => {
    const lines = Array.from(
      { length: 3_000 },
      (_, i) =>
        `worker ${i} state ${["up", "down", "idle"][i % 3]} ${i % 7 === 0 ? "failed" : "ok"}`,
    );
    expect(templatesOf(lines)).toEqual(templatesOf(lines));
    expect(templatesOf(lines).rows).toHaveLength(6);
  });

  test("no more than so much memory: what is over is counted", () => {
    const words = (i: number) =>
      Array.from({ length: 5 }, (_, n) =>
        String.fromCharCode(97 + ((i >> (n * 3)) & 7)).repeat(3 + n),
      );
    const lines = Array.from({ length: 4_000 }, (_, i) => words(i).join(" ".repeat(1 + (i % 2))));
    const { rows: found, others, lines: read } = templatesOf(lines, { shapes: 20, known: 100 });
    expect(found.length).toBeLessThanOrEqual(20);
    expect(read).toBe(4_000);
    expect(others).toBeGreaterThan(0);
  });
});

test.each([
  ["2026-11-23T04:00:00.250Z x", "2026-11-23T04:00:00.250Z"],
  ["2026-11-23 05:00:00,250 +0100 x", "2026-11-23T04:00:00.250Z"],
  ['1.2.3.4 - - [23/Nov/2026:04:00:00 +0000] "GET', "2026-11-23T04:00:00.000Z"],
  ['{"ts":1795406400.5,"m":1}', "2026-11-23T04:00:00.500Z"],
  ["1795406400250 x", "2026-11-23T04:00:00.250Z"],
  ["order 17 of 2026", undefined],
])("the time of %j", (line, time) => {
  const ms = timeOfLine(line, NOW);
  expect(ms === undefined ? undefined : new Date(ms).toISOString()).toBe(time);
});

describe("a file", () => {
  test("is read from since to until, and a trace is one line with its first frame", async () => {
    await log([
      ...Array.from(
        { length: 60 },
        (_, i) => `2026-11-23T03:${String(i).padStart(2, "0")}:00Z INFO tick ${i}`,
      ),
      ...Array.from({ length: 30 }, (_, i) => `${at(i)} INFO tick ${i}`),
      `${at(40)} ERROR order 1 failed`,
      "java.lang.NullPointerException: x",
      "\tat shop.Cart.total(Cart.java:17)",
      "\tat shop.Main.main(Main.java:3)",
      "Caused by: java.io.IOException",
      `${at(59)} INFO bye`,
    ]);
    expect(await rows({ ...HOUR })).toEqual([
      "×1 error 11-23 04:40:00 ERROR order ‹1› failed",
      expect.stringMatching(
        /^×1 error.* java\.lang\.NullPointerException: x \| at shop\.Cart\.total\(‹Cart\.java:17›\)$/,
      ),
      "×30 11-23 04:00:00–04:29:00 INFO tick ‹0›",
      "×1 11-23 04:59:00 INFO bye",
    ]);
  });

  test("tells as findings what is new and an error", async () => {
    await log([
      ...Array.from({ length: 30 }, (_, i) => `${at(i)} ERROR old trouble ${i}`),
      `${at(50)} ERROR disk sda is full`,
      `${at(51)} INFO new and fine`,
    ]);
    const { findings, text } = await search({ ...HOUR, new_since: at(45) });
    expect(findings?.map(({ cause }) => cause)).toEqual(["ERROR disk sda is full"]);
    expect(text.split("\n").slice(1)).toEqual([
      "×1 NEW 11-23 04:51:00 INFO new and fine",
      "×30 error 11-23 04:00:00–04:29:00 ERROR old trouble ‹0›",
    ]);
  });

  test("shows the newest lines that match, and never matches a secret", async () => {
    const encoder = createEncoder([{ name: "PASSWORD", value: HELD }]);
    await log([`${at(1)} login ${HELD}`, `${at(2)} login of ana`, `${at(3)} bye`]);
    expect(await rows({ ...HOUR, pattern: "LOGIN", lines: 9 }, encoder)).toEqual([
      `${at(1)} login [secret:PASSWORD]`,
      `${at(2)} login of ana`,
    ]);
    expect(await rows({ ...HOUR, pattern: "hunter2" }, encoder)).toEqual([]);
    expect((await rows({ ...HOUR }, encoder)).join("\n")).not.toContain("hunter2");
  });

  test("may be of bytes that are no text, of lines without end, and without times", async () => {
    const garbage = Buffer.from(Array.from({ length: 60_000 }, (_, i) => (i * 7_919) % 256));
    const long = Buffer.from(`\n${"x".repeat(12_000_000)} ${HELD}\nlast line\n`);
    await writeFile(join(root, "app.log"), Buffer.concat([garbage, long]));
    const encoder = createEncoder([{ name: "PASSWORD", value: HELD }]);
    const { text, gaps } = await search({ ...HOUR, limit: 100 }, { encoder });
    expect(text).toContain("last line");
    expect(text).not.toContain("hunter2");
    expect(text.length).toBeLessThan(40_000);
    expect(gaps?.[0]?.why).toContain("can't read a time");
  });

  test("outside the folders, behind a link or packed in another way is refused", async () => {
    await writeFile(join(root, "old.log"), Buffer.from("fd377a585a0000", "hex"));
    await symlink("/etc/passwd", join(root, "link.log"));
    expect((await search({ path: "old.log" })).text).toContain("is xz");
    for (const path of ["/etc/passwd", "link.log", "../x"])
      await expect(search({ path })).rejects.toMatchObject({ code: "PATH_REFUSED" });
  });
});

describe("a compressed file", () => {
  const ticks = (hour: number, word = "tick") =>
    Array.from(
      { length: 60 },
      (_, i) => `2026-11-23T0${hour}:${String(i).padStart(2, "0")}:00Z INFO ${word} ${i}\n`,
    ).join("");
  const pack = { gz: gzipSync, zst: zstdCompressSync };

  async function rotated(name: string, content: string | Buffer, endedAt: string): Promise<void> {
    await writeFile(join(root, name), content);
    await utimes(join(root, name), new Date(endedAt), new Date(endedAt));
  }

  test.each(["gz", "zst"] as const)("%s is read from since to until", async (kind) => {
    await writeFile(join(root, `old.${kind}`), pack[kind](ticks(2) + ticks(3) + ticks(4)));
    const found = await rows({
      path: `old.${kind}`,
      since: "2026-11-23T03:30Z",
      until: "2026-11-23T04:10Z",
    });
    expect(found).toEqual(["×40 11-23 03:30:00–04:09:00 INFO tick ‹30›"]);
  });

  test("counts to the log that it was rotated from, as far as it is of the time", async () => {
    await rotated("app.log.3.gz", gzipSync(ticks(1, "old")), "2026-11-23T02:00Z");
    await rotated("app.log.2.gz", gzipSync(ticks(2)), "2026-11-23T02:59:30Z");
    await rotated("app.log.1", ticks(3), "2026-11-23T03:59:30Z");
    await rotated("app.log.1.bak", ticks(3, "copy"), "2026-11-23T03:59:30Z");
    await rotated("app-1.log", ticks(3, "other"), "2026-11-23T03:59:30Z");
    await writeFile(join(root, "app.log"), ticks(4));
    const { text } = await search({ path: "app.log", since: "2026-11-23T02:30Z" });
    const [head, ...found] = text.split("\n");
    expect(head).toContain(`app.log.2.gz, app.log.1 and ${join(root, "app.log")}, `);
    expect(found).toEqual(["×150 11-23 02:30:00–04:59:00 INFO tick ‹30›"]);
    expect((await search({ ...HOUR })).text).toMatch(/^\S+\/app\.log, .* 60 lines/);
    const lines = await rows({ path: "app.log", since: "2026-11-23T03:58Z", lines: 62 });
    expect([lines[0], lines.at(-1)]).toEqual([
      "2026-11-23T03:58:00Z INFO tick 58",
      "2026-11-23T04:59:00Z INFO tick 59",
    ]);
  });

  test("that is cut, not to be read or not permitted is a gap, and the rest is told", async () => {
    await rotated(
      "app.log-20261122.gz",
      gzipSync(ticks(2)).subarray(0, -40),
      "2026-11-23T02:59:30Z",
    );
    await rotated("app.log-20261123", Buffer.from("fd377a585a0000", "hex"), "2026-11-23T03:30Z");
    await writeFile(join(root, "app.log"), ticks(4));
    const { text, gaps = [] } = await search({ path: "app.log", since: "2026-11-23T02:00Z" });
    expect(text).toMatch(/×\d+ .*INFO tick/);
    expect(gaps.map(({ what, why }) => `${what}: ${why}`.replaceAll(root, ""))).toEqual([
      "the rest of /app.log-20261122.gz: it is cut or broken: unexpected end of file",
      "lines of /app.log-20261123: /app.log-20261123 is xz, which this tool does not read",
    ]);
    const permit = async () => "A rule denies it.";
    const denied = await search(
      { path: join(root, "app.log"), since: "2026-11-23T02:00Z" },
      { permit },
    );
    expect(denied.gaps?.map(({ why }) => why)).toEqual([
      expect.stringContaining("was not read. A rule denies it"),
      expect.stringContaining("was not read. A rule denies it"),
    ]);
    expect(denied.text).toContain("60 lines");
  });

  test.each(["gz", "zst"] as const)("%s that unpacks to very much is read so far", async (kind) => {
    const path = join(root, `bomb.${kind}`);
    await writeFile(path, pack[kind](Buffer.alloc(32 * 1024 ** 2, "0 \n")));
    const file = await open(path);
    const { size: bytes } = await file.stat();
    expect(bytes).toBeLessThan(100_000);
    const window = { fd: file.fd, bytes, since: 0, until: NOW, now: NOW, maxBytes: 1024 ** 2 };
    const packed = kind === "gz" ? "gzip" : "zstd";
    let longest = 0;
    const read = await readWindow({ ...window, maxMs: 20_000, packed }, 100, (block) => {
      longest = Math.max(longest, block.length);
    });
    await file.close();
    expect(read).toMatchObject({ cut: "packed", untimed: true });
    expect([read.bytes < 3 * 1024 ** 2, longest < 3 * 1024 ** 2]).toEqual([true, true]);
  });
});

describe("the journal", () => {
  const entry = (second: number, message: string, priority: number) =>
    JSON.stringify({
      __REALTIME_TIMESTAMP: String((NOW - second * 1_000) * 1_000),
      __CURSOR: `c${second}`,
      MESSAGE: message,
      PRIORITY: String(priority),
      _SYSTEMD_UNIT: "nginx.service",
    });

  test("is read by journalctl, unit and time as it takes them", async () => {
    const programs = await makeFolder();
    const lines = [entry(10, "worker 7 exited on signal 11", 1), entry(20, "started 3 workers", 6)];
    await writeFile(join(programs, "out"), `${lines.join("\n")}\n`);
    await writeProgram(
      programs,
      "journalctl",
      `echo "$*" >> ${programs}/asked
case "$*" in *--field*) echo nginx.service ;; *) cat ${programs}/out ;; esac`,
    );
    const { text } = await search({ unit: "nginx", since: "2026-11-23T04:00Z" }, { programs });
    expect(text.split("\n")).toEqual([
      "journal of nginx.service, 2026-11-23 04:00:00 to 2026-11-23 05:00:00 UTC: 2 lines (287 bytes read), 2 templates (‹…› varies).",
      "×1 error 11-23 04:59:50 worker ‹7› exited on signal ‹11›",
      "×1 11-23 04:59:40 started ‹3› workers",
    ]);
    const [, asked = ""] = (await readFile(join(programs, "asked"), "utf8")).split("\n");
    expect(asked).toBe(
      "--no-pager --quiet --output=json --all --reverse --lines=5000 --since=@1795406400.000000 --until=@1795409999.999999 --unit=nginx.service",
    );
    await expect(search({ unit: "ngixn" }, { programs })).rejects.toThrow(
      "Did you mean nginx.service?",
    );
  });

  test("that may not be read, or is not there, is said", async () => {
    const programs = await makeFolder();
    await writeProgram(programs, "journalctl", "exit 0");
    const none = await search({ unit: "nginx" }, { programs });
    expect(none.text).toMatch(/^The journal holds no lines of any unit/);
    await writeProgram(
      programs,
      "journalctl",
      `echo "No journal files were opened due to insufficient permissions." >&2; exit 1`,
    );
    const { text, failed } = await search({}, { programs });
    expect([failed, text]).toEqual([
      true,
      "journalctl: No journal files were opened due to insufficient permissions.",
    ]);
  });
});
