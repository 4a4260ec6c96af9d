import {
  type VotingRule,
  countEligible,
  fixApprovers,
  isAlone,
  type ThreadPeople,
} from "../../approvals/eligibility.ts";
import { type Action, editedArgs } from "../../thread/action.ts";
import { type Ask, type Decision, plainAsk } from "../../approvals/policy.ts";
import type { ModelRun } from "../../thread/model-run.ts";
import { exactText, shownBytes } from "../../security/sanitize.ts";
import { MAX_ARGS_BYTES } from "../../core/edit.ts";
import { capText, counted } from "../../core/text.ts";
import type { Entry, JsonObject } from "../../core/entry.ts";
import { plannedTasks, type PlanTask } from "../../core/plan.ts";
import type { Here } from "../../core/instant.ts";
import { messageOf } from "../../core/errors.ts";
import { isAgent } from "../../core/people.ts";
import { isCheck } from "../../thread/checking.ts";
import { askerIn, mayOnlyRead } from "../../thread/state.ts";
import type { Call } from "../../thread/call.ts";
import { mentionable } from "../../thread/mentions.ts";
import { QUESTION_MS } from "../../thread/waiting.ts";
import { waitFor } from "../../core/time-limit.ts";
import { doingOf, type Prepared } from "../../tools/prepare-call.ts";
import type { ThreadContext } from "./parts.ts";
import { peopleAround, placeNameIn, saidAt, viewerFor } from "./places.ts";
import { isForGood, isLookUpFailure, peopleOf } from "./permission/look-up.ts";
import { countInHour, whyTooManyInRun } from "./permission/limits.ts";
import { frozenFor } from "./permission/frozen.ts";
import { coveringGrant, termsOf } from "./permission/granting.ts";
import { glassRule, insteadOf, mayRun, permit } from "./permission/permission.ts";
import type { PreparedCall } from "../../core/tool-call.ts";
import { askedBy, because, stillBecause, undoing, waiting } from "./preview-heads.ts";
import type { Wanted } from "../../thread/drafts-helpers.ts";
import type { Card, Proposal } from "../../thread/drafts-calls.ts";
import { progress } from "./progress.ts";
import { voicesIn } from "./permission/requesters.ts";

/** As long as an action waits for people: who could approve one is not looked up for longer. */
const LOOK_UP_LIMIT_MS = 60 * 60_000;
/** A reason is a few sentences; it stands below the action, which must not be pushed out of sight. */
const MAX_REASON_BYTES = 600;

/**
 * What becomes of a call: what is denied as it was asked for is not looked at further; what the checked and pinned arguments
 * come to decides. Whatever goes wrong on the way blocks the call with the reason; nothing is ever run because something
 * could not be checked. @throws BotError PEOPLE_UNAVAILABLE: that is no answer, and is asked again, for an hour
 */
export async function propose(
  ctx: ThreadContext,
  call: Call,
  signal: AbortSignal,
): Promise<Proposal | Wanted> {
  try {
    return await proposalFor(ctx, call, signal);
  } catch (error) {
    const mayAnswer = isLookUpFailure(error) && !isForGood(error);
    if (mayAnswer && ctx.now() < call.askedAt + LOOK_UP_LIMIT_MS) throw error;
    const undone = undoneBy(ctx, call);
    const head = undone === undefined ? "" : `${undone} was not undone. `;
    return blocked(ctx.parts.encoder.encode(head + messageOf(error)));
  }
}

/** The action that the call takes back. */
function undoneBy({ thread }: ThreadContext, { run }: Call): string | undefined {
  return thread.runs.get(run)?.started.undoes;
}

/** Somebody asked for it again, once its card had expired. */
function repeats({ thread }: ThreadContext, { run }: Call): boolean {
  return thread.runs.get(run)?.started.repeats !== undefined;
}

/** Why a rule asks people about it; a check's reader is told. */
function whyAsked(decision: Decision, encode: (text: string) => string): { why?: string } {
  const why = decision.kind === "ask" ? decision.why : undefined;
  return why === undefined ? {} : { why: encode(why) };
}

function blocked(text: string): Proposal {
  return { kind: "blocked", text };
}

function denied({ why, by }: Extract<Decision, { kind: "deny" }>): Proposal {
  return { kind: "blocked", text: why, ...(by !== undefined && { by }) };
}

async function proposalFor(
  ctx: ThreadContext,
  call: Call,
  signal: AbortSignal,
): Promise<Proposal | Wanted> {
  const { dispatcher, encoder } = ctx.parts;
  const { encode } = encoder;
  const { last } = ctx.state;
  const instead = insteadOf(ctx, call);
  if (instead !== undefined) {
    if (instead.do === "answer") tellPlan(ctx, call, instead.keeps.plan);
    return { kind: "instead", instead };
  }
  const asIs = await mayRun(ctx, call, { args: call.args }, signal);
  if (asIs.kind === "deny") return isBeyondApps(ctx, call) ? { kind: "beyond" } : denied(asIs);
  const undone = undoneBy(ctx, call);
  // A tool said how to take back what it did; nobody wrote that.
  const by = undone === undefined ? "person" : "bot";
  const looking = lookingIn(ctx, call);
  const prepared = await dispatcher.prepare(call.tool, call.args, signal, { by, ...looking });
  const { args, tool } = prepared;
  const isSame = ctx.state.last === last && isAsAsked(prepared, call);
  // Denied before in other words, such as with a default written out.
  const decision = isSame ? asIs : await mayRun(ctx, call, { args }, signal);
  if (decision.kind === "deny") return denied(decision);
  const tooMany = whyTooManyInRun(ctx, call, tool);
  if (tooMany !== undefined) return blocked(tooMany);
  const unrun = askedFor(ctx, prepared, decision);
  if (unrun !== undefined) return unrun;
  const isRead = prepared.effect === "read" && decision.kind === "allow";
  const run = ctx.thread.runs.get(call.run);
  if (!isRead && (mayOnlyRead(run) || isCheck(run, call.call)))
    return { kind: "beyond", ...whyAsked(decision, encode) };
  // A press alone takes nothing back, and runs nothing that waited for a yes: its card comes first, also where policy would not ask.
  const isPressed = undone !== undefined || repeats(ctx, call);
  const frozen = await frozenFor(ctx, { ...namedCall(prepared), run: call.run }, signal);
  if (decision.kind === "allow" && !isPressed && frozen === undefined) {
    const spent = await countInHour(ctx, call, tool);
    if (spent !== undefined) return blocked(spent);
    const doing = doingOf(prepared, encode);
    return { kind: "allow", prepared: { ...namedCall(prepared), doing } };
  }
  const looked = waiting(await dispatcher.preview(prepared, signal, looking), frozen);
  const shown = undoing(looked, undone, call);
  const asked = decision.kind === "ask" ? decision : plainAsk({ requesterMayApprove: true });
  const preview = askedBy(because(shown, asked, encode), ctx, call);
  const there = peopleOf(ctx, signal);
  const rule =
    decision.kind === "ask"
      ? await votingRuleOf(ctx, there, decision, voicesIn(ctx, call.run))
      : ANYONE;
  const glass = await glassRule(ctx, there);
  const obstacle =
    (await tooFew(there, rule, asked, glass)) ??
    tooLong(args) ??
    (await countInHour(ctx, call, tool));
  if (obstacle !== undefined) return blocked(obstacle);
  const terms = termsOf(ctx, prepared, { rule, asked, undoes: undone });
  const isHeld = frozen !== undefined || decision.kind !== "ask";
  const granted = isHeld ? undefined : await coveringGrant(ctx, { args, rule, terms, there });
  const reason = reasonOf(ctx.thread.runs.get(call.run)?.modelRun);
  // Before the freeze ends nothing could come of it. Who may not read of the freeze must not learn its end from the card either.
  const from = Math.max(ctx.now(), frozen?.isNamed === true ? frozen.until : 0);
  const expiresAt = from + asked.expiresInMinutes * 60_000;
  const place = await placeNameOf(ctx, signal);
  return {
    kind: "ask",
    card: {
      ...namedCall(prepared),
      ...rule,
      ...(await namesOf(ctx, rule, signal)),
      preview,
      expiresAt,
      ...terms,
      ...(glass !== undefined && { breakable: true }),
      ...(granted !== undefined && { granted: granted.of.action }),
      ...escalationOf(asked, from),
    },
    reason,
    place,
  };
}

function tellPlan(ctx: ThreadContext, { run }: Call, tasks: readonly PlanTask[]): void {
  const { encode } = ctx.parts.encoder;
  progress(ctx, run, { kind: "plan", run, tasks: plannedTasks(tasks, encode) });
}

/** What is not run, so that there is nothing to approve: a question, and what a helper does. A default for reads is not meant for them. */
function askedFor(
  ctx: ThreadContext,
  prepared: Prepared,
  decision: Decision,
): Proposal | Wanted | undefined {
  const { encode } = ctx.parts.encoder;
  const { tool, args } = prepared;
  const isHeld = decision.kind === "ask" && decision.byRule === true;
  if (tool.question !== undefined) {
    if (isHeld) return blocked(HELD_QUESTION);
    const { text, choices } = tool.question(args);
    const expiresAt = ctx.now() + QUESTION_MS;
    return { kind: "question", text: encode(text), choices: choices.map(encode), expiresAt };
  }
  if (tool.delegates === undefined) return undefined;
  if (isHeld) return blocked(HELD_HELPER);
  const { steps, ...task } = tool.delegates(args);
  return { kind: "delegate", task, steps };
}

/** Nothing was filled in, and nothing was looked at that takes time: what was decided of it as it was asked for holds. */
function isAsAsked({ tool, args }: Prepared, call: Call): boolean {
  const isPlain = (tool.pin ?? tool.precheck ?? tool.unavailable) === undefined;
  return isPlain && JSON.stringify(args) === JSON.stringify(call.args);
}

/** It was refused to the bot that began the run, and people may ask for it. */
function isBeyondApps({ thread, parts }: ThreadContext, { run, tool, args }: Call): boolean {
  const { dispatcher } = parts;
  const isFromApp = thread.runs.get(run)?.started.app !== undefined;
  return (
    isFromApp && dispatcher.find(tool) !== undefined && dispatcher.effectOf(tool, args) !== "read"
  );
}

function escalationOf({ escalate }: Ask, from: number): Pick<Card, "escalation"> {
  if (escalate === undefined) return {};
  const { to, afterMinutes, page } = escalate;
  const at = from + afterMinutes * 60_000;
  return { escalation: { to, at, ...(page !== undefined && { page }) } };
}

/** What a tool's pin may look up of the thread. */
function lookingIn(ctx: ThreadContext, call: Call) {
  const run = ctx.thread.runs.get(call.run);
  const account = run && askerIn(run)?.account;
  const isTyped = run !== undefined && run.modelRun === undefined;
  return {
    here: () => hereOf(ctx, call),
    said: (post: string) => saidAt(ctx, post),
    viewer: () => viewerFor(ctx, account ?? ""),
    ...(isTyped && { typedBy: account }),
  };
}

/** Times are meant by the asker's clock. */
async function hereOf(ctx: ThreadContext, { run }: Call): Promise<Here> {
  const { thread, parts } = ctx;
  const found = thread.runs.get(run);
  const account = found && askerIn(found)?.account;
  const own = async () => (account === undefined ? undefined : peopleAround(ctx).timezone(account));
  const zone = parts.timezone ?? (await own().catch(() => undefined)) ?? "UTC";
  return { zone, now: ctx.now() };
}

function namedCall({ tool, effect, args, host, digest }: Prepared): PreparedCall {
  return { tool: tool.name, effect, args, host, digest };
}

/** Who asked for it too. */
const ANYONE: VotingRule = { approvers: { kind: "anyone" }, quorum: 1, barred: [] };

const HELD_QUESTION =
  "A rule holds up questions to people here, so this one was not put to them. Say in the answer what you need to know.";

const HELD_HELPER = "A rule holds up helpers here, so none was asked for. Do it yourself.";

/** A card without the place's name is as good: what does not come soon is left out. */
export async function placeNameOf(
  ctx: ThreadContext,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { parts } = ctx;
  const ask = async () => placeNameIn(ctx);
  const name = await waitFor(NAMES_MS, signal, ask).catch(() => undefined);
  return name === undefined ? undefined : parts.encoder.encode(exactText(name));
}

/** What people call those whom a rule names, likewise: they stand in the journal, so that every process shows the same. */
async function namesOf(
  ctx: ThreadContext,
  { approvers }: VotingRule,
  signal: AbortSignal,
): Promise<Pick<Card, "names">> {
  if (approvers.kind === "anyone") return {};
  const { encode } = ctx.parts.encoder;
  const people = peopleAround(ctx);
  const named = mentionable(approvers.accounts.flatMap(({ account, groups }) => groups ?? account));
  const found = await Promise.all(
    named.map(async (each): Promise<[string, string][]> => {
      const ask = async () => people.label?.(each, ctx.key);
      const name = await waitFor(NAMES_MS, signal, ask).catch(() => undefined);
      return name === undefined ? [] : [[each, encode(exactText(capText(name, MAX_NAME_BYTES)))]];
    }),
  );
  const names = found.flat();
  return names.length === 0 ? {} : { names: Object.fromEntries(names) };
}

const NAMES_MS = 2_000;
const MAX_NAME_BYTES = 80;

/** What a model wrote before its calls, for the card: its own word, unverified. */
function reasonOf(modelRun: ModelRun | undefined): string | undefined {
  const said = modelRun?.last?.content.findLast((block) => block.kind === "text")?.text.trim();
  return said === undefined || said === "" ? undefined : capText(said, MAX_REASON_BYTES);
}

/**
 * An open action's card with other arguments, or why there cannot be one. Who edited it counts as a requester too.
 * @throws BotError PEOPLE_UNAVAILABLE
 */
export async function proposeEdit(
  ctx: ThreadContext,
  call: Call,
  action: Action,
  edit: { args: JsonObject; click: Entry<"click"> },
  signal: AbortSignal,
): Promise<Card | string> {
  const { dispatcher, encoder } = ctx.parts;
  const { encode } = encoder;
  const { proposal: previous, editors, undoes } = action;
  if (undoes !== undefined) return exactly(undoes);
  const editor = edit.click.actor.account;
  try {
    const edited = editedArgs(previous, edit.args);
    const looking = lookingIn(ctx, call);
    const prepared = await dispatcher.prepare(call.tool, edited, signal, looking);
    const { effect, args } = prepared;
    const decision = await permit(ctx, { ...call, args, effect, action, editor }, signal);
    if (decision.kind === "deny") return decision.why;
    const frozen = await frozenFor(ctx, { run: call.run, tool: call.tool, effect, args }, signal);
    const shownAs = waiting(await dispatcher.preview(prepared, signal, looking), frozen);
    const preview = askedBy(stillBecause(shownAs, decision, previous.preview, encode), ctx, call);
    const requesters = [...voicesIn(ctx, call.run), ...editors, editor];
    // Policy would let the edited action run unasked; it was asked about, so it stays with those who were asked.
    const asked = decision.kind === "ask" ? decision : undefined;
    const there = peopleOf(ctx, signal);
    const { approvers, quorum, barred } = asked
      ? await votingRuleOf(ctx, there, asked, requesters)
      : { ...previous, barred: previous.barred.length === 0 ? [] : requesters };
    const rule = { approvers, quorum, barred };
    const glass = await glassRule(ctx, there);
    const obstacle = (asked && (await tooFew(there, rule, asked, glass))) ?? tooLong(args);
    if (obstacle !== undefined) return obstacle;
    const terms = termsOf(ctx, prepared, {
      rule,
      // It stays with those who were asked, call by call.
      asked: asked ?? { ...plainAsk({ requesterMayApprove: true }), grants: false },
      undoes,
    });
    return {
      ...namedCall(prepared),
      ...rule,
      ...(await namesOf(ctx, rule, signal)),
      preview,
      expiresAt: previous.expiresAt,
      ...(previous.escalation !== undefined && { escalation: previous.escalation }),
      ...terms,
      // What was asked for in words of its own stays so.
      ...(terms.confirm === undefined &&
        previous.confirm !== undefined && { confirm: previous.confirm }),
      ...(glass !== undefined && { breakable: true }),
    };
  } catch (error) {
    if (isLookUpFailure(error)) throw error;
    return encode(messageOf(error));
  }
}

function exactly(undone: string): string {
  return `it takes ${undone} back exactly. Deny it, and ask for what you want instead.`;
}

/** Accounts are barred, not people: whose they are is asked at each vote. */
async function votingRuleOf(
  { parts, adapter }: ThreadContext,
  there: ThreadPeople,
  asked: Ask,
  requesters: string[],
): Promise<VotingRule> {
  const approvers = await fixApprovers(asked.approvers, there.people);
  const isOnlyOne = parts.policy.singleOperator || adapter.singleOperator;
  // Where somebody else could approve it too, what policy lets them approve is seen; where nobody could, it is not.
  const mayApprove =
    asked.requesterMayApprove && (isOnlyOne || !(await isAlone(approvers, requesters, there)));
  const barred = mayApprove ? [] : [...new Set(requesters)];
  // Whoever stands behind an agent may press too: only one person more is surely somebody else.
  const unknown = barred.some((account) => isAgent(there.personOf(account))) ? 1 : 0;
  return { approvers, barred, quorum: asked.quorum + unknown };
}

async function tooFew(
  there: ThreadPeople,
  votingRule: VotingRule,
  asked: Ask,
  glass: VotingRule | undefined,
): Promise<string | undefined> {
  const able = await countEligible(votingRule, there);
  if (able === undefined || able >= votingRule.quorum) return undefined;
  // Somebody may break the glass: then there is a card to do it on.
  if (glass !== undefined && (await countEligible(glass, there)) !== 0) return undefined;
  if (able === 0 && (await countEligible({ ...votingRule, barred: [] }, there)) !== 0) {
    const asking = new Set(votingRule.barred.map(there.personOf));
    const except =
      asking.size === 1 ? "you, and you asked for it" : "those who asked or wrote what I read";
    return `Nobody here can approve this except ${except}. Ask in a channel with a teammate, or set \`approvals.singleOperator: true\`.`;
  }
  const whom =
    asked.escalation === undefined
      ? "Change the rule or ask an operator"
      : `Turn to ${asked.escalation}`;
  const needs = counted(votingRule.quorum, "approval");
  const who = able === 0 ? "nobody" : able === 1 ? "only 1 person" : `only ${able} people`;
  const barred = votingRule.barred.length > 1 ? " Whoever asked or wrote what I read can't." : "";
  return `It needs ${needs}, and ${who} here may give one, so nobody was asked.${barred} ${whom}.`;
}

function tooLong(args: JsonObject): string | undefined {
  const shown = shownBytes(args);
  if (shown <= MAX_ARGS_BYTES) return undefined;
  return `The action is too long to be shown whole (${shown} bytes, at most ${MAX_ARGS_BYTES}), so it cannot be approved. Make it shorter, for example with a script file.`;
}
