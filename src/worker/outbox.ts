import canonicalize from "canonicalize";
import type {
  ActionCard,
  ActionPhase,
  CallResult,
  Delivery,
  MessageRef,
  Notice,
  Outgoing,
  Progress,
  View,
} from "../adapters/adapter.ts";
import { plainNotice } from "../adapters/words.ts";
import { type Action, isApproved, isOpen } from "../approvals/action.ts";
import { exactText } from "../core/display.ts";
import { signed } from "../approvals/people.ts";
import type { Approvers, Entry } from "../core/entry.ts";
import type { JournalKey } from "../core/journal-key.ts";
import { isPast, pastId } from "../journal/fold-words.ts";
import { argsOf, type Call, type Debt, type Run, type Thread } from "../journal/thread.ts";
import type { Owed } from "./next.ts";

/** The one encoder that every outgoing text passes: no control characters, no secrets. */
export type Encode = (text: string) => string;

/** What is recorded once a delivery has been made. */
export interface Delivered {
  entry: string;
  ref: MessageRef;
}

/** What is known of earlier attempts to show an entry in a view. */
export interface Attempts {
  /** Nobody has tried yet. */
  isUntried(entry: string): boolean;
  /** An earlier attempt may have come through. From then on one has been made. */
  again(entry: string): boolean;
}

/** Shows one owed thing in a view. Throws what the platform throws; the debt then stays. */
export async function deliver(
  view: View,
  viewName: string,
  { key, thread, isUntried, again }: { key: JournalKey; thread: Thread } & Attempts,
  owed: Owed,
  encode: Encode,
): Promise<Delivered> {
  if (owed.kind === "card") {
    const { action } = owed;
    const entry = `${action.action}@${action.touched}`;
    const card = cardOf(key, action, encode);
    const shown = action.shown.get(viewName);
    if (shown === undefined) {
      const delivery = { id: action.action, again: again(action.proposal.id) };
      return { entry, ref: await view.card(card, delivery) };
    }
    await view.settle(shown.ref, card);
    return { entry, ref: shown.ref };
  }
  if (owed.kind === "past") {
    const { offer } = owed;
    const ref = offer.shown.get(viewName) ?? "";
    await view.amend(ref, pastNotice(thread, offer.notice, encode));
    return { entry: pastId(offer), ref };
  }
  const { debt } = owed;
  const message = outgoingOf({ key, thread }, debt, encode);
  if (debt.kind === "notice") {
    const offer = thread.offers.get(debt.id);
    const isPointless =
      offer !== undefined &&
      isPast(thread, offer) &&
      pastNotice(thread, debt.notice, encode) === undefined;
    if (isPointless) return { entry: debt.id, ref: "" };
    if (debt.notice.to !== undefined && message.kind === "notice")
      return { entry: debt.id, ref: await view.whisper(debt.notice.to, message.text, message) };
    const delivery = { id: debt.id, again: again(debt.id) };
    return { entry: debt.id, ref: await view.say(message, delivery) };
  }
  const { run } = debt;
  const begun = run.begun.get(viewName);
  const isLast = begun?.seq === thread.newest;
  // The answer belongs below what was said since: the run's message goes, and a new one comes.
  if (begun !== undefined && !isLast) await view.retract(begun.ref);
  const delivery: Delivery = { id: debt.id, again: again(debt.id) };
  const isBegunUnseen = begun === undefined && !isUntried(run.started.id);
  if (isBegunUnseen && view.begin !== undefined) {
    delivery.stray = progressIdOf(run);
  }
  const ref = await view.say(message, delivery, isLast ? begun?.ref : undefined);
  return { entry: debt.id, ref };
}

/** A notice or an answer as a view shows it. */
export function outgoingOf(
  { key, thread }: { key: JournalKey; thread: Thread },
  debt: Debt,
  encode: Encode,
): Outgoing {
  if (debt.kind === "notice") {
    const { notice } = debt;
    const { text, settles, asks, holds = [], confirms } = notice;
    if (isPast(thread, { notice })) {
      const past = pastNotice(thread, notice, encode);
      if (past !== undefined) return past;
    }
    const approves = (notice.approves ?? []).flatMap((id) => {
      const action = thread.actions.get(id);
      return action === undefined || !isOpen(action) ? [] : [cardOf(key, action, encode)];
    });
    return {
      kind: "notice",
      text: encode(text),
      settles,
      asks: asks && { call: asks.call, choices: asks.choices },
      holds,
      ...(approves.length > 0 && { approves }),
      ...(confirms !== undefined && { confirms }),
    };
  }
  const { started, ended, calls, talk } = debt.run;
  const text = ended?.text === undefined ? undefined : encode(ended.text);
  const results = [...calls.values()].flatMap((call) => resultOf(call, encode));
  const status = ended?.status ?? "failed";
  const answer = { kind: "answer" as const, run: started.run, status, text, results };
  if (talk === undefined) return { ...answer, talk: false };
  const { steps, usage, workMs } = talk;
  // Stopped before its model had answered once, it has nothing to count.
  return { ...answer, talk: true, ...(steps > 0 && { spent: { steps, usage, workMs } }) };
}

/** The notice as it stays once what it is about waits no longer; undefined: it goes. */
function pastNotice(
  { answered, unknown }: Thread,
  { text, asks, settles }: Entry<"notice">,
  encode: Encode,
): Notice | undefined {
  if (asks !== undefined) {
    const end = answered.get(asks.call);
    const by = end?.by === undefined ? "" : ` (${end.by})`;
    const how = end?.outcome === "expired" ? "nobody answered in time" : "called off";
    const said = end?.outcome === "answered" ? `${end.text}${by}` : how;
    return plainNotice(encode(`${text} → ${said}`));
  }
  if (settles === undefined) return undefined;
  const call = [...unknown.values()].find((each) => (each.action?.action ?? each.call) === settles);
  const { settled } = call ?? {};
  const word = settled?.happened === true ? "it happened" : "it did not happen";
  const how = settled === undefined ? "" : ` → settled by ${settled.name}: ${word}`;
  return plainNotice(encode(text + how));
}

function resultOf(call: Call, encode: Encode): CallResult[] {
  if (call.finished === undefined) return [];
  const { outcome, text, artifacts = [], ms } = call.finished;
  const args = argsOf(call);
  return [{ call: call.call, tool: call.tool, args, outcome, text: encode(text), artifacts, ms }];
}

/** The id of the delivery that begins a run's progress. */
export function progressIdOf({ started }: Run): string {
  return `begun:${started.run}`;
}

/** What a run's calls came to until now, as its progress would have been told. */
export function progressOf({ calls }: Run): Progress[] {
  return [...calls.values()].flatMap((each): Progress[] => {
    const { call, tool, started, finished } = each;
    if (started === undefined) return [];
    const begun: Progress = { kind: "tool_started", call, tool, args: argsOf(each) };
    if (finished === undefined) return [begun];
    const { outcome, ms } = finished;
    return [begun, { kind: "tool_finished", call, tool, outcome, ms }];
  });
}

/** An action as its card shows it: every byte of what would be executed, and where it stands. */
export function cardOf(key: JournalKey, action: Action, encode: Encode): ActionCard {
  const { proposal } = action;
  return {
    key,
    action: action.action,
    revision: proposal.revision,
    tool: proposal.tool,
    effect: proposal.effect,
    host: proposal.host,
    args: proposal.args,
    canonical: exactText(canonicalize(proposal.args) ?? "{}"),
    digest: proposal.digest,
    reason: proposal.reason === undefined ? undefined : encode(proposal.reason),
    preview: proposal.preview,
    phase: phaseOf(action),
    approvers: approversText(action, encode),
    listed: listedIn(action),
    quorum: proposal.quorum,
    votes: action.votes.map((vote) => ({
      name: encode(signed(vote)),
      approve: vote.approve,
      reason: vote.reason === undefined ? undefined : encode(vote.reason),
    })),
    expiresAt: proposal.expiresAt,
    ending: endingOf(action, encode),
  };
}

function phaseOf(action: Action): ActionPhase {
  if (action.closed !== undefined) return action.closed.outcome;
  if (action.finished === undefined) {
    return action.started ? "running" : isApproved(action) ? "approved" : "open";
  }
  const { outcome } = action.finished;
  if (outcome === "ok") return "done";
  return outcome === "unknown" ? "unknown" : "failed";
}

function endingOf(action: Action, encode: Encode): string | undefined {
  const { closed, finished, settled } = action;
  const because = (reason: string | undefined) =>
    reason === undefined ? "" : `: ${encode(reason)}`;
  if (closed !== undefined) {
    const by = closed.by === undefined ? "" : ` by ${encode(closed.by)}`;
    return `${closed.outcome}${by}${because(closed.reason)}`;
  }
  if (settled !== undefined) {
    const word = settled.happened ? "it happened" : "it did not happen";
    return `settled by ${encode(settled.name)}: ${word}${settled.reason === undefined ? "" : ` (${encode(settled.reason)})`}`;
  }
  if (finished === undefined) return undefined;
  return finished.outcome === "unknown"
    ? "outcome unknown"
    : `${phaseOf(action)} in ${finished.ms ?? 0} ms`;
}

/** The accounts that groups on the card stand for. */
function listedIn({ proposal: { approvers } }: Action): string[] {
  if (approvers.kind === "anyone" || approvers.accounts.every(({ groups }) => groups === undefined))
    return [];
  return approvers.accounts.map(({ account }) => account);
}

/** Those who are listed as the rule has them: `slack:group:S0SRE (3 people), slack:T1:U07`. */
function referencesOf(accounts: ListedAccounts): string[] {
  const counts = new Map<string, number>();
  const named: string[] = [];
  for (const { account, groups } of accounts) {
    if (groups === undefined) named.push(account);
    for (const group of groups ?? []) counts.set(group, (counts.get(group) ?? 0) + 1);
  }
  const groups = [...counts].map(
    ([group, n]) => `${group} (${n === 1 ? "1 person" : `${n} people`})`,
  );
  return [...groups, ...named];
}

type ListedAccounts = Extract<Approvers, { kind: "listed" }>["accounts"];

/** `any full member of #ops except ana, who asked`: who may approve, and who of them may not. */
function approversText({ proposal, barred, editors }: Action, encode: Encode): string {
  const { approvers, place = "this thread" } = proposal;
  const who =
    approvers.kind === "anyone"
      ? `any full member of ${place}`
      : referencesOf(approvers.accounts).join(", ");
  if (barred.length === 0) return encode(who);
  const did = editors.size === 0 ? "asked" : "asked or edited it";
  return encode(`${who} except ${barred.join(" and ")}, who ${did}`);
}
