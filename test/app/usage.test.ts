import { describe, expect, test } from "vitest";
import { readCommand } from "../../src/app/cli/commands.ts";

describe("a wrong command line", () => {
  test.each([
    [["frobnicate"], 'Unknown command: "frobnicate".'],
    [["--version"], "Unknown option '--version'."],
    [["trace"], "Something is missing after trace."],
    [["doctor", "extra"], "There are too many words after doctor."],
    [["ask", "--thread", "x", "help"], "ask takes no --thread."],
    [["--json"], "npm start takes no --json."],
  ])("%j is told what is wrong before the right forms", (argv, problem) => {
    expect(() => readCommand(argv)).toThrow(`${problem}\n\nUsage:\n  npm start`);
  });

  test("shows only the forms of the command that was meant", () => {
    expect(() => readCommand(["trace"])).not.toThrow(/doctor/);
  });

  test("help is no mistake", () => {
    expect(readCommand(["help"])).toBeUndefined();
  });
});
