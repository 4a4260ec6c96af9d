import { type Action, isHidden, isShown, mustBeOpened } from "./action.ts";
import type { AppendKind, Choice, Draft, Entry } from "../core/entry.ts";
import { decisionNotices, privateNotice } from "./drafts-notices.ts";
import { entryId } from "./entry-ids.ts";
import * as phrases from "./click-phrases.ts";
import type { Surroundings } from "./surroundings.ts";
import { viewFor } from "./views.ts";

/** What a yes or a no to a card comes to, and whether it counts. */

/** Why this yes does not count, whoever says it, or undefined. */
export function whyNotYes({ action, proposal }: Action, choice: Choice): string | undefined {
  if (choice.kind !== "approve" && choice.kind !== "break") return undefined;
  const { confirm, offer } = proposal;
  const typed = choice.typed?.trim();
  if (confirm === undefined && typed !== undefined) return phrases.clickAnswers.onlyApprove(action);
  if (confirm !== undefined && typed !== confirm)
    return phrases.clickAnswers.confirm(action, confirm, typed);
  const wantsGrant = choice.kind === "approve" && choice.grants === true && offer === undefined;
  return wantsGrant ? phrases.clickAnswers.noOffer(action) : undefined;
}

export function votedDrafts(
  action: Action,
  click: Entry<"click">,
  basis: string,
  around: Surroundings,
): Draft<AppendKind>[] {
  const vote = voteDraft(click, basis, around);
  return [vote, ...decisionNotices(action, vote, around)];
}

function voteDraft(
  { id, choice, actor, action, revision, via }: Entry<"click">,
  basis: string,
  { personOf }: Surroundings,
): Draft<"vote"> {
  const breaksGlass = choice.kind === "break";
  const reason = choice.kind === "deny" || breaksGlass ? choice.reason : undefined;
  return {
    id: entryId.vote(id),
    kind: "vote",
    action,
    revision,
    click: id,
    account: actor.account,
    person: personOf(actor.account),
    name: actor.name,
    ...(actor.handle !== undefined && { handle: actor.handle }),
    approve: choice.kind !== "deny",
    ...(choice.kind === "approve" && choice.grants === true && { grants: true }),
    ...(breaksGlass && { breaksGlass }),
    basis: `${via}, ${basis}`,
    ...(reason !== undefined && { reason }),
  };
}

/** Whoever clicked approved it before, from this account or another of theirs. */
export function hasApproved(
  { votes }: Action,
  { actor: { account } }: Entry<"click">,
  { personOf }: Surroundings,
): boolean {
  const person = personOf(account);
  return votes.some(
    (vote) =>
      vote.approve &&
      (vote.account === account || [vote.person, personOf(vote.account)].includes(person)),
  );
}

/**
 * All of the newest revision was shown to whoever clicked: they opened it, on this account or another of theirs, or it stands
 * on its card where they are. Who pressed that card has seen it, also before it is written down that it stands there.
 */
export function hasSeen(
  action: Action,
  { actor: { account }, digest }: Entry<"click">,
  { personOf, thread }: Surroundings,
): boolean {
  const { opened, proposal } = action;
  if (opened.has(account)) return true;
  if ([...opened].some((each) => personOf(each) === personOf(account))) return true;
  if (mustBeOpened(proposal)) return false;
  const view = viewFor(thread, account);
  return isShown(action, view) || (digest !== undefined && !isHidden(action, view));
}

/**
 * The card that was pressed showed something else, or does not say what it showed, as those of 0.3. After the store lost
 * entries the same number and revision may be another action's. A deny counts all the same.
 */
export function isOtherCard(
  { proposal }: Action,
  { choice, via, digest }: Entry<"click">,
): boolean {
  if (phrases.pressed[choice.kind] === undefined) return false;
  if (digest === undefined) return via === "button";
  const meant = choice.kind === "approve" && choice.grants ? proposal.offer : proposal;
  return meant?.digest.startsWith(digest) !== true;
}

export function otherCardNotice({ action }: Action, click: Entry<"click">): Draft<"notice"> {
  const button = phrases.pressed[click.choice.kind] ?? "";
  return {
    ...privateNotice(click, phrases.clickAnswers.otherCard(action, button)),
    redraws: action,
  };
}
