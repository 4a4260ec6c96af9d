import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { Incident, Ledger } from "../../src/incidents/incident.ts";
import { openSqliteJournal } from "../../src/journal/sqlite/journal.ts";
import { createLedger } from "../fakes/ledger.ts";
import { Program } from "../fakes/program.ts";

const programs: Program[] = [];
const begin = () => {
  const program = new Program();
  programs.push(program);
  return program;
};
afterEach(() => {
  for (const program of programs.splice(0)) program.remove();
});

/** The ledger of a program's store, while the program does not run. */
async function withLedger<T>({ store }: Program, work: (ledger: Ledger) => Promise<T>): Promise<T> {
  mkdirSync(dirname(store), { recursive: true });
  const journal = await openSqliteJournal({ path: store });
  try {
    return await work(createLedger(journal));
  } finally {
    await journal.close();
  }
}

const VIEWER = { audience: undefined, tenants: "all" as const };

/** Opens one and resolves it, as people do in a thread. */
function record(ledger: Ledger): Promise<Incident> {
  const at = Date.now();
  const saying = (call: string) => {
    const actor = { account: "test:ana", name: "Ana" };
    return {
      ...VIEWER,
      actor,
      thread: "slack:T1:C1:1.5",
      link: "https://chat.example/1",
      call,
      at,
    };
  };
  const change = { title: "Checkout fails", severity: "sev2" as const, services: ["web"] };
  return ledger
    .open(saying("r1.t1"), change)
    .then(({ id }) => ledger.resolve(saying("r2.t1"), id, { cause: "A full disk" }));
}

function numbersIn(ledger: Ledger) {
  const period = { from: 0, to: Date.now() + 1, zone: "UTC", name: "ever" };
  return ledger.stats(period, VIEWER, 0);
}

test("incidents are exported as Markdown and JSON lines, and imported once into another store, with the same numbers", async () => {
  const [from, to] = [begin(), begin()];
  const made = await withLedger(from, record);
  const { id } = made;

  const markdown = await from.run(["incidents", "export", id]);
  expect(markdown).toMatchObject({ code: 0, err: "" });
  expect(markdown.out).toMatch(/^# inc-\S+: Checkout fails\n\nTimes are in UTC\.\n/);
  expect(markdown.out).toContain("\n- **Cause:** A full disk\n");
  expect(markdown.out).toMatch(/## Timeline\n\n.*opened; .*\n.*resolved; /);

  const period = ["--period", "last 2 days", "--format", "jsonl"];
  const { out: lines, code } = await from.run(["incidents", "export", ...period]);
  expect([code, lines.trim().split("\n").length]).toEqual([0, 1]);
  const file = join(to.folder, "records.jsonl");
  writeFileSync(file, `${lines}{"id":"inc-1"}\n`);
  const wrong = await to.run(["incidents", "import", "records.jsonl"]);
  expect(wrong).toMatchObject({ code: 1, out: expect.stringMatching(/^line 2: .*\nNothing was/) });
  writeFileSync(file, lines);
  const imported = await to.run(["incidents", "import", file]);
  expect(imported).toMatchObject({ code: 0, out: `${id}\nImported 1 incident.\n` });
  const again = await to.run(["incidents", "import", file]);
  expect(again.out).toBe("Imported 0 incidents; 1 there already.\n");

  const [got, numbers] = await withLedger(to, async (ledger) => [
    await ledger.get(id, VIEWER),
    await numbersIn(ledger),
  ]);
  expect(got).toEqual({ ...made, isImported: true });
  const were = await withLedger(from, numbersIn);
  expect(were).toMatchObject({ opened: 1, resolved: 1, open: 0 });
  const unmarked = {
    ...numbers,
    longest: numbers.longest && { ...numbers.longest, isImported: false },
  };
  expect(unmarked).toEqual(were);
}, 60_000);

test("a wrong export or import is told what is right", async () => {
  const program = begin();
  for (const [words, problem, code] of [
    [["incidents", "export"], "takes ids, or --period", 2],
    [["incidents", "export", "--period", "today", "--format", "pdf"], "markdown or jsonl", 2],
    [["incidents", "import", "nowhere.jsonl"], "could not be read", 2],
  ] as const) {
    const { code: ended, err } = await program.run([...words]);
    expect([ended, err], words.join(" ")).toEqual([code, expect.stringContaining(problem)]);
  }
}, 60_000);
