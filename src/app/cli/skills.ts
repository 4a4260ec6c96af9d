import { resolve } from "node:path";
import { BotError } from "../../core/errors.ts";
import { type CliCommand, EXIT, printLines } from "./command.ts";

export const skills: CliCommand = {
  name: "skills",
  words: { min: 1, max: 2 },
  forms: {
    "skills check [<folder>]":
      "every mistake in the skills and their checks, with file, line and reason",
  },
  async run({ config, folder, words: [verb, named] }) {
    if (verb !== "check") throw new BotError("USAGE", "skills: expected skills check");
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
  },
};
