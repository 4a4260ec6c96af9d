import { listAnd } from "../core/lists.ts";
import { formatUtc } from "../core/instant.ts";
import { signed } from "../core/people.ts";
import { type Action, approvingVotes, isApproved } from "./action.ts";
import { missingOf } from "./phrases.ts";

/** What people are told of an action for which a pager calls others, here and there. What is told there holds no markup. */

/** One that answers as `to`, such as `Mail through PagerDuty`. */
export function paged(action: string, to: string, incident: string): string {
  return `Paged ${to} for ${action}: ${incident}.`;
}

export function notPaged(action: string, to: string, why: string): string {
  return `Could not page ${to} for ${action}. ${why} Nobody was called, so reach somebody another way.`;
}

export function pageDelayed(action: string, to: string, why: string): string {
  return `Could not page ${to} for ${action} yet. ${why} I keep trying until ${action} is decided or expires.`;
}

export function pageStuck(action: string, to: string, why: string): string {
  return `${action} needs nobody any more, but I could not resolve its page of ${to}. ${why} Resolve it there.`;
}

/** `what`: the action in people's words, where those who are paged may know it. */
export function pageTitle({ action, proposal }: Action, what: string | undefined): string {
  return `${action} waits for approval: ${what ?? proposal.tool}`;
}

export function pageDetails(
  action: Action,
  {
    what,
    place,
    link,
  }: { what: string | undefined; place: string | undefined; link: string | undefined },
): string {
  const { action: name, proposal } = action;
  const where = [place === undefined ? undefined : `In ${place}`, link].flatMap(
    (each) => each ?? [],
  );
  return [
    `${what ?? "What it does is on its card."} (${name}, ${proposal.tool})`,
    `It needs ${missingOf(action)} by ${formatUtc(proposal.expiresAt)}. After that it expires, and nothing is run.`,
    `Approve or deny it on its card. ${where.join(": ")}`.trimEnd(),
    "Being paged makes nobody an approver: the card says who is.",
  ].join("\n");
}

/** Why nobody is needed any more. */
export function whyOver(action: Action): string {
  const { action: name, closed, started } = action;
  if (closed?.outcome === "denied") return `${closed.by ?? "Somebody"} denied ${name}.`;
  if (closed?.outcome === "expired") return `${name} expired, and nothing was run.`;
  if (closed !== undefined) return `${name} was cancelled, and nothing was run.`;
  const names = approvingVotes(action).map(signed);
  const isDecided = started || isApproved(action);
  return isDecided && names.length > 0
    ? `${listAnd(names)} approved ${name}.`
    : `${name} waits for nobody any more.`;
}
