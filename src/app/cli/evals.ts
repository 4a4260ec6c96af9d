import { resolve } from "node:path";
import { BotError } from "../../core/errors.ts";
import { commandLine } from "../../core/installation.ts";
import { type CliCommand, EXIT, findThread, printLines, textOption, withStore } from "./command.ts";

export const evals: CliCommand = {
  name: "evals",
  forms: {
    "evals save <thread> [--to <folder>]": "keeps a thread as a case of an evaluation",
  },
  options: { to: "text" },
  words: { min: 2, max: 2 },
  async run(input) {
    const { config, folder, words } = input;
    const [verb, thread = ""] = words;
    if (verb !== "save")
      throw new BotError("USAGE", `Usage: ${commandLine("evals save <thread> [--to <folder>]")}`);
    const { createEncoder } = await import("../../security/encoder.ts");
    const { saveCase } = await import("../saved-cases.ts");
    const { encode } = createEncoder(config.secrets);
    const into = resolve(folder, textOption(input, "to") ?? "evals");
    await withStore(config, async (journal) => {
      const key = await findThread(journal, thread);
      await printLines([await saveCase(journal, key, { into, encode })]);
    });
    return EXIT.answered;
  },
};
