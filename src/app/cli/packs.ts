import { BotError } from "../../core/errors.ts";
import { type CliCommand, EXIT, printLines } from "./command.ts";

export const packs: CliCommand = {
  name: "packs",
  words: { min: 1, max: 2 },
  forms: {
    "packs check [<file>]": "every mistake in the tool packs, with file, line and reason",
  },
  async run({ config, folder, words: [verb, file] }) {
    if (verb !== "check") throw new BotError("USAGE", "packs: expected packs check");
    const { checkPacks } = await import("./packs-check.ts");
    const { lines, isFine } = await checkPacks(config, folder, file);
    await printLines(lines);
    return isFine ? EXIT.answered : EXIT.failed;
  },
};
