import type { DatabaseSync } from "node:sqlite";
import type { Incident, Viewer } from "./incident.ts";
import { createWordIndex, type WordIndex } from "./search.ts";

/** Where incidents belong: a private place, or all that is public in a tenant. */
export interface Place {
  readonly number: number;
  readonly isPublic: boolean;
  readonly words: WordIndex;
}

const PUBLIC = "public ";

export function createPlaces(db: DatabaseSync) {
  const byName = new Map<string, Place>();
  const all: Place[] = [];

  return {
    of({ audience, tenant = "" }: Pick<Incident, "audience" | "tenant">): Place {
      const name = audience ?? PUBLIC + tenant;
      const known = byName.get(name);
      if (known !== undefined) return known;
      const words = createWordIndex(db, all.length);
      const place = { number: all.length, isPublic: audience === undefined, words };
      byName.set(name, place);
      all.push(place);
      return place;
    },
    at: (number: number): Place | undefined => all[number],
    /** The viewer's own, and what is public for it. */
    readBy({ audience, tenants }: Viewer): Place[] {
      const open =
        tenants === "all"
          ? all.filter(({ isPublic }) => isPublic)
          : tenants.map((tenant) => byName.get(PUBLIC + tenant));
      const own = audience === undefined ? undefined : byName.get(audience);
      return [...new Set([...open, own])].filter((place) => place !== undefined);
    },
  };
}
