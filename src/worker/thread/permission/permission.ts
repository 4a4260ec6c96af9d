import { termsIn } from "../../../thread/surroundings.ts";
import { type Access, decideAccess } from "../../../approvals/access.ts";
import { type Ask, decidePolicy, type Decision } from "../../../approvals/policy.ts";
import type { ThreadContext, ThreadParts, Wanted } from "../parts.ts";
import { channelsIn, NEVER_ABORTED, peopleOf } from "./look-up.ts";
import { askOutside } from "./outside.ts";
import { requestersOf, voicesIn } from "./requesters.ts";
import {
  checkEligible,
  fixApprovers,
  type ThreadPeople,
  type VotingRule,
} from "../../../approvals/eligibility.ts";
import { lapseOf } from "../../../approvals/refusal.ts";
import type { Effect } from "../../../core/entry.ts";
import type { Requester } from "../../../approvals/requester.ts";
import { countVoters, signed } from "../../../core/people.ts";
import { type Action, carrierOf } from "../../../thread/action.ts";
import type { Instead } from "../../../thread/gates/gate.ts";
import { beforeCall, type Heard } from "../../../thread/gates/gates.ts";
import type { Call } from "../../../thread/call.ts";

/**
 * The one answer to "may this call be made, by these people, here and now?": access, which may refuse whoever asks, then
 * approvals. It is asked of the arguments as they were written and again where they were pinned or edited, last thing before
 * dispatch, and when a call is taken up after a crash. A denial's `why` is a sentence for people. Where it asks, approvals
 * that were given before count if they carry it as it asks now.
 * @throws BotError PEOPLE_UNAVAILABLE when nobody can say who asks: that is neither yes nor no
 */
export async function permit(
  ctx: ThreadContext,
  wanted: Wanted,
  signal: AbortSignal = NEVER_ABORTED,
): Promise<Decision> {
  const { parts, adapter } = ctx;
  const { run, action, editor } = wanted;
  const editors = [...(action?.editors ?? []), ...(editor === undefined ? [] : [editor])];
  const requesters = await requestersOf(ctx, { run, editors }, signal);
  const channels = await channelsIn(ctx, signal);
  // Where a single person sits, they may approve what they asked for.
  const singleOperator = parts.policy.singleOperator || adapter.singleOperator;
  const decision = await decideByRules(
    { ...parts, policy: { ...parts.policy, singleOperator } },
    wanted,
    { requesters, channels },
  );
  if (decision.kind !== "allow") return decision;
  const { dispatcher } = parts;
  const tool = dispatcher.find(wanted.tool);
  const effect = wanted.effect ?? dispatcher.effectOf(wanted.tool, wanted.args);
  return (tool && (await askOutside(ctx, { ...wanted, effect }, tool, decision))) ?? decision;
}

/** What is seen in several channels has to be allowed in each. */
function leastOf(each: readonly Access[]): Access {
  const held = each.find(({ kind }) => kind === "deny") ?? each.find(({ kind }) => kind === "ask");
  return held ?? { kind: "allow" };
}

/** What access and approvals say of a call by these requesters, whatever its thread has read from outside. */
export async function decideByRules(
  { dispatcher, access: rules, policy }: Pick<ThreadParts, "dispatcher" | "access" | "policy">,
  wanted: Pick<Wanted, "tool" | "args" | "effect">,
  { requesters, channels }: { requesters: readonly Requester[]; channels: readonly string[] },
): Promise<Decision> {
  const tool = dispatcher.find(wanted.tool);
  const effect = wanted.effect ?? dispatcher.effectOf(wanted.tool, wanted.args);
  const call = { tool: wanted.tool, effect, own: tool?.own };
  const access = leastOf(
    channels.map((channel) =>
      decideAccess(rules, { ...call, open: tool?.open, channel }, requesters),
    ),
  );
  if (access.kind === "deny") return access;
  const decision = decidePolicy(policy, {
    ...call,
    held: access.kind === "ask",
    byOthers: tool?.byOthers,
    args: wanted.args,
    kinds: tool?.kinds,
    meant: await dispatcher.meant(wanted.tool, wanted.args),
    requesters,
  });
  if (decision.kind === "deny") return { ...decision, why: `Policy denies it: ${decision.why}.` };
  return decision;
}

/**
 * Why a call that is under way may not go on with other arguments, such as where a redirect leads, or undefined. What would
 * have to be asked about is refused: nobody was shown it.
 */
export async function permitStep(ctx: ThreadContext, wanted: Wanted): Promise<string | undefined> {
  const decision = await permit(ctx, wanted);
  if (decision.kind === "allow") return undefined;
  if (decision.kind === "deny") return decision.why;
  return "That needs an approval of its own: it can be asked for in another call.";
}

/** What a gate of its run says in place of a call that nothing was decided about yet. */
export function insteadOf(
  { thread, parts }: ThreadContext,
  call: Call,
  args = call.args,
): Heard<Instead> | undefined {
  const run = thread.runs.get(call.run);
  if (run === undefined || call.started !== undefined) return undefined;
  const terms = termsIn(parts.run, run);
  const effect = () => parts.dispatcher.effectOf(call.tool, args);
  return beforeCall({ ...call, args }, run, { terms, effect });
}

/** May a call be made that nobody was asked about? A gate of its run may refuse it, then policy decides. */
export async function mayRun(
  ctx: ThreadContext,
  call: Call,
  { args, effect }: Pick<Wanted, "args" | "effect">,
  signal: AbortSignal,
): Promise<Decision> {
  const instead = insteadOf(ctx, call, args);
  if (instead !== undefined) return { kind: "deny", why: instead.text };
  return permit(ctx, { ...call, args, effect }, signal);
}

/**
 * Why an approved action may not run, or undefined. Its approvals have to carry it as it was asked for and as policy asks
 * now, which after a restart may ask for more.
 */
export async function whyNotRun(
  ctx: ThreadContext,
  action: Action,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { proposal, editors } = action;
  const there = peopleOf(ctx, signal);
  const carrier = carrierOf(action);
  const votes = carrier?.kind === "grant" ? [carrier.grant.vote] : action.votes;
  const mayBreak = carrier?.kind === "glass" ? await glassRule(ctx, there) : undefined;
  if (carrier?.kind === "glass") {
    const found = mayBreak && (await checkEligible(carrier.vote.account, mayBreak, there));
    if (found === undefined) return "nobody may break the glass any more";
    if (!found.eligible) return lapseOf(signed(carrier.vote), found);
  } else {
    const short = await whyShort(votes, proposal, there, "`people:` is");
    if (short !== undefined) return short;
  }
  const decision = await permit(ctx, { ...proposal, action }, signal);
  if (decision.kind === "deny") return decision.why;
  if (decision.kind === "allow" || carrier?.kind === "glass") return undefined;
  const isOther =
    carrier?.kind === "grant" &&
    !isGrantable(ctx, { ...proposal, confirm: undefined, undoes: action.undoes }, decision);
  if (isOther) return "the rules ask for an approval of its own now";
  const rule = {
    approvers: await fixApprovers(decision.approvers, there.people),
    barred: decision.requesterMayApprove ? [] : [...voicesIn(ctx, proposal.run), ...editors],
    quorum: decision.quorum,
  };
  return whyShort(votes, rule, there, "the rules are");
}

/**
 * An approval of this write may grant the same again, and a grant may cover it: nothing destructive, nothing that takes several
 * people, typed words or a place that nobody named, and nothing that freezes.
 */
export function isGrantable(
  { parts: { dispatcher, policy } }: ThreadContext,
  call: {
    tool: string;
    effect: Effect;
    quorum: number;
    confirm: string | undefined;
    undoes: string | undefined;
  },
  { why, grants, quorum, confirm }: Ask,
): boolean {
  const isPlain = call.effect === "write" && call.quorum === 1 && quorum === 1;
  const isTyped = call.confirm !== undefined || confirm !== undefined;
  const isOurs = dispatcher.find(call.tool)?.freezes === true || call.undoes !== undefined;
  return (
    isPlain &&
    !isTyped &&
    !isOurs &&
    why === undefined &&
    grants !== false &&
    policy.grants.uses > 0
  );
}

/** Who may break the glass now; undefined: nobody may. @throws BotError PEOPLE_UNAVAILABLE */
export async function glassRule(
  { parts: { policy } }: ThreadContext,
  { people }: ThreadPeople,
): Promise<VotingRule | undefined> {
  if (policy.breakGlass === undefined) return undefined;
  return { approvers: await fixApprovers(policy.breakGlass.who, people), barred: [], quorum: 1 };
}

/** Why the votes do not carry what this rule decides on, or undefined. `as`: what says so now. */
async function whyShort(
  votes: Action["votes"],
  rule: VotingRule,
  there: ThreadPeople,
  as: string,
): Promise<string | undefined> {
  // They count as different people only if `people:` has them so still.
  const approving = votes.filter(({ approve }) => approve);
  if (countVoters(approving, there.personOf) < rule.quorum)
    return `its approvals are by fewer different people than it needs, as ${as} now`;
  for (const vote of votes) {
    const still = await checkEligible(vote.account, rule, there);
    if (!still.eligible) return `an approval no longer counts: ${lapseOf(signed(vote), still)}`;
  }
  return undefined;
}
