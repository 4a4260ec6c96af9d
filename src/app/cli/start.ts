import { type CliCommand, textOption } from "./command.ts";

export const start: CliCommand = {
  forms: {
    "": "serves the chat platforms that are configured; with none, opens a conversation in this\nterminal: the newest thread with open work, else a new one",
    "--thread <id>": "opens one of the terminal's threads",
  },
  options: { thread: "text" },
  async run(input) {
    const { config, folder } = input;
    const thread = textOption(input, "thread");
    if (thread === undefined && config.platforms.length > 0) {
      const { serve } = await import("../serve.ts");
      return serve(config);
    }
    const { converse } = await import("../converse.ts");
    return converse(config, thread, folder);
  },
};
