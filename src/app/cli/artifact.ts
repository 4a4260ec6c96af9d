import { EXIT, findThread, type CliCommand, withStore } from "./command.ts";

export const artifact: CliCommand = {
  name: "artifact",
  forms: {
    "artifact <thread> <id>": "a call's whole output, where its result was cut",
  },
  words: { min: 2, max: 2 },
  async run({ config, words: [thread = "", id = ""] }) {
    await withStore(config, async (journal) => {
      process.stdout.write(await journal.readArtifact(await findThread(journal, thread), id));
    });
    return EXIT.answered;
  },
};
