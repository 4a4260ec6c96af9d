import type { Actor, Entry } from "../core/entry.ts";
import { formatUtc } from "../core/instant.ts";
import type { JournalKey } from "../core/journal-key.ts";
import { maySeeFreezes, type Viewer } from "../core/viewer.ts";
import type { Journal, Stoppable } from "../journal/journal.ts";
import { createFollower } from "./follow.ts";

/** `team:freeze`: a record like an incident's, which anyone folds and nobody has to work on. */
const TEAM_FREEZE: JournalKey = "team:freeze";

/** Names everything. */
export const EVERYTHING = "everything";

/** Writes on what is called so wait until then. */
export interface Freeze {
  /** The entry's. */
  id: string;
  what: string;
  until: number;
  by: Actor;
  because: string | undefined;
}

export interface Freezes {
  /** Those that hold, the longest first. @throws BotError STORE_NEWER, and what the store throws */
  at(now: number): Promise<Freeze[]>;
  /** As they were read last, for a word to people: another process may know of newer ones. */
  known(now: number): Freeze[];
  /** @throws what the store throws */
  post(id: string, freeze: FreezeFields): Promise<void>;
  /** Keeps `known` fresh. */
  start(): Stoppable;
}

type FreezeFields = Omit<Extract<Entry, { kind: "freeze" }>, "kind" | "id" | "seq" | "at" | "head">;

/** How old `known` may be. */
const LOOK_MS = 15_000;

export function createFreezes(journal: Pick<Journal, "read" | "post">): Freezes {
  let newest: ReadonlyMap<string, Entry<"freeze">> = new Map();
  const read = createFollower<Map<string, Entry<"freeze">>>(
    journal,
    TEAM_FREEZE,
    () => new Map(),
    (found, entry) => void (entry.kind === "freeze" && found.set(entry.what, entry)),
  );
  const known = (now: number) =>
    [...newest.values()]
      .flatMap(({ id, what, until = 0, by, because }) =>
        until > now ? [{ id, what, until, by, because }] : [],
      )
      .toSorted((a, b) => b.until - a.until);
  return {
    async at(now) {
      newest = await read();
      return known(now);
    },
    known,
    async post(id, fields) {
      await journal.post(TEAM_FREEZE, { id, kind: "freeze", ...fields });
    },
    start() {
      const look = () =>
        void read().then(
          (found) => (newest = found),
          () => undefined,
        );
      look();
      const timer = setInterval(look, LOOK_MS).unref();
      return { stop: () => clearInterval(timer) };
    },
  };
}

/** `prod is frozen until 2026-11-23 14:00 UTC by Ana: migration` */
export function freezeText({ what, until, by, because }: Freeze): string {
  const is = what === EVERYTHING ? "Everything is" : `${what} is`;
  return `${is} frozen until ${formatUtc(until)} by ${by.name}${because === undefined ? "" : `: ${because}`}`;
}

/** What is frozen, a sentence each, as far as the viewer may see it. */
export function freezesSeen(
  freezes: readonly Freeze[],
  viewer: Viewer,
  encode: (text: string) => string,
): string[] {
  if (!maySeeFreezes(viewer)) return [];
  return freezes.map((each) => `${encode(freezeText(each))}.`);
}

/** The one of these that holds a call with these names. */
export function freezeOn(
  freezes: readonly Freeze[],
  names: ReadonlySet<string>,
): Freeze | undefined {
  return freezes.find(({ what }) => what === EVERYTHING || names.has(what));
}
