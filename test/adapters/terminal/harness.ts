import { PassThrough } from "node:stream";
import * as z from "zod";
import type { ActionCard, CallOutput, Outgoing } from "../../../src/adapters/shown.ts";
import type { HistoryItem, Queries, ThreadSummary } from "../../../src/adapters/queries.ts";
import type { Inbound } from "../../../src/adapters/inbox.ts";
import type { TerminalView } from "../../../src/adapters/terminal/view.ts";
import { createTerminal } from "../../../src/adapters/terminal/adapter.ts";
import type { JournalKey } from "../../../src/core/journal-key.ts";
import { editFields, readEdit } from "../../../src/tools/edit-form.ts";
import { defineTool, type Tool } from "../../../src/tools/tool.ts";
import { until } from "../../until.ts";
import { createGlass } from "./glass.ts";

export { until };

type Answer = Extract<Outgoing, { kind: "answer" }>;
type Notice = Extract<Outgoing, { kind: "notice" }>;

export const HERE: JournalKey = "terminal:3f2a91c4-1111-4111-8111-111111111111";
export const THERE: JournalKey = "terminal:77aa00bb-2222-4222-8222-222222222222";

/** Half past two in the night, local time. */
export const NIGHT = new Date(2026, 10, 21, 2, 30).getTime();

/** A destructive action that waits for approval. */
export function killCard(changes: Partial<ActionCard> = {}): ActionCard {
  const args = changes.args ?? { pid: 4242, signal: "SIGTERM" };
  return {
    key: HERE,
    action: "a1",
    revision: 1,
    tool: "kill_process",
    effect: "destructive",
    host: undefined,
    args,
    canonical: JSON.stringify(args),
    digest: "0f".repeat(32),
    reason: "it hangs and holds the lock",
    preview: {
      lines: [
        { label: "Process", value: "nginx: worker process (www-data)" },
        { label: "Listens on", value: "0.0.0.0:80, 0.0.0.0:443" },
      ],
      blastRadius: "2 open client connections are cut.",
      undo: "None: a killed process does not come back by itself.",
    },
    phase: "open",
    approvers: "anyone in this thread",
    quorum: 1,
    votes: [],
    expiresAt: NIGHT + 60 * 60_000,
    ending: undefined,
    ...changes,
  };
}

export function answerOf(run: string, text: string): Answer {
  const result = { call: `${run}.t1`, tool: "http_check", args: { url: "http://a/" }, text };
  const results = [
    { ...result, outcome: "ok" as const, artifacts: [], findings: [], gaps: [], ms: 34 },
  ];
  return { kind: "answer", run, status: "completed", text: undefined, results, isModelRun: false };
}

/** A model's answer, whose run has made `calls` calls. */
export function talkOf(
  run: string,
  text: string,
  calls = 1,
  status: Answer["status"] = "completed",
): Answer {
  const results = Array.from({ length: calls }, (_, at) => ({
    call: `${run}.t${at + 1}`,
    tool: "http_check",
    args: { url: `http://a/${at + 1}` },
    outcome: "ok" as const,
    text: `output ${at + 1}`,
    artifacts: [],
    findings: [],
    gaps: [],
    ms: 34,
  }));
  return { kind: "answer", run, status, text, results, isModelRun: true };
}

export function noticeOf(text: string, changes: Partial<Notice> = {}): Notice {
  return { kind: "notice", text, settles: undefined, asks: undefined, holds: [], ...changes };
}

export function summary(changes: Partial<ThreadSummary> = {}): ThreadSummary {
  const thread = { key: HERE, lastAt: NIGHT - 65_000, title: "run http_check", openActions: [] };
  const idle = { questions: [], open: false, unsettled: false, leased: false };
  const gaps = { calls: 0, helps: [] };
  return { ...thread, ...idle, gaps, ...changes };
}

interface World {
  threads: ThreadSummary[];
  history: Map<JournalKey, HistoryItem[]>;
  open: ActionCard[];
  /** What calls returned, by what the person types. */
  outputs?: Map<string, CallOutput>;
  /** How often the threads were asked for. */
  looks?: number;
}

/** What the killing card is of. */
const KILL = defineTool({
  name: "kill_process",
  description: "Sends a signal to a process.",
  input: z.strictObject({
    pid: z.int().min(1),
    signal: z.enum(["SIGTERM", "SIGKILL"]).default("SIGTERM"),
    force: z.boolean().optional(),
    tags: z.array(z.string()).optional(),
    started: z.string().optional().meta({ internal: true }),
  }),
  effect: "destructive",
  timeoutMs: 1_000,
  run: async () => ({ text: "" }),
}) as Tool;

export function queriesOf(world: World): Queries {
  return {
    async *threads(prefix) {
      world.looks = (world.looks ?? 0) + 1;
      yield* world.threads.filter(({ key }) => key.startsWith(prefix));
    },
    async thread(key) {
      world.looks = (world.looks ?? 0) + 1;
      return world.threads.find((each) => each.key === key);
    },
    isSaid: async () => false,
    beginnings: async () => [],
    quoted: async () => undefined,
    isPosted: async () => false,
    recent: async () => [],
    isKnown: async (key) => world.threads.some((each) => each.key === key),
    action: async (key, action) =>
      world.open.find((each) => each.key === key && each.action === action),
    alerts: async () => undefined,
    incident: async () => undefined,
    answer: async () => undefined,
    output: async (_key, call) => world.outputs?.get(call),
    editForm: async (_key, action) => {
      const card = world.open.find((each) => each.action === action) ?? killCard();
      return { action, revision: card.revision, fields: editFields(KILL, card.args) };
    },
    checkEdit: async (_key, { action, written }) => {
      const card = world.open.find((each) => each.action === action) ?? killCard();
      return readEdit(KILL, editFields(KILL, card.args), written);
    },
    history: async (key) => world.history.get(key) ?? [],
    async *openActions() {
      yield* world.open;
    },
    tools: () => [
      { name: "http_check", description: "Checks a URL.", effect: "read" },
      {
        name: "kill_process",
        description: "Sends a signal to a process.",
        effect: "destructive",
      },
    ],
  };
}

interface Setup {
  interactive?: boolean;
  columns?: number;
  color?: boolean;
  world?: Partial<World>;
  /** Instead of taking what is posted. */
  refuse?: () => Error | undefined;
}

/** A person at a terminal with one thread open; nothing but the streams, the inbox and the queries is pretended. */
export function sitDown(setup: Setup = {}) {
  const { interactive = true, columns = 80, color = false } = setup;
  const input = new PassThrough();
  const output = Object.assign(new PassThrough(), { columns, rows: 40 });
  const glass = createGlass(columns);
  output.on("data", (bytes: Buffer) => glass.write(bytes.toString()));
  const world: World = { threads: [], history: new Map(), open: [], ...setup.world };
  const posts: { key: JournalKey; id: string; inbound: Inbound }[] = [];
  const clock = { now: NIGHT };
  const inbox = {
    async post(key: JournalKey, id: string, inbound: Inbound): Promise<void> {
      const error = setup.refuse?.();
      if (error !== undefined) throw error;
      posts.push({ key, id, inbound });
    },
  };
  const terminal = createTerminal({
    input,
    output,
    color,
    interactive,
    account: "terminal:root",
    name: "root",
    folder: process.cwd(),
    now: () => clock.now,
  });
  const parts = { inbox, queries: queriesOf(world) };

  return {
    terminal,
    input,
    output,
    world,
    posts,
    clock,
    /** What the person sees, all that scrolled away included. */
    see: () => glass.text(),
    /** Everything written, escape sequences and all. */
    raw: () => glass.raw(),
    open: (key: JournalKey = HERE) => terminal.open(key, parts),
    /** Waits until the opened thread is on the screen. */
    settled: () => until(() => /Watchkeeper[^]*\n›$/.test(glass.text())),
    type: (text: string) => input.write(text),
    view(key: JournalKey = HERE): TerminalView {
      const view = terminal.view(key);
      if (view === undefined) throw new Error(`No view of ${key}`);
      return view;
    },
    clicks: () => posts.map((each) => each.inbound).filter((each) => each.kind === "click"),
    texts: () => posts.flatMap(({ inbound }) => (inbound.kind === "text" ? [inbound.text] : [])),
  };
}
