import { resolve } from "node:path";
import { BotError } from "../../core/errors.ts";
import { type CliCommand, type CommandInput, EXIT, printLines } from "./command.ts";

export const skills: CliCommand = {
  name: "skills",
  words: { min: 1, max: 2 },
  forms: {
    "skills check [<folder>]":
      "every mistake in the skills and their checks, with file, line and reason",
    "skills use [<period>]":
      "how often each skill was used, and what came of it; without a period in the last 30 days",
  },
  async run(input) {
    const [verb] = input.words;
    if (verb === "use") return showUse(input);
    if (verb !== "check")
      throw new BotError("USAGE", "skills: expected skills check or skills use");
    return check(input);
  },
};

async function check({ config, folder, words: [, named] }: CommandInput): Promise<number> {
  const { checkSkills } = await import("./skills-check.ts");
  let isFine = true;
  async function* lines(): AsyncIterable<string> {
    const found = checkSkills(config, named === undefined ? undefined : resolve(folder, named));
    for await (const { line, isMistake = false } of found) {
      if (isMistake) isFine = false;
      yield line;
    }
  }
  await printLines(lines());
  return isFine ? EXIT.answered : EXIT.failed;
}

async function showUse({ config, words: [, period] }: CommandInput): Promise<number> {
  const { skillUseLines } = await import("./skills-use.ts");
  await printLines(await skillUseLines(config, period ?? "last 30 days", Date.now()));
  return EXIT.answered;
}
