import type { Cron } from "croner";

/** When something is due: by a cron's five fields, as the clocks of a zone show it. */
export interface Schedule {
  /** The first time after that instant; undefined: never again. */
  next(after: number): number | undefined;
  /** The last time up to and with that instant; undefined: never before. */
  latest(upTo: number): number | undefined;
}

const MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");
const DAYS = "sun mon tue wed thu fri sat".split(" ");
/** Of each field the smallest and the largest number, and names from the smallest number on. */
const FIELDS: readonly { min: number; max: number; names?: readonly string[] }[] = [
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  { min: 1, max: 31 },
  { min: 1, max: 12, names: MONTHS },
  { min: 0, max: 7, names: DAYS },
];

/** True for five fields that make sense: numbers, `*`, ranges, lists and steps; months and weekdays also by name. */
export function isCron(text: string): boolean {
  const fields = text.trim().toLowerCase().split(/\s+/);
  return (
    fields.length === FIELDS.length &&
    FIELDS.every((field, i) => (fields[i] ?? "").split(",").every((part) => isPart(part, field)))
  );
}

function isPart(part: string, { min, max, names = [] }: (typeof FIELDS)[number]): boolean {
  const [, from = "", to, step] = /^(\*|\w+)(?:-(\w+))?(?:\/(\d{1,2}))?$/.exec(part) ?? [];
  const isRange = from === "*" || to !== undefined;
  if (from === "" || (from === "*" && to !== undefined)) return false;
  if (step !== undefined && (!isRange || Number(step) < 1 || Number(step) > max)) return false;
  const numberOf = (word: string) =>
    /^\d{1,2}$/.test(word) ? Number(word) : names.includes(word) ? names.indexOf(word) + min : -1;
  const numbers = [
    from === "*" ? min : numberOf(from),
    ...(to === undefined ? [] : [numberOf(to)]),
  ];
  const isRising = (numbers[1] ?? max) >= (numbers[0] ?? min);
  return isRising && numbers.every((number) => number >= min && number <= max);
}

/**
 * Where clocks are put forward over a time it comes as they jump, where they are put back and show it twice it comes once; what
 * has `*` or a step in its minutes or hours comes as often as the clocks say.
 */
export async function createSchedule(cron: string, zone: string): Promise<Schedule> {
  const { Cron: Job } = await import("croner");
  const job: Cron = new Job(cron.trim(), {
    paused: true,
    timezone: zone,
    mode: "5-part",
    fixedTimeRule: "no-wildcard",
  });
  return {
    next: (after) => job.nextRun(new Date(after))?.getTime(),
    // It looks before a second, and the instant itself counts.
    latest: (upTo) =>
      job.previousRuns(1, new Date((Math.floor(upTo / 1_000) + 1) * 1_000))[0]?.getTime(),
  };
}
