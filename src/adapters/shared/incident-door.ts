import type { JournalKey } from "../../core/journal-key.ts";
import type { People } from "../../core/people.ts";
import type { OpenIncident } from "../overview.ts";

/** How the id of a post begins that was given elsewhere (`isFromDoor`): its thread shows only what it changed, or why not. */
export const DOOR = "door:";

interface Given {
  account: string;
  incident: string;
  /** Those that they may see where they gave it. */
  seen: readonly OpenIncident[];
}

/**
 * The incident that a command names, if whoever gave it belongs to the place of its thread: there it is written, and its card
 * follows. Undefined: it is asked in a thread of its own. @throws what `people` throws
 */
export async function incidentOfTheirs<P>(
  { account, incident, seen }: Given,
  people: Pick<People, "membership">,
  placeOf: (key: JournalKey) => P | undefined,
): Promise<{ id: string; thread: JournalKey; place: P } | undefined> {
  const found = seen.find(({ id }) => id === incident.toLowerCase());
  const { thread } = found ?? {};
  const place = thread && placeOf(thread);
  if (found === undefined || thread === undefined || place === undefined) return undefined;
  const standing = await people.membership(account, thread);
  return standing === "member" ? { id: found.id, thread, place } : undefined;
}
