import { BotError } from "../../core/errors.ts";
import { type CliCommand, EXIT, findThread, printLines, textOption, withStore } from "./command.ts";

export const replay: CliCommand = {
  name: "replay",
  forms: {
    "replay <thread> [--step n]": "the model calls of a thread; one of them with its exact request",
  },
  options: { step: "text" },
  words: { min: 1, max: 1 },
  async run(input) {
    const { config } = input;
    const [thread = ""] = input.words;
    const step = readStep(textOption(input, "step"));
    const { replayLines } = await import("./replay-lines.ts");
    const { loadToolset, runTerms } = await import("../toolset.ts");
    const { storedForms } = await import("./stored-team.ts");
    const toolset = await loadToolset(config, { forms: () => storedForms(config) });
    const terms = runTerms(config, toolset);
    if (terms === undefined) {
      throw new BotError("USAGE", "replay needs MODEL to be set as it was; no request is made.");
    }
    await withStore(config, async (journal) =>
      printLines(replayLines(journal, await findThread(journal, thread), terms, step)),
    );
    return EXIT.answered;
  },
};

/** @throws BotError USAGE */
function readStep(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const step = Number(text);
  if (Number.isSafeInteger(step)) return step;
  throw new BotError("USAGE", "--step takes a number, such as --step 3.");
}
