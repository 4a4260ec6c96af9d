import { pino } from "pino";
import { onTestFinished } from "vitest";
import * as z from "zod";
import { accessPolicy, approvalPolicy } from "../../src/config/policy.ts";
import { SYSTEM_PROMPT } from "../../src/agent/prompt.ts";
import { hashTerms, type RunTerms } from "../../src/core/run-terms.ts";
import { createPersonOf, type KnownPerson } from "../../src/core/people.ts";

import { answerCommand } from "../../src/commands/answers.ts";
import { readText } from "../../src/commands/grammar.ts";
import type { Choice, Draft, Entry, PostKind } from "../../src/core/entry.ts";
import { digestStart } from "../../src/adapters/render/button-ids.ts";
import type { Adapter } from "../../src/adapters/adapter.ts";
import type { JournalKey } from "../../src/core/journal-key.ts";
import { fold } from "../../src/thread/fold.ts";
import { Thread } from "../../src/thread/state.ts";
import type { Journal } from "../../src/journal/journal.ts";
import { openMemoryJournal } from "./memory-journal.ts";
import { createChecking } from "../../src/app/checks-parts.ts";
import { checksSchema } from "../../src/checks/schema.ts";
import type { Checking } from "../../src/thread/checking.ts";
import { answerWithoutModel } from "../../src/app/no-model.ts";
import type { Models } from "../../src/models/chain.ts";
import type { Model } from "../../src/models/model.ts";
import { describeInput, toolSpec } from "../../src/tools/input-schema.ts";
import { createDispatcher } from "../../src/tools/dispatch.ts";
import { defineTool, type Tool } from "../../src/tools/tool.ts";
import type { ThreadParts } from "../../src/worker/thread/parts.ts";
import { createThreadHandler } from "../../src/worker/thread/thread-handler.ts";
import { createWorker, type Worker } from "../../src/worker/worker.ts";
import { createOps } from "../../src/team/ops.ts";
import { createFreezes } from "../../src/team/freezes.ts";
import { type Chat, createChat } from "./chat.ts";
import { encoderOf } from "./encoder.ts";
import { modelsFrom } from "./models.ts";
import { noWorld } from "./tool-context.ts";

export const KEY: JournalKey = "test:thread";

/** A tool that does what the test says and counts what it did. */
export function fakeTool(
  changes: Partial<Tool<{ name: string }>> & { name: string },
): Tool & { runs: string[] } {
  const runs: string[] = [];
  const tool = defineTool({
    description: `The fake ${changes.name}.`,
    input: z.strictObject({ name: z.string() }),
    effect: "read" as const,
    timeoutMs: 5_000,
    preview: async ({ name }: { name: string }) => ({
      lines: [{ label: "Target", value: name }],
      blastRadius: `only ${name}`,
      undo: "none",
    }),
    ...changes,
    run: async (input: { name: string }, ctx) => {
      runs.push(input.name);
      return changes.run === undefined ? { text: `did ${input.name}` } : changes.run(input, ctx);
    },
  });
  return { ...(tool as Tool), runs };
}

export interface StageOptions {
  tools?: Tool[];
  approvals?: z.input<typeof approvalPolicy>;
  /** Hosts that the configuration knows. */
  network?: string[];
  access?: z.input<typeof accessPolicy>;
  chat?: Chat;
  /** Another platform's, for threads that are shown there too. */
  other?: Chat;
  /** A real platform's, in place of the chat. */
  adapter?: Adapter;
  journal?: Journal;
  now?: () => number;
  leaseMs?: number;
  lookUpMs?: number;
  showAfterMs?: number;
  /** The machine that it runs on. Default: `stage`. */
  host?: string;
  /** No other machine can take up its threads. */
  isLocal?: boolean;
  /** What answers plain language; without it nothing does. */
  model?: Model;
  /** Which model is really asked. Default: that one, whatever became of it before. */
  models?: Models;
  talk?: Partial<RunTerms>;
  /** What goals begin with. Default: they are off. */
  goals?: NonNullable<ThreadParts["run"]["goals"]>;
  /** What models cost. Default: no money is counted. */
  priceOf?: ThreadParts["priceOf"];
  people?: KnownPerson[];
  /** The operations channel. */
  ops?: string;
  /** Skills with checks, by their names. */
  skills?: Readonly<Record<string, z.input<typeof checksSchema>>>;
  /** The checks of whole skills, in place of `skills`. */
  checking?: Checking;
  /** Checks look before the model is asked. Default: they do not. */
  firstLook?: boolean;
  /** What was broken is looked at again so long after an action. */
  verifyAfterMs?: number;
  /** What is kept of threads and told to runs. */
  memory?: ThreadParts["memory"];
  /** The records of incidents. */
  ledger?: ThreadParts["ledger"];
  /** Takes secrets out. Default: there are none. */
  hide?: (text: string) => string;
  /** What outgoing text passes. Default: `hide`. */
  encode?: (text: string) => string;
}

export interface Stage {
  chat: Chat;
  journal: Journal;
  worker: Worker;
  parts: ThreadParts;
  /** Posts a typed text, or a raw post, as `account`. Returns the entry's id. */
  say(text: string, account?: string): Promise<string>;
  click(action: string, choice: Choice, account?: string, revision?: number): Promise<void>;
  post(draft: Draft<PostKind>): Promise<void>;
  /** Works on the thread until nothing is owed now. */
  settle(): Promise<void>;
  entries(): Promise<Entry[]>;
  kinds(): Promise<string[]>;
  thread(): Promise<Thread>;
}

function checkingOf(
  given: NonNullable<StageOptions["skills"]>,
  { tools = [], firstLook = false, verifyAfterMs }: StageOptions,
): Checking {
  const skills = Object.entries(given).map(([name, checks]) => ({
    name,
    description: "",
    body: "",
    folder: "",
    checks: checksSchema.parse(checks),
    files: async () => [],
    read: async () => "",
  }));
  return createChecking({ skills: () => skills, tools: () => tools, firstLook, verifyAfterMs });
}

/** A worker of threads, all of them this adapter's. */
export function workerOf(parts: ThreadParts, adapter: Adapter): Worker {
  const handler = createThreadHandler(parts, adapter);
  return createWorker(parts, () => handler);
}

/** A whole bot but for the platform: real store, real worker, a chat in memory. */
export async function createStage(options: StageOptions = {}): Promise<Stage> {
  const chat = options.chat ?? createChat();
  const clock = options.now === undefined ? {} : { now: options.now };
  const journal = options.journal ?? openMemoryJournal(clock);
  if (options.journal === undefined) onTestFinished(() => journal.close().catch(() => undefined));
  const tools = options.tools ?? [];
  const hide = options.hide ?? ((text) => text);
  const encode = options.encode ?? hide;
  const encoder = encoderOf(encode, hide);
  const { model } = options;
  const talk: RunTerms | undefined =
    model &&
    hashTerms({
      model: model.id,
      system: SYSTEM_PROMPT,
      tools: tools.map(toolSpec),
      budget: { steps: 30, tokens: 400_000, minutes: 15 },
      maxOutputTokens: 1_000,
      tokensPerDay: 5_000_000,
      contextWindow: model.contextWindow,
      ...options.talk,
    });
  const checks = options.checking ?? (options.skills && checkingOf(options.skills, options));
  const given = options.adapter ?? chat.adapter;
  const adapter = options.isLocal === true ? { ...given, isLocal: true } : given;
  const parts: ThreadParts = {
    journal,
    dispatcher: createDispatcher({
      tools,
      host: options.host ?? "stage",
      ...noWorld,
      encoder,
    }),
    policy: approvalPolicy.parse(options.approvals ?? {}),
    network: options.network ?? [],
    access: accessPolicy.parse(options.access ?? {}),
    freezes: createFreezes(journal),
    ...(options.memory !== undefined && { memory: options.memory }),
    ...(options.ledger !== undefined && { ledger: options.ledger }),
    ...(options.priceOf !== undefined && { priceOf: options.priceOf }),
    ops: createOps({ journal, channel: options.ops, wake: () => {} }),
    run: {
      direct: (command, thread, frozen) =>
        answerCommand(command, thread, {
          tools,
          terms: talk,
          modelProblem: () => undefined,
          frozen,
        }),
      ...(checks !== undefined && { checks }),
      ...(options.goals !== undefined && { goals: options.goals }),
      plain: (text) => answerWithoutModel(text, tools, describeInput),
      terms: talk,
    },
    encoder,
    models:
      options.models ??
      modelsFrom(async (id) => {
        if (model?.id === id) return model;
        throw new Error(`there is no model ${id} on this stage`);
      }),
    log: pino({ level: "silent" }),
    leaseMs: options.leaseMs ?? 2_000,
    ...(options.lookUpMs !== undefined && { lookUpMs: options.lookUpMs }),
    showAfterMs: options.showAfterMs ?? 500,
    timezone: undefined,
    wakeAt: () => {},
    adapterOf: (transport) =>
      transport === options.other?.adapter.transport ? options.other.adapter : adapter,
    personOf: createPersonOf(options.people ?? []),
  };
  const worker = workerOf(parts, adapter);
  let posts = 0;
  const post = async (draft: Draft<PostKind>) => void (await journal.post(KEY, draft));
  const entries = async () => (await journal.read(KEY)) as Entry[];
  const actorOf = (account: string) => ({ account, name: account.replace("test:", "") });
  return {
    chat,
    journal,
    worker,
    parts,
    post,
    entries,
    async say(text, account = "test:ana") {
      const id = `msg:${++posts}`;
      const reading = readText(text);
      const actor = actorOf(account);
      if (reading.kind === "message") await post({ id, kind: "message", actor, text });
      else if (reading.kind === "command") {
        await post({ id, kind: "command", actor, text, command: reading.command });
      } else if (reading.kind === "stop") await post({ id, kind: "stop", actor });
      else await post({ id, actor, via: "typed", ...reading });
      return id;
    },
    async click(action, choice, account = "test:ana", revision = 1) {
      const shown = fold(new Thread(), await journal.read(KEY)).actions.get(action)?.proposal;
      const meant = choice.kind === "approve" && choice.grants ? shown?.offer : shown;
      const digest =
        meant === undefined || shown?.revision !== revision ? undefined : digestStart(meant.digest);
      await post({
        id: `click:${++posts}`,
        kind: "click",
        actor: actorOf(account),
        action,
        revision,
        choice,
        via: "button",
        ...(digest !== undefined && { digest }),
      });
    },
    settle: () => worker.work(KEY),
    kinds: async () => (await entries()).map((entry) => entry.kind),
    thread: async () => fold(new Thread(), await journal.read(KEY)),
  };
}
