import { describe, expect, test } from "vitest";
import { readCommand } from "../../src/app/cli/commands.ts";

describe("a wrong command line", () => {
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
