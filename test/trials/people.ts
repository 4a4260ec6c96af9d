import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { type Random, between, pick } from "../chaos/random.ts";
import { isParking } from "../chaos/witness.ts";
import { type FakeChannel, type FakeSlack, type FakeUser, typed } from "../fakes/slack/slack.ts";
import { type ChatLog, marksIn, type Sight } from "./chat-log.ts";

/** What a person wrote to the bot. */
export interface Mention {
  mark: string;
  /** A command asks for a write, which another person approves; it leaves a file in `folder`. */
  kind: "message" | "command";
  thread: string;
  ts: string;
  /** ms since 1970. */
  at: number;
  folder?: string;
}

/** The people of a channel: some ask, others press. */
export interface People {
  readonly channel: FakeChannel;
  readonly mentions: readonly Mention[];
  /** Presses and what else was wanted of them. */
  readonly counts: { presses: number; repeated: number; settled: number; nudges: number };
  /** Somebody writes: something new, something more in a thread of late, or a command. */
  write(): void;
  /** Looks at what is new in the chat: presses what is to be pressed, and writes again where work was put aside. */
  tend(): void;
  /** Nobody asks again for what was not taken. */
  end(): void;
}

/** An approval without effect for so long is pressed again; whatever was not acknowledged, at once. */
const AGAIN_MS = 8_000;
/** Threads that people still write in. */
const RECENT = 12;

export function createPeople(
  slack: FakeSlack,
  log: ChatLog,
  folder: string,
  random: Random,
): People {
  const users = ["ana", "bob", "cy", "dee", "eve"].map((name) => slack.addUser({ name }));
  const channel = slack.addChannel({ name: "ops", members: users });
  const mentions: Mention[] = [];
  const counts = { presses: 0, repeated: 0, settled: 0, nudges: 0 };
  const shown = new Map<string, Sight>();
  const pressedAt = new Map<string, number>();
  const nudged = new Set<string>();
  const authors = new Map<string, FakeUser>();
  let read = 0;
  let ended = false;

  function say(kind: Mention["kind"], thread: string | undefined, addressed = true): string {
    const mark = `${kind === "command" ? "c" : "m"}${mentions.length + 1}`;
    const by = pick(random, users);
    const place = join(folder, mark);
    if (kind === "command") mkdirSync(place);
    const argv = JSON.stringify(["/usr/bin/mktemp", "-p", place]);
    const text = kind === "command" ? `run run_command argv='${argv}'` : `${mark} what is it?`;
    const at = Date.now();
    const where = { mention: addressed, ...(thread !== undefined && { thread }) };
    const ts = slack.say(by, channel, typed(text), where);
    authors.set(mark, by);
    mentions.push({
      mark,
      kind,
      thread: thread ?? ts,
      ts,
      at,
      ...(kind === "command" && { folder: place }),
    });
    return ts;
  }

  /** Asks to go on where work was put aside, and again when nobody took that. */
  async function nudge(thread: string): Promise<void> {
    counts.nudges += 1;
    const taken = await slack.acknowledged(say("message", thread));
    if (!ended && !taken.some(({ acknowledged }) => acknowledged)) await nudge(thread);
  }

  /** Somebody who did not ask for it, if it is theirs to press. */
  function presser({ text }: Sight): FakeUser {
    const [mark = ""] = marksIn(text);
    return pick(
      random,
      users.filter((user) => user !== authors.get(mark)),
    );
  }

  async function press(sight: Sight, button: string): Promise<void> {
    pressedAt.set(`${sight.ts} ${button}`, Date.now());
    // A button that has gone meanwhile cannot be pressed.
    const message = slack.messages(channel, sight.thread).find(({ ts }) => ts === sight.ts);
    const buttons = message === undefined ? [] : slack.buttonsOf(message);
    if (!buttons.some(({ actionId }) => actionId === button)) return;
    if (button.startsWith("wk:approve:")) counts.presses += 1;
    else counts.settled += 1;
    const { acknowledged } = await slack.press(presser(sight), channel, sight.ts, button);
    if (!acknowledged) {
      pressedAt.delete(`${sight.ts} ${button}`);
      counts.repeated += 1;
    }
  }

  /** The button that a person who knows the truth presses; undefined where nothing is asked. */
  function wanted({ buttons, thread, text }: Sight): string | undefined {
    const approve = buttons.find((id) => id.startsWith("wk:approve:"));
    const happened = buttons.find((id) => id.startsWith("wk:happened:"));
    if (approve !== undefined || happened === undefined) return approve;
    const asked = mentions.filter((mention) => mention.thread === thread && mention.folder);
    const named = asked.filter(({ mark }) => marksIn(text).includes(mark));
    const made = (named.length > 0 ? named : asked).some((mention) => filesOf(mention) > 0);
    return made ? happened : happened.replace("happened", "not-happened");
  }

  return {
    channel,
    mentions,
    counts,
    write() {
      const recent = mentions.slice(-RECENT).map(({ thread }) => thread);
      const kind = between(random, 1, 5) === 1 ? "command" : "message";
      const isNew = recent.length === 0 || between(random, 1, 5) <= 3;
      // In a thread with the bot a message needs no mention; a command has one here.
      const addressed = kind === "command" || isNew || between(random, 0, 1) === 1;
      say(kind, isNew ? undefined : pick(random, recent), addressed);
    },
    tend() {
      const sights = log.read();
      for (const sight of sights.slice(read)) {
        if (sight.what === "deleted") shown.delete(sight.ts);
        else if (sight.buttons.length > 0) shown.set(sight.ts, sight);
        else shown.delete(sight.ts);
        const isParked = sight.what === "posted" && isParking(sight.delivery ?? "");
        if (!isParked || nudged.has(sight.ts)) continue;
        nudged.add(sight.ts);
        void nudge(sight.thread);
      }
      read = sights.length;
      for (const sight of shown.values()) {
        const button = wanted(sight);
        if (button === undefined) continue;
        const last = pressedAt.get(`${sight.ts} ${button}`);
        const againMs = button.startsWith("wk:approve:") ? AGAIN_MS : Infinity;
        if (last === undefined || Date.now() - last > againMs) void press(sight, button);
      }
    },
    end() {
      ended = true;
    },
  };
}

/** How often the command of a mention was carried out: it makes a file each time. */
export function filesOf({ folder }: Mention): number {
  return folder === undefined ? 0 : readdirSync(folder).length;
}
