import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pino } from "pino";
import type { Adapter } from "../../src/adapters/adapter.ts";
import type { View } from "../../src/adapters/view.ts";
import { UNSEEN } from "../../src/app/unseen.ts";
import { SYSTEM_PROMPT } from "../../src/agent/prompt.ts";
import { approvalPolicy } from "../../src/config/policy.ts";
import { hashTerms } from "../../src/core/run-terms.ts";
import { NO_USAGE } from "../../src/core/block.ts";
import type { Actor, Entry } from "../../src/core/entry.ts";
import { encodeDraft } from "../../src/core/entry-codec.ts";
import type { JournalKey } from "../../src/core/journal-key.ts";
import type { Journal } from "../../src/journal/journal.ts";
import { openMemoryJournal } from "../../test/fakes/memory-journal.ts";
import { openSqliteJournal } from "../../src/journal/sqlite/journal.ts";
import type { Model } from "../../src/models/model.ts";
import { toolSpec } from "../../src/tools/input-schema.ts";
import { createDispatcher } from "../../src/tools/dispatch.ts";
import type { Tool } from "../../src/tools/tool.ts";
import type { ThreadParts } from "../../src/worker/thread/parts.ts";
import { createThreadHandler } from "../../src/worker/thread/thread-handler.ts";
import { createWorker } from "../../src/worker/worker.ts";
import { createFreezes } from "../../src/team/freezes.ts";
import { ABOUT, bytesOf, INPUT, type Peer, QUESTION, type Script, type World } from "./peer.ts";
import { encoderOf } from "../../test/fakes/encoder.ts";
import { modelsFrom } from "../../test/fakes/models.ts";
import { noWorld } from "../../test/fakes/tool-context.ts";

const MODEL = "bench/script";
/** `journal`, `seq`, `at` and `version` of an entry's row, as SQLite packs them (sqlite.org/fileformat2.html#record_format). */
const FIXED_BYTES = 2 + 2 + 6 + 1;

/**
 * The worker on its journal as the program has it: every entry checked and flushed before what follows from it, the day's
 * tokens reserved and settled, policy and the answer's gate on. Only the platform and the redactor are not there.
 */
export async function openOurs(world: World, where: "memory" | "file"): Promise<Peer> {
  const folder = mkdtempSync(join(tmpdir(), "wk-bench-"));
  const path = join(folder, "ours.db");
  const journal = where === "memory" ? openMemoryJournal() : await openSqliteJournal({ path });
  const shared = partsOf(journal, toolsOf(world));
  let names = 0;
  const person = (): Actor => ({ account: `bench:p${++names}`, name: `p${names}` });

  /** By a new worker, so from what is stored. Undefined when another one has the thread or it ends without an answer. */
  async function work(key: JournalKey, script: Script): Promise<string | undefined> {
    let answer: string | undefined;
    const view = viewOf((text) => (answer = text));
    const model = modelOf(script);
    const adapter: Adapter = {
      transport: "bench",
      people: PEOPLE,
      singleOperator: false,
      view,
      audience: async () => undefined,
      tenants: async () => "all",
      channel: async (of) => of,
      link: () => undefined,
    };
    const parts: ThreadParts = {
      ...shared,
      models: modelsFrom(async () => model),
      adapterOf: () => adapter,
    };
    const handler = createThreadHandler(parts, adapter);
    const worker = createWorker(parts, () => handler);
    await worker.work(key);
    return answer;
  }

  async function ask(script: Script) {
    const key: JournalKey = `bench:t${++names}`;
    const id = `m${names}`;
    await journal.post(key, { id, kind: "message", actor: person(), text: QUESTION });
    return { key, answer: await work(key, script) };
  }

  const peer: Peer = {
    run: async (script) => (await ask(script)).answer ?? "",
    async suspend(script) {
      const { key } = await ask(script);
      return {
        bytes: await storedBytes(journal, key),
        async resume(after) {
          const actor = person();
          const choice = { kind: "approve" as const };
          const click = { kind: "click" as const, action: "a1", revision: 1, choice };
          await journal.post(key, { id: `c:${actor.name}`, actor, via: "typed", ...click });
          const answer = await work(key, after);
          if (answer === undefined) throw new Error("somebody else's approval led to the answer");
          return answer;
        },
      };
    },
    async close() {
      await journal.close();
      rmSync(folder, { recursive: true });
    },
  };
  return where === "memory" ? peer : { ...peer, fileBytes: () => fileBytes(path) };
}

function partsOf(
  journal: Journal,
  tools: readonly Tool[],
): Omit<ThreadParts, "models" | "adapterOf"> {
  const same = (text: string) => text;
  return {
    journal,
    dispatcher: createDispatcher({
      tools,
      host: "bench",
      ...noWorld,
      encoder: encoderOf(same),
    }),
    access: { rules: [] },
    freezes: createFreezes(journal),
    policy: approvalPolicy.parse({}),
    run: {
      direct: () => ({ kind: "text", text: "", failed: true }),
      plain: () => "",
      terms: hashTerms({
        model: MODEL,
        system: SYSTEM_PROMPT,
        tools: tools.map(toolSpec),
        budget: { steps: 1_000, tokens: 1e9, minutes: 60 },
        maxOutputTokens: 1_000,
        tokensPerDay: 1e12,
        contextWindow: 1e9,
      }),
    },
    encoder: encoderOf(same),
    personOf: same,
    showAfterMs: 500,
    timezone: undefined,
    log: pino({ level: "silent" }),
    leaseMs: 6_000,
    wakeAt: () => {},
  };
}

function toolsOf(world: World): Tool[] {
  const shared = { input: INPUT, timeoutMs: 5_000 };
  const look: Tool<{ name: string }> = {
    ...shared,
    name: "look",
    description: ABOUT.look,
    effect: "read",
    run: async (input) => ({ text: await world.look(input) }),
  };
  const act: Tool<{ name: string }> = {
    ...shared,
    name: "act",
    description: ABOUT.act,
    effect: "write",
    preview: async ({ name }) => ({
      lines: [{ label: "Service", value: name }],
      blastRadius: `only ${name}`,
      undo: "none",
    }),
    run: async (input) => ({ text: await world.act(input) }),
  };
  return [look, act];
}

const PEOPLE = {
  membership: async () => "member" as const,
  members: async () => undefined,
  everyone: async () => undefined,
  timezone: async () => undefined,
};

function viewOf(onAnswer: (text: string) => void): () => View {
  const view: View = {
    ...UNSEEN,
    async post(message) {
      if (message.kind === "answer") onAnswer(message.text ?? "");
      return "m";
    },
  };
  return () => view;
}

function modelOf(script: Script): Model {
  return {
    id: MODEL,
    contextWindow: 1e9,
    async generate({ turns }, { onDelta }) {
      const line = script.next(turns);
      const usage = { ...NO_USAGE, input: 1, output: 1 };
      if (line.kind === "answer") {
        onDelta?.(line.text);
        return { content: [{ kind: "text", text: line.text }], stop: "end_turn", usage };
      }
      const { id, tool, input } = line;
      const call = { kind: "tool_use" as const, id, name: tool, input: JSON.stringify(input) };
      return { content: [call], stop: "tool_use", usage };
    },
  };
}

/** What the store's rows of the thread's entries hold, without its indexes and page headers. */
async function storedBytes(journal: Journal, key: JournalKey): Promise<number> {
  const entries = (await journal.read(key)) as Entry[];
  const rows = entries.map(({ seq: _seq, at: _at, head: _head, ...draft }) =>
    encodeDraft(draft, "tuple"),
  );
  return rows.reduce(
    (sum, { stored, kind, body }) =>
      sum + FIXED_BYTES + bytesOf(stored) + bytesOf(kind) + bytesOf(body),
    0,
  );
}

/** The file's size with the write-ahead log moved into it. */
function fileBytes(path: string): number {
  const db = new DatabaseSync(path);
  db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  db.close();
  return statSync(path).size;
}
