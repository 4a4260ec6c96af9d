import { openSqliteMemory } from "../src/memory/sqlite.ts";
import { type Task, textOf } from "../src/memory/item.ts";
import { FLOOR, usefulness } from "../src/memory/policy.ts";
import { search } from "../src/memory/search.ts";
import type { MemoryIndex } from "../src/memory/index-port.ts";
import { RECORDS } from "../test/memory/questions.ts";
import { QUERIES, rowOf, SECOND_QUERIES } from "../test/memory/retrieval.ts";
import type { Figure } from "./journal.ts";

/** Each draws for every fault how its run ended. */
const DRAWS = 20;
const KEEP = 0.6;
const SPACE = "public:slack:T1";
const LOOKED = ["http_check", "kubernetes_pods", "logs_search"];

/** A record as its run ended, and whether it would help whoever meets the same: whether its cause is the right one. */
interface Ending {
  task: Task;
  isRight: boolean;
}

/** CORE 004.19: correct 0.4, a summary 0.2, an approach 0.2, an answer 0.1, an analysis of what failed 0.2. */
function coreWeights({ question, cause = "", certainty, looked, fixes, outcome }: Task): number {
  const approach = [...looked, ...fixes.map(({ title }) => title)].join(" ");
  const parts = [
    outcome === "solved" || certainty === "confirmed" ? 0.4 : 0,
    question.length >= 20 ? 0.2 : 0,
    approach.length >= 20 ? 0.2 : 0,
    cause.length >= 15 ? 0.1 : 0,
    fixes.some(({ helped }) => helped === false) ? 0.2 : 0,
  ];
  // Tenths add up to a little less.
  return parts.reduce((sum, part) => sum + part, 1e-9);
}

type Labelled = (typeof RECORDS)[string];

/** Eight ways in which a run about `own` may end, each as likely; in two of them the cause is that of another fault. */
function endings(own: Labelled, other: Labelled): Ending[] {
  const begun: Task = {
    kind: "task",
    question: own.question,
    begun: 0,
    looked: LOOKED,
    fixes: [],
    outcome: "explained",
  };
  const fix = (title = "Restart it", helped?: boolean): Task["fixes"][number] => ({
    tool: "run",
    title,
    approved: true,
    result: "done",
    ...(helped !== undefined && { helped }),
  });
  const confirmed: Task = { ...begun, cause: own.cause, certainty: "confirmed" };
  const likely: Task = { ...begun, cause: own.cause, certainty: "likely" };
  const wrong: Task = { ...likely, cause: other.cause };
  return [
    { task: { ...confirmed, fixes: [fix(own.fix, true)], outcome: "solved" }, isRight: true },
    { task: confirmed, isRight: true },
    { task: likely, isRight: true },
    { task: { ...likely, fixes: [fix(own.fix)] }, isRight: true },
    { task: wrong, isRight: false },
    { task: { ...wrong, fixes: [fix(other.fix, false)] }, isRight: false },
    { task: { ...begun, outcome: "open" }, isRight: false },
    { task: { ...begun, looked: [], outcome: "open" }, isRight: false },
  ];
}

/** What is found by words among the records that each set of weights keeps. */
export async function keepFigures(): Promise<Figure[]> {
  const sets = { ours: usefulness, "CORE's": coreWeights };
  const figures: Figure[] = [];
  for (const [whose, weigh] of Object.entries(sets)) {
    const counted = { queries: 0, within: 0, reciprocal: 0, told: 0, right: 0 };
    const next = chance();
    for (let draw = 0; draw < DRAWS; draw++) {
      const drawn = new Map(
        Object.entries(RECORDS).flatMap(([id, own]) => {
          const others = Object.values(RECORDS);
          const other = others[Math.floor(next() * others.length)] ?? own;
          const ending = endings(own, other)[Math.floor(next() * 8)];
          return ending === undefined ? [] : [[id, ending] as const];
        }),
      );
      await count(drawn, weigh, counted);
    }
    const { queries, within, reciprocal, told, right } = counted;
    const values = [within / queries, reciprocal / queries, right / told].map((each) =>
      each.toFixed(2),
    );
    figures.push({
      name: `records that reach ${KEEP} by ${whose} weights, ${QUERIES.length + SECOND_QUERIES.length} queries, ${DRAWS} draws of how runs ended: recall@5 and MRR of a right cause, part of what is cited that has it`,
      value: values.join(", "),
    });
  }
  return figures;
}

async function count(
  drawn: ReadonlyMap<string, Ending>,
  weigh: (task: Task) => number,
  counted: Record<"queries" | "within" | "reciprocal" | "told" | "right", number>,
): Promise<void> {
  const kept = [...drawn].filter(([, { task }]) => weigh(task) >= KEEP);
  const index = openSqliteMemory();
  const rows = kept.map(([id, { task }], at) => rowOf(id, textOf({ what: task }), at + 1, SPACE));
  index.put("memory:slack:T1:2026-11", rows, { last: rows.length, head: null });
  // It answers at once, as `await` takes it.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each verb's reply is awaited
  const asked = index as unknown as MemoryIndex;
  for (const { of, text } of [...QUERIES, ...SECOND_QUERIES]) {
    const isRight = (id: string) => id === of && drawn.get(of)?.isRight === true;
    const found = await search(asked, text, [SPACE]);
    const place = found.findIndex(({ candidate }) => isRight(candidate.id)) + 1;
    const cited = await search(asked, text, [SPACE], { ...FLOOR, limit: 3 });
    counted.queries += 1;
    if (place >= 1 && place <= 5) counted.within += 1;
    if (place >= 1) counted.reciprocal += 1 / place;
    counted.told += cited.length;
    counted.right += cited.filter(({ candidate }) => isRight(candidate.id)).length;
  }
  index.close();
}

/** The same each time. */
function chance(): () => number {
  let state = 42;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
