import { isBotError } from "../core/errors.ts";
import type { JournalKey } from "../core/journal-key.ts";
import type { Acted, Incident } from "../incidents/incident.ts";
import { readRecord } from "../incidents/records.ts";
import { unverifiedIn } from "../incidents/unverified.ts";
import type { Journal } from "../journal/journal.ts";
import type { Recorded, ReadIncident } from "../memory/feed.ts";
import type { Episode, Fix } from "../memory/item.ts";

const STATUS = {
  open: "open",
  mitigated: "mitigated",
  resolved: "resolved",
  false_alarm: "a false alarm",
} as const;

/** The ledger's incidents as memory finds them: each as its journal has it now, for whoever may read that. */
export function createReadIncident(journal: Pick<Journal, "read">): ReadIncident {
  return async (key: JournalKey): Promise<Recorded | undefined> => {
    try {
      const { incident, last } = await readRecord(journal, key.slice(key.indexOf(":") + 1));
      if (incident === undefined) return undefined;
      const { id, thread, link, audience, tenant } = incident;
      return { id, last, thread, link, audience, tenant, episode: episodeOf(incident) };
    } catch (error) {
      // One that was altered, or is of a newer program, keeps nobody from the others.
      if (isBotError(error, "STORE_UNAVAILABLE") || !isBotError(error)) throw error;
      return undefined;
    }
  };
}

function episodeOf(incident: Incident): Episode {
  const { title, services, impact, startedAt, cause, certainty, actions, acted, status } = incident;
  const unverified = unverifiedIn(incident);
  return {
    kind: "incident",
    title,
    services,
    impact,
    begun: startedAt,
    cause,
    certainty,
    actions,
    fixes: acted.flatMap((each) => fixOf(each) ?? []),
    status: STATUS[status],
    outside: unverified.includes("title") || unverified.includes("cause"),
  };
}

/** Undefined: it did not end. */
function fixOf({ action, tool, title, outcome, votes = [], undoneAt, verified }: Acted) {
  if (outcome === undefined) return undefined;
  const results = { ok: "done", error: "failed", unknown: "unknown" } as const;
  const fix: Fix = {
    tool,
    title,
    action,
    approved: votes.some(({ approve }) => approve),
    result: undoneAt === undefined ? results[outcome] : "undone",
    ...(verified === "fixed" && { helped: true }),
    ...(verified === "not_fixed" && { helped: false }),
  };
  return fix;
}
