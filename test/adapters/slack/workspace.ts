import { pino } from "pino";
import { createSlack } from "../../../src/adapters/slack/slack.ts";
import type { JournalKey } from "../../../src/core/journal-key.ts";
import type { Platform, Who } from "../../contracts/transport.ts";
import { FakeSlack, type FakeMessage, typed } from "../../fakes/slack/slack.ts";

/** A fake workspace in which the bot, Ana, Bob, Cy and the guest Gus share a channel. */
export async function openWorkspace(): Promise<Platform & { slack: FakeSlack }> {
  const slack = await FakeSlack.start();
  const users = {
    ana: slack.addUser({ name: "ana" }),
    bob: slack.addUser({ name: "bob" }),
    cy: slack.addUser({ name: "cy" }),
    gus: slack.addUser({ name: "gus", standing: "guest" }),
  };
  const channel = slack.addChannel({ name: "ops", members: Object.values(users) });
  const rootOf = (key: JournalKey) => key.split(":").at(-1) ?? "";
  const inThread = (key: JournalKey) => slack.messages(channel, rootOf(key));

  async function find(key: JournalKey, label: string, on: string): Promise<FakeMessage> {
    for (const end = Date.now() + 4_000; Date.now() < end; await pause()) {
      const found = inThread(key).findLast(
        (message) =>
          slack.textOf(message).includes(on) &&
          slack.buttonsOf(message).some((button) => button.label === label),
      );
      if (found !== undefined) return found;
    }
    throw new Error(`no button ${label} on ${on} in:\n${shown(key)}`);
  }
  const press = async (key: JournalKey, who: Who, label: string, on: string) => {
    const message = await find(key, label, on);
    const button = slack.buttonsOf(message).find((each) => each.label === label);
    await slack.press(users[who], channel, message.ts, button?.actionId ?? "");
  };
  const shown = (key: JournalKey) =>
    inThread(key)
      .map((message) => slack.textOf(message))
      .join("\n");

  return {
    slack,
    connect() {
      const adapter = createSlack({
        botToken: slack.botToken,
        appToken: slack.appToken,
        signingSecret: undefined,
        port: 0,
        apiUrl: slack.apiUrl,
        log: pino({ level: "silent" }),
      });
      return { adapter, start: adapter.start, stop: adapter.stop };
    },
    async begin(who, text) {
      const ts = slack.say(users[who], channel, typed(text), { mention: true });
      return `slack:${slack.team.id}:${channel.id}:${ts}`;
    },
    async write(key, who, text) {
      slack.say(users[who], channel, typed(text), { thread: rootOf(key) });
    },
    press,
    async denyBecause(key, who, action, reason) {
      await press(key, who, "Deny because…", action);
      const view = slack.views(users[who]).at(-1);
      await slack.submit(users[who], view?.id ?? "", reason);
    },
    async stop(key, who) {
      await press(key, who, "Stop", "");
    },
    shown,
    told: (who) =>
      slack
        .ephemerals(users[who])
        .map((message) => slack.textOf(message))
        .join("\n"),
    pings: () => slack.pings,
    scramble() {
      slack.shuffle = { copies: 3, seed: 7 };
    },
    end: () => slack.stop(),
  };
}

const pause = () => new Promise((resolve) => setTimeout(resolve, 10));
