import { seeded, type Seeded } from "../core/seeded.ts";

/** How many a test tries; `MUTATIONS=10000` tries more. */
export const MUTATIONS = Number(process.env["MUTATIONS"] ?? "300");

/** What a field may be instead of what it is. */
const OTHERS: readonly unknown[] = [
  null,
  "",
  "text",
  "__proto__",
  0,
  -1,
  1e308,
  true,
  [],
  {},
  [null],
  [[]],
  { id: null },
  { type: {} },
  "\u0000\ud800",
  "x".repeat(70_000),
];

type Step = string | number;

function pathsIn(value: unknown, path: readonly Step[] = []): (readonly Step[])[] {
  if (typeof value !== "object" || value === null) return [path];
  const entries: (readonly [Step, unknown])[] = Array.isArray(value)
    ? value.map((each, i) => [i, each] as const)
    : Object.entries(value);
  return [path, ...entries.flatMap(([name, each]) => pathsIn(each, [...path, name]))];
}

/** The value with what is at a path replaced; `undefined` removes it. */
function replaced(value: unknown, [first, ...rest]: readonly Step[], by: unknown): unknown {
  if (first === undefined) return by;
  if (Array.isArray(value)) {
    return value.flatMap((each: unknown, i) => {
      if (i !== first) return [each];
      const now = replaced(each, rest, by);
      return now === undefined ? [] : [now];
    });
  }
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, each]: [string, unknown]) => {
      if (name !== first) return [[name, each]];
      const now = replaced(each, rest, by);
      return now === undefined ? [] : [[name, now]];
    }),
  );
}

function mutated(value: unknown, random: Seeded): unknown {
  let changed = value;
  for (let times = 1 + random.int(3); times > 0; times -= 1) {
    const path = random.pick(pathsIn(changed));
    changed = replaced(changed, path, random.int(4) === 0 ? undefined : random.pick(OTHERS));
  }
  return changed;
}

/** So many of what others sent, each with one to three fields null, removed or of another type; the same for a seed. */
export function mutations<T>(
  seeds: readonly T[],
  count: number,
  seed = 7,
): { of: T; is: unknown }[] {
  const random = seeded(seed);
  return Array.from({ length: count }, () => {
    const of = random.pick(seeds);
    return { of, is: mutated(of, random) };
  });
}

/** What would have ended the process while `work` went on. */
export async function faultsDuring(work: () => Promise<void>): Promise<unknown[]> {
  const faults: unknown[] = [];
  const note = (fault: unknown) => void faults.push(fault);
  const rejected = process.listeners("unhandledRejection");
  const thrown = process.listeners("uncaughtException");
  process.removeAllListeners("unhandledRejection").on("unhandledRejection", note);
  process.removeAllListeners("uncaughtException").on("uncaughtException", note);
  try {
    await work();
    // A rejection is said to be unhandled a turn later.
    await new Promise((resolve) => setTimeout(resolve, 20));
  } finally {
    process.removeAllListeners("unhandledRejection").removeAllListeners("uncaughtException");
    for (const listener of rejected) process.on("unhandledRejection", listener);
    for (const listener of thrown) process.on("uncaughtException", listener);
  }
  return faults;
}
