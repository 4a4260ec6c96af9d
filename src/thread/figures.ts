/** Numbers, shares and durations as people write them, in English, German, Spanish and French; what cannot be told apart from a name is no figure. */

/** In ms, with half of its last place. */
interface Span {
  ms: number;
  slack: number;
}

/** What one figure may mean: `1.234` is one thing in one language and another in the next. */
export interface Figure {
  /** As it stands in the text. */
  text: string;
  /** One of these lists has to be right as a whole. */
  readings: readonly (readonly Reading[])[];
}

type Reading =
  | { kind: "count"; value: number }
  | { kind: "share"; value: number; slack: number }
  | ({ kind: "span" } & Span);

const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000];
const UNITS: readonly (readonly [number, string])[] = [
  [1, "ms|milliseconds?|millisekunden?|milisegundos?|millisecondes?"],
  [SECOND, "s|secs?|sek|seg|seconds?|sekunden?|segundos?|secondes?"],
  [MINUTE, "m|mins?|minutes?|minuten?|minutos?"],
  [HOUR, "h|hrs?|std|hours?|stunden?|horas?|heures?"],
  [DAY, "d|j|days?|tage?n?|d[ií]as?|jours?"],
  [7 * DAY, "w|weeks?|wochen?|semanas?|semaines?"],
];
const UNIT = UNITS.map(([, words]) => words).join("|");
const SHARE = "%|per\\s?cent\\b|prozent\\b|por\\sciento\\b|pour\\scent\\b";
/** What nobody counts incidents by, and calendars differ about. */
const LONG = "months?|monate?n?|mes|meses|mois|years?|jahre?n?|años?|ans?|années?";
const WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];
const NUMBER = `\\d{1,3}(?:[ \\u00a0\\u202f\\u2009.,'’]\\d{3})+(?!\\d)(?:[.,]\\d{1,9})?|\\d{1,15}(?:[.,]\\d{1,9})?|(?:${WORDS.join("|")})(?!\\p{L})`;
const FIGURE = new RegExp(
  `(?<![\\p{L}\\p{N}_.,])(?:${NUMBER})(?:[-\\s\\u00a0\\u202f]?(?:(?:${UNIT})(?![\\p{L}])|${SHARE}|(?:${LONG})(?!\\p{L})))?(?![\\p{L}_])|(?<=\\d(?:${UNIT}))(?:${NUMBER})(?:${UNIT})(?![\\p{L}])`,
  "giu",
);
const PARTS = new RegExp(`^(${NUMBER})[-\\s\\u00a0\\u202f]?(.*)$`, "isu");
const UNIT_OF = UNITS.map(([ms, words]) => [ms, new RegExp(`^(?:${words})$`, "iu")] as const);
const SHARE_OF = new RegExp(`^(?:${SHARE})`, "iu");
const LONG_OF = new RegExp(`^(?:${LONG})$`, "iu");
/** What may stand between `1 h` and `30 min`, and between the ends of a range. */
const JOINED = /^\s*(?:,|and|und|y|et)?\s*$/i;
const RANGE = /^\s*(?:[-–—/]|to|bis|a|à|hasta|and|und|y|et|or|oder|o|ou)\s*$/i;

const MONTHS =
  "jan\\w*|feb\\w*|f[ée]v\\w*|märz|mar\\w*|apr\\w*|avr\\w*|abr\\w*|may|mai|mayo|jun\\w*|juin|jul\\w*|juil\\w*|aug\\w*|ago\\w*|août|sep\\w*|o[ck]t\\w*|nov\\w*|de[cz]\\w*|déc\\w*|ene\\w*";
const WEEKDAYS =
  "mon(?:day)?|tue(?:s|sday)?|wed(?:nesday)?|thu(?:rs|rsday)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?|\\w+tag|mittwoch|lunes|martes|mi[ée]rcoles|jueves|viernes|s[áa]bado|domingo|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche";
const ORDER = "(?:st|nd|rd|th|er|[.ºª°]{1,2})?";
const MORE_DAYS = `(?:\\s*(?:[-–—,]|to|and|bis|und|al?|y|au|et)\\s*\\d{1,2}${ORDER})?`;

/** No statistics, in whatever text: addresses, ids, dates, times of day, versions. */
const NAMES = [
  /\bhttps?:[^\s|>)]+/giu,
  /\binc-\d{8}-\w{4}\b/giu,
  /\b\d{4}-\d{2}(?:-\d{2})?(?:T[\d:.]+Z?)?(?![\p{L}\p{N}])/giu,
  /[+-]?(?<!\d)\d{1,2}:\d{2}(?::\d{2})?(?:\.\d+)?\s?(?:[ap]\.?m\b\.?|z\b|h\b|uhr\b)?/giu,
  /(?<![\d.])v?\d+(?:\.\d+){2,}/giu,
];

/** In prose they may also be these. */
const PROSE_NAMES = [
  /\[T\d+(?:\s*,\s*T?\d+)*\]/gu,
  /\[[a-z_]+(?::[^\]\n]*)?\]/gu,
  new RegExp(
    `(?<![\\p{L}\\p{N}])\\d{1,2}${ORDER}${MORE_DAYS}\\s*(?:de\\s|of\\s)?\\s*(?:${MONTHS})(?!\\p{L})`,
    "giu",
  ),
  new RegExp(
    `(?<!\\p{L})(?:${MONTHS})\\.?\\s+(?:the\\s)?\\d{1,2}${ORDER}${MORE_DAYS}(?!\\d)`,
    "giu",
  ),
  new RegExp(
    `(?<!\\p{L})(?:${WEEKDAYS})\\.?,?\\s+(?:the\\s|den\\s|el\\s|le\\s)?\\d{1,2}(?!\\d)`,
    "giu",
  ),
  /(?<![\d.])\d{1,2}\.\d{1,2}\.(?:\d{2,4})?(?!\d)/gu,
  /(?<![\d/])\d{1,4}\/\d{1,2}\/\d{1,4}(?!\d)/gu,
  // A day and month, or 24/7.
  /(?<![\d/.,])(?:[12]?\d|3[01])\/(?:[12]?\d|3[01])(?![\d/])/gu,
  new RegExp(
    `(?<![\\d.,])(?:19|20)\\d{2}(?![\\d.,]?\\d)(?![-\\s]?(?:%|(?:${UNIT})(?!\\p{L})))`,
    "giu",
  ),
  /(?<!\d)\d{1,2}\s?(?:[ap]\.?m\b\.?|uhr\b|o['’]clock)/giu,
  /(?<!\d)\d{1,2}\s?h\s?\d{2}(?![\p{L}\p{N}])(?!\s*(?:m|min)(?!\p{L}))/giu,
  /(?<!\p{L})(?:à|vers|dès|las|um|gegen|at)\s+\d{1,2}\s?h(?!\p{L})/giu,
  /(?<!\p{L})(?:utc|gmt)\s?[-+−]\s?\d+/giu,
  /(?<!\p{L})(?:sev\p{L}*|schwere\p{L}*|gravit\p{L}*|gravedad|prio\p{L}*|level|stufe|nivel|niveau|per[cz]entil\p{L}*|top|step|schritt|paso|étape|week|kw|woche|semana|semaine|nr|no|n|port|version|http)\s?[-.:#º°]?\s?\d+(?!\d)/giu,
  /#\d+/gu,
  // An ordinal of German: where a sentence ends with a bare number, that is left alone too.
  /(?<![\p{L}\p{N}.,])\d{1,2}\.(?=\s+\p{L})/gu,
  /\d+\.?[ºª°]/gu,
];
/** A word with a digit in it, unless it is a number with its unit. */
const TOKEN = /[\p{L}\p{N}_]+(?:[-./@#][\p{L}\p{N}_]+)*/gu;
const MEASURE = new RegExp(
  `^(?:\\d+(?:\\.\\d+)*-)?(?:\\d+(?:\\.\\d+)*(?:-?(?:${UNIT}))?)+$|^\\p{L}+$|^(?:${WORDS.join("|")})-(?:${UNIT})$`,
  "iu",
);

/** The same length, so that places in it are places in the text. */
function without(text: string, names: readonly RegExp[]): string {
  let left = text;
  for (const name of names) left = left.replaceAll(name, (found) => "¦".repeat(found.length));
  return left.replaceAll(TOKEN, (found) =>
    !/\d/.test(found) || MEASURE.test(found) ? found : "¦".repeat(found.length),
  );
}

/** The text with whatever is no figure taken out, as long as before. */
export function bareProse(text: string): string {
  return without(text, [...NAMES, ...PROSE_NAMES]);
}

interface Found {
  from: number;
  to: number;
  values: { value: number; places: number }[];
  /** Of plain spaces between three digits each, which may be numbers of their own. */
  apart: number[];
  unit: number | "share" | "long" | undefined;
}

/** The figures of a text that `bareProse` returned, or a part of it; `text`: the same part as it was. */
export function figuresIn(bare: string, text = bare): Figure[] {
  const found = [...bare.matchAll(FIGURE)].flatMap((match) => foundIn(match[0], match.index));
  const figures: Figure[] = [];
  for (let at = 0; at < found.length; at += 1) {
    const first = found[at];
    if (first === undefined || first.unit === "long") continue;
    let last = first;
    const spans = [spansOf(first)];
    const before = found[at - 1];
    for (let next = found[at + 1]; next !== undefined; next = found[at + 1]) {
      const between = bare.slice(last.to, next.from);
      const isLess = isTime(last.unit) && isTime(next.unit) && next.unit < last.unit;
      if (!isLess || !JOINED.test(between)) break;
      spans.push(spansOf(next));
      last = next;
      at += 1;
    }
    const after = found[at + 1];
    const isRange = after !== undefined && RANGE.test(bare.slice(last.to, after.from));
    const readings = spans.length > 1 ? joined(spans) : readingsOf(first);
    if (isRange && first.unit === undefined)
      readings.push(...readingsOf({ ...first, unit: after.unit }));
    // From 10 to 11 h: hours of the day.
    if (
      first.unit === HOUR &&
      before !== undefined &&
      RANGE.test(bare.slice(before.to, first.from))
    )
      readings.push(...readingsOf({ ...first, unit: undefined }));
    figures.push({ text: text.slice(first.from, last.to), readings });
  }
  return figures;
}

function isTime(unit: Found["unit"]): unit is number {
  return typeof unit === "number";
}

function foundIn(text: string, from: number): Found[] {
  const [, number = "", word = ""] = PARTS.exec(text) ?? [];
  const values = valuesOf(number);
  if (values.length === 0) return [];
  const apart = number.includes(" ") ? number.split(" ").map(Number) : [];
  const unit = UNIT_OF.find(([, words]) => words.test(word))?.[0];
  const other = SHARE_OF.test(word) ? "share" : LONG_OF.test(word) ? "long" : undefined;
  return [{ from, to: from + text.length, values, apart, unit: unit ?? other }];
}

/** With marks for thousands, for decimals, or either. */
function valuesOf(number: string): Found["values"] {
  const word = WORDS.indexOf(number.toLowerCase());
  if (word >= 0) return [{ value: word, places: 0 }];
  const bare = number.replaceAll(/[ \u00a0\u202f\u2009'’]/gu, "");
  const whole = { value: Number(bare.replaceAll(/[.,]/g, "")), places: 0 };
  const [, front = "", decimals = ""] = /^(.*)[.,](\d+)$/s.exec(bare) ?? [];
  if (decimals === "") return [whole];
  const value = Number(`${front.replaceAll(/[.,]/g, "")}.${decimals}`);
  const part = { value, places: decimals.length };
  return decimals.length === 3 ? [whole, part] : [part];
}

function readingsOf(found: Found): Reading[][] {
  const { values, unit, apart } = found;
  if (isTime(unit)) return spansOf(found).map((span) => [{ kind: "span", ...span }]);
  const readings = values.map(({ value, places }): Reading[] => [
    unit === "share"
      ? { kind: "share", value, slack: 0.5 / 10 ** places }
      : { kind: "count", value },
  ]);
  const each = apart.map((value): Reading => ({ kind: "count", value }));
  return each.length === 0 ? readings : [...readings, each];
}

function spansOf({ values, unit }: Found): Span[] {
  const ms = isTime(unit) ? unit : 0;
  return values.map(({ value, places }) => ({ ms: value * ms, slack: ms / 2 / 10 ** places }));
}

/** `1 h, 30 min` is one duration, or two. */
function joined(spans: readonly Span[][]): Reading[][] {
  const firsts = spans.flatMap(([span]) => (span === undefined ? [] : [span]));
  const [first, ...rest] = firsts;
  if (first === undefined) return [];
  let all = [[first]];
  for (const next of rest) {
    all = all.flatMap((parts) => {
      const last = parts.at(-1) ?? next;
      const sum = { ms: last.ms + next.ms, slack: next.slack };
      return [
        [...parts.slice(0, -1), sum],
        [...parts, next],
      ];
    });
  }
  return all.map((parts) => parts.map((span) => ({ kind: "span" as const, ...span })));
}

/** What the output of a call of `incident_stats` says: as few bytes as its numbers take. */
export interface ToldFigures {
  counts: readonly number[];
  /** Digits of its other figures: a column of minutes has only these. */
  digits: readonly number[];
  shares: readonly number[];
  /** ms, and half of the last place that was shown. */
  spans: readonly (readonly [number, number])[];
}

/** More are not kept: what such a call says is not checked. */
const MAX_TOLD = 500;

/** The figures of an output; undefined where there are too many. */
export function toldIn(output: string): ToldFigures | undefined {
  const [counts, digits, shares] = [new Set<number>(), new Set<number>(), new Set<number>()];
  const spans = new Map<number, number>();
  // A long line goes on below, in its own column.
  const bare = without(output.replaceAll(/\n {11}/g, " "), NAMES);
  for (const { text, readings } of figuresIn(bare)) {
    for (const each of text.match(/\d+/g) ?? []) digits.add(Number(each));
    // Two that may be one are one here.
    for (const reading of readings.flatMap((all) => (all.length === 1 ? all : []))) {
      if (reading.kind === "count") counts.add(reading.value);
      if (reading.kind === "share") shares.add(reading.value);
      if (reading.kind === "span") spans.set(reading.ms, shownSlack(reading));
    }
  }
  // An hour of the day has an end too.
  for (const [, hour] of output.matchAll(/\[hour:(\d{2})\]/g)) digits.add(Number(hour) + 1);
  const length = lengthOf(output);
  if (length !== undefined && !spans.has(length)) spans.set(length, HOUR);
  if (counts.size + digits.size + shares.size + spans.size > MAX_TOLD) return undefined;
  const more = [...digits].filter((each) => !counts.has(each));
  return { counts: [...counts], digits: more, shares: [...shares], spans: [...spans] };
}

/** `3 h` and `2 d` leave a smaller unit out that is 0 (`showDuration`). */
function shownSlack({ ms, slack }: Span): number {
  if (ms < 2 * DAY) return Math.min(slack, MINUTE / 2);
  return Math.min(slack, HOUR / 2);
}

/** Of the period that it begins with, on the clocks of its zone. */
function lengthOf(output: string): number | undefined {
  const [head = ""] = output.split("\n", 1);
  const [from, to] = [...head.matchAll(/\d{4}-\d{2}-\d{2} \d{2}:\d{2}/g)].map(([time]) =>
    Date.parse(`${time.replace(" ", "T")}Z`),
  );
  return from === undefined || to === undefined ? undefined : to - from;
}

/** Shares that say which part a figure is of: median, 90th percentile, none, all. */
const PARTS_SAID = [0, 50, 90, 100];

/**
 * True where one of these outputs says it, in whatever spelling and rounded as it is said: as a number, or as a share that two of their numbers
 * make. 0 is what an output leaves out. `isTable`: a column's head may have the unit. Several outputs may be compared: what one
 * has more than another is told too.
 */
export function isTold(
  { readings }: Figure,
  told: readonly ToldFigures[],
  isTable: boolean,
): boolean {
  return readings.some((all) => all.every((reading) => isReadingTold(reading, told, isTable)));
}

function isReadingTold(reading: Reading, told: readonly ToldFigures[], isTable: boolean): boolean {
  const counts = told.flatMap((each) => each.counts);
  const spans = told.flatMap((each) => each.spans);
  const compares = told.length > 1;
  const isSpan = ({ ms, slack }: Span) =>
    pairsOr(spans, compares).some(([other, more]) => Math.abs(ms - other) < slack + more);
  if (reading.kind === "span") return isSpan(reading);
  const { value } = reading;
  if (reading.kind === "count") {
    if (value === 0 || counts.includes(value)) return true;
    if (told.some(({ digits }) => digits.includes(value))) return true;
    if (compares && counts.some((a) => counts.some((b) => a - b === value))) return true;
    return (
      isTable &&
      [SECOND, MINUTE, HOUR, DAY].some((unit) => isSpan({ ms: value * unit, slack: unit / 2 }))
    );
  }
  const { slack } = reading;
  const isNear = (share: number) => Math.abs(share - value) <= slack + 1e-9;
  if (PARTS_SAID.includes(value) || told.some(({ shares }) => shares.some(isNear))) return true;
  const all = compares ? [counts, spans.map(([ms]) => ms)] : [counts];
  return all.some((values) =>
    values.some((a) =>
      values.some((b) => {
        if (b === 0) return false;
        return (
          (a <= b && isNear((100 * a) / b)) || (compares && isNear((100 * Math.abs(a - b)) / b))
        );
      }),
    ),
  );
}

/** Each of them, and what two differ by where several outputs are compared. */
function pairsOr(
  spans: readonly (readonly [number, number])[],
  compares: boolean,
): readonly (readonly [number, number])[] {
  if (!compares) return spans;
  const apart = spans.flatMap(([a, more]) =>
    spans.map(([b, most]) => [Math.abs(a - b), more + most] as const),
  );
  return [...spans, ...apart];
}
