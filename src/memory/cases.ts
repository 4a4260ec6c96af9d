import type { Again, Fix, MemoryItem } from "./item.ts";

/** One trouble: the incident's record and that of the thread it was opened in are the same one. */
export interface Case {
  /** What it is known by: the incident where there is one. */
  readonly item: MemoryItem;
  /** All records that it was made of. */
  readonly ids: readonly string[];
  /** Each action once. */
  readonly fixes: readonly Fix[];
  /** What other threads that found the same did about it is theirs. */
  readonly again: readonly Again[];
}

/**
 * Notes stand alone; an incident and the record of its thread are one case, and each incident of a thread is its own. In the
 * order of what comes first.
 */
export function casesOf(items: readonly MemoryItem[]): Case[] {
  const groups = Map.groupBy(items, ({ id, thread, what }) => (what.kind === "note" ? id : thread));
  return [...groups.values()].flatMap((some) => {
    const incidents = some.filter(({ what }) => what.kind === "incident");
    const rest = some.filter(({ what }) => what.kind !== "incident");
    return (incidents.length > 0 ? incidents : rest.slice(0, 1)).map((item) => {
      const others = item === rest[0] ? rest.slice(1) : rest;
      // The thread's record of an action is the newer one.
      const all = [item, ...others];
      const fixes = fixesIn(all.map(({ what }) => (what.kind === "note" ? [] : what.fixes)));
      const again = all.flatMap((each) => each.again ?? []);
      return { item: joined(item, rest[0]), ids: all.map(({ id }) => id), fixes, again };
    });
  });
}

/** Of records of one thread: each action once, as the last of them has it. */
function fixesIn(records: readonly (readonly Fix[])[]): Fix[] {
  const found = new Map<string, Fix>();
  for (const fixes of records) {
    // Records of earlier versions do not say which action it was.
    const seen = new Map<string, number>();
    for (const fix of fixes) {
      const same = `${fix.tool}\n${fix.title}`;
      const nth = (seen.get(same) ?? 0) + 1;
      seen.set(same, nth);
      found.set(fix.action ?? `${same}\n${nth}`, fix);
    }
  }
  return [...found.values()];
}

/** What the incident's record lacks its thread may have found. */
function joined(item: MemoryItem, thread: MemoryItem | undefined): MemoryItem {
  const { what } = item;
  if (what.kind !== "incident" || thread?.what.kind !== "task" || what.cause !== undefined)
    return item;
  const { cause, certainty } = thread.what;
  return { ...item, what: { ...what, cause, certainty } };
}

/** How often a tool was approved, and was seen to help, in these cases. */
export interface FixCount {
  readonly tool: string;
  readonly title: string;
  readonly approved: number;
  readonly helped: number;
  readonly failed: number;
}

/** By tool, the most helpful first. What incidents of one thread share counts once; what was undone did not help. */
export function countFixes(cases: readonly Case[]): FixCount[] {
  const done = cases.flatMap(({ item, fixes, again }) => [
    { thread: item.thread, fixes },
    ...again,
  ]);
  const threads = Map.groupBy(done, ({ thread }) => thread);
  const tried = [...threads.values()]
    .flatMap((some) => fixesIn(some.map(({ fixes }) => fixes)))
    .filter(({ result }) => result !== "failed");
  return [...Map.groupBy(tried, ({ tool }) => tool)]
    .map(([tool, some]) => ({
      tool,
      title: some[0]?.title ?? tool,
      approved: some.filter(({ approved }) => approved).length,
      helped: some.filter(({ helped, result }) => helped === true && result !== "undone").length,
      failed: some.filter(({ helped, result }) => helped === false || result === "undone").length,
    }))
    .toSorted((a, b) => b.helped - a.helped || b.approved - a.approved);
}
