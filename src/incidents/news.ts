import { showDuration } from "../core/instant.ts";
import { maySee, viewerAt } from "../core/viewer.ts";
import type { Incident, Said } from "./incident.ts";
import { titleOf } from "./unverified.ts";

/** What was said longer than this before the newest is no news, as where a channel is told from now on. */
const NEWS_MS = 86_400_000;

interface News {
  /** The same for whoever finds it. */
  id: string;
  text: string;
}

/**
 * Whether a channel may hear of an incident: one of its tenant or, of a private place, that place alone. `hasOutsiders`: people of
 * other tenants read the channel along.
 */
export function mayHear(
  channel: string,
  hasOutsiders: boolean,
  { audience, tenant }: Pick<Incident, "audience" | "tenant">,
): boolean {
  return maySee(viewerAt(channel, { audience: channel, hasOutsiders }), { audience, tenant });
}

/** What others should hear: that there is one, another severity, its end and that it is open again; oldest first. */
export function newsOf(incident: Incident): News[] {
  const { id, history, link } = incident;
  const newest = history.at(-1)?.at ?? 0;
  let before: Said["change"] = {};
  return history.flatMap((said, i) => {
    const happened = i === 0 ? [openedBy(said)] : changesIn(incident, said, before);
    before = { ...before, ...said.change };
    if (happened.length === 0 || newest - said.at > NEWS_MS) return [];
    const unverified = said.outside ? " (unverified)" : "";
    // What happened to what comes first: a notification shows no more.
    const sentence = `Incident ${happened.join(", ")}${unverified}: ${titleOf(incident)}`;
    return {
      id: `${id}#${i}`,
      text: [sentence, id, ...(link === undefined ? [] : [link])].join(" · "),
    };
  });
}

function openedBy({ actor, change: { severity } }: Said): string {
  return `opened by ${actor.name}${severity === undefined ? "" : ` as ${severity}`}`;
}

function changesIn(
  { startedAt }: Incident,
  { at, change }: Said,
  before: Said["change"],
): string[] {
  const { severity, status, resolvedAt = at } = change;
  const was = before.severity === undefined ? "" : `, was ${before.severity}`;
  const lasted = showDuration(Math.max(0, resolvedAt - startedAt));
  return [
    ...(severity === undefined || severity === before.severity ? [] : [`now ${severity}${was}`]),
    ...(status === "resolved" ? [`resolved after ${lasted}`] : []),
    ...(status === "mitigated" ? ["mitigated"] : []),
    ...(status === "false_alarm" ? ["a false alarm"] : []),
    ...(status === "open" ? ["open again"] : []),
  ];
}
