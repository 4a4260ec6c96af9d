import { plannedTasks } from "../core/plan.ts";
import type { Notice, Outgoing, Progress, Quoted } from "../adapters/shown.ts";
import { whySilent } from "../thread/decide-run.ts";
import { type Answer, plainNotice } from "../adapters/render/phrases.ts";
import type { Entry, Outcome } from "../core/entry.ts";
import { type JournalKey, platformName, tryJournalKey } from "../core/journal-key.ts";
import { capText } from "../core/text.ts";
import { exactText } from "../security/sanitize.ts";
import type { LinkRule } from "../core/links.ts";
import type { PreparedCall } from "../core/tool-call.ts";
import { STAY_SILENT } from "../core/tool-spec.ts";
import { isOpen, isShown } from "../thread/action.ts";
import { actsIn } from "../thread/claims.ts";
import { citationOf, INCIDENT_OFFER } from "../thread/entry-ids.ts";
import { callsOf, depthOf, familyOf } from "../thread/family.ts";
import { HOUSEKEEPING } from "../thread/housekeeping.ts";
import { meterOf } from "../thread/meter.ts";
import { estimateFor } from "../thread/extending.ts";
import { offerEnd } from "../thread/incident-offer.ts";
import { isPast } from "../thread/live-notices.ts";
import {
  isWithdrawn,
  type OutboxItem,
  type Quote,
  type Run,
  type Thread,
} from "../thread/state.ts";
import { argsOf, doingOf, givenArgs, type Call, refOf } from "../thread/call.ts";
import { viewFor } from "../thread/views.ts";
import { cardOf, type Encode } from "./cards.ts";
import { linksIn, resultOf, type ResultTexts } from "./results.ts";
import { goalAnswer } from "./goals.ts";

/** What everything that is shown passes. */
export interface Shown {
  encode: Encode;
  /** Addresses that the configuration lets people click. */
  mayLink: LinkRule | undefined;
  /** The same for addresses that alerts name, on their messages. */
  mayLinkAlert?: LinkRule | undefined;
  /** Alertmanager's alerts can be silenced. */
  canSilence?: boolean;
  /** Answers can be kept as cases of an evaluation. */
  canSave?: boolean;
}

/** The run's thread does not have all that its calls returned: the journal does. */
export function isInJournal(item: OutboxItem): boolean {
  return item.kind === "answer" && callsOf(item.run).some(({ finished }) => finished?.isShortened);
}

interface Source {
  key: JournalKey;
  thread: Thread;
  /** Needed for an item that `isInJournal`, unless a beginning of each result is enough. */
  texts?: ResultTexts | undefined;
}

export function outgoingOf(
  { key, thread, texts }: Source,
  item: OutboxItem,
  { encode, mayLink, canSave }: Shown,
): Outgoing {
  if (item.kind === "notice") {
    const { notice } = item;
    const { text, settles, asks, holds = [], confirms, mentions } = notice;
    if (isPast(thread, { notice })) {
      const past = pastNotice(thread, notice, encode);
      if (past !== undefined) return past;
    }
    const approves = (notice.approves ?? []).flatMap((id) => {
      const action = thread.actions.get(id);
      if (action === undefined || !isOpen(action)) return [];
      const card = cardOf(key, action, encode);
      const isRead = notice.to === undefined || isShown(action, viewFor(thread, notice.to));
      return [isRead ? card : { ...card, mustOpen: true }];
    });
    return {
      kind: "notice",
      text: encode(text),
      settles,
      asks: asks && { call: asks.call, choices: asks.choices },
      holds,
      ...(approves.length > 0 && { approves }),
      ...(confirms !== undefined && { confirms }),
      ...(notice.offers !== undefined && { offers: INCIDENT_OFFER }),
      ...(mentions !== undefined && { mentions }),
    };
  }
  if (item.kind === "goal") return goalAnswer({ key, thread }, item.goal, { encode, mayLink });
  const { started, ended, modelRun } = item.run;
  const text = ended?.text === undefined ? undefined : encode(ended.text);
  // Whether it is silent says nothing of the systems.
  const checks = callsOf(item.run).filter(({ tool }) => tool !== STAY_SILENT);
  const results = checks.flatMap((call) => resultOf(call, item.run, encode, texts));
  const status = ended === undefined || ended.status === "silent" ? "failed" : ended.status;
  const { offer, goesOn } = item;
  const links = linksIn(text ?? "", thread, mayLink);
  const answer = {
    kind: "answer" as const,
    run: started.run,
    status,
    text,
    results,
    ...(offer && { offer }),
    ...(goesOn && modelRun && { goesOn: estimateFor(modelRun, modelRun.terms.budget) }),
    ...(isMoot(item.run) && { isMoot: true as const }),
    ...(links.length > 0 && { links }),
  };
  const isByModel =
    modelRun !== undefined && modelRun.steps > 0 && whySilent(modelRun) === undefined;
  const isByChecks = started.checks !== undefined && !isByModel;
  const byChecks = isByChecks && { byChecks: true as const };
  if (modelRun === undefined) return { ...answer, isModelRun: isByChecks, ...byChecks };
  const { steps, usage, money, workMs } = modelRun;
  return {
    ...answer,
    isModelRun: true,
    ...byChecks,
    ...(item.run.above !== undefined && { above: aboveOf(item.run.above) }),
    ...(canSave === true && isByModel && { canSave }),
    // Where it only talks there is nothing that it could change.
    ...(isByModel && started.talk?.mode !== "chat" && { changed: changedBy(item.run) }),
    // Stopped before its model had answered once, it has nothing to count.
    ...(steps > 0 && { spent: { steps, usage, money, workMs } }),
  };
}

function changedBy(run: Run): NonNullable<Answer["changed"]> {
  const refsOf = (outcome: Outcome) =>
    actsIn(run).flatMap(({ call, tool, finished }) =>
      finished?.outcome === outcome && !HOUSEKEEPING.test(tool) ? [citationOf(call)] : [],
    );
  return { done: refsOf("ok"), maybe: refsOf("unknown") };
}

/** Nothing of it is left to say: people's decisions stand on its cards, or nobody asks any more and nothing was changed. */
function isMoot(run: Run): boolean {
  const calls = callsOf(run);
  if (isWithdrawn(run))
    return calls.every(({ started }) => started === undefined || started.effect === "read");
  const isOnCard = ({ action, finished }: Call) =>
    action?.closed !== undefined && CLOSED.has(finished?.outcome);
  const isDirect = run.modelRun === undefined && run.ended?.text === undefined;
  return isDirect && calls.length > 0 && calls.every(isOnCard);
}

const CLOSED: ReadonlySet<Outcome | undefined> = new Set(["denied", "expired", "cancelled"]);

function aboveOf({ messages, after, older, why }: Entry<"above">): NonNullable<Answer["above"]> {
  return {
    read: messages.length,
    isMore: after !== undefined,
    isOlder: older === true,
    ...(why !== undefined && { why }),
  };
}

/** The notice as it stays once what it is about waits no longer; undefined: it goes. */
export function pastNotice(
  thread: Thread,
  { text, asks, settles, offers }: Entry<"notice">,
  encode: Encode,
): Notice | undefined {
  const { answered, unknown } = thread;
  if (offers !== undefined) return plainNotice(encode(`${text} → ${offerEnd(thread) ?? "over"}`));
  if (asks !== undefined) {
    const end = answered.get(asks.call);
    const by = end?.by === undefined ? "" : ` (${end.by})`;
    const how = end?.outcome === "expired" ? "nobody answered in time" : "called off";
    const said = end?.outcome === "answered" ? `${end.text}${by}` : how;
    return plainNotice(encode(`${text} → ${said}`));
  }
  if (settles === undefined) return undefined;
  const call = [...unknown.values()].find((each) => refOf(each) === settles);
  const { settled } = call ?? {};
  const word = settled?.happened === true ? "it happened" : "it did not happen";
  const how = settled === undefined ? "" : ` → settled by ${settled.name}: ${word}`;
  return plainNotice(encode(text + how));
}

/** What somebody said in another place, as it is shown: theirs, and nothing more. */
export function quotedOf({ actor, text, files }: Quote, encode: Encode): Quoted {
  const key = tryJournalKey(actor.account);
  return {
    name: encode(exactText(capText(actor.name, MAX_NAME))),
    platform: key === undefined ? "elsewhere" : platformName(key),
    text: encode(text),
    files: files.map((file) => encode(exactText(capText(file, MAX_NAME)))),
  };
}

const MAX_NAME = 80;

/** That the call runs with these arguments, as people are told. */
export function begunOf(
  each: Call,
  { args, doing }: Pick<PreparedCall, "args" | "doing">,
  depth = 0,
): Progress {
  const { call, tool } = each;
  const words = depth === 0 ? doing : `${"↳ ".repeat(depth)}${doing ?? tool}`;
  const said = words !== undefined && { doing: words };
  return { kind: "tool_started", call, tool, args: givenArgs(each, args), ...said };
}

/** What the calls of a run and its helpers came to until now, as their progress would have been told. */
export function progressOf(run: Run, encode: (text: string) => string): Progress[] {
  const { tasks = [] } = run.modelRun?.plan ?? {};
  const calls = [...familyOf(run)]
    .flatMap((each) => [...each.calls.values()].map((call) => ({ call, depth: depthOf(each) })))
    .toSorted((a, b) => (a.call.started?.seq ?? 0) - (b.call.started?.seq ?? 0));
  const called = calls.flatMap(({ call: each, depth }): Progress[] => {
    const { call, tool, finished } = each;
    if (each.started === undefined) return [];
    const begun = begunOf(each, { args: argsOf(each), doing: doingOf(each) }, depth);
    if (finished === undefined) return [begun];
    const { outcome, ms } = finished;
    return [begun, { kind: "tool_finished", call, tool, outcome, ms }];
  });
  const { run: name } = run.started;
  const meter = meterOf(run);
  const step = run.modelRun?.steps ?? 0;
  return [
    ...(meter === undefined ? [] : [{ kind: "thinking" as const, run: name, step, meter }]),
    ...(tasks.length === 0
      ? []
      : [{ kind: "plan" as const, run: name, tasks: plannedTasks(tasks, encode) }]),
    ...called,
  ];
}
