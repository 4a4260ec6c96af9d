import { adapterContract } from "../../contracts/adapter.ts";
import { openBot } from "./harness.ts";

adapterContract("Discord", async () => {
  const bot = await openBot();
  const thread = await bot.begin();
  const { discord, ana } = bot;
  return {
    adapter: bot.adapter,
    key: bot.key(thread),
    foreign: `slack:T1:${thread.id}:1700000000.000100`,
    account: `discord:${ana.id}`,
    shown: () =>
      [...discord.messages(thread), ...discord.dms(ana)]
        .map((message) => discord.textOf(message))
        .join("\n"),
    close: () => bot.close(),
  };
});
