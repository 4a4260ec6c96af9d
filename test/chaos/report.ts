import { emptyFigures, type Figures, type Verdict } from "./verdict.ts";

/** Adds up verdicts. */
export function total(verdicts: readonly Verdict[]): Figures {
  const sum = emptyFigures();
  for (const { figures } of verdicts) {
    for (const name of COUNTS) sum[name] += figures[name];
    for (const kind of ["kill", "freeze", "drain"] as const)
      sum.crossings[kind] += figures.crossings[kind];
    sum.drainMs.push(...figures.drainMs);
    sum.recoveryMs.push(...figures.recoveryMs);
    for (const name of ["killsAtPoint", "freezesAtPoint", "logged"] as const) {
      for (const [what, times] of figures[name])
        sum[name].set(what, (sum[name].get(what) ?? 0) + times);
    }
  }
  return sum;
}

const COUNTS = [
  "batches",
  "trials",
  "threads",
  "posts",
  "traps",
  "sprung",
  "randomKills",
  "randomFreezes",
  "powerCuts",
  "poisonings",
  "effects",
  "requests",
  "turns",
  "joined",
  "unknown",
  "unknownHappened",
  "actedLate",
  "verified",
  "settled",
  "lateWords",
  "lostLeases",
  "parked",
  "duplicates",
  "retracted",
  "staleCards",
] as const satisfies readonly (keyof Figures)[];

/** The `share` quantile (0.95: p95), by the nearest rank; 0 of nothing. */
function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
}

/** The figures as a table for people. */
export function table(figures: Figures, seconds: number, seed: number): string {
  const sum = (counts: Map<string, number>) => [...counts.values()].reduce((a, b) => a + b, 0);
  const { recoveryMs, drainMs, crossings } = figures;
  const span = (values: number[]) =>
    `p50 ${quantile(values, 0.5)} ms, p95 ${quantile(values, 0.95)} ms, most ${quantile(values, 1)} ms (${values.length})`;
  const rows: [string, string | number][] = [
    ["seed", seed],
    ["batches", figures.batches],
    ["threads", `${figures.threads}, ${figures.posts} posts`],
    ["trials", `${figures.trials} threads struck in a worker's hands`],
    [
      "strikes on them",
      `${crossings.kill} by kills, ${crossings.freeze} by freezes, ${crossings.drain} by drains`,
    ],
    ["traps", `${figures.sprung} sprung of ${figures.traps} set`],
    ["kills at points", `${sum(figures.killsAtPoint)} at ${figures.killsAtPoint.size} points`],
    ["kills at random", `${figures.randomKills}, by poison ${figures.poisonings}`],
    [
      "freezes",
      `${sum(figures.freezesAtPoint)} at ${figures.freezesAtPoint.size} points, ${figures.randomFreezes} at random`,
    ],
    ["machine died", figures.powerCuts],
    ["drains", span(drainMs)],
    ["effects", figures.effects],
    [
      "models",
      `${figures.requests} requests, ${figures.turns} turns, ${figures.joined} messages joined a run`,
    ],
    [
      "unknown",
      `${figures.unknown}, of which ${figures.unknownHappened} had happened (${figures.actedLate} only after it was said)`,
    ],
    ["verified", figures.verified],
    ["settled", figures.settled],
    ["late words", figures.lateWords],
    ["lost leases noticed", figures.lostLeases],
    ["put aside after two crashes", figures.parked],
    ["recovery", span(recoveryMs)],
    ["second copies in the chat", `${figures.duplicates}, taken back ${figures.retracted}`],
    ["stale cards", figures.staleCards],
    ["wall time", `${seconds.toFixed(0)} s`],
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  const logged = [...figures.logged].map(([what, times]) => `  ${times} × ${what}`);
  return [
    ...rows.map(([name, value]) => `${name.padEnd(width)}  ${value}`),
    ...(logged.length > 0 ? ["logged by workers:", ...logged] : []),
  ].join("\n");
}

/** Kills per named point, in columns. */
export function pointTable(figures: Figures, points: readonly string[]): string {
  const cells = points.map((point) => {
    const kills = figures.killsAtPoint.get(point) ?? 0;
    const freezes = figures.freezesAtPoint.get(point) ?? 0;
    return `${point.padEnd(30)} ${String(kills).padStart(4)} ${String(freezes).padStart(4)}`;
  });
  const half = Math.ceil(cells.length / 2);
  const head = `${"point".padEnd(30)} kill stop`;
  const rows = cells.slice(0, half).map((cell, i) => `${cell}   ${cells[half + i] ?? ""}`);
  return [`${head}   ${head}`, ...rows].map((row) => row.trimEnd()).join("\n");
}
