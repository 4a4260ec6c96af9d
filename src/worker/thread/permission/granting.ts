import { hash } from "node:crypto";
import canonicalize from "canonicalize";
import {
  checkEligible,
  type ThreadPeople,
  type VotingRule,
} from "../../../approvals/eligibility.ts";
import type { Ask } from "../../../approvals/policy.ts";
import type { JsonObject } from "../../../core/entry.ts";
import { type Grant, isLeft, mustBeOpened } from "../../../thread/action.ts";
import type { Card } from "../../../thread/drafts-calls.ts";
import { confirmationOf, type Prepared, sameness } from "../../../tools/prepare-call.ts";
import { retryUntilStored } from "../../store.ts";
import type { ThreadContext } from "../parts.ts";
import { isGrantable } from "./permission.ts";

/** What an approval takes, and what it may grant besides. */
export type Terms = Pick<Card, "confirm" | "offer">;

/** The store's counter that keeps a grant's uses within their number, whatever a fold or another worker thinks. */
export function grantCounter(key: string, { of, offer }: Grant): string {
  return `grant:${key}:${of.action}:${offer.digest.slice(0, 12)}`;
}

interface Asked {
  rule: VotingRule;
  asked: Ask;
  undoes: string | undefined;
}

export function termsOf(
  ctx: ThreadContext,
  prepared: Prepared,
  { rule, asked, undoes }: Asked,
): Terms {
  const { policy } = ctx.parts;
  const { tool, effect, args, digest } = prepared;
  const isRuled = asked.confirm === "typed";
  const confirm = confirmationOf(tool, args, isRuled);
  const call = { tool: tool.name, effect, quorum: rule.quorum, confirm, undoes };
  if (!isGrantable(ctx, call, asked)) return confirm === undefined ? {} : { confirm };
  const terms = { same: sameness(prepared), ...policy.grants };
  const whole = canonicalize({ action: digest, ...terms }) ?? "";
  return { offer: { ...terms, digest: hash("sha256", whole, "hex") } };
}

/**
 * The grant that covers a call, which could itself be granted: of the very same, with a use left, by somebody who may still approve
 * that and may approve this. Undefined also while something that was pressed is not judged: it may revoke it.
 * @throws BotError PEOPLE_UNAVAILABLE
 */
export async function coveringGrant(
  ctx: ThreadContext,
  {
    args,
    rule,
    terms,
    there,
  }: { args: JsonObject; rule: VotingRule; terms: Terms; there: ThreadPeople },
): Promise<Grant | undefined> {
  const { thread, journal, key } = ctx;
  if (terms.offer === undefined || thread.clicks.size > 0) return undefined;
  for (const grant of thread.grants.values()) {
    const { offer, vote, until, of } = grant;
    if (offer.same !== terms.offer.same || !isLeft(grant) || ctx.now() >= until) continue;
    if (isInDoubt(grant)) continue;
    // What the program looked up may be longer by now than what its giver read.
    if (mustBeOpened({ args }) && !mustBeOpened(of.proposal)) continue;
    const used = await retryUntilStored(ctx, () => journal.used(grantCounter(key, grant)));
    if (used >= offer.uses) continue;
    const [then, now] = [
      await checkEligible(vote.account, of.proposal, there),
      await checkEligible(vote.account, rule, there),
    ];
    if (then.eligible && now.eligible) return grant;
  }
  return undefined;
}

/** Nobody has said yet what became of something that was done by it: the same is not done again unseen. */
function isInDoubt({ of, uses }: Grant): boolean {
  const isUnknown = ({ finished, settled }: Pick<Grant["of"], "finished" | "settled">) =>
    finished?.outcome === "unknown" && settled === undefined;
  return isUnknown(of) || uses.some(isUnknown);
}
