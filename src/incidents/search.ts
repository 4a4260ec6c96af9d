import type MiniSearch from "minisearch";
import type { Incident, Viewer } from "./incident.ts";

const FIELDS = [
  "id",
  "title",
  "severity",
  "services",
  "impact",
  "cause",
  "actions",
  "notes",
  "pins",
] as const;
type Document = Record<(typeof FIELDS)[number], string>;

/**
 * One index for each private place and one for the public incidents of each tenant. Otherwise the words in one place's
 * incidents would show in the order of another's results.
 */
export function createSearchIndex() {
  const indexes = new Map<string, MiniSearch<Document>>();
  const taken = new Map<string, { index: MiniSearch<Document>; document: Document }>();

  function remove(id: string): void {
    const known = taken.get(id);
    known?.index.remove(known.document);
    taken.delete(id);
  }

  async function indexOf(place: string): Promise<MiniSearch<Document>> {
    const { default: Index } = await import("minisearch");
    const index = indexes.get(place) ?? new Index<Document>({ fields: [...FIELDS] });
    indexes.set(place, index);
    return index;
  }

  return {
    async put(incident: Incident): Promise<void> {
      const index = await indexOf(placeOf(incident));
      remove(incident.id);
      const document = documentOf(incident);
      index.add(document);
      taken.set(incident.id, { index, document });
    },
    remove,
    /** Ids with their scores, unordered. */
    find(text: string, viewer: Viewer): { id: string; score: number }[] {
      const readable = placesOf(viewer, indexes.keys());
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

const PUBLIC = "public ";

function placeOf({ audience, tenant = "" }: Incident): string {
  return audience ?? PUBLIC + tenant;
}

function placesOf({ audience, tenants }: Viewer, known: Iterable<string>): Set<string> {
  const places =
    tenants === "all"
      ? [...known].filter((place) => place.startsWith(PUBLIC))
      : tenants.map((tenant) => PUBLIC + tenant);
  return new Set(audience === undefined ? places : [...places, audience]);
}

function documentOf(incident: Incident): Document {
  return {
    id: incident.id,
    title: incident.title,
    severity: incident.severity ?? "",
    services: incident.services.join(" "),
    impact: incident.impact ?? "",
    cause: incident.cause ?? "",
    actions: incident.actions.join(" "),
    notes: incident.history.map(({ change }) => change.note ?? "").join(" "),
    pins: incident.pins.map(({ text }) => text).join(" "),
  };
}
