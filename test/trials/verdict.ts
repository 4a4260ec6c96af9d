import type { FakeSlack } from "../fakes/slack/slack.ts";
import { type ChatLog, deliveryOf, isAnswer, isProgress, marksIn, type Sight } from "./chat-log.ts";
import type { Strike } from "./crew.ts";
import { filesOf, type Mention, type People } from "./people.ts";

/** A line of `npm start -s -- audit`. */
export interface Audited {
  thread: string;
  kind: string;
  id: string;
  run?: string;
  answers?: string[] | string;
  action?: string;
  approve?: boolean;
  outcome?: string;
}

/** What became of everything that people wrote. */
export interface Verdict {
  /** Mentions that were acknowledged; the others are nobody's promise. */
  judged: number;
  notAcknowledged: number;
  /** Messages that answer, as they stand. */
  answers: number;
  /** What must not be, a sentence each, with the thread's root. */
  failures: { thread: string; what: string }[];
  /** Answers that stood for a while and were taken back. */
  takenBack: number;
  /** Progress that stands though nothing goes on, by thread. */
  staleProgress: string[];
  commands: { once: number; unknownDone: number; unknownNotDone: number; notRun: number };
  /** From a kill to the answer of a run that the killed process had in its hands, ms. */
  recoveredMs: number[];
  /** From each mention to its answer, ms. */
  answeredMs: number[];
}

interface Seen {
  slack: FakeSlack;
  people: People;
  log: ChatLog;
  strikes: readonly Strike[];
  /** Marks of mentions of which an event was acknowledged. */
  acknowledged: ReadonlySet<string>;
  audit: readonly Audited[];
}

/** Judges from what stands in the chat, what the journal says and what the commands left behind. */
export function verdictOf(seen: Seen): Verdict {
  const { people, acknowledged, log } = seen;
  const judged = people.mentions.filter(({ mark }) => acknowledged.has(mark));
  const failures: Verdict["failures"] = [];
  const { standing, answers, staleProgress } = standingIn(seen);
  for (const { mark, thread } of judged) {
    const copies = standing.get(mark) ?? 0;
    if (copies === 0) failures.push({ thread, what: `${mark} is lost: nothing answers it` });
    if (copies > 1) failures.push({ thread, what: `${mark} is answered ${copies} times` });
  }
  failures.push(...journalFailures(seen, judged));
  const commands = judgeCommands(seen, judged, failures);
  return {
    judged: judged.length,
    notAcknowledged: people.mentions.length - judged.length,
    answers,
    failures,
    takenBack: takenBackIn(log.read()),
    staleProgress,
    commands,
    recoveredMs: recoveries(seen),
    answeredMs: answerTimes(log.read(), judged),
  };
}

/** How many answers stand for each mark. */
function standingIn({ slack, people }: Seen) {
  const standing = new Map<string, number>();
  const staleProgress: string[] = [];
  let answers = 0;
  for (const message of slack.messages(people.channel)) {
    if (message.user !== slack.botUser.id) continue;
    const buttons = slack.buttonsOf(message).map(({ actionId }) => actionId);
    if (isProgress({ buttons })) staleProgress.push(message.thread_ts ?? message.ts);
    if (!isAnswer({ buttons, delivery: deliveryOf(message.metadata) })) continue;
    answers += 1;
    for (const mark of marksIn(slack.textOf(message))) {
      standing.set(mark, (standing.get(mark) ?? 0) + 1);
    }
  }
  return { standing, answers, staleProgress };
}

function journalFailures({ audit }: Seen, judged: readonly Mention[]): Verdict["failures"] {
  const kept = new Map<string, number>();
  for (const { kind, id } of audit) {
    if (kind === "message" || kind === "command") kept.set(id, (kept.get(id) ?? 0) + 1);
  }
  return judged.flatMap(({ mark, ts, thread }) => {
    const entries = kept.get(`msg:${ts}`) ?? 0;
    return entries === 1 ? [] : [{ thread, what: `${mark} is in the journal ${entries} times` }];
  });
}

/** Each command was carried out once where it is said to have been, and never where nobody approved. */
function judgeCommands(
  { audit }: Seen,
  judged: readonly Mention[],
  failures: Verdict["failures"],
): Verdict["commands"] {
  const commands = { once: 0, unknownDone: 0, unknownNotDone: 0, notRun: 0 };
  const byThread = Map.groupBy(audit, ({ thread }) => thread.split(":").at(-1));
  for (const mention of judged.filter(({ kind }) => kind === "command")) {
    const { mark, thread, ts } = mention;
    const said = byThread.get(thread) ?? [];
    const run = said.find(
      ({ kind, answers = [] }) => kind === "run_started" && answers.includes(`msg:${ts}`),
    )?.run;
    const of = (kind: string) => said.filter((each) => each.kind === kind && each.run === run);
    const actions = new Set(of("action_proposed").map(({ action }) => action));
    const approved = said.some(
      ({ kind, action, approve }) => kind === "vote" && approve === true && actions.has(action),
    );
    const starts = of("tool_started").length;
    const outcome = of("tool_finished").at(-1)?.outcome;
    const files = filesOf(mention);
    const fail = (what: string) =>
      failures.push({ thread, what: `${mark} ${what} (outcome ${outcome}, ${files} files)` });
    if (files > 1 || starts > 1) fail(`was carried out ${Math.max(files, starts)} times`);
    else if (files > 0 && !(approved && starts === 1)) fail("was carried out without an approval");
    else if (approved && outcome === undefined) fail("was approved and nothing came of it");
    else if (outcome === "unknown") commands[files === 1 ? "unknownDone" : "unknownNotDone"] += 1;
    else if (outcome === "ok" && files === 1) commands.once += 1;
    else if (outcome === "ok" || files === 1) fail("is not what it is said to be");
    else commands.notRun += 1;
  }
  return commands;
}

/** Messages that were an answer when they were deleted. */
function takenBackIn(sights: readonly Sight[]): number {
  return sights.filter(
    (sight) => sight.what === "deleted" && isAnswer(sight) && marksIn(sight.text).length > 0,
  ).length;
}

function answerTimes(sights: readonly Sight[], judged: readonly Mention[]): number[] {
  const at = new Map<string, number>();
  for (const sight of sights) {
    if (sight.what === "deleted" || !isAnswer(sight)) continue;
    for (const mark of marksIn(sight.text)) if (!at.has(mark)) at.set(mark, sight.at);
  }
  // A command waits for people.
  return judged.flatMap((mention) =>
    mention.kind === "command" ? [] : (at.get(mention.mark) ?? Infinity) - mention.at,
  );
}

/** Of runs that a model answers: a command's may have waited for people. */
function recoveries({ log, strikes }: Seen): number[] {
  const answered = new Map<string, number>();
  for (const sight of log.read()) {
    if (sight.what === "deleted" || !isAnswer(sight) || !/\bm\d+\b/.test(sight.text)) continue;
    const run = `${sight.thread} ${sight.delivery?.split(":")[1]}`;
    if (!answered.has(run)) answered.set(run, sight.at);
  }
  return strikes.flatMap(({ at, runs }) =>
    [...runs].flatMap((run) => {
      const until = answered.get(run.slice(run.lastIndexOf(":") + 1)) ?? 0;
      return until > at ? [until - at] : [];
    }),
  );
}
