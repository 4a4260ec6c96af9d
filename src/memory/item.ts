import type { Content } from "../core/entry.ts";
import type { Belonging } from "../core/viewer.ts";

type What = Content<"memory">["what"];

/** What somebody wants to be remembered. */
export type Note = Extract<What, { kind: "note" }>;
/** What a thread looked into, and what came of it. */
export type Task = Extract<What, { kind: "task" }>;

export type Fix = Task["fixes"][number];

/** Another thread that found what a record says already. */
export interface Again extends Pick<Task, "begun" | "certainty" | "fixes" | "outcome"> {
  readonly thread: string;
  readonly link: string | undefined;
}

/** An incident as its record has it now: the ledger says it, memory only finds it. */
export interface Episode {
  readonly kind: "incident";
  readonly title: string;
  readonly services: readonly string[];
  readonly impact: string | undefined;
  readonly begun: number;
  readonly cause: string | undefined;
  readonly certainty: "suspected" | "likely" | "confirmed" | undefined;
  /** What is to be done about it, as people wrote it: nothing says that it was done. */
  readonly actions: readonly string[];
  /** What was approved and done in its thread. */
  readonly fixes: readonly Fix[];
  readonly status: string;
  /** Nobody verified its title or its cause. */
  readonly outside: boolean;
}

/** One thing that is remembered. It instructs nobody, and proves nothing: systems change. */
export interface MemoryItem {
  /** `m-k3qa7xw2ab`, or an incident's `inc-20261120-k3qa`. */
  readonly id: string;
  /** The journal that has it; of incidents `incident`. */
  readonly journal: string;
  /** When it was last said, ms since 1970. */
  readonly at: number;
  readonly thread: string;
  readonly link: string | undefined;
  readonly what: Note | Task | Episode;
  /** The newest last. */
  readonly again?: readonly Again[];
  /** Threads before those. */
  readonly earlier?: number;
}

/**
 * Whose it is: items of two spaces know nothing of each other, neither do their words. `public:slack:T1`, or
 * `private:` and the name of the place.
 */
export type Space = string;

export function spaceOf({ audience }: { audience?: string | undefined }, journal: string): Space {
  // `memory:<tenant>:<month>`
  const tenant = journal.slice(journal.indexOf(":") + 1, journal.lastIndexOf(":"));
  return spaceIn(audience, tenant);
}

/** Without a tenant only the operator, who has the store, sees what is public. */
export function spaceIn(audience: string | undefined, tenant: string = "dm"): Space {
  return audience === undefined ? `public:${tenant}` : `private:${audience}`;
}

/** Where its items belong. */
export function belongingOf(space: Space): Belonging {
  const name = space.slice(space.indexOf(":") + 1);
  return space.startsWith("public:") ? { tenant: name } : { audience: name };
}

/** All of its words, which it is found by. */
export function textOf({ what }: Pick<MemoryItem, "what">): string {
  if (what.kind === "note") return what.text;
  if (what.kind === "incident") {
    const { title, services, impact = "", cause = "", actions, fixes } = what;
    return [title, services.join(" "), impact, cause, ...actions, ...fixes.map((fix) => fix.title)]
      .filter((part) => part !== "")
      .join("\n");
  }
  const { question, cause = "", fixes, looked } = what;
  return [question, cause, ...fixes.map(({ title }) => title), looked.join(" ")]
    .filter((part) => part !== "")
    .join("\n");
}

/** As an index keeps it. */
export function itemOf({ item }: { readonly item: string }): MemoryItem {
  const found: MemoryItem = JSON.parse(item);
  return found;
}
