import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFile, link, unlink, mkdir, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import * as fc from "fast-check";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { BotError, isBotError, messageOf } from "../../../src/core/errors.ts";
import { createReadLog } from "../../../src/tools/host/read-log.ts";
import { hostContext, makeFolder } from "./context.ts";
import { cpuMs } from "../../cpu-time.ts";

const SECRET = "the secret outside";
const ctx = hostContext();
let folder: string;
let root: string;

beforeEach(async () => {
  folder = await makeFolder();
  root = join(folder, "logs");
  await mkdir(join(root, "app"), { recursive: true });
  await mkdir(join(folder, "logs-of-others"));
  await writeFile(join(folder, "secret"), SECRET);
  await writeFile(join(folder, "logs-of-others/a.log"), SECRET);
  await writeFile(join(root, "app/a.log"), "one\ntwo\nthree\n");
});

async function read(args: Record<string, unknown>, roots = [root]): Promise<string> {
  const tool = createReadLog({ roots });
  const { text } = await tool.run(tool.input.parse(args), ctx);
  return text;
}

/** What came of it: the answer, or the refusal. */
async function attempt(args: Record<string, unknown>) {
  try {
    return { text: await read(args), code: undefined, message: "" };
  } catch (error) {
    if (!isBotError(error)) throw error;
    return { text: "", code: error.code, message: error.message };
  }
}

/** The answer without its first line, which concludes. */
async function readLines(args: Record<string, unknown>): Promise<string[]> {
  return (await read(args)).split("\n").slice(1);
}

/** These lines have no spaces, so a whole word of the most characters that one may have is left out at the cut. */
function shortened(line: string): string {
  if (line.length <= 2000) return line;
  return `${line.slice(0, 1800)} [… ${line.length - 1800} more characters]`;
}

it("a word that the cut would go through is left out, since half a secret could not be found", async () => {
  const secret = "tok_0123456789abcdef";
  await writeFile(join(root, "b.log"), `${"word ".repeat(398)}${secret} and more\n`);
  const [line = ""] = await readLines({ path: "b.log" });
  expect(line).not.toContain("tok_");
  expect(line).toContain("more characters]");
});

describe("reading a log", () => {
  it("gives its newest lines, oldest first", async () => {
    expect(await read({ path: "app/a.log", lines: 2 })).toBe(
      `The last 2 lines of ${root}/app/a.log (14 bytes).\ntwo\nthree`,
    );
    expect(await read({ path: `${root}/app/a.log` })).toContain("All 3 lines of ");
  });

  it("finds the lines wherever the pieces end that it reads the file in", async () => {
    // Without what makes a secret of the word after it, as in "pw:".
    const short = fc.string({ maxLength: 80 }).map((text) => text.replaceAll(/[\r\n:=]/g, "é"));
    const long = fc.integer({ min: 60_000, max: 65_000 }).map((length) => "x".repeat(length));
    const lines = fc.array(
      fc.oneof({ weight: 20, arbitrary: short }, { weight: 1, arbitrary: long }),
      {
        minLength: 1,
        maxLength: 60,
      },
    );
    const wanted = fc.integer({ min: 1, max: 60 });
    await fc.assert(
      fc.asyncProperty(lines, fc.boolean(), wanted, async (all, ended, count) => {
        // What follows the last newline is a line only when it is not empty.
        const kept = !ended && all.at(-1) === "" ? all.slice(0, -1) : all;
        await writeFile(join(root, "b.log"), all.join("\n") + (ended ? "\n" : ""));
        const shown = await readLines({ path: "b.log", lines: count });
        const marks = shown.filter((line) => line.startsWith("Lines longer than"));
        expect(shown.slice(marks.length)).toEqual(kept.slice(-count).map(shortened));
      }),
      { numRuns: 100 },
    );
  });

  it("keeps an empty line that lies where two pieces meet", async () => {
    const long = "y".repeat(64 * 1024 - 2);
    await writeFile(join(root, "b.log"), `a\n\n${long}\n`);
    expect(await readLines({ path: "b.log" })).toEqual(["a", "", shortened(long)]);
  });

  it("takes no longer for a file of gigabytes or a line without an end", async () => {
    const file = join(root, "big.log");
    await writeFile(file, "first\n");
    await truncate(file, 3_000_000_000);
    await appendFile(file, "\nlast\n");
    let text = "";
    const spent = await cpuMs(async () => {
      expect((await readLines({ path: "big.log", lines: 1 })).at(-1)).toBe("last");
      text = await read({ path: "big.log", lines: 3 });
    });
    expect(text).toContain("Lines longer than 64 KiB were read in parts");
    expect(text.length).toBeLessThan(10_000);
    // To read 3 GB takes longer.
    expect(spent).toBeLessThan(1_000);
  });

  it("says of an empty file that it is", async () => {
    await writeFile(join(root, "empty.log"), "");
    expect(await read({ path: "empty.log" })).toBe(`All 0 lines of ${root}/empty.log (0 bytes).`);
  });

  it("stops at 256 KiB of text and says so", async () => {
    await writeFile(join(root, "wide.log"), `${"x".repeat(1990)}\n`.repeat(2000));
    const text = await read({ path: "wide.log", lines: 2000 });
    expect(text.length).toBeLessThan(400 * 1024);
    expect(text.split("\n")[0]).toContain("an answer holds 256 KiB");
  });

  it("does not show a compressed file or a binary journal as text", async () => {
    await writeFile(join(root, "a.log.1.gz"), gzipSync("old lines"));
    await writeFile(join(root, "system.journal"), "LPKSHHRH\0\0\0\0");
    expect(await read({ path: "a.log.1.gz" })).toContain("is gzip, which this tool does not read");
    expect(await read({ path: "system.journal" })).toContain("systemd's binary journal");
  });

  it("lists a folder's readable files", async () => {
    await symlink("a.log", join(root, "app/current.log"));
    await symlink(join(folder, "secret"), join(root, "app/secret.log"));
    await mkdir(join(root, "app/old"));
    const lines = await readLines({ path: "app" });
    expect(new Set(lines.map((line) => line.split(" (")[0]))).toEqual(
      new Set(["a.log", "current.log", "old/"]),
    );
    expect(await read({ path: "." })).toContain("app/");
  });
});

describe("searching a log", () => {
  it("gives the newest lines that match, and says how much of the file was searched", async () => {
    expect(await read({ path: "app/a.log", grep: "t.*e" })).toBe(
      `1 lines of ${root}/app/a.log (14 bytes) match "t.*e", newest last; searched: all of it.\nthree`,
    );
    expect(await readLines({ path: "app/a.log", grep: "T", ignoreCase: true, lines: 1 })).toEqual([
      "three",
    ]);
    await writeFile(join(root, "long.log"), `match ${"x".repeat(90)}\n`.repeat(10_000));
    const text = await read({ path: "long.log", grep: "match", lines: 11 });
    expect(text.split("\n")[0]).toContain("searched: only its last 1.1 KiB.");
  });

  it("finds what a plain search finds", async () => {
    const words = fc.array(fc.constantFrom("a", "b", "ab", "ba", "\n"), {
      minLength: 500,
      maxLength: 3000,
      size: "max",
    });
    const pattern = fc.constantFrom("ab", "ba", "aab", "^a", "b$");
    await fc.assert(
      fc.asyncProperty(words, pattern, async (parts, grep) => {
        const text = parts.join("");
        await writeFile(join(root, "c.log"), text);
        const expected = text.split("\n").filter((line) => new RegExp(grep).test(line));
        expect(await readLines({ path: "c.log", grep, lines: 2000 })).toEqual(expected);
      }),
      { numRuns: 3 },
    );
    // Each search starts a thread of its own.
  }, 300_000);

  it.each(["(", "(?=a)"])("refuses %j, which RE2 does not know", async (grep) => {
    expect(await attempt({ path: "app/a.log", grep })).toMatchObject({ code: "INPUT_INVALID" });
  });

  it("grows no worse than with the length of a text and a pattern that were made for each other", async () => {
    const texts = ["a", "ab", " ", "x=y-"].map((text) => text.repeat(2 ** 18 / text.length));
    await writeFile(join(root, "bombs.log"), texts.join("\n"));
    const bombs = [
      "(a+)+$",
      "(a|a)*c",
      "(.*a){20}c",
      "^(([a-z])+.)+[A-Z]([a-z])+$",
      "\\s+$",
      "(x+x+)+y",
    ];
    for (const grep of bombs) {
      const spent = await cpuMs(() => read({ path: "bombs.log", grep }));
      expect(spent / 16).toBeLessThan(150);
    }
  });

  it("leaves us free while a pattern is slow, and ends with the call", async () => {
    await writeFile(join(root, "slow.log"), "abbabaaabb".repeat(2_000_000));
    const tool = createReadLog({ roots: [root] });
    for (const grep of ["a.{200}[bc]{3}$", "[ab]*a[ab]{200}c?$", "(a.{0,400}b){2}[0-9]"]) {
      const stop = new AbortController();
      const args = tool.input.parse({ path: "slow.log", grep });
      const search = tool.run(args, hostContext(undefined, stop.signal));
      const ended = search.then(() => "found", messageOf);
      // A search in this thread would be over before the loop turned a second time, and nothing could stop it.
      for (let turns = 0; turns < 20; turns += 1) await delay(5);
      stop.abort(new BotError("ABORTED", "stopped"));
      expect(await ended).toContain("aborted");
    }
  });
});

describe("the folders that may be read", () => {
  it("are named when a path is refused, and nothing is told of what is outside", async () => {
    await symlink(join(folder, "secret"), join(root, "out.log"));
    const paths = ["../secret", "../no-such", `${folder}/secret`, `${folder}/no-such`, "out.log"];
    const attempts = await Promise.all(paths.map((path) => attempt({ path })));
    const messages = attempts.map(({ code, message }, index) => {
      expect(code).toBe("PATH_REFUSED");
      expect(message).toContain(root);
      return message.replaceAll(JSON.stringify(paths[index]), "it");
    });
    expect(new Set(messages.slice(0, 4)).size).toBe(1);
  });

  it("may be links themselves, several, and missing", async () => {
    await symlink(root, join(folder, "by-link"));
    const roots = [join(folder, "missing"), join(folder, "by-link")];
    expect(await read({ path: "app/a.log" }, roots)).toContain("three");
    expect(await read({ path: `${folder}/by-link/app/a.log` }, roots)).toContain("three");
  });

  it("hold only regular files: no pipe, no device", async () => {
    await hostContext().exec(["mkfifo", join(root, "pipe")]);
    const writer = spawn("sh", ["-c", `echo x > ${root}/pipe`], { stdio: "ignore" });
    const written = once(writer, "exit");
    await delay(30);
    await expect(read({ path: "pipe" })).rejects.toMatchObject({ code: "PATH_REFUSED" });
    await delay(30);
    // Had the pipe been opened, its writer would have gone on.
    expect(writer.exitCode).toBeNull();
    writer.kill("SIGKILL");
    await written;
    await expect(read({ path: "/dev/zero" }, ["/dev"])).rejects.toMatchObject({
      code: "PATH_REFUSED",
    });
    // A file of whoever may write here, or any other file of the disk by a second name: that cannot be told.
    await link(join(root, "app/a.log"), join(root, "second-name.log"));
    await expect(read({ path: "second-name.log" })).rejects.toMatchObject({
      code: "PATH_REFUSED",
      message: expect.stringContaining("2 names (hard links)") as string,
    });
    await unlink(join(root, "second-name.log"));
  });

  it("are not left by any path", async () => {
    await symlink(folder, join(root, "up"));
    await symlink("../../secret", join(root, "app/out.log"));
    await symlink("/", join(root, "slash"));
    const inside = [
      "app",
      "up",
      "slash",
      "a.log",
      "out.log",
      "secret",
      "logs",
      "logs-of-others",
      "..",
      ".",
    ];
    const odd = ["", "~", "%2e%2e", "..\\", "\0", "a.log\0", "-", "\u202e", "．．"];
    const system = ["etc", "passwd", "proc", "self", "environ", "root", folder, root];
    const part = fc.oneof(
      { weight: 5, arbitrary: fc.constantFrom(...inside) },
      { weight: 1, arbitrary: fc.constantFrom(...odd, ...system) },
    );
    const path = fc.tuple(
      fc.constantFrom("", "", "/"),
      fc.array(part, { minLength: 1, maxLength: 6 }),
    );
    const seen = { read: 0, refused: 0 };
    await fc.assert(
      fc.asyncProperty(path, async ([start, parts]) => {
        const { text, code } = await attempt({ path: start + parts.join("/") || "/" });
        expect(text).not.toContain(SECRET);
        expect([undefined, "PATH_REFUSED"]).toContain(code);
        expect(code === undefined ? text : root).toContain(root);
        seen[code === undefined ? "read" : "refused"] += 1;
      }),
      { numRuns: 3_000 },
    );
    expect(seen.read).toBeGreaterThan(60);
    expect(seen.refused).toBeGreaterThan(1_500);
  });

  it("are not left by a link that is swapped in the middle of it", async () => {
    await mkdir(join(folder, "elsewhere"));
    await writeFile(join(folder, "elsewhere/a.log"), SECRET);
    const swapperFile = fileURLToPath(new URL("./link-swapper.ts", import.meta.url));
    const swapper = spawn(
      process.execPath,
      [swapperFile, join(root, "app"), join(folder, "elsewhere")],
      { stdio: ["ignore", "pipe", "inherit"] },
    );
    onTestFinished(async () => {
      swapper.kill("SIGKILL");
      await once(swapper, "exit");
    });
    await once(swapper.stdout, "data");
    const seen = { read: 0, refused: 0 };
    for (let round = 0; round < 300; round += 1) {
      await Promise.all(
        Array.from({ length: 10 }, async () => {
          const { text, code } = await attempt({ path: "app/a.log" });
          expect(text).not.toContain(SECRET);
          expect([undefined, "PATH_REFUSED"]).toContain(code);
          seen[code === undefined ? "read" : "refused"] += 1;
        }),
      );
    }
    expect(seen.read).toBeGreaterThan(0);
    expect(seen.refused).toBeGreaterThan(0);
  });
});
