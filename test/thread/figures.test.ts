import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { showDuration } from "../../src/core/instant.ts";
import { toldIn, type ToldFigures } from "../../src/thread/figures.ts";
import { otherFigures } from "../../src/thread/other-figures.ts";

const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000];
const HEAD = "Last week (Mon 2026-11-09 00:00 to Mon 2026-11-16 00:00 Europe/Madrid)";

/** As `incident_stats` writes it, with lines that go on below. */
const OUTPUT = [
  `${HEAD}: 14 incidents opened, 12 resolved, 4 open; MTTR 90 min (median 48 min).`,
  "Severity   sev1 3, sev2 5, not said 6",
  "Services   db2 8, web-1 7",
  "MTTA       45 s, median 30 s, p90 2 min, of 11 opened that were taken up [mtta]: inc-20261112-k3qa,",
  "           inc-20261110-a2bc",
  "MTTR       90 min, median 48 min, p90 3 h 12 min, of 12 resolved [mttr]: inc-20261112-k3qa",
  "States     open 2 d 3 h of 14 [state:open]",
  "Longest    inc-20261112-k3qa, 3 h 12 min: Disk 95% full on db2",
  "Hours      10 9 [hour:10], 23 2 [hour:23]",
  "",
  "Times in Europe/Madrid (UTC in brackets).",
  "incident           sev   began                      lasted  title",
  "inc-20261112-k3qa  sev1  2026-11-12 10:00 (09:00Z)  3 h 12 min  Disk 95% full on db2",
].join("\n");

function told(...outputs: string[]): Map<number, ToldFigures> {
  return new Map(
    outputs.flatMap((output, at) => {
      const figures = toldIn(output);
      return figures === undefined ? [] : [[at + 1, figures] as const];
    }),
  );
}

const others = (text: string, ...outputs: string[]) =>
  otherFigures(text, told(...(outputs.length === 0 ? [OUTPUT] : outputs)));

describe("beside a reference to statistics", () => {
  test.each([
    "CONFIRMED: 14 incidents opened, three of them sev1, 12 resolved; MTTR 1 h 30 min [T1].",
    "MTTR was 1.5 hours (1h30m, 5400 s, 90 minutes), the median 48min [T1].",
    "In der letzten Woche (9.–15. November 2026, KW 46) gab es 14 Vorfälle, 12 davon gelöst nach 1,5 Std. im Mittel, höchstens 3 Stunden und 12 Minuten [T1].",
    "La semaine du 9 au 15 novembre : 14 incidents, 12 résolus en 1 heure et 30 minutes en moyenne, le 3e à 14 h 30 [T1].",
    "La semana pasada hubo 14 incidentes; 12 se resolvieron en 1,5 horas, el 86 % [T1].",
    "The longest, inc-20261112-k3qa on web-1 (v2.14.3, #77), began on 12 Nov 2026 at 10:00, lasted 3.2 h, and was the 2nd of that day [T1].",
    "In these 7 days 86% of the 14 were resolved; the 90th percentile is 192 min [T1].",
    "Incidents were open for 51 h in all, about 2 days [T1].",
    "Busiest: 10–11 h with 9 incidents, top 5 services below [T1].",
    "No sev4, 0 undone; the disk was 95 % full [T1].",
    "- MTTA: 45 s, 30–45 seconds for most.\n- p90: 2 min [T1]\n- 12 resolved, thirty-odd messages read [T1]",
    "| number | minutes |\n|---|---|\n| MTTR [T1] | 90 |\n| p90 [T1] | 192 |",
    "14 opened [T1], and the pod restarted 77 times [T2].",
    "There were 77 restarts in all. 14 incidents opened [T1].",
  ])("its own numbers may be said in any spelling: %s", (text) => {
    expect(others(text)).toEqual([]);
  });

  test.each([
    ["CONFIRMED: 15 incidents opened [T1].", ["15"]],
    ["MTTR was 1 h 40 min, the median 48 min [T1].", ["1 h 40 min"]],
    ["Im Mittel 1,7 Stunden, elf Vorfälle, 13 gelöst [T1].", ["1,7 Stunden", "13"]],
    ["Se resolvieron en 100 minutos de media [T1].", ["100 minutos"]],
    ["Résolus en 2 heures et 5 minutes, soit 97 % [T1].", ["2 heures et 5 minutes", "97 %"]],
    ["- Resolved in 3 days.\n- MTTA [T1]: 45 s.\n  Two minutes later 21 more.", ["21"]],
    ["| MTTR [T1] | 300 |", ["300"]],
    ["1 234 incidents were opened [T1].", ["1 234"]],
  ])("others are told apart: %s", (text, wrong) => {
    expect(others(text)).toEqual(wrong);
  });

  test("two of them may be compared", () => {
    const before = OUTPUT.replace("14 incidents", "20 incidents").replace("MTTR 90", "MTTR 120");
    const text =
      "14 incidents after 20, 6 fewer (30 % less), and MTTR fell by 30 min [T1][T2]. 33 [T1, T2].";
    expect(others(text, OUTPUT, before)).toEqual(["33"]);
  });
});

const DURATION = fc.oneof(
  fc.integer({ min: 1, max: 59 }).map((n) => n * SECOND),
  fc.integer({ min: 1, max: 119 }).map((n) => n * MINUTE),
  fc.integer({ min: 120, max: 2_879 }).map((n) => n * MINUTE),
  fc.integer({ min: 48, max: 900 }).map((n) => n * HOUR),
);

interface Said {
  count: number;
  of: number;
  ms: number;
}

const output = ({ count, of, ms }: Said) =>
  `${HEAD}: ${of} incidents opened, ${count} resolved, 0 open; MTTR ${showDuration(ms)} (median ${showDuration(ms)}).`;

/** Each way to write a whole number, and a duration that is one of seconds. */
function countsOf(n: number): string[] {
  const words = "zero one two three four five six seven eight nine".split(" ");
  const grouped = (mark: string) => String(n).replace(/(\d)(\d{3})$/, `$1${mark}$2`);
  const spellings = [",", ".", " ", "\u00a0", "\u202f", "'"].map(grouped);
  return [String(n), ...spellings, ...(n > 1 && n < 10 ? [words[n] ?? ""] : [])];
}

function durationsOf(ms: number): string[] {
  const [s, min, h, d] = [ms / SECOND, ms / MINUTE, ms / HOUR, ms / DAY];
  const [hours, minutes, days] = [Math.floor(h), Math.round(min % 60), Math.floor(d)];
  const decimal = (value: number, places: number) => value.toFixed(places);
  const comma = (value: number, places: number) => decimal(value, places).replace(".", ",");
  const whole = [`${s} s`, `${s} seconds`, `${s} Sekunden`, `${s}s`, `${s} segundos`];
  const parts =
    hours > 0 && minutes > 0
      ? [
          `${hours} h ${minutes} min`,
          `${hours}h${minutes}m`,
          `${hours} hours and ${minutes} minutes`,
          `${hours} Stunden und ${minutes} Minuten`,
          `${hours} horas y ${minutes} minutos`,
          `${hours} heures et ${minutes} minutes`,
          `${hours} hrs, ${minutes} mins`,
        ]
      : [];
  const more =
    h > 0.1 ? [`${decimal(h, 1)} h`, `${comma(h, 2)} Std`, `${decimal(h, 2)} heures`] : [];
  const long =
    d > 1 ? [`${days} d ${hours % 24} h`, `${decimal(d, 1)} days`, `${comma(d, 1)} Tage`] : [];
  const middle =
    ms % MINUTE === 0 ? [`${min} min`, `${min} minutes`, `${min} Minuten`, `${min}-minute`] : [];
  return [...whole, ...middle, ...parts, ...more, ...(ms % HOUR === 0 ? long : [])];
}

const SENTENCES: readonly ((count: string, ms: string) => string)[] = [
  (count, ms) => `Of the incidents ${count} were resolved, after ${ms} on average [T1].`,
  (count, ms) =>
    `[T1] Am 20. November 2026 um 14:05 Uhr waren ${count} gelöst, im Mittel nach ${ms}.`,
  (count, ms) => `- El 20 de noviembre: ${count} resueltos, media ${ms} [T1]`,
  (count, ms) => `Le 1er novembre, ${count} incidents (sev1, web-2) : ${ms} en moyenne [T1].`,
  (count, ms) => `| ${count} | ${ms} | 2026-11-20 | inc-20261120-k3qa | [T1] |`,
];

const SAID = fc
  .tuple(fc.nat(2_000), fc.nat(2_000), DURATION)
  .map(([a, b, ms]): Said => ({ count: Math.min(a, b), of: Math.max(a, b), ms }));

test("each number of an output passes in every spelling, in four languages", () => {
  fc.assert(
    fc.property(SAID, (said) => {
      const counts = countsOf(said.count);
      for (const sentence of SENTENCES)
        for (const [at, ms] of durationsOf(said.ms).entries()) {
          const text = sentence(counts[at % counts.length] ?? "", ms);
          expect(others(text, output(said)), text).toEqual([]);
        }
      if (said.of > 0) {
        const share = (100 * said.count) / said.of;
        for (const places of [0, 1])
          expect(others(`Solved: ${share.toFixed(places)} % [T1].`, output(said))).toEqual([]);
      }
    }),
    { numRuns: 60 },
  );
});

test("a number that is changed by more than it is rounded by does not pass, in any spelling", () => {
  fc.assert(
    fc.property(SAID, fc.integer({ min: 1, max: 40 }), (said, by) => {
      const shownText = `${output(said)}\n1 s`;
      const known = new Set((shownText.match(/\d+/g) ?? []).map(Number));
      const count = said.count + by + 31;
      // A unit of what is shown, and of what a decimal hides.
      const ms =
        said.ms +
        (by + 1) * (said.ms < MINUTE ? 7 : said.ms < DAY ? 60 * 13 : 60 * 60 * 3) * SECOND;
      // As a year, or in parts, it may be something else.
      const isOther = (each: string) =>
        !/^(?:19|20)\d\d$/.test(each) &&
        (each.match(/\d+/g) ?? []).every((n) => !known.has(Number(n)));
      // 39 s are 1 min, as people round.
      fc.pre(ms % MINUTE > 0 || ms - said.ms > MINUTE / 2);
      // The period's length may be said, and a row may be of any unit.
      fc.pre(Math.abs(ms - 7 * DAY) > DAY);
      for (const sentence of SENTENCES.slice(0, -1)) {
        if (known.has(count)) break;
        for (const wrong of countsOf(count).filter((each) => isOther(each)))
          expect(others(sentence(wrong, "1 s"), shownText), wrong).toEqual([wrong]);
      }
      const words = "resolved after";
      for (const wrong of durationsOf(ms))
        expect(others(`${words} ${wrong} [T1].`, output(said)), `${said.ms} ${wrong}`).toEqual([
          wrong,
        ]);
    }),
    { numRuns: 60 },
  );
});
