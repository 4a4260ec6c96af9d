import type MiniSearch from "minisearch";
import type { Incident } from "./incident.ts";

const FIELDS = ["id", "title", "severity", "services", "cause", "actions", "notes"] as const;
type Document = Record<(typeof FIELDS)[number], string>;

export interface SearchIndex {
  /** Takes an incident in, in place of what it was before. */
  put(incident: Incident): Promise<void>;
  remove(id: string): void;
  /** Ids with their scores, in no order. */
  find(text: string, audience: string | undefined): { id: string; score: number }[];
}

/**
 * An index per audience: how often a word occurs in one place's incidents must not show in the order of anyone else's
 * results.
 */
export function createSearchIndex(): SearchIndex {
  const indexes = new Map<string | undefined, MiniSearch<Document>>();
  const taken = new Map<string, { index: MiniSearch<Document>; document: Document }>();

  function remove(id: string): void {
    const known = taken.get(id);
    known?.index.remove(known.document);
    taken.delete(id);
  }

  async function indexOf(audience: string | undefined): Promise<MiniSearch<Document>> {
    const { default: Index } = await import("minisearch");
    const index = indexes.get(audience) ?? new Index<Document>({ fields: [...FIELDS] });
    indexes.set(audience, index);
    return index;
  }

  return {
    async put(incident) {
      const index = await indexOf(incident.audience);
      remove(incident.id);
      const document = documentOf(incident);
      index.add(document);
      taken.set(incident.id, { index, document });
    },
    remove,
    find(text, audience) {
      const readable = new Set([undefined, audience]);
      const options = {
        combineWith: "AND",
        prefix: true,
        fuzzy: 0.2,
        boost: { id: 4, title: 2, services: 2 },
      } as const;
      return [...readable].flatMap((place) =>
        (indexes.get(place)?.search(text, options) ?? []).map(({ id, score }) => ({
          id: String(id),
          score,
        })),
      );
    },
  };
}

function documentOf(incident: Incident): Document {
  return {
    id: incident.id,
    title: incident.title,
    severity: incident.severity ?? "",
    services: incident.services.join(" "),
    cause: incident.cause ?? "",
    actions: incident.actions.join(" "),
    notes: incident.history.map(({ change }) => change.note ?? "").join(" "),
  };
}
