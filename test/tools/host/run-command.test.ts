import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFile,
  chmod,
  copyFile,
  mkdir,
  readdir,
  readFile,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import * as fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { createRunCommand } from "../../../src/tools/host/run-command.ts";
import { hostContext, makeFolder, searchPath, writeProgram } from "./context.ts";

const execute = promisify(execFile);
const tool = createRunCommand();
const ctx = hostContext();

function inputOf(argv: string[], more: Record<string, unknown> = {}) {
  return tool.input.parse({ argv, ...more });
}

/** The command as it is after it was proposed: pinned. */
async function proposed(argv: string[], proposer = tool) {
  const pinned = await proposer.pin?.(inputOf(argv), ctx);
  if (pinned === undefined) throw new Error("run_command does not pin.");
  return pinned;
}

async function cardOf(argv: string[]): Promise<string> {
  const preview = await tool.preview?.(await proposed(argv), ctx);
  return (preview?.lines ?? []).map(({ label, value }) => `${label}: ${value}`).join("\n");
}

describe("running a command", () => {
  it("tells its exit code and what it printed", async () => {
    expect(await tool.run(await proposed(["printf", "%s", "a b"]), ctx)).toEqual({
      text: "Exit code 0.\nStandard output:\na b",
      failed: false,
    });
    expect(
      await tool.run(await proposed(["sh", "-c", "echo out; echo err >&2; exit 3"]), ctx),
    ).toEqual({
      text: "Exit code 3.\nStandard output:\nout\nStandard error:\nerr",
      failed: true,
    });
    expect(await tool.run(await proposed(["sh", "-c", "kill -s KILL $$"]), ctx)).toEqual({
      text: "Ended by SIGKILL.\nIt printed nothing.",
      failed: true,
    });
  });

  it("has no shell that would read its arguments", async () => {
    const folder = await makeFolder();
    const file = join(folder, "made");
    for (const trick of [
      `$(touch ${file})`,
      `\`touch ${file}\``,
      `; touch ${file}`,
      `| touch ${file}`,
      `> ${file}`,
      `\n touch ${file}`,
    ]) {
      expect((await tool.run(await proposed(["echo", trick]), ctx)).text).toContain(trick.trim());
    }
    expect(await readdir(folder)).toEqual([]);
  });

  it("ends it when its time is up, and does not say that it failed", async () => {
    const slow = inputOf(["sleep", "300"], { timeoutSeconds: 1 });
    await expect(tool.run(slow, ctx)).rejects.toMatchObject({ code: "TIMEOUT" });
  });

  it.each([
    [[]],
    [[""]],
    [["-x"]],
    [["--help"]],
    [["echo", "a\0b"]],
    [Array.from({ length: 65 }, () => "x")],
  ])("refuses the argv %j", (argv) => {
    expect(tool.input.safeParse({ argv }).success).toBe(false);
  });

  it("does not propose a program that is not there", async () => {
    await expect(proposed(["no-such-program"])).rejects.toMatchObject({ code: "COMMAND_UNKNOWN" });
  });
});

/** Has a link lead elsewhere for a moment, again and again, until somebody kills this process. */
const SWAPPER = `
const { renameSync, symlinkSync } = require("node:fs");
const link = process.argv[1] + "/app";
const lead = (to) => { symlinkSync(to, link + ".new"); renameSync(link + ".new", link); };
console.log("ready");
for (;;) {
  lead("other");
  lead("good");
  for (const end = performance.now() + 1; performance.now() < end; );
}`;

describe("what was approved is what runs", () => {
  it.each([
    ["a script that is rewritten", "echo evil"],
    ["a script that is appended to", "echo good\necho evil"],
    ["a script that is removed", undefined],
  ])("not %s while its approval is pending", async (_, content) => {
    const folder = await makeFolder();
    const script = await writeProgram(folder, "fix", "echo good");
    for (const argv of [["sh", script], [script], ["sh", "-e", script, "x"]]) {
      await writeProgram(folder, "fix", "echo good");
      const command = await proposed(argv);
      await tool.precheck?.(command, ctx);
      expect((await tool.run(command, ctx)).text).toContain("good");
      await (content === undefined ? rm(script) : writeProgram(folder, "fix", content));
      const refused = {
        code: expect.stringMatching(/PRECHECK_FAILED|COMMAND_UNKNOWN/),
        message: expect.stringContaining(script),
      };
      await expect(tool.precheck?.(command, ctx)).rejects.toMatchObject(refused);
      await expect(tool.run(command, ctx)).rejects.toMatchObject(refused);
    }
  });

  it("not a file that an option names and that changes, nor one that appears", async () => {
    const folder = await makeFolder();
    const file = join(folder, "settings");
    const missing = await proposed(["echo", `--file=${file}`]);
    await writeFile(file, "a");
    const present = await proposed(["echo", `--file=${file}`]);
    await expect(tool.precheck?.(missing, ctx)).rejects.toMatchObject({ code: "PRECHECK_FAILED" });
    await tool.precheck?.(present, ctx);
    await writeFile(file, "b");
    await expect(tool.precheck?.(present, ctx)).rejects.toMatchObject({ code: "PRECHECK_FAILED" });
  });

  it("not another program that has come to stand before it on the search path", async () => {
    const [first, second] = [await makeFolder(), await makeFolder()];
    await writeProgram(second, "deploy", "echo good");
    const deploy = createRunCommand({ path: `${first}:${second}:${searchPath()}` });
    const command = await proposed(["deploy"], deploy);
    expect((await deploy.run(command, ctx)).text).toContain("good");
    await writeProgram(first, "deploy", "echo evil");
    await expect(deploy.run(command, ctx)).rejects.toMatchObject({ code: "PRECHECK_FAILED" });
  });

  it("not what a link leads to by then", async () => {
    const folder = await makeFolder();
    await writeProgram(folder, "good", "echo good");
    await writeProgram(folder, "evil", "echo evil");
    const by = join(folder, "link");
    await symlink("good", by);
    const command = await proposed([by]);
    await rm(by);
    await symlink("evil", by);
    await expect(tool.run(command, ctx)).rejects.toMatchObject({ code: "PRECHECK_FAILED" });
  });

  it("not with digests that were given along", async () => {
    const folder = await makeFolder();
    const script = await writeProgram(folder, "fix", "echo good");
    const other = await proposed(["true"]);
    const forged = { ...inputOf(["sh", script]), pinned: other.pinned };
    await expect(tool.run(forged, ctx)).rejects.toMatchObject({ code: "PRECHECK_FAILED" });
    expect((await tool.pin?.(forged, ctx))?.pinned).toHaveLength(2);
  });

  it("not one that another user puts in its place in the last moment: 150 starts of scripts and other programs", async () => {
    const folder = await makeFolder();
    await chmod(folder, 0o777);
    const good = join(folder, "good");
    await writeProgram(good, "script", `echo "good, $(. "\${0%/*}/lib")"`);
    await writeFile(join(good, "lib"), "echo with what lies beside it");
    await copyFile("/bin/echo", join(good, "binary"));
    // It says of no interpreter: whoever starts it takes a shell.
    await writeFile(join(good, "plain"), "echo good\n");
    await chmod(join(good, "plain"), 0o755);
    for (const name of ["script", "binary", "plain"])
      await writeProgram(join(folder, "other"), name, "echo other");
    await symlink("good", join(folder, "app"));
    const [script, binary, plain] = ["script", "binary", "plain"].map((name) =>
      join(folder, "app", name),
    ) as [string, string, string];
    const commands = await Promise.all(
      [
        [script],
        ["sh", script],
        [binary, "good"],
        ["env", "-i", binary, "good"],
        ["nohup", plain],
      ].map((argv) => proposed(argv)),
    );
    const swapper = spawn(process.execPath, ["-e", SWAPPER, folder], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(async () => {
      swapper.kill("SIGKILL");
      await once(swapper, "exit");
    });
    await once(swapper.stdout, "data");
    // Without the supervisor: the sooner a program is started, the more often the swap comes in between.
    const exec: typeof ctx.exec = async ([program = "", ...args]) => {
      const { stdout } = await execute(program, args);
      return { exitCode: 0, signal: undefined, stdout, stderr: "", droppedBytes: 0 };
    };
    const seen = { good: 0, refused: 0, other: 0 };
    const start = async (round: number) => {
      const command = commands[round % commands.length];
      if (command === undefined) throw new Error("nothing was proposed");
      const text = await tool.run(command, { ...ctx, exec }).then(
        (output) => output.text,
        () => "refused",
      );
      const what = text === "refused" ? "refused" : text.includes("good") ? "good" : "other";
      seen[what] += 1;
    };
    for (let round = 0; round < 150; round += 10) {
      await Promise.all(Array.from({ length: 10 }, (_, at) => start(round + at)));
    }
    expect(seen.other).toBe(0);
    expect(seen.good).toBeGreaterThan(0);
    // 150 processes take minutes where every other one comes first.
  }, 300_000);

  it("at its place where nobody else can change it, and among links to what lies around it where somebody can", async () => {
    const folder = await makeFolder();
    const text =
      'echo "$0"; cat "$(dirname "$0")/../data/x"; cd "$(dirname "$(readlink -f "$0")")/.." && ls';
    const script = await writeProgram(join(folder, "app/bin"), "clean", text);
    await mkdir(join(folder, "app/data"));
    await writeFile(join(folder, "app/data/x"), "found\n");
    await symlink(join(folder, "app/bin/clean"), join(folder, "link"));
    const ran = async (program: string) =>
      (await tool.run(await proposed([program]), ctx)).text.split("\n").slice(2);
    expect(await ran(script)).toEqual([script, "found", "bin", "data"]);
    expect(await cardOf([script])).not.toContain("Run from");
    await chmod(join(folder, "app/bin"), 0o777);
    for (const program of [script, join(folder, "app/../app/bin/clean")]) {
      const [path, ...seen] = await ran(program);
      expect(path).toMatch(/\/watchkeeper-copy-.*\/app\/bin\/clean$/);
      expect(seen).toEqual(["found", "bin", "data"]);
    }
    expect(await ran(join(folder, "link"))).toEqual(expect.arrayContaining(["bin", "data"]));
    expect(await cardOf([script])).toContain(
      `Run from: a private copy of "${script}", because others can change the file. It has another path`,
    );
  });

  it("also where one path is the end of another", async () => {
    const folder = await makeFolder();
    await chmod(folder, 0o777);
    const inner = await writeProgram(join(folder, "srv", folder), "sh", "echo inner");
    const outer = await writeProgram(folder, "sh", 'echo "$0"; echo "$1"; "$1"');
    expect((await cardOf([outer, inner])).match(/^Run from/gm)).toHaveLength(2);
    const { text } = await tool.run(await proposed([outer, inner]), ctx);
    expect(text.split("\n").slice(2)).toEqual([
      expect.stringMatching(/watchkeeper-copy-\w+\/0\//),
      expect.stringMatching(/watchkeeper-copy-\w+\/1\//),
      "inner",
    ]);
  });

  it("on the file itself where it is not run but changed, which the card says is not fixed", async () => {
    const folder = await makeFolder();
    await chmod(folder, 0o777);
    const script = await writeProgram(folder, "fix", "echo good");
    for (const [argv, then] of [
      [["sed", "-i", "s/good/better/", script], "better"],
      [["env", "sed", "-i", "s/better/best/", script], "best"],
      [["env", "perl", "-pi", "-e", "s/best/bad/", script], "bad"],
    ] as const) {
      expect(await cardOf([...argv])).toContain(`Not fixed: "${script}": others can change it`);
      await tool.run(await proposed([...argv]), ctx);
      expect(await readFile(script, "utf8")).toContain(then);
    }
  });

  it("also when a log that it only reads has grown meanwhile", async () => {
    const folder = await makeFolder();
    const log = join(folder, "app.log");
    await writeFile(log, "one\n");
    const command = await proposed(["tail", log]);
    await appendFile(log, "two\n");
    await tool.precheck?.(command, ctx);
    expect((await tool.run(command, ctx)).text).toContain("two");
  });
});

describe("the card of a command", () => {
  it("shows the program, each argument on a line of its own, every digest, and what it can do", async () => {
    const folder = await makeFolder();
    const script = await writeProgram(folder, "fix", "echo good");
    await mkdir(join(folder, "bin"));
    await symlink(script, join(folder, "bin/fix"));
    const program = join(folder, "bin/fix");
    const command = await proposed([program, "-n", 'a "b"', script]);
    const preview = await tool.preview?.(command, ctx);
    const lines = (preview?.lines ?? []).map(({ label, value }) => `${label}: ${value}`);
    const digest = command.pinned?.[0]?.sha256;
    expect(lines.slice(0, 6)).toEqual([
      `Program: "${program}" (a link to "${script}")`,
      'Argument 1: "-n"',
      String.raw`Argument 2: "a \"b\""`,
      `Argument 3: "${script}"`,
      `SHA-256: ${digest} of "${program}"`,
      `SHA-256: ${digest} of "${script}"`,
    ]);
    expect(preview?.blastRadius).toContain("anything that user");
  });

  it("says what is not fixed: data, folders, what is missing, and what a program loads by itself", async () => {
    const folder = await makeFolder();
    const log = join(folder, "app.log");
    await writeFile(log, "one\n");
    expect(await cardOf(["truncate", "-s", "0", log])).toContain(
      `Not fixed: "${log}": data for truncate`,
    );
    const missing = join(folder, "missing");
    const card = await cardOf(["rm", "-rf", folder, missing]);
    expect(card).toContain(`Not fixed: "${folder}": a folder: what is in it may change`);
    expect(card).toContain(`Not fixed: "${missing}": not there now`);
    expect(card).not.toContain("by itself");
    const program = await writeProgram(folder, "rm", "echo mine");
    expect(await cardOf([program, log])).toContain(
      `Not fixed: "${program}": what it loads or starts by itself`,
    );
  });

  it("names whatever is run or loaded of every usual form, as fixed or as not fixed", async () => {
    const folder = await makeFolder();
    const script = await writeProgram(folder, "fix", "echo good");
    const forms = [
      ["sh", "-c", `. ${script}`],
      ["sh", "-c", script],
      ["env", `BASH_ENV=${script}`, "bash", "-c", ":"],
      ["env", `LD_PRELOAD=${script}`, "id"],
      ["env", "-C", folder, "deploy"],
      ["nohup", "deploy"],
      ["xargs", `-a${script}`, "sh"],
      ["env", "make", `-f${script}`],
      ["env", "curl", `-K${script}`],
      ["env", "curl", `file://${script}`],
      ["env", "curl", "-d", `@${script}`],
      ["env", "rsync", "-e", `sh ${script}`, "a", "b"],
      ["env", "python3", "-c", `exec(open('${script}').read())`],
      ["env", "perl", `-I${folder}`, "-e1"],
      ["find", folder, "-exec", script, ";"],
    ];
    for (const argv of forms) {
      const card = await cardOf(argv);
      expect(card, argv.join(" ")).toMatch(/^Not fixed: ".*": what it loads or starts by itself$/m);
      const [named] = [script, folder].filter((path) => argv.some((each) => each.includes(path)));
      if (named !== undefined)
        expect(card).toMatch(new RegExp(`^(?:SHA-256|Not fixed): .*"${named}"`, "m"));
    }
  });

  it("is another for every other command, and plain ASCII", async () => {
    const text = fc.oneof(
      fc.string({ unit: "binary", maxLength: 8 }).map((value) => value.replaceAll("\0", "")),
      fc.constantFrom(
        "a",
        "a ",
        "а",
        "a\u200b",
        "a\u202e",
        "\\u0061",
        '"',
        '","',
        "\n",
        "\t",
        "",
        "\u{e0061}",
      ),
    );
    const args = fc.array(text, { maxLength: 4 });
    const cards = new Map<string, string>();
    await fc.assert(
      fc.asyncProperty(args, async (given) => {
        const card = await cardOf(["true", ...given]);
        expect(card).toMatch(/^[\n -~]*$/);
        const key = JSON.stringify(given);
        expect(cards.get(card) ?? key).toBe(key);
        cards.set(card, key);
      }),
      { numRuns: 100 },
    );
  });
});
