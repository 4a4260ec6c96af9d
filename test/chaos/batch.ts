import { access, constants, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { totalTokens } from "../../src/core/block.ts";
import type { JournalKey } from "../../src/core/journal-key.ts";
import { fold } from "../../src/thread/fold.ts";
import { Thread } from "../../src/thread/state.ts";
import type { Journal } from "../../src/journal/journal.ts";
import type { StoredEntry } from "../../src/core/entry.ts";
import { decide } from "../../src/thread/decide.ts";
import { createCrew, type Paths, type Strike } from "./crew.ts";
import type { Bug } from "./faults.ts";
import { type Machine, startMachine } from "./machine.ts";
import { TOKENS_PER_DAY } from "./model.ts";
import { createPeople, type Posted } from "./people.ts";
import { paceNow } from "./pace.ts";
import { type BatchPlan, paced } from "./plan.ts";
import { type Line, readWitness } from "./witness.ts";

/** Everything that is known of a batch once it is over: what was said, stored, seen and done to the workers. */
export interface BatchRecord {
  plan: BatchPlan;
  posted: Posted[];
  lines: Line[];
  strikes: Strike[];
  misdeeds: string[];
  /** When the machine died, ms since 1970: everything from before it was flushed or is gone. */
  deaths: readonly number[];
  journals: Map<JournalKey, StoredEntry[]>;
  /** Threads on which work was still owed when the patience was over, with what was owed. */
  restless: Map<JournalKey, string>;
  /** What SQLite says of the file. */
  damage: string | undefined;
  /** Tokens that models used and nobody booked. */
  unbooked: string | undefined;
  /** What the workers logged, a JSON object or a crash's text per line. */
  log: string[];
  folder: string;
}

export interface BatchOptions {
  bug?: Bug;
  /** How long after the last blow everything must be at rest, on a quiet machine. */
  patienceMs?: number;
  /** Where the batch's own folder is made, and Node's cache of compiled code kept for all. */
  folder: string;
  /** Ends the batch at once; what is known by then is judged. */
  signal?: AbortSignal;
}

const PATIENCE_MS = 15_000;
/** More than all lives of a plan take. */
const LONGEST_MS = 60_000;
const LOOK_MS = 15;
const REST_LOOK_MS = 150;

/**
 * Makes the folder of a campaign. In memory where the system has a place for that: a SIGKILL cannot tell, and the disk's
 * speed is not what is tested. The caller removes it.
 */
export async function makeFolder(): Promise<string> {
  const memory = "/dev/shm";
  const usable = await access(memory, constants.W_OK).then(
    () => true,
    () => false,
  );
  return mkdtemp(join(usable ? memory : tmpdir(), "watchkeeper-chaos-"));
}

/**
 * Runs one batch to rest, or until patience is over, at the pace that the machine allows now. The folder is left for the
 * caller to remove.
 */
export async function runBatch(planned: BatchPlan, options: BatchOptions): Promise<BatchRecord> {
  const plan = paced(planned, paceNow());
  const folder = await mkdtemp(join(options.folder, "batch-"));
  const { atMs, acknowledged } = plan.powerCuts;
  const traps = plan.lives.flat().flatMap((life) => life.traps);
  const isMortal =
    [...atMs, ...acknowledged].length > 0 || traps.some(({ signal }) => signal === "power");
  const machine = await startMachine(folder, isMortal);
  const paths: Paths = {
    folder,
    get store() {
      return machine.store;
    },
    witness: join(folder, "witness.jsonl"),
    cache: join(options.folder, "cache"),
  };
  await writeFile(paths.witness, "");
  const reader = readWitness(paths.witness);
  const lines: Line[] = [];
  const catchUp = () => {
    for (const line of reader.more()) {
      lines.push(line);
      crew.see(line);
      people.see(line);
    }
  };
  let dying: Promise<void> | undefined;
  function die(): void {
    if (dying !== undefined) return;
    machine.cutPower();
    dying = (async () => {
      await crew.fall();
      catchUp();
      await machine.restart();
      crew.rise();
      dying = undefined;
    })();
  }
  const people = createPeople(plan, machine, options.bug, (count) => {
    if (acknowledged.includes(count)) die();
  });
  const crew = createCrew({ plan, paths, bug: options.bug, catchUp, powerless: die });
  const watch = setInterval(catchUp, LOOK_MS);
  const blows: NodeJS.Timeout[] = [];
  const rest = createRest(machine, plan);
  try {
    crew.start();
    const { signal } = options;
    await waitUpTo(
      PATIENCE_MS * plan.pace,
      () => lines.some(({ what }) => what === "ready"),
      signal,
    );
    people.start();
    for (const ms of plan.bothKilledAtMs) blows.push(setTimeout(() => crew.killBoth(), ms));
    for (const ms of atMs) blows.push(setTimeout(die, ms));
    const over = () => dying === undefined && crew.isPeaceful() && people.isQuiet();
    await waitUpTo(LONGEST_MS * plan.pace, over, signal);
    const patience = performance.now() + (options.patienceMs ?? PATIENCE_MS) * plan.pace;
    for (;;) {
      catchUp();
      if (over() && (await rest.look()) && over()) break;
      if (performance.now() > patience || signal?.aborted === true) break;
      await pause(REST_LOOK_MS);
    }
  } finally {
    for (const blow of blows) clearTimeout(blow);
    await dying;
    await crew.end();
    clearInterval(watch);
    catchUp();
    await people.end();
    reader.close();
  }
  const { restless } = rest;
  const { journal, deaths } = machine;
  const journals = await readAll(journal, plan);
  const damage = await journal.check();
  const unbooked = await checkBooked(journal, journals);
  await machine.close();
  const log = (await readFile(join(folder, "worker.log"), "utf8")).split("\n").filter(Boolean);
  const { posted } = people;
  const { strikes, misdeeds } = crew;
  return {
    plan,
    posted,
    lines,
    strikes,
    misdeeds,
    deaths,
    journals,
    restless,
    damage,
    unbooked,
    log,
    folder,
  };
}

/** Removes what a batch left behind. */
export async function removeFolder({ folder }: BatchRecord): Promise<void> {
  await rm(folder, { recursive: true, force: true });
}

/** Waits for a condition, so long at most: what is missing then is for the verdict. */
async function waitUpTo(ms: number, condition: () => boolean, signal?: AbortSignal): Promise<void> {
  for (const end = performance.now() + ms; performance.now() < end; await pause(LOOK_MS)) {
    if (condition() || signal?.aborted === true) return;
  }
}

async function readAll(journal: Journal, plan: BatchPlan): Promise<BatchRecord["journals"]> {
  const journals: BatchRecord["journals"] = new Map();
  for (const { key } of plan.threads) journals.set(key, await journal.read(key));
  return journals;
}

/** What turns cost is used up of the day's budget: so much and one more cannot be set aside beside it. */
async function checkBooked(
  journal: Journal,
  journals: BatchRecord["journals"],
): Promise<string | undefined> {
  const turns = [...journals.values()].flat().filter((entry) => entry.kind === "assistant");
  const [day = "", ...others] = new Set(
    turns.map(({ at }) => new Date(at).toISOString().slice(0, 10)),
  );
  if (others.length > 0) return undefined; // begun on one day and booked on another
  const used = turns.reduce((sum, { usage }) => sum + totalTokens(usage), 0);
  const rest = TOKENS_PER_DAY - used + 1;
  const free = await journal.reserve(`tokens:${day}`, rest, TOKENS_PER_DAY);
  return free && `models used ${used} tokens, and fewer are booked`;
}

/** Looks whether anything is owed: by what the journals mean, and by what the store says is leased or due. */
function createRest(machine: Pick<Machine, "journal">, { threads }: BatchPlan) {
  const folds = new Map<JournalKey, Thread>(threads.map(({ key }) => [key, new Thread()]));
  const restless = new Map<JournalKey, string>();
  return {
    restless,
    async look(): Promise<boolean> {
      restless.clear();
      const { journal } = machine;
      const now = Date.now();
      for (const [key, thread] of folds) {
        fold(thread, await journal.read(key, thread.last));
        const step = decide(thread, {
          now,
          busy: new Set(),
          draining: false,
          showAfterMs: undefined,
        });
        if (step.do !== "wait") restless.set(key, `${step.do} is owed`);
      }
      for await (const { key, leased, dueAt } of journal.list()) {
        const early = dueAt !== undefined && dueAt <= Date.now() + 5_000;
        if (leased) restless.set(key, "still leased");
        else if (early)
          restless.set(key, `${restless.get(key) ?? "nothing is owed"}, due at ${dueAt}`);
      }
      return restless.size === 0;
    },
  };
}
