import { setTimeout as sleep } from "node:timers/promises";
import { type ChatLog, isAnswer, marksIn, openChatLog } from "../../test/trials/chat-log.ts";
import { startEchoModel } from "../../test/trials/echo-model.ts";
import { FakeSlack } from "../../test/fakes/slack/slack.ts";
import type { Call } from "../../test/fakes/slack/types.ts";
import { type Child, startChild, type Used } from "./child.ts";

/** What is measured of one program under one load. Times in ms. */
export interface Loaded extends Used {
  /** From an event's first attempt to its acknowledgement; those that came too late are not in it. */
  acks: number[];
  /** Events that were not acknowledged within 3 s, or not at all. */
  late: number;
  /** From each mention to the next thing in its thread. */
  first: number[];
  /** From each mention to the first thing that people see of it: a status, a reaction or a message. */
  signs: number[];
  /** Messages that notify people. */
  notifications: number;
  /** From each mention to its answer. */
  answered: number[];
  /** From the first mention to the last answer. */
  seconds: number;
  /** Messages that answer. */
  answers: number;
  /** Mentions that more than one of them answers. */
  doubled: number;
  /** Of the Web API, by method, from the first mention on. */
  calls: Map<string, number>;
}

interface Mention {
  mark: string;
  ts: string;
  thread: string;
  at: number;
}

/** Says everything that is to be said. */
export type Load = (say: (text: string, thread?: string) => Mention) => Promise<void>;

const PATIENCE_MS = 120_000;

/** The mark of what is not measured. */
const WARM_UP = "m0";

/** Slack's own are about 0 s, 1 min and 5 min; here a twelfth. */
const RETRIES_MS = [10, 5_000, 25_000];

/** 100 threads, ten mentions in each, as fast as they can be written. */
export const burst: Load = async (say) => {
  const roots = Array.from({ length: 100 }, () => say("what is it?").thread);
  for (let i = 0; i < 9; i++) for (const root of roots) say("and this?", root);
};

/** A new thread 20 times per second for ten seconds. */
export const spaced: Load = async (say) => {
  const began = performance.now();
  for (let i = 0; i < 200; i++) {
    await sleep(Math.max(0, began + i * 50 - performance.now()));
    say("what is it?");
  }
};

/** Puts the load on a program of its own, on a fake without limits, with a model that thinks for so long. */
export async function measureLoad(
  which: "ours" | "floor",
  load: Load,
  { env = {}, thinkMs = 0 }: { env?: Record<string, string>; thinkMs?: number } = {},
): Promise<Loaded> {
  const slack = await FakeSlack.start({ retryDelaysMs: RETRIES_MS });
  const model = await startEchoModel(() => thinkMs);
  let child: Child | undefined;
  try {
    const people = Array.from({ length: 20 }, (_, i) => slack.addUser({ name: `person${i}` }));
    const channel = slack.addChannel({ name: "ops", members: people });
    child = await startChild(which, slack, { ...model.env, ...env });
    await warmUp(slack, channel.id, people[0]?.id ?? "");
    const log = openChatLog(slack);
    const callsBefore = slack.calls.length;
    child.watch();
    const mentions: Mention[] = [];
    await load((text, thread) => {
      const mark = `m${mentions.length + 1}`;
      const by = people[mentions.length % people.length]?.id ?? "";
      const at = Date.now();
      const where = { mention: true, ...(thread !== undefined && { thread }) };
      const ts = slack.say(by, channel, `${mark} ${text}`, where);
      const mention = { mark, ts, thread: thread ?? ts, at };
      mentions.push(mention);
      return mention;
    });
    const times = await answersTo(mentions, log);
    await slack.idle();
    const ended = await child.end();
    const calls = new Map<string, number>();
    for (const { method } of slack.calls.slice(callsBefore)) {
      calls.set(method, (calls.get(method) ?? 0) + 1);
    }
    const shown = shownBy(slack.calls.slice(callsBefore), mentions);
    return { ...times, ...acksOf(slack, mentions), ...shown, calls, ...ended };
  } finally {
    child?.kill();
    await slack.stop();
    await model.stop();
  }
}

/** One mention that is not measured: what is loaded when it is first needed is there then. */
async function warmUp(slack: FakeSlack, channel: string, user: string): Promise<void> {
  const ts = slack.say(user, channel, `${WARM_UP} hello`, { mention: true });
  const until = Date.now() + PATIENCE_MS;
  while (
    !slack.messages(channel, ts).some((message) => slack.textOf(message).startsWith("Heard"))
  ) {
    if (Date.now() > until) throw new Error("the first mention was not answered");
    await sleep(20);
  }
  await slack.idle();
}

async function answersTo(mentions: readonly Mention[], log: ChatLog) {
  const answeredAt = new Map<string, number>();
  const answersOf = new Map<string, Set<string>>();
  let read = 0;
  for (const until = Date.now() + PATIENCE_MS; ; await sleep(20)) {
    const sights = log.read();
    for (const sight of sights.slice(read)) {
      if (sight.what === "deleted" || !isAnswer(sight)) continue;
      for (const mark of marksIn(sight.text).filter((each) => each !== WARM_UP)) {
        answersOf.set(mark, (answersOf.get(mark) ?? new Set()).add(sight.ts));
        if (!answeredAt.has(mark)) answeredAt.set(mark, sight.at);
      }
    }
    read = sights.length;
    if (mentions.every(({ mark }) => answeredAt.has(mark))) break;
    if (Date.now() > until) {
      const open = mentions.filter(({ mark }) => !answeredAt.has(mark));
      throw new Error(`${open.length} of ${mentions.length} mentions were not answered`);
    }
  }
  const inThread = Map.groupBy(log.read(), ({ thread }) => thread);
  const first = mentions.map(({ thread, at }) => {
    const next = inThread.get(thread)?.find((sight) => sight.what !== "deleted" && sight.at >= at);
    return (next?.at ?? Infinity) - at;
  });
  const answers = [...answersOf.values()];
  const last = Math.max(...answeredAt.values());
  return {
    first,
    answered: mentions.map(({ mark, at }) => (answeredAt.get(mark) ?? Infinity) - at),
    seconds: (last - (mentions[0]?.at ?? 0)) / 1_000,
    answers: new Set(answers.flatMap((some) => [...some])).size,
    doubled: answers.filter(({ size }) => size > 1).length,
  };
}

/** What people see of a request: the thread that it concerns. */
const SIGNS: Readonly<Record<string, string>> = {
  "agents.sessions.setStatus": "thread_ts",
  "assistant.threads.setStatus": "thread_ts",
  "reactions.add": "timestamp",
  "chat.postMessage": "thread_ts",
};

function shownBy(calls: readonly Call[], mentions: readonly Mention[]) {
  const signs = Map.groupBy(
    calls.filter(({ method, status }) => Object.hasOwn(SIGNS, method) && status === 200),
    ({ method, args }) => args[SIGNS[method] ?? ""],
  );
  const posted = calls.filter(({ method }) => method === "chat.postMessage");
  return {
    signs: mentions.map(({ thread, at }) => {
      const shown = (signs.get(thread) ?? []).map((call) => call.at + call.ms - at);
      return Math.min(Infinity, ...shown.filter((ms) => ms >= 0));
    }),
    // An edit notifies nobody, and an ephemeral message only one person.
    notifications: posted.length,
  };
}

/** Of what people wrote; the program's own messages come back as events, too. */
function acksOf(slack: FakeSlack, mentions: readonly Mention[]) {
  const written = new Set(mentions.map(({ ts }) => ts));
  const about = slack.deliveries.filter(({ ts = "" }) => written.has(ts));
  const firsts = about.flatMap(({ attempts: [first] }) => first ?? []);
  const good = firsts.filter(({ outcome }) => outcome === "acknowledged");
  return { acks: good.map(({ ms }) => ms), late: firsts.length - good.length };
}
