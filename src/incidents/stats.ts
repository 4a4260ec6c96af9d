import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import type { Duration, Stats } from "./incident.ts";
import type { Period } from "./period.ts";
import { allOf, type Where } from "./where.ts";

const SEVERITIES = ["sev1", "sev2", "sev3", "sev4", undefined] as const;

/** Of incidents it has what they are found by: what is shown of them is read from their journals. */
export type Counted<T> = Omit<Stats, "newest" | "longest"> & {
  newest: T[];
  /** None or one. */
  longest: T[];
};

/** Counts what is `visible`; `listed` of them are named. Means and medians are exact. */
export function countIncidents(
  db: DatabaseSync,
  visible: Where,
  { from, to }: Period,
  listed: number,
): Counted<string> {
  const within = (sql: string, ...given: SQLInputValue[]) => allOf(visible, { sql, given });
  const opened = within("started >= ? AND started < ? AND status <> 'false_alarm'", from, to);
  const resolved = within("resolved >= ? AND resolved < ? AND status = 'resolved'", from, to);
  const open = within("status IN ('open', 'mitigated') AND started < ?", to);
  const any = within(
    "status <> 'false_alarm' AND ((started >= ? AND started < ?) OR (resolved >= ? AND resolved < ?) OR (status IN ('open', 'mitigated') AND started < ?))",
    from,
    to,
    from,
    to,
    to,
  );
  const rows = (columns: string, { sql, given }: Where, rest = "", ...more: SQLInputValue[]) =>
    db.prepare(`SELECT ${columns} FROM incident WHERE ${sql} ${rest}`).all(...given, ...more);
  const count = (where: Where) => Number(rows("count(*) AS n", where)[0]?.["n"]);
  const ids = (found: ReturnType<typeof rows>) => found.map((row) => String(row["id"]));

  /** Of a column of which some have nothing. */
  function duration(column: string, where: Where): Duration {
    const all = allOf(where, { sql: `${column} IS NOT NULL`, given: [] });
    const [{ n, sum } = {}] = rows(`count(*) AS n, sum(${column} - started) AS sum`, all);
    const total = Number(n);
    if (total === 0) return { count: 0, mean: undefined, median: undefined };
    const middle = rows(
      `${column} - started AS ms`,
      all,
      "ORDER BY ms LIMIT ? OFFSET ?",
      2 - (total % 2),
      (total - 1) >> 1,
    ).map(({ ms }) => Number(ms));
    const median = middle.reduce((a, b) => a + b, 0) / middle.length;
    return { count: total, mean: Number(sum) / total, median };
  }

  return {
    opened: count(opened),
    resolved: count(resolved),
    open: count(open),
    all: count(any),
    newest: ids(rows("id", any, "ORDER BY started DESC, id LIMIT ?", listed)),
    bySeverity: SEVERITIES.flatMap((severity) => {
      const n = count(allOf(opened, { sql: "severity IS ?", given: [severity ?? null] }));
      return n === 0 ? [] : { severity, count: n };
    }),
    byService: servicesIn(db, opened),
    toResolve: duration("resolved", resolved),
    toDetect: duration("detected", opened),
    longest: ids(
      rows("id", resolved, "ORDER BY resolved - started DESC, resolved DESC, id LIMIT 1"),
    ),
  };
}

function servicesIn(db: DatabaseSync, { sql, given }: Where): Stats["byService"] {
  const among = `row IN (SELECT row FROM incident WHERE ${sql})`;
  return db
    .prepare(`SELECT name, count(*) AS n FROM service WHERE ${among} GROUP BY name`)
    .all(...given)
    .map(({ name, n }) => ({ service: String(name), count: Number(n) }))
    .toSorted((a, b) => b.count - a.count || (a.service < b.service ? -1 : 1));
}
