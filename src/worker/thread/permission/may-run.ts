import {
  checkEligible,
  fixApprovers,
  type Place,
  type VotingRule,
} from "../../../approvals/eligibility.ts";
import type { Decision } from "../../../approvals/policy.ts";
import { lapseOf } from "../../../approvals/refusal.ts";
import { countVoters, signed } from "../../../core/people.ts";
import type { Action } from "../../../thread/action.ts";
import { whyNotLooked } from "../../../thread/decide-run.ts";
import type { Call } from "../../../thread/state.ts";
import type { ThreadContext, Wanted } from "../parts.ts";
import { placeOf } from "./look-up.ts";
import { permit } from "./permission.ts";
import { voicesIn } from "./requesters.ts";

/** May a call be made that nobody was asked about? Its run may refuse it, then policy decides. */
export async function mayRun(
  ctx: ThreadContext,
  call: Call,
  { args, effect }: Pick<Wanted, "args" | "effect">,
  signal: AbortSignal,
): Promise<Decision> {
  const run = ctx.thread.runs.get(call.run);
  const isNew = call.started === undefined;
  const refusal = isNew && run && whyNotLooked({ ...call, args }, run, ctx.parts.run.terms);
  if (typeof refusal === "string") return { kind: "deny", why: refusal };
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
  const { votes, proposal, editors } = action;
  const place = placeOf(ctx, signal);
  const short = await whyShort(votes, proposal, place, "`people:` is");
  if (short !== undefined) return short;
  const decision = await permit(ctx, { ...proposal, action }, signal);
  if (decision.kind === "deny") return decision.why;
  if (decision.kind === "allow") return undefined;
  const rule = {
    approvers: await fixApprovers(decision.approvers, place.people),
    barred: decision.requesterMayApprove ? [] : [...voicesIn(ctx, proposal.run), ...editors],
    quorum: decision.quorum,
  };
  return whyShort(votes, rule, place, "the rules are");
}

/** Why the votes do not carry what this rule decides on, or undefined. `as`: what says so now. */
async function whyShort(
  votes: Action["votes"],
  rule: VotingRule,
  place: Place,
  as: string,
): Promise<string | undefined> {
  // They count as different people only if `people:` has them so still.
  const approving = votes.filter(({ approve }) => approve);
  if (countVoters(approving, place.personOf) < rule.quorum)
    return `its approvals are by fewer different people than it needs, as ${as} now`;
  for (const vote of votes) {
    const still = await checkEligible(vote.account, rule, place);
    if (!still.eligible) return `an approval no longer counts: ${lapseOf(signed(vote), still)}`;
  }
  return undefined;
}
