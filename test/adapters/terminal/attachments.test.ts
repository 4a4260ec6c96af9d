import { mkdtemp, mkdir, rm, truncate, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join, relative } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readAttachments } from "../../../src/adapters/terminal/attachments.ts";

const PNG = Buffer.from("89504e470d0a1a0a0000000d", "hex");
let folder = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "watchkeeper-files-"));
  await mkdir(join(folder, "folder.log"));
  const files: Record<string, string | Buffer> = {
    "shot.png": PNG,
    "SHOT.PNG": PNG,
    "a b.jpg": Buffer.from("ffd8ffe000104a464946", "hex"),
    "moves.gif": "GIF89a….",
    "new.webp": Buffer.from("RIFF\u0001\u0002\u0003\u0004WEBPVP8 ", "latin1"),
    "report.pdf": "%PDF-1.7\n",
    "app.log": "ein Wort\n",
    "conf.yaml": "a: 1\n",
    "fake.png": "<svg/>",
    "latin.txt": Buffer.from("caf\xe9", "latin1"),
    "zero.csv": "a,b\0\n",
    "empty.md": "",
    "tool.sh": "rm -rf /\n",
    "large.png": PNG,
    noext: "x",
  };
  for (const [name, bytes] of Object.entries(files)) await writeFile(join(folder, name), bytes);
  await truncate(join(folder, "large.png"), 5 * 1024 * 1024 + 1);
});

afterAll(() => rm(folder, { recursive: true }));

async function read(text: string): Promise<unknown> {
  const found = await readAttachments(text, folder);
  return "why" in found ? found.why : found.files.map(({ name, mediaType }) => [name, mediaType]);
}

describe("files named in a typed text", () => {
  test.each<[string, [string, string][]]>([
    ["what is on @shot.png?", [["shot.png", "image/png"]]],
    [
      "(@shot.png), and @./SHOT.PNG.",
      [
        ["shot.png", "image/png"],
        ["SHOT.PNG", "image/png"],
      ],
    ],
    ['@"a b.jpg" is odd', [["a b.jpg", "image/jpeg"]]],
    [
      "@moves.gif\n@new.webp",
      [
        ["moves.gif", "image/gif"],
        ["new.webp", "image/webp"],
      ],
    ],
    [
      "@report.pdf @app.log",
      [
        ["report.pdf", "application/pdf"],
        ["app.log", "text/plain"],
      ],
    ],
    ["@conf.yaml twice @conf.yaml", [["conf.yaml", "text/plain"]]],
    // Words.
    ["@ana @noext @folder/ @... mail ana@shot.png", []],
    ["@ana.martin said so, @2.5 as well", []],
  ])("%j", async (text, files) => {
    expect(await read(text)).toEqual(files);
  });

  test("are read byte for byte, from an absolute path and from the home folder too", async () => {
    expect(await readAttachments(`@${join(folder, "shot.png")}`, folder)).toEqual({
      files: [{ name: "shot.png", mediaType: "image/png", bytes: PNG }],
    });
    const home = `~/${relative(homedir(), folder)}`;
    expect(await readAttachments(`@${home}/app.log`, folder)).toMatchObject({
      files: [{ name: "app.log", bytes: Buffer.from("ein Wort\n") }],
    });
  });

  test.each<[string, RegExp]>([
    ["look at @nothing.png", /^@nothing\.png does not exist \(/],
    [
      "look at @large.png",
      /^@large\.png is too large: 5242881 bytes, the limit for this type is 5242880/,
    ],
    ["look at @fake.png", /^@fake\.png is not image\/png, though its name says so/],
    ["look at @latin.txt", /^@latin\.txt is not UTF-8 text, though its name says so/],
    ["look at @zero.csv", /^@zero\.csv is not UTF-8 text, though its name says so/],
    ["look at @empty.md", /^@empty\.md is empty/],
    ["look at @folder.log", /^@folder\.log is not a regular file/],
    ["look at @tool.sh", /^@tool\.sh can't be shown to the AI; these types can: \.png /],
    ['look at @"a c.jpg"', /^@a c\.jpg does not exist/],
    ["@shot.png @nothing.pdf", /^@nothing\.pdf does not exist/],
  ])("%j is refused as a whole", async (text, why) => {
    expect(await read(text)).toMatch(why);
  });

  test("are eight at the most", async () => {
    const names = Array.from({ length: 9 }, (_, at) => `part${at}.log`);
    for (const name of names) await writeFile(join(folder, name), "x");
    expect(
      await read(
        names
          .slice(1)
          .map((name) => `@${name}`)
          .join(" "),
      ),
    ).toHaveLength(8);
    expect(await read(names.map((name) => `@${name}`).join(" "))).toMatch(/8 files/);
  });
});
