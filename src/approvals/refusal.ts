import type { Action } from "./action.ts";
import type { Refused } from "./eligibility.ts";

/** What somebody tried, as in `can't deny a1`, and where. */
interface Tried {
  verb: string;
  what: string;
  /** Such as `#ops`. */
  place?: string | undefined;
}

/** Why this person may not do that, to them, and who could. */
export function refusalOf({ verb, what, place }: Tried, { standing, why }: Refused): string {
  const where = place ?? "this thread";
  if (standing === undefined) return `You can't ${verb} ${what}: ${why}.`;
  const who = standing === "guest" ? "Guests can't" : `Only full members of ${where} can`;
  const next = standing === "guest" ? ` Ask a full member of ${where}.` : "";
  return `${who} ${verb}${standing === "guest" ? "" : ` ${what}`}.${next}`;
}

/** Why this person may not approve the action, to them. Whoever asked for it learns what they can do instead. */
export function refusalToApprove(
  { action, editors, proposal }: Pick<Action, "action" | "editors" | "proposal">,
  account: string,
  refused: Refused,
): string {
  if (refused.asked !== true)
    return refusalOf({ verb: "approve", what: action, place: proposal.place }, refused);
  const did = editors.has(account) ? "edited" : "asked for";
  return `You ${did} ${action}, so someone else has to approve it. You can still deny or withdraw it.`;
}
