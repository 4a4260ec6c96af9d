import type { Belonging } from "../../src/core/viewer.ts";
import type { CatalogRow } from "../../src/incidents/tables.ts";
import { START } from "./stage.ts";

/** An open incident as the catalog takes it; each `n` is one that began a millisecond later. */
export function rowOf(
  n: number,
  words: { title?: string; notes?: string },
  place: Belonging & { thread?: string } = { tenant: "test" },
): CatalogRow {
  const id = `inc-20261120-${n.toString(32).padStart(4, "0")}`;
  const at = START + n;
  const nothing = { severity: "", services: "", impact: "", cause: "", actions: "", pins: "" };
  return {
    id,
    last: 1,
    head: `head of ${id}`,
    listed: {
      audience: place.audience,
      tenant: place.tenant,
      thread: place.thread ?? "test:thread",
      link: undefined,
      status: "open",
      severity: undefined,
      services: [],
      startedAt: at,
      detectedAt: undefined,
      acknowledgedAt: undefined,
      mitigatedAt: undefined,
      resolvedAt: undefined,
      facts: { cause: "", spells: [], acted: [], todo: 0, isBeginAlert: false },
      said: { from: at, to: at },
      document: { ...nothing, id, title: "", notes: "", ...words },
    },
  };
}
