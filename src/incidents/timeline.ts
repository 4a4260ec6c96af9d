import type { Incident } from "./incident.ts";
import { momentOf, standingHistory, wordsOf } from "./words.ts";

/** One thing that was said of an incident, or that the program saw. */
export interface Moment {
  /** When it happened, as far as it says so, else when it was said; ms since 1970. */
  at: number;
  /** Who said it. */
  by: string;
  /** A phrase for each thing. */
  words: string[];
  /** With it the record begins. */
  opens: boolean;
  /** A bot wrote it that may have read outside text: nobody verified it. */
  outside: boolean;
  /** The address of the thread that it was said in, where that is not the incident's own. */
  elsewhere: string | undefined;
}

/**
 * Everything that the record has, in the order in which it happened: what people said, alerts, actions with their votes and ends,
 * what was seen after them, and what was pinned, where it was said. `show` writes a time.
 */
export function timelineOf(incident: Incident, show: (at: number) => string): Moment[] {
  return standingHistory(incident)
    .map((said) => ({
      at: momentOf(said),
      by: said.actor.name,
      words: wordsOf(said, show),
      opens: said === incident.history[0],
      outside: said.outside,
      elsewhere: said.link === incident.link ? undefined : said.link,
    }))
    .toSorted((a, b) => a.at - b.at);
}
