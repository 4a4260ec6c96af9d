import type { Action } from "../thread/action.ts";
import type { Refused } from "./eligibility.ts";

/** What somebody tried, as in `can't deny a1`, and where. */
interface Tried {
  verb: string;
  what: string;
  /** Such as `#ops`. */
  place?: string | undefined;
}

/** Why this person may not do that, to them, and who could. */
export function refusalOf(
  { verb, what, place = "this thread" }: Tried,
  { because }: Refused,
): string {
  switch (because) {
    case "asked":
      return `You asked for ${what} or edited it, so you can't ${verb} it.`;
    case "maybe_asked":
      return `You can't ${verb} ${what}: whoever asked for it may be you on another platform. \`people:\` in watchkeeper.yaml can tell you apart.`;
    case "unlisted":
      return `You can't ${verb} ${what}: you were not among the approvers when it was asked.`;
    case "left_group":
      return `You can't ${verb} ${what}: you're no longer in the group that may approve it.`;
    case "guest":
      return `Guests can't ${verb}. Ask a full member of ${place}.`;
    case "member":
    case "outsider":
    case "bot":
    case "deactivated":
    case "unknown":
      return `Only full members of ${place} can ${verb} ${what}.`;
  }
}

/** Why somebody's approval no longer counts, to everybody, as `Ana is a guest now`. */
export function lapseOf(name: string, { because }: Refused): string {
  switch (because) {
    case "asked":
      return `${name} counts as one of those who asked for it`;
    case "maybe_asked":
      return `${name} may be who asked for it, on another platform`;
    case "unlisted":
      return `${name} is not among its approvers`;
    case "left_group":
      return `${name} left the group that may approve it`;
    case "guest":
      return `${name} is a guest now`;
    case "outsider":
      return `${name} is not in this channel any more`;
    case "deactivated":
      return `${name}'s account was deactivated`;
    case "member":
    case "bot":
    case "unknown":
      return `${name} is no full member here any more`;
  }
}

/** Why this person may not approve the action, to them. Whoever asked for it learns what they can do instead. */
export function refusalToApprove(
  { action, editors, proposal }: Pick<Action, "action" | "editors" | "proposal">,
  account: string,
  refused: Refused,
): string {
  if (refused.because !== "asked")
    return refusalOf({ verb: "approve", what: action, place: proposal.place }, refused);
  const did = editors.has(account) ? "edited" : "asked for";
  return `You ${did} ${action}, so someone else has to approve it. You can still deny it, or take it back with \`cancel ${action}\`.`;
}
