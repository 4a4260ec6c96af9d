import { type Entry, isPost, type StoredEntry } from "../../src/core/entry.ts";
import { noticeId } from "../../src/thread/entry-ids.ts";
import { fold } from "../../src/thread/fold.ts";
import { Thread } from "../../src/thread/state.ts";
import { decide } from "../../src/thread/decide.ts";
import { checkConversations } from "./conversations.ts";
import {
  type CallEvidence,
  callsOf,
  chatOf,
  duplicates,
  entriesOf,
  type Evidence,
  isDecided,
  isToolSight,
  type RunEvidence,
  runsOf,
} from "./evidence.ts";
import type { ToolName } from "./plan.ts";
import type { Line } from "./witness.ts";

/**
 * What must hold of a thread once everything is at rest. The numbers are those of SAFETY.md's invariants. Nothing here
 * asks the product what an entry means, except `checkPrefixes`, which is about that.
 */

/** The approvals that each tool needs by `chaosPolicy`; `undefined`: it may never run. */
const QUORUM: Record<ToolName, number | undefined> = {
  look: 0,
  poison: 0,
  nudge: 0,
  act: 1,
  brief: 1,
  wreck: 2,
  banned: undefined,
  ask: 0,
};
const MEMBERS = ["test:ana", "test:bob", "test:cy"];

/** What is wrong with a thread; empty when nothing is. */
export function violations(evidence: Evidence): string[] {
  const calls = callsOf(evidence);
  const runs = runsOf(evidence);
  return [
    ...checkStore(evidence),
    ...checkPosts(evidence),
    ...checkRuns(evidence, runs, calls),
    ...checkConversations(evidence, runs, calls),
    ...checkClicks(evidence),
    ...calls.flatMap((call) => [...checkOutcome(call, evidence), ...checkEffect(call)]),
    ...calls.flatMap((call) => checkPermission(call, evidence)),
    ...checkEffectsHaveCalls(calls, evidence),
    ...checkShown(evidence),
    ...checkKept(evidence),
    ...checkParked(evidence),
    ...checkPrefixes(evidence),
  ];
}

/** Numbered without gaps, no id twice, time never backwards. */
function checkStore({ entries }: Evidence): string[] {
  const wrong: string[] = [];
  const ids = new Set<string>();
  let at = 0;
  for (const [index, entry] of entries.entries()) {
    if (entry.seq !== index + 1) wrong.push(`entry ${index + 1} has the number ${entry.seq}`);
    if (ids.has(entry.id)) wrong.push(`the id ${entry.id} is there twice`);
    if (entry.at < at) wrong.push(`entry ${entry.seq} is older than the one before`);
    ids.add(entry.id);
    at = entry.at;
  }
  return wrong;
}

/** 7: what was acknowledged is there, once, and nothing that nobody posted. */
function checkPosts({ entries, posted }: Evidence): string[] {
  const ids = new Set(posted.map(({ draft }) => draft.id));
  const lost = [...ids].filter((id) => !entries.some((entry) => entry.id === id));
  const own = /^(?:expiry|late):/;
  const foreign = entries.filter(
    ({ id, kind }) => isPost({ kind }) && !ids.has(id) && !own.test(id),
  );
  return [
    ...lost.map((id) => `the post ${id} was acknowledged and is not there`),
    ...foreign.map(({ id }) => `nobody posted ${id}`),
  ];
}

/** Asked about, and neither decided nor withdrawn: it may wait for people for ever. */
function isWaiting(call: CallEvidence, evidence: Evidence): boolean {
  if (call.tool === "ask") return isUnanswered(call, evidence);
  const proposal = call.proposed.at(-1);
  if (proposal === undefined || call.started.length > 0) return false;
  const closed = entriesOf(evidence, "action_closed").some(
    ({ action }) => action === proposal.action,
  );
  const stops = entriesOf(evidence, "stop").some(({ seq }) => seq > call.since);
  return !closed && !stops && approversOf(call, proposal, evidence).size < (QUORUM[call.tool] ?? 1);
}

/**
 * A question that was put and that nobody answered or stopped since. Only who began the run answers by a message, and that
 * is the first of the run's questions that has no answer yet.
 */
function isUnanswered({ put, call, run, askers }: CallEvidence, { entries }: Evidence): boolean {
  const [question] = put;
  if (question === undefined) return false;
  const waiting = new Set<number>();
  const numberOf = (id: string): number => Number(id.slice(run.length + 2));
  for (const entry of entries) {
    if (entry.kind === "notice" && entry.asks?.call.startsWith(`${run}.t`) === true) {
      waiting.add(numberOf(entry.asks.call));
    } else if (entry.kind === "tool_finished" && entry.call !== call) {
      if (entry.run === run) waiting.delete(numberOf(entry.call));
    } else if (entry.kind === "message" && askers.has(entry.actor.account)) {
      const first = Math.min(...waiting);
      if (first === numberOf(call)) return false;
      waiting.delete(first);
    } else if (entry.seq > question.seq) {
      if (entry.kind === "stop" || (entry.kind === "click" && entry.action === call)) return false;
    }
  }
  return true;
}

/** 7: one event leads to one run, which ends once. Messages may also join a run: see `checkConversations`. */
function checkRuns(evidence: Evidence, runs: RunEvidence[], calls: CallEvidence[]): string[] {
  const wrong: string[] = [];
  for (const { id } of entriesOf(evidence, "command")) {
    const answering = runs.filter(({ started }) => started.answers.includes(id)).length;
    if (answering !== 1) wrong.push(`${id} led to ${answering} runs`);
  }
  for (const { run, started, ended } of runs) {
    const open = calls.some((call) => call.run === run && isWaiting(call, evidence));
    if (ended.length !== (open ? 0 : 1)) wrong.push(`the run ${run} ended ${ended.length} times`);
    if (ended.some(({ seq }) => seq < started.seq)) {
      wrong.push(`the run ${run} ended before it began`);
    }
  }
  return wrong;
}

/** Every click has exactly one consequence; every late word is passed on. */
function checkClicks(evidence: Evidence): string[] {
  const causes = [
    ...entriesOf(evidence, "vote").map(({ click }) => click),
    ...entriesOf(evidence, "settled").map(({ click }) => click),
    ...entriesOf(evidence, "action_proposed").map(({ click }) => click),
    ...entriesOf(evidence, "notice").map(({ answers }) => answers),
    ...entriesOf(evidence, "tool_finished").map(({ answers }) => answers),
    ...entriesOf(evidence, "action_closed").map(({ click }) => click),
  ];
  const clicks = entriesOf(evidence, "click").flatMap(({ id }) => {
    const times = causes.filter((cause) => cause === id).length;
    return times === 1 ? [] : [`the click ${id} had ${times} consequences`];
  });
  const unknown = entriesOf(evidence, "tool_finished").filter(
    ({ outcome }) => outcome === "unknown",
  );
  const words = entriesOf(evidence, "signal").flatMap(({ id, call }) => {
    const matters = unknown.some((finished) => finished.call === call);
    return causes.includes(id) || !matters ? [] : [`the late word ${id} was kept from the thread`];
  });
  return [...clicks, ...words];
}

const NOT_RUN = new Set(["denied", "expired", "cancelled", "blocked"]);

/** 5, 6, 8: one result per call; an interrupted write is unknown unless it was read back, and people are asked. */
function checkOutcome(call: CallEvidence, evidence: Evidence): string[] {
  const { call: id, tool, started, sights, settled } = call;
  if (started.length > 1) return [`${id} was started ${started.length} times`];
  const [finished] = call.finished;
  if (finished === undefined && isWaiting(call, evidence)) return [];
  if (finished === undefined || call.finished.length > 1) {
    return [`${id} has ${call.finished.length} results`];
  }
  if (tool === "ask") return checkReply(call, finished, evidence);
  const wrong: string[] = [];
  const { outcome, recovered = false, text } = finished;
  const [start] = started;
  const isWrite = tool !== "look" && tool !== "poison";
  const ended = sights.some(({ what }) => what === "end");
  if (start === undefined) {
    if (!NOT_RUN.has(outcome)) wrong.push(`${id} (${tool}) is ${outcome} and was never started`);
  } else {
    if (finished.seq < start.seq) wrong.push(`${id} has a result from before its start`);
    if (NOT_RUN.has(outcome) && (isWrite || outcome !== "cancelled")) {
      wrong.push(`${id} was started and is said to be ${outcome}`);
    }
    if (/not executed|didn't run/i.test(text))
      wrong.push(`${id} was started and is said not to be executed`);
  }
  if (isWrite && outcome === "error") wrong.push(`${id} (${tool}) failed: ${text}`);
  if (isWrite && outcome === "ok" && !recovered && !ended) {
    wrong.push(`${id} was interrupted and is said to be ok`);
  }
  if (recovered && outcome === "ok") {
    const effect = sights.find(({ what }) => what === "effect");
    if (tool !== "wreck" || effect === undefined || effect.at > finished.at) {
      wrong.push(`${id} is said to have been read back and nothing was there to see`);
    }
  }
  if (outcome === "unknown") {
    if (!evidence.disturbed) wrong.push(`${id} is unknown without a cause`);
    if (!isWrite) wrong.push(`${id} is a read and unknown`);
    const told = chatOf(evidence).filter(
      (line) => line.what === "said" && line.delivery === noticeId.unknown(id),
    );
    const word = entriesOf(evidence, "signal").some((signal) => signal.call === id);
    if (evidence.known.has(call.name) && !word) {
      wrong.push(`${id} is unknown though its worker knew better`);
    }
    // Who settled it knew; a copy that comes after that asks nobody any more.
    if (told.length === 0 && settled.length === 0)
      wrong.push(`nobody was told that the outcome of ${id} is unknown`);
  }
  if (settled.length > 1) wrong.push(`${id} was settled ${settled.length} times`);
  if (settled.length > 0 && outcome !== "unknown")
    wrong.push(`${id} was settled and is ${outcome}`);
  return wrong;
}

/** A question is never run: people answer it, after it was put to them. */
function checkReply(
  { call, put, started }: CallEvidence,
  { outcome, answers }: Entry<"tool_finished">,
  evidence: Evidence,
): string[] {
  const wrong = started.length > 0 ? [`${call} is a question and was started`] : [];
  if (outcome !== "ok") return NOT_RUN.has(outcome) ? wrong : [...wrong, `${call} is ${outcome}`];
  const posts = [...entriesOf(evidence, "message"), ...entriesOf(evidence, "click")];
  const reply = posts.find(({ id }) => id === answers);
  const [question] = put;
  if (reply === undefined || question === undefined || reply.seq < question.seq) {
    return [...wrong, `${call} has an answer that nobody gave`];
  }
  return MEMBERS.includes(reply.actor.account) ? wrong : [...wrong, `a guest answered ${call}`];
}

/** 1: a write is begun and happens at most once, after its start was durable, with the arguments that were shown. */
function checkEffect({
  call,
  tool,
  started,
  proposed,
  args: asked,
  sights,
}: CallEvidence): string[] {
  const wrong: string[] = [];
  for (const what of ["begin", "effect", "end"] as const) {
    const times = sights.filter((line) => line.what === what).length;
    if (times > 1) wrong.push(`${call} (${tool}): ${what} seen ${times} times`);
  }
  const [start] = started;
  for (const { what, last, args } of sights) {
    if (start === undefined) wrong.push(`${call} (${tool}): ${what} without a start`);
    else if (last < start.seq) wrong.push(`${call} (${tool}): ${what} before its start was stored`);
    const shown = proposed.find(({ revision }) => revision === start?.revision)?.args;
    const right =
      shown === undefined ? args["name"] === asked["name"] : canonical(args) === canonical(shown);
    if (!right) wrong.push(`${call} (${tool}): ran with other arguments than were shown`);
  }
  return wrong;
}

function canonical(args: object): string {
  return JSON.stringify(Object.entries(args).toSorted(([a], [b]) => a.localeCompare(b)));
}

function checkEffectsHaveCalls(calls: CallEvidence[], { lines }: Evidence): string[] {
  const names = new Set(calls.map(({ name }) => name));
  const strays = lines.filter(isToolSight).filter(({ name }) => !names.has(name));
  return strays.map(({ name, what }) => `${name}: ${what} seen, and no call has this name`);
}

/** A read is written down when it has ended, so a Stop may stand before its start; its run's end may not be before it begins. */
function checkBegun({ call, run, tool, sights }: CallEvidence, evidence: Evidence): string[] {
  if (QUORUM[tool] === undefined) return [`${call} (${tool}) was started against policy`];
  const over = entriesOf(evidence, "run_ended").find((ended) => ended.run === run);
  const late = sights.some(({ what, last }) => what === "begin" && over && over.seq <= last);
  return late ? [`${call} was begun after its run had ended`] : [];
}

/** 2, 3, 4: before a start stand the approvals it needs, and no deny, Stop or expiry. */
function checkPermission(call: CallEvidence, evidence: Evidence): string[] {
  const [start] = call.started;
  if (start === undefined) return [];
  const { call: id, tool, since, request, proposed } = call;
  const quorum = QUORUM[tool];
  if (start.effect === "read" && start.action === undefined) return checkBegun(call, evidence);
  const wrong: string[] = [];
  const between = (entry: { seq: number }) => entry.seq > since && entry.seq < start.seq;
  if (start.seq < request.seq) wrong.push(`${id} was started before it was asked for`);
  if (entriesOf(evidence, "stop").some(between)) wrong.push(`${id} was started after a Stop`);
  if (quorum === undefined) return [...wrong, `${id} (${tool}) was started against policy`];
  if (quorum === 0) return wrong;
  const proposal = proposed.find(({ revision }) => revision === start.revision);
  if (proposal === undefined || proposal.action !== start.action) {
    return [...wrong, `${id} (${tool}) was started and never proposed`];
  }
  if (proposal.digest !== start.digest) wrong.push(`${id} was started with another digest`);
  if (proposed.some(({ revision, seq }) => revision > proposal.revision && seq < start.seq)) {
    wrong.push(`${id} was started in an old revision`);
  }
  const timers = entriesOf(evidence, "timer").filter(({ action }) => action === proposal.action);
  if (start.at >= proposal.expiresAt || timers.some(between)) {
    wrong.push(`${id} was started after it had expired`);
  }
  const clicks = clicksOn(proposal, evidence).filter(between);
  if (clicks.some(({ choice }) => choice.kind === "deny"))
    wrong.push(`${id} was started after a deny`);
  const people = approversOf(call, proposal, evidence, start.seq).size;
  if (people < quorum)
    wrong.push(`${id} (${tool}) was started with ${people} of ${quorum} approvals`);
  return wrong;
}

/** What people who may decide clicked on this very revision, in time. */
function clicksOn(
  { action, revision, seq, expiresAt }: Entry<"action_proposed">,
  evidence: Evidence,
) {
  return entriesOf(evidence, "click")
    .filter((click) => click.action === action && click.revision === revision && click.seq > seq)
    .filter(({ actor, at }) => MEMBERS.includes(actor.account) && at < expiresAt);
}

/** Who approved it, by a click and its vote, before the entry `before`. */
function approversOf(
  { tool, requesters }: CallEvidence,
  proposal: Entry<"action_proposed">,
  evidence: Evidence,
  before = Infinity,
): Set<string> {
  const votes = entriesOf(evidence, "vote").filter(({ approve, seq }) => approve && seq < before);
  const accounts = clicksOn(proposal, evidence)
    .filter(
      ({ choice, id }) => choice.kind === "approve" && votes.some(({ click }) => click === id),
    )
    .map(({ actor }) => actor.account)
    .filter((account) => tool !== "wreck" || !requesters.has(account));
  return new Set(accounts);
}

/**
 * 7: every answer and notice stands in the chat, as recorded; a second copy only after a crash or a lost lease. One about
 * what waits no longer may have gone, or never have come.
 */
function checkShown(evidence: Evidence): string[] {
  const wrong: string[] = [];
  const chat = new Map(chatOf(evidence).map((line) => [line.ref, line]));
  const records = entriesOf(evidence, "delivered");
  const delivered = records.filter(({ stage }) => stage === "final");
  for (const { ref, stage, entry } of records) {
    const line = chat.get(ref);
    const isOver = delivered.some((each) => each.entry === entry);
    if (stage === "started" && isOver && line?.what === "begun")
      wrong.push(`the progress of ${entry} still stands beside its answer`);
  }
  for (const entry of [...entriesOf(evidence, "run_ended"), ...entriesOf(evidence, "notice")]) {
    const record = delivered.filter((each) => each.entry === entry.id);
    const [first] = record;
    const line = first === undefined ? undefined : chat.get(first.ref);
    if (record.length !== 1)
      wrong.push(`${entry.id} was recorded as delivered ${record.length} times`);
    else if (line === undefined && isPast(entry, first, evidence)) continue;
    else if (line === undefined)
      wrong.push(`${entry.id} is recorded as delivered and not in the chat`);
    else if (!says(line, entry)) wrong.push(`${entry.id} is recorded under another message`);
  }
  if (!evidence.disturbed && duplicates(evidence) > 0)
    wrong.push("a message is there twice without a cause");
  return wrong;
}

/** 7: what people were shown before the machine died was written before, and is still there. */
function checkKept(evidence: Evidence): string[] {
  const spoken = [...entriesOf(evidence, "run_ended"), ...entriesOf(evidence, "notice")];
  const proposed = entriesOf(evidence, "action_proposed");
  return evidence.lines.flatMap((line) => {
    const death = evidence.deaths.find((at) => line.at <= at);
    if (death === undefined) return [];
    const what = line.what === "carded" ? `card of ${line.action}` : "message";
    const shown =
      line.what === "carded"
        ? proposed.find(
            ({ action, revision, digest }) =>
              action === line.action && revision === line.revision && digest === line.digest,
          )
        : spoken.find((entry) => says(line, entry));
    const isOne = line.what === "carded" || line.what === "said" || line.what === "whispered";
    if (!isOne || (shown !== undefined && shown.at <= death)) return [];
    return [`a ${what} was shown, and lost when the machine died`];
  });
}

/** Nothing that the notice was about waited any more when it was taken away or, without a message, passed over. */
function isPast(
  entry: Entry<"run_ended"> | Entry<"notice">,
  record: Entry<"delivered"> | undefined,
  { entries, lines }: Evidence,
): boolean {
  if (entry.kind !== "notice" || record === undefined) return false;
  const { holds = [], approves = [], confirms, warns } = entry;
  const about = [...holds, ...approves, confirms ?? [], warns ?? []].flat();
  const isGone = lines.some(
    (line) => line.what === "amended" && line.gone && line.ref === record.ref,
  );
  const over =
    record.ref === ""
      ? record
      : entriesOf({ entries }, "delivered").find((each) => each.entry === `${entry.id}@past`);
  if (over === undefined || (record.ref !== "" && !isGone)) return false;
  const before = { entries: entries.filter(({ seq }) => seq < over.seq) };
  return about.length > 0 && about.every((id) => isDecided(id, before));
}

function says(line: Line, entry: Entry<"run_ended"> | Entry<"notice">): boolean {
  if (entry.kind === "run_ended") return line.what === "said" && line.run === entry.run;
  if (line.what === "said") return line.delivery === entry.id;
  // What became of it may stand behind.
  return line.what === "whispered" && line.text.startsWith(entry.text);
}

/** What was put aside after two crashes is not touched until somebody writes. */
function checkParked(evidence: Evidence): string[] {
  const wrong: string[] = [];
  const { entries } = evidence;
  for (const notice of entriesOf(evidence, "notice")) {
    if (notice.parks !== true) continue;
    const post = entries.find((entry) => entry.seq > notice.seq && isPost(entry))?.seq ?? Infinity;
    const begins = (entry: StoredEntry) =>
      ["run_started", "tool_started"].includes(entry.kind) ||
      (entry.kind === "tool_finished" && entry.tool !== undefined);
    const touched = entries.find(
      (entry) => entry.seq > notice.seq && entry.seq < post && begins(entry),
    );
    if (touched !== undefined) wrong.push(`${touched.id} came though the thread was put aside`);
  }
  return wrong;
}

/** Every prefix of a journal can be folded, and leads to a next step. */
function checkPrefixes({ entries }: Evidence): string[] {
  const thread = new Thread();
  for (const entry of entries) {
    try {
      fold(thread, [entry]);
      decide(thread, { now: entry.at, busy: new Set(), draining: false, showAfterMs: undefined });
    } catch (error) {
      return [`the prefix up to entry ${entry.seq} cannot be folded: ${String(error)}`];
    }
    if (thread.last !== entry.seq) return [`entry ${entry.seq} (${entry.kind}) was not folded`];
  }
  return [];
}
