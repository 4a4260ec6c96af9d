import type { Draft } from "../core/entry.ts";
import { formatUtc } from "../core/instant.ts";
import { oneLine, shortened } from "../core/text.ts";
import type { FollowUp, Incident, Said } from "./incident.ts";
import { titleOf } from "./unverified.ts";
import { momentOf, quoteOf, standingHistory, wordsOf } from "./words.ts";

/** Of what was said as many lines as a card has room for, and characters of each. */
const MAX_LINES = 6;
const MAX_LINE = 240;

/** How it stands after so many entries of its journal: everything that its card shows. */
export function stateOf(incident: Incident, last: number): Draft<"incident_state"> {
  const { id, severity, services, impact, status, startedAt, resolvedAt, cause } = incident;
  const { mitigatedAt, certainty, roles, followUps } = incident;
  const open = followUps.filter(({ state }) => state === "open");
  return {
    id: `state:${id}@${last}`,
    kind: "incident_state",
    incident: id,
    last,
    title: titleOf(incident),
    ...(severity !== undefined && { severity }),
    services,
    ...(impact !== undefined && { impact }),
    status,
    startedAt,
    ...(resolvedAt !== undefined && { resolvedAt }),
    ...(cause !== undefined && { cause }),
    by: incident.history[0]?.actor.name ?? "",
    timeline: standingHistory(incident)
      .slice(-MAX_LINES)
      .map(lineOf(incident))
      .toSorted((a, b) => a.at - b.at),
    ...(mitigatedAt !== undefined && { mitigatedAt }),
    ...(certainty !== undefined && { certainty }),
    ...(roles.length > 0 && { roles: roles.map(({ role, name }) => ({ role, name })) }),
    ...(open.length > 0 && { followUps: open.map(shownFollowUp) }),
  };
}

function shownFollowUp({ name, text, owner, due }: FollowUp) {
  return { name, text, ...(owner !== undefined && { owner }), ...(due !== undefined && { due }) };
}

const lineOf =
  ({ history }: Incident) =>
  (said: Said) => {
    const { actor, change, outside } = said;
    const { pin } = change;
    const at = momentOf(said);
    // What was pinned stands under its own author and time.
    if (pin !== undefined) {
      const text = shortened(quoteOf(pin), MAX_LINE);
      const link = pin.link === undefined ? {} : { link: pin.link };
      return { at: pin.at, by: actor.name, text: `📌 ${text}`, ...link };
    }
    const isFirst = said === history[0];
    const words = isFirst
      ? ["opened it", ...wordsOf({ change: { ...change, title: undefined } }, formatUtc)]
      : wordsOf(said, formatUtc);
    const text = shortened(oneLine(words.join("; ")), MAX_LINE);
    return { at, by: actor.name, text: outside ? `(unverified) ${text}` : text };
  };
