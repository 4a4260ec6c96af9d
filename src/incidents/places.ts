import type { DatabaseSync } from "node:sqlite";
import { type Belonging, maySee, type Viewer } from "../core/viewer.ts";
import type { Incident } from "./incident.ts";
import { createWordIndex, type WordIndex } from "./search.ts";

/** Where incidents belong: a private place, or all that is public in a tenant. */
export interface Place extends Pick<Belonging, "audience" | "tenant"> {
  readonly number: number;
  readonly words: WordIndex;
}

const PUBLIC = "public ";

export function createPlaces(db: DatabaseSync) {
  const byName = new Map<string, Place>();
  const all: Place[] = [];

  return {
    of({ audience, tenant }: Pick<Incident, "audience" | "tenant">): Place {
      const name = audience ?? PUBLIC + (tenant ?? "");
      const known = byName.get(name);
      if (known !== undefined) return known;
      const words = createWordIndex(db, all.length);
      const place = { number: all.length, audience, tenant, words };
      byName.set(name, place);
      all.push(place);
      return place;
    },
    at: (number: number): Place | undefined => all[number],
    /** Those of which the viewer may read everything. */
    readBy: (viewer: Viewer): Place[] => all.filter((place) => maySee(viewer, place)),
    /** The other public ones: there the viewer may read what its own thread has. */
    publicBeside: (viewer: Viewer): Place[] =>
      viewer.thread === undefined
        ? []
        : all.filter((place) => place.audience === undefined && !maySee(viewer, place)),
  };
}
