import { describe, expect, test } from "vitest";
import { exitOf } from "../../src/app/cli/command.ts";
import { readCommand } from "../../src/app/cli/commands.ts";
import { loadConfig } from "../../src/config/config.ts";
import { BotError } from "../../src/core/errors.ts";

/** Runs it as the program does; its exit code. */
async function exitCodeOf(argv: readonly string[]): Promise<number> {
  try {
    const found = readCommand(argv);
    if (found === "help" || found === "version") return 0;
    const config = await loadConfig({ DATA_DIR: "/proc/nowhere" }, { cwd: import.meta.dirname });
    const folder = import.meta.dirname;
    return await found.command.run({ ...found.input, config, envFile: undefined, folder });
  } catch (error) {
    return exitOf(error);
  }
}

describe("a wrong command line", () => {
  test.each([
    ["frobnicate"],
    ["--colour"],
    ["--json"],
    ["ask"],
    ["ask", "--step", "1", "help"],
    ["doctor", "extra"],
    ["trace"],
    ["replay", "x", "--step", "two"],
    ["artifact", "only-a-thread"],
    ["audit", "a-thread"],
    ["audit", "--since", "whenever"],
    ["audit", "--verify", "--against", "/proc/nowhere"],
    ["incidents", "frobnicate"],
    ["incidents", "export"],
    ["incidents", "export", "--period", "last moth"],
    ["incidents", "export", "inc-1", "--format", "pdf"],
    ["incidents", "import"],
    ["incidents", "import", "/proc/nowhere"],
    ["packs", "frobnicate"],
    ["skills", "frobnicate"],
    ["skills", "use", "last moth"],
    ["mcp", "frobnicate"],
    ["mcp", "login"],
    ["mcp", "login", "nowhere"],
    ["secrets", "frobnicate"],
  ])("ends with 2 whatever the command: %j", async (...argv) => {
    expect(await exitCodeOf(argv)).toBe(2);
  });

  test("ends with 1 only where what was asked failed", () => {
    for (const code of ["STORE_UNAVAILABLE", "TIMEOUT", "NOT_AVAILABLE"] as const)
      expect(exitOf(new BotError(code, "x"))).toBe(1);
    expect(exitOf(new Error("x"))).toBe(1);
    for (const code of ["THREAD_UNKNOWN", "ARTIFACT_UNKNOWN", "INPUT_INVALID"] as const)
      expect(exitOf(new BotError(code, "x"))).toBe(2);
  });

  test.each([
    [["trace"], "Something is missing after trace."],
    [["doctor", "extra"], "There are too many words after doctor."],
    [["ask", "--thread", "x", "help"], "ask takes no --thread."],
    [["--json"], "npm start takes no --json."],
  ])("%j is told what is wrong before the right forms", (argv, problem) => {
    expect(() => readCommand(argv)).toThrow(`${problem}\n\nUsage:\n  npm start`);
  });

  test.each([
    [["frobnicate"], "Unknown command: frobnicate."],
    [["docter"], "Unknown command: docter. Did you mean doctor?"],
    [["--colour"], "Unknown option '--colour'."],
  ])("%j is told what is wrong, and where all commands are listed", (argv, problem) => {
    expect(() => readCommand(argv)).toThrow(`${problem}\n\`npm start -s -- help\` lists`);
  });

  test("shows only the forms of the command that was meant", () => {
    expect(() => readCommand(["trace"])).not.toThrow(/doctor/);
  });

  test.each(["help", "version"])("%s is no mistake, as a word or an option", (asked) => {
    for (const argv of [[asked], [`--${asked}`]]) expect(readCommand(argv)).toBe(asked);
  });
});
