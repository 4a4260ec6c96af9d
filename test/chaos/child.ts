import { flushCompileCache } from "node:module";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import { pino } from "pino";
import type { ActionCard } from "../../src/adapters/shown.ts";
import type { Adapter } from "../../src/adapters/adapter.ts";
import type { View } from "../../src/adapters/view.ts";
import type { People } from "../../src/core/people.ts";
import { hashTerms } from "../../src/core/run-terms.ts";
import { answerCommand } from "../../src/commands/answers.ts";
import type { JournalKey } from "../../src/core/journal-key.ts";
import { openSqliteJournal } from "../../src/journal/sqlite/journal.ts";
import { toolSpec } from "../../src/tools/input-schema.ts";
import { createDispatcher } from "../../src/tools/dispatch.ts";
import { createInProcessWakeups } from "../../src/wakeups/in-process.ts";
import { createThreadHandler } from "../../src/worker/thread/thread-handler.ts";
import type { ThreadParts } from "../../src/worker/thread/parts.ts";
import { createWorker } from "../../src/worker/worker.ts";
import { createFreezes } from "../../src/team/freezes.ts";
import { type Bug, BUGS, createCross, type Cross, loseSome, trapJournal } from "./faults.ts";
import { createErrandModel, TOKENS_PER_DAY } from "./model.ts";
import type { Trap } from "./plan.ts";
import { cutPower, flushTo } from "./power.ts";
import { seededRandom } from "./random.ts";
import { chaosPolicy, input, witnessTools } from "./tools.ts";
import { openWitness, type Witness } from "./witness.ts";
import { encoderOf } from "../fakes/encoder.ts";
import { modelsFrom } from "../fakes/models.ts";
import { noWorld } from "../fakes/tool-context.ts";

/** One worker process, as `crew.ts` starts it: the product's own store, wake-ups, worker and dispatcher. */
export interface Setup {
  store: string;
  witness: string;
  leaseMs: number;
  sweepMs: number;
  traps: Trap[];
  lost: number;
  seed: number;
  bug: Bug | undefined;
}

/** How long a worker that is told to end waits for its writes. */
const GRACE_MS = 1_000;

const PEOPLE: People = {
  membership: async (account) => {
    if (account === "test:gus") return "guest";
    return ["test:ana", "test:bob", "test:cy"].includes(account) ? "member" : "unknown";
  },
  members: async () => undefined,
  timezone: async () => undefined,
  everyone: async () => ["test:ana", "test:bob", "test:cy", "test:gus"],
};

/** A chat that is the witness's file. A message takes some milliseconds to get there. */
function chatView(key: JournalKey, witness: Witness, cross: Cross): View {
  let refs = 0;
  async function put(point: string, see: (ref: string) => void): Promise<string> {
    await pause(2);
    cross(`before:${point}`);
    refs += 1;
    const ref = `${process.pid}.${performance.now()}.${refs}`;
    see(ref);
    cross(`after:${point}`);
    await pause(1);
    return ref;
  }
  const seen = ({ action, revision, digest, phase, args }: ActionCard) => {
    return { key, action, revision, digest, phase, name: input.parse(args).name };
  };
  return {
    openProgress: () => put("begin", (ref) => witness.see({ what: "begun", key, ref })),
    progress: () => {},
    post: (message, delivery) =>
      put("say", (ref) => {
        const { kind, text = "" } = message;
        witness.see({
          what: "said",
          key,
          ref,
          delivery: delivery.id,
          kind,
          run: kind === "answer" ? message.run : undefined,
          settles: kind === "notice" ? message.settles : undefined,
          asks: kind === "notice" ? message.asks?.call : undefined,
          holds: kind === "notice" ? message.holds : [],
          text: text.slice(0, 300),
        });
      }),
    postPrivately: (to, text) =>
      put("whisper", (ref) => witness.see({ what: "whispered", key, ref, to, text })),
    updateNotice: async (ref, notice) => {
      const gone = notice === undefined;
      await put("amend", () => witness.see({ what: "amended", key, ref, gone }));
    },
    postCard: (card) => put("card", (ref) => witness.see({ what: "carded", ref, ...seen(card) })),
    updateCard: async (ref, card) => {
      await put("settle", () => witness.see({ what: "settled", ref, ...seen(card) }));
    },
    delete: async (ref) => {
      await put("retract", () => witness.see({ what: "retracted", key, ref }));
    },
  };
}

function chatAdapter(witness: Witness, cross: Cross): Adapter {
  return {
    transport: "test",
    people: PEOPLE,
    singleOperator: false,
    view: (key) => chatView(key, witness, cross),
    audience: async () => undefined,
    tenants: async () => "all",
    channel: async (key) => key,
    link: () => undefined,
  };
}

async function main(setup: Setup): Promise<void> {
  const witness = openWitness(setup.witness);
  const cross = createCross(setup.traps, witness, () => cutPower(setup.store));
  const store = await openSqliteJournal({ path: setup.store, sync: flushTo(setup.store) });
  const broken = setup.bug === undefined ? store : BUGS[setup.bug](store, setup.store);
  const trapped = trapJournal(broken, cross, witness);
  const journal = loseSome(trapped, setup.lost, seededRandom(setup.seed));
  const own = new DatabaseSync(setup.store, { readOnly: true });
  const last = own.prepare("SELECT last FROM journal WHERE key = ?");
  const tools = witnessTools({
    witness,
    witnessPath: setup.witness,
    cross,
    lastOf: (key) => Number(last.get(key)?.["last"] ?? 0),
  });
  const adapter = chatAdapter(witness, cross);
  const log = pino({ level: "warn" }, pino.destination({ dest: 2, sync: true }));
  const wakeups = createInProcessWakeups({
    due: () => journal.due(),
    onError: (error, key) => log.error({ err: error, key }, "work on a thread failed"),
    sweepMs: setup.sweepMs,
  });
  const model = createErrandModel({ witness, cross, leaseMs: setup.leaseMs });
  const models = modelsFrom(async () => model);
  const talk = hashTerms({
    model: "chaos/model",
    system: "Do what messages ask for.",
    tools: tools.map(toolSpec),
    budget: { steps: 30, tokens: 1_000_000, minutes: 10 },
    maxOutputTokens: 1_000,
    tokensPerDay: TOKENS_PER_DAY,
    contextWindow: model.contextWindow,
  });
  const parts: ThreadParts = {
    journal,
    dispatcher: createDispatcher({
      host: "chaos",
      tools,
      ...noWorld,
      encoder: encoderOf((text) => text),
    }),
    access: { rules: [] },
    freezes: createFreezes(journal),
    policy: chaosPolicy(),
    run: {
      direct: (command, thread) =>
        answerCommand(command, thread, { tools, terms: talk, modelProblem: () => undefined }),
      plain: (text) => `You said: ${text}`,
      terms: talk,
    },
    encoder: encoderOf((text) => text),
    personOf: (account) => account,
    showAfterMs: 5,
    timezone: undefined,
    models: {
      ...models,
      // Turns say whose they are.
      generate: async (...asked) => ({ ...(await models.generate(...asked)), model: model.id }),
    },
    log,
    leaseMs: setup.leaseMs,
    wakeAt: (key, at) => wakeups.wake(key, at),
    adapterOf: () => adapter,
  };
  const handler = createThreadHandler(parts, adapter);
  const worker = createWorker(parts, () => handler);
  const running = wakeups.start((key) => worker.work(key));
  const stop = async () => {
    await worker.stop(GRACE_MS);
    await running.stop();
    await store.close();
    witness.see({ what: "stopped" });
    process.exit(0);
  };
  process.once("SIGTERM", () => void stop());
  // The parent is gone: nobody would end this process any more.
  process.stdin.on("end", () => process.exit(3)).resume();
  witness.see({ what: "ready" });
  flushCompileCache();
}

await main(JSON.parse(process.argv[2] ?? "{}") as Setup);
