import type { Acted, AlertFact, FollowUp, KnownBy } from "./incident.ts";

/** Parts of a record, a line each, as every text about an incident has them. `show` writes a time. */

/** How something is known, for people. */
export const KNOWN: Readonly<Record<KnownBy, string>> = {
  said: "as said",
  person: "a person, then",
  alert: "by an alert",
  action: "by an approved action",
  verify: "seen after an action",
};

const RESULTS = { ok: "done", error: "failed", unknown: "outcome unknown" };
const SEEN = {
  fixed: "fixed",
  not_fixed: "not fixed",
  unclear: "cannot tell whether it is fixed",
};

/** `Restart api: done, approved by Ana, fixed` */
export function actedLine({ title, outcome, votes = [], undoneAt, verified }: Acted): string {
  const approved = votes.filter(({ approve }) => approve).map(({ name }) => name);
  const facts = [
    ...(outcome === undefined ? [] : [RESULTS[outcome]]),
    ...(approved.length === 0 ? [] : [`approved by ${approved.join(" and ")}`]),
    ...(verified === undefined ? [] : [SEEN[verified]]),
    ...(undoneAt === undefined ? [] : ["undone"]),
  ];
  return `${title}: ${facts.join(", ")}`;
}

/** `"HighErrors" (alertmanager) since 12:00, over 12:40 https://…` */
export function alertLine(
  { name, sources = [], startedAt, overAt, link }: AlertFact,
  show: (at: number) => string,
): string {
  const over = overAt === undefined ? "not over" : `over ${show(overAt)}`;
  const from = sources.length === 0 ? "" : ` (${sources.join(", ")})`;
  return `${JSON.stringify(name)}${from} since ${show(startedAt)}, ${over}${link === undefined ? "" : ` ${link}`}`;
}

/** `f1 add an alert (Ana, by 2026-12-01): open` */
export function followUpLine({ name, text, owner, due, state }: FollowUp): string {
  const who = [owner, due && `by ${due}`].filter((part) => part !== undefined && part !== "");
  return `${name} ${text}${who.length === 0 ? "" : ` (${who.join(", ")})`}: ${state}`;
}
