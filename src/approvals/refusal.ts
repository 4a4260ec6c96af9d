import type { Action } from "../thread/action.ts";
import type { Refused } from "./eligibility.ts";

/** What somebody tried, as in `can't deny a1`, and where. */
interface Tried {
  verb: string;
  what: string;
  /** Such as `#ops`. */
  place?: string | undefined;
}

/** Tells a person why they can't do that, and who can. */
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
      return `You can't ${verb} ${what}: you weren't among its approvers when I asked.`;
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

/** Tells everybody why an approval no longer counts, as `Ana is a guest now`. */
export function lapseOf(name: string, { because }: Refused): string {
  switch (because) {
    case "asked":
      return `${name} counts as somebody who asked for it`;
    case "maybe_asked":
      return `${name} may be the person who asked for it, on another platform`;
    case "unlisted":
      return `${name} is not among its approvers`;
    case "left_group":
      return `${name} left the group that may approve it`;
    case "guest":
      return `${name} is a guest now`;
    case "outsider":
      return `${name} left this channel`;
    case "deactivated":
      return `${name}'s account was deactivated`;
    case "member":
    case "bot":
    case "unknown":
      return `${name} is no longer a full member here`;
  }
}

/** Tells a person why they can't approve the action. Whoever asked for it learns what they can do instead. */
export function refusalToApprove(
  { action, editors, proposal }: Pick<Action, "action" | "editors" | "proposal">,
  account: string,
  refused: Refused,
): string {
  if (refused.because !== "asked")
    return refusalOf({ verb: "approve", what: action, place: proposal.place }, refused);
  const did = editors.has(account) ? "edited" : "asked for";
  return `You ${did} ${action}, so someone else has to approve it. You can still deny or withdraw it.`;
}
