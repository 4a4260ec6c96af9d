import { randomUUID } from "node:crypto";
import type { CliCommand } from "./command.ts";

export const ask: CliCommand = {
  name: "ask",
  forms: {
    'ask "<text>" [--json]':
      "one question or command in a thread of its own; the answer is on stdout",
  },
  options: { json: "flag" },
  words: { min: 1, max: Infinity },
  async run({ config, folder, words, options }) {
    const { createAsk, readQuestion } = await import("../../adapters/terminal/ask.ts");
    const { assemble } = await import("../assemble.ts");
    const { account, createLogger, logFile, stopOnSignal } = await import("../process.ts");
    const question = await readQuestion(words.join(" "), account(), folder);
    const bot = await assemble(
      config,
      createLogger(config, logFile(config), { warnsAloud: true }),
      { local: true },
    );
    const key = `terminal:${randomUUID()}` as const;
    const view = createAsk({
      key,
      queries: bot.queries,
      ...account(),
      out: process.stdout,
      err: process.stderr,
      json: options["json"] === true,
      color: process.stderr.isTTY && config.terminal.color,
      now: Date.now,
    });
    stopOnSignal(bot);
    bot.start(view);
    try {
      await bot.inbox.post(key, randomUUID(), question);
      return await view.finished;
    } finally {
      await bot.stop();
    }
  },
};
