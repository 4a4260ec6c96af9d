import { adapterContract } from "../../contracts/adapter.ts";
import { openBot } from "./harness.ts";

adapterContract("Slack", async () => {
  const bot = await openBot();
  const { slack, ops, ana } = bot;
  const root = slack.say(ana, ops, "is web well?");
  return {
    adapter: bot.adapter,
    key: bot.key(ops, root),
    foreign: `slack:T0ELSE:${ops.id}:${root}`,
    account: bot.account(ana),
    shown: () =>
      [...slack.messages(ops, root), ...slack.ephemerals(ana)]
        .map((message) => slack.textOf(message))
        .join("\n"),
    close: () => bot.close(),
  };
});
