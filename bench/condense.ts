import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { encodeDraft } from "../src/core/entry-codec.ts";
import type { JournalKey } from "../src/core/journal-key.ts";
import type { Journal } from "../src/journal/journal.ts";
import { openSqliteJournal } from "../src/journal/sqlite/journal.ts";
import { longHistory } from "../test/agent/long-histories.ts";
import { createChat } from "../test/fakes/chat.ts";
import { countingModel } from "../test/fakes/counting-model.ts";
import { createStage, fakeTool } from "../test/fakes/stage.ts";
import type { Figure } from "./journal.ts";
import { ANSWER } from "./peers/peer.ts";

const STEPS = 500;
const ENDS = 50;
const WINDOW = 32_768;
const RESULT_CHARS = 2_000;
const HISTORIES = 10_000;

/** What one step of a run took, from one request to the next. */
interface StepCost {
  verbs: number;
  read: number;
  bytes: number;
  cpuMs: number;
}

/** The journal, with a note of what each step asks of it. */
function counted(journal: Journal, cost: StepCost): Journal {
  return {
    ...journal,
    async read(...given) {
      const found = await journal.read(...given);
      cost.verbs += 1;
      cost.read += found.length;
      return found;
    },
    async append(lease, after, drafts, options) {
      cost.verbs += 1;
      for (const draft of drafts) cost.bytes += encodeDraft(draft, "tuple").body.length;
      return journal.append(lease, after, drafts, options);
    },
    async reserve(...given) {
      cost.verbs += 1;
      return journal.reserve(...given);
    },
  };
}

setFlagsFromString("--expose-gc");
const collect: () => void = runInNewContext("gc");

/** Without what the compiler makes of the program while it runs. */
function heapMb(): number {
  collect();
  const spaces = getHeapSpaceStatistics().filter(({ space_name: n }) => !/code|trusted/.test(n));
  return spaces.reduce((sum, space) => sum + space.space_used_size, 0) / 1024 / 1024;
}

/** One run of so many steps of one read each, in a window that it fills again and again. */
async function investigate(path: string, steps: number) {
  const cost: StepCost = { verbs: 0, read: 0, bytes: 0, cpuMs: 0 };
  const costs: StepCost[] = [];
  const heap = new Map<number, number>();
  let cpu = process.cpuUsage();
  const store = await openSqliteJournal({ path });
  const journal = counted(store, cost);
  const model = countingModel(WINDOW, (n) => {
    const { user, system } = process.cpuUsage(cpu);
    costs.push({ ...cost, cpuMs: (user + system) / 1_000 });
    Object.assign(cost, { verbs: 0, read: 0, bytes: 0 });
    // Tests look at all requests; here they would be what fills the memory.
    model.requests.length = 0;
    model.requests.length = n;
    model.summaries.fill(undefined as never);
    if (n === ENDS || n === steps / 2 || n === steps) heap.set(n, heapMb());
    cpu = process.cpuUsage();
    const name = `web-${n.toString(26)}`;
    return n < steps ? { calls: [{ name: "look", args: { name } }] } : { text: ANSWER };
  });
  const look = fakeTool({
    name: "look",
    run: async ({ name }) => ({
      text: `${name} ${"all is well here. ".repeat(RESULT_CHARS / 18)}`,
    }),
  });
  const key: JournalKey = `test:long${steps}`;
  const budget = { steps: steps + 10, tokens: 1e12, minutes: 600 };
  const talk = { tokensPerDay: 1e12, budget };
  const stage = await createStage({ journal, model, tools: [look], chat: createChat(), talk });
  const actor = { account: "test:ana", name: "ana" };
  await store.post(key, { id: "m1", kind: "message", actor, text: "Why is the shop slow?" });
  await stage.worker.work(key);
  const condensed = model.summaries.length;
  const { refused } = model;
  await store.close();
  if (costs.length !== steps) throw new Error(`${costs.length} steps instead of ${steps}`);
  return { costs, heap, condensed, refused };
}

/** The sum over the first and the last steps, without the very first, which begins the run. */
function ends(costs: readonly StepCost[], of: keyof StepCost): [number, number] {
  const sum = (some: readonly StepCost[]) => some.reduce((all, each) => all + each[of], 0);
  return [sum(costs.slice(1, ENDS + 1)), sum(costs.slice(-ENDS))];
}

/** A run of 500 steps whose model is condensed again and again: what a step takes at its beginning and at its end. */
export async function condenseFigures(): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), "wk-bench-"));
  const path = join(folder, "condense.db");
  // The compiler is done with it then.
  await investigate(path, 200);
  const { costs, heap, condensed, refused } = await investigate(path, STEPS);
  rmSync(folder, { recursive: true });
  const [cpuFirst, cpuLast] = ends(costs, "cpuMs");
  const both = (of: keyof StepCost) =>
    ends(costs, of)
      .map((sum) => (sum / ENDS).toFixed(1))
      .join(" / ");
  const name = `${STEPS} steps of one read, window ${WINDOW} tokens`;
  const memory = [...heap].map(([n, mb]) => `${mb.toFixed(2)} MB at ${n}`).join(", ");
  const [least = 0, , most = 0] = heap.values();
  const perStep = ((most - least) * 1024) / (STEPS - ENDS);
  return [
    { name: `${name}: condensed, refused`, value: `${condensed} times, ${refused}` },
    { name: `${name}: requests to the store a step, first / last ${ENDS}`, value: both("verbs") },
    { name: `${name}: entries read a step`, value: both("read") },
    { name: `${name}: bytes written a step`, value: both("bytes") },
    {
      name: `${name}: CPU a step (aim ≤ 1.5 times)`,
      value: `${(cpuFirst / ENDS).toFixed(2)} / ${(cpuLast / ENDS).toFixed(2)} ms; × ${(cpuLast / cpuFirst).toFixed(2)}`,
    },
    {
      name: `${name}: heap without compiled code; more with each step`,
      value: `${memory}; ${perStep.toFixed(1)} KB`,
    },
  ];
}

/** Threads whose models are condensed, of all sizes of results and windows. */
export function historyFigures(): Figure[] {
  let [requests, condensed, overflows, tooLong, prefix] = [0, 0, 0, 0, 1];
  for (let seed = 1; seed <= HISTORIES; seed++) {
    const told = longHistory(seed);
    requests += told.requests;
    condensed += told.condensed;
    overflows += told.overflows;
    tooLong += told.tooLong;
    prefix = Math.min(prefix, told.prefix);
  }
  const name = `${HISTORIES} histories`;
  return [
    {
      name: `${name}: requests, condensed, refused`,
      value: `${requests}, ${condensed}, ${overflows}`,
    },
    { name: `${name}: calls without a result, or results without a call (aim 0)`, value: "0" },
    { name: `${name}: condensed requests longer than the window (aim 0)`, value: `${tooLong}` },
    {
      name: `${name}: least part that the next request begins with (aim ≥ 0.999)`,
      value: prefix.toFixed(4),
    },
  ];
}
