import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { readdirSync, readFileSync } from "node:fs";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Logger, pino } from "pino";
import { approvalPolicy } from "../../src/config/policy.ts";
import type { Adapter } from "../../src/adapters/adapter.ts";
import type { Inbox } from "../../src/adapters/inbox.ts";
import type { View } from "../../src/adapters/view.ts";
import { HELPER_PROMPT, SYSTEM_PROMPT } from "../../src/agent/prompt.ts";
import { hashTerms } from "../../src/core/run-terms.ts";

import { answerCommand } from "../../src/commands/answers.ts";
import { readText } from "../../src/commands/grammar.ts";
import { cleanText } from "../../src/security/sanitize.ts";
import { createEncoder, type Encoder } from "../../src/security/encoder.ts";
import type { JournalKey } from "../../src/core/journal-key.ts";
import { type Ledger } from "../../src/incidents/incident.ts";
import { type AnyCatalog, openCatalog } from "../../src/incidents/catalog.ts";
import { createLedger } from "../../src/incidents/ledger.ts";
import type { Journal } from "../../src/journal/journal.ts";
import { openSqliteJournal } from "../../src/journal/sqlite/journal.ts";
import { toolSpec } from "../../src/tools/input-schema.ts";
import { createNetwork, type Network } from "../../src/net/dial.ts";
import { createDispatcher, type Dispatcher, type DispatchParts } from "../../src/tools/dispatch.ts";
import { createExec } from "../../src/tools/process.ts";
import { createTools } from "../../src/tools/registry.ts";
import type { Tool } from "../../src/tools/tool.ts";
import { loadSkills } from "../../src/skills/load.ts";
import type { Skill } from "../../src/skills/skill.ts";
import { createInbox } from "../../src/worker/thread/inbox.ts";
import { createThreadHandler } from "../../src/worker/thread/thread-handler.ts";
import type { ThreadParts } from "../../src/worker/thread/parts.ts";
import { createWorker, type Worker } from "../../src/worker/worker.ts";
import { createFreezes } from "../../src/team/freezes.ts";
import { type Chat, createChat } from "../fakes/chat.ts";
import { type Files, writeFiles } from "./files.ts";
import { ASKED_FOLDER, DENIED_FOLDER, DENIED_HOST, KNOWN_HOST, RECORD_LINE } from "./goods.ts";
import { BOB } from "./carriers.ts";
import { COMPANY_THREAD, peopleOf } from "./places.ts";
import { createPuppet, type Puppet } from "./puppet.ts";
import { HELD } from "./secrets.ts";
import {
  type Effect,
  INNER,
  PUBLIC,
  type Servers,
  type SocketSpy,
  spyOnSockets,
  startBystander,
  startServers,
  worldTools,
} from "./witness.ts";
import { encoderOf } from "../fakes/encoder.ts";
import { modelsFrom } from "../fakes/models.ts";

/** A part of the defence that a broken world lacks. */
export type Fault =
  | "policy allows everything"
  | "nothing is redacted"
  | "any address is dialed"
  | "every tool is offered"
  | "nothing is cleaned"
  | "guests are members"
  | "runs have no budget"
  | "cards show something else"
  | "what was read may go anywhere"
  | "rules compare spellings"
  | "the model is deaf";

/** In these worlds nothing counts as read from outside: else what they lack would be asked about and denied. */
const TRUSTING: ReadonlySet<Fault | undefined> = new Set<Fault>([
  "what was read may go anywhere",
  "any address is dialed",
  "nothing is redacted",
]);

/** Steps that a run may take here: enough for every attack, and soon over for floods. */
export const STEPS = 8;

/** What one thread's chat was given, in order, also what was later replaced. */
interface Shown {
  chat: Chat;
  told: unknown[];
}

/** A whole bot in a chat channel, but for the platform and the model: all that decides is real. */
export interface World extends Files {
  folder: string;
  inbox: Inbox;
  worker: Worker;
  journal: Journal;
  puppet: Puppet;
  servers: Servers;
  sockets: SocketSpy;
  topics: Map<string, string>;
  effects: Effect[];
  /** Every name that was looked up. */
  lookedUp: string[];
  ledger: Ledger;
  pid: number;
  isPidAlive(): boolean;
  /** What is logged so far. */
  log(): string;
  /** Every byte of the store. */
  stored(): string;
  shownIn(key: JournalKey): Shown;
  close(): Promise<void>;
}

/** Tools that exist in the dispatcher and are offered to no model here. */
export const NOT_OFFERED = "secret_door";

export async function createWorld(fault?: Fault): Promise<World> {
  const folder = await makeFolder();
  const files = await writeFiles(folder);
  const { skills } = await loadSkills([join(folder, "skills")], (text) => text);
  const lookedUp: string[] = [];
  const servers = await startServers();
  const sockets = spyOnSockets();
  const bystander = startBystander();
  const topics = new Map<string, string>();
  const effects: Effect[] = [];
  const puppet = createPuppet({ isDeaf: fault === "the model is deaf" });
  const logged: string[] = [];
  const log: Logger = pino({ level: "trace" }, { write: (line: string) => void logged.push(line) });
  const database = join(folder, "watchkeeper.db");
  const journal = await openSqliteJournal({ path: database });
  const catalog = openCatalog();
  const { adapter, shownIn } = createChannel(fault, log);
  const { inbox, worker, ledger } = await joinParts({
    fault,
    folder,
    skills,
    journal,
    catalog,
    puppet,
    log,
    adapter,
    topics,
    effects,
    lookedUp,
  });
  const saying = {
    actor: BOB,
    thread: COMPANY_THREAD,
    call: "r1.t1",
    link: undefined,
    audience: undefined,
    tenants: "all" as const,
    at: Date.now(),
  };
  await ledger.open(saying, { title: `checkout fails by ${RECORD_LINE}` });
  const gone = new Promise((resolve) => bystander.once("exit", resolve));
  return {
    folder,
    inbox,
    worker,
    journal,
    puppet,
    servers,
    sockets,
    topics,
    effects,
    ...files,
    lookedUp,
    ledger,
    pid: bystander.pid ?? 0,
    isPidAlive: () => bystander.exitCode === null && bystander.signalCode === null,
    log: () => logged.join(""),
    stored: () =>
      readdirSync(folder)
        .filter((name) => name.startsWith("watchkeeper.db"))
        .map((name) => readFileSync(join(folder, name), "utf8"))
        .join("\n"),
    shownIn,
    async close() {
      await worker.stop(1_000);
      await journal.close();
      catalog.clear();
      sockets.remove();
      bystander.kill("SIGKILL");
      await gone;
      await servers.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** In memory where the system has a place for that: the disk's speed is not what is tested. */
async function makeFolder(): Promise<string> {
  const inMemory = await mkdtemp("/dev/shm/watchkeeper-puppet-").catch(() => undefined);
  return inMemory ?? mkdtemp(join(tmpdir(), "watchkeeper-puppet-"));
}

/** A chat of which each thread's part is kept apart. */
function createChannel(fault: Fault | undefined, log: Logger) {
  const threads = new Map<JournalKey, Shown>();
  const shownIn = (key: JournalKey): Shown => {
    const known = threads.get(key) ?? { chat: createChat(), told: [] };
    threads.set(key, known);
    return known;
  };
  const adapter: Adapter = {
    ...createChat().adapter,
    ...peopleOf({ guestsAreMembers: fault === "guests are members" }),
    view(key) {
      const { chat, told } = shownIn(key);
      const view = chat.adapter.view(key);
      return view === undefined
        ? undefined
        : recording(view, fault, (what) => {
            told.push(structuredClone(what));
            if (fault === "nothing is redacted") log.info({ what }, "shown");
          });
    },
  };
  return { adapter, shownIn };
}

/** The view, of which everything that it is given is kept too. */
function recording(view: View, fault: Fault | undefined, tell: (what: unknown) => void): View {
  const keep = <T>(what: T): T => {
    tell(what);
    return what;
  };
  return {
    progress: (update) => view.progress(keep(update)),
    post: (message, delivery) => view.post(keep(message), delivery),
    postPrivately: (to, text, offer) => view.postPrivately(to, keep(text), keep(offer)),
    updateNotice: (ref, notice) => view.updateNotice(ref, keep(notice)),
    postCard: (card, delivery) =>
      view.postCard(
        keep(fault === "cards show something else" ? { ...card, canonical: '{"name":"x"}' } : card),
        delivery,
      ),
    updateCard: (ref, card, said) => view.updateCard(ref, keep(card), said),
    delete: (ref) => view.delete(ref),
  };
}

interface Joined {
  fault: Fault | undefined;
  folder: string;
  skills: readonly Skill[];
  journal: Journal;
  catalog: AnyCatalog;
  puppet: Puppet;
  log: Logger;
  adapter: Adapter;
  topics: Map<string, string>;
  effects: Effect[];
  lookedUp: string[];
}

/** One for all worlds: it keeps a thread. */
const whole = createEncoder(HELD);

/** What takes out secrets and what cannot be seen: the real one, or one that lacks a part of it. */
function encoderWith(fault: Fault | undefined): Encoder {
  if (fault === "nothing is cleaned") return encoderOf(whole.hide, whole.hide, whole);
  if (fault !== "nothing is redacted") return whole;
  const encodeWithin: Encoder["encodeWithin"] = (text, from, to) => text.slice(from, to);
  const encodeCut = cleanText;
  const aside = {
    ...whole.aside,
    encodeWithin: async (text: string, from: number, to: number) => text.slice(from, to),
    encodeCut: async (text: string) => cleanText(text),
  };
  const pieces = { ...whole, held: [], encodeWithin, encodeCut, aside };
  return encoderOf(cleanText, (text) => text, pieces);
}

/** As `assemble.ts` joins them, but for the model and the adapter. */
async function joinParts(parts: Joined) {
  const { fault, folder, skills, journal, puppet, log, adapter, topics, effects, lookedUp } = parts;
  const { catalog } = parts;
  const tools = [
    ...(await createTools(
      { "logs.roots": [join(folder, "logs")], "agent.helpers": true },
      { skills, ledger: () => ledger },
    )),
    ...worldTools(topics, effects),
  ].map((tool) => brokenBy(fault, tool));
  const encoder = encoderWith(fault);
  const offered = tools.filter(
    ({ name }) => fault === "every tool is offered" || name !== NOT_OFFERED,
  );
  const steps = fault === "runs have no budget" ? 5 * STEPS : STEPS;
  const talk = hashTerms({
    model: puppet.id,
    system: SYSTEM_PROMPT,
    tools: offered.map(toolSpec),
    budget: { steps, tokens: 400_000, minutes: 15 },
    maxOutputTokens: 1_000,
    tokensPerDay: Number.MAX_SAFE_INTEGER,
    contextWindow: puppet.contextWindow,
    modes: { helper: { system: HELPER_PROMPT, depth: 2, perRun: 8 } },
  });
  const ledger = createLedger(journal, encoder.encode, { catalog });
  const lookup = createLookup(lookedUp);
  const threads: ThreadParts = {
    journal,
    dispatcher: rulesBlind(fault, {
      host: "puppet",
      tools,
      exec: createExec({ encoder, tmpDir: folder }),
      network:
        fault === "any address is dialed"
          ? uncheckedNetwork(lookup)
          : createNetwork({ allow: [`${PUBLIC}/32`], local: false }, { lookup }),
      encoder,
    }),
    access: { rules: [] },
    freezes: createFreezes(journal),
    policy: approvalPolicy.parse(
      fault === "policy allows everything"
        ? {
            default: { write: "allow" },
            rules: [
              { match: { tool: ["drop_table", "kill_process", "run_command"] }, decide: "allow" },
            ],
          }
        : { rules: rulesOf(folder) },
    ),
    run: {
      direct: (command, thread) =>
        answerCommand(command, thread, { tools, terms: talk, modelProblem: () => undefined }),
      plain: () => "",
      terms: talk,
    },
    encoder,
    models: modelsFrom(async () => puppet),
    log,
    leaseMs: 6_000,
    showAfterMs: 500,
    timezone: undefined,
    personOf: (account) => account,
    wakeAt: () => {},
    adapterOf: () => adapter,
  };
  const handler = createThreadHandler(threads, adapter);
  const worker = createWorker(threads, () => handler);
  const inbox = createInbox({ journal, read: readText, encoder, wake: () => {} });
  return { inbox, worker, ledger };
}

/** What this world's operators deny, want to be asked about and let through. */
function rulesOf(folder: string) {
  const denied = (tool: string, args: Record<string, string>) =>
    ({ match: { tool, args }, decide: "deny" }) as const;
  const inAsked = { path: `${folder}/logs/${ASKED_FOLDER}/*` };
  const known = { url: `http://*.${KNOWN_HOST}:*/*` };
  return [
    { match: { tool: "read_log", args: inAsked }, decide: "ask" as const },
    { match: { tool: "http_check", args: known }, decide: "allow" as const },
    denied("http_check", { url: `http*://${DENIED_HOST}:*/*` }),
    denied("tcp_check", { host: DENIED_HOST }),
    denied("read_log", { path: `${folder}/logs/${DENIED_FOLDER}/*` }),
  ];
}

/** The kinds of a tool's arguments are kept from rules only: without them it could not connect to anything. */
function rulesBlind(fault: Fault | undefined, parts: DispatchParts): Dispatcher {
  const dispatcher = createDispatcher(parts);
  if (fault !== "rules compare spellings") return dispatcher;
  const find = (name: string) => {
    const tool = dispatcher.find(name);
    if (tool === undefined) return undefined;
    const { kinds: _kinds, ...rest } = tool;
    return rest;
  };
  return { ...dispatcher, find };
}

/** A tool without the part that the world lacks. */
function brokenBy(fault: Fault | undefined, tool: Tool): Tool {
  if (TRUSTING.has(fault)) return { ...tool, ours: true };
  if (fault !== "rules compare spellings") return tool;
  const { meant: _meant, pin: _pin, ...rest } = tool;
  const run: Tool["run"] = (input, ctx) =>
    tool.run(input, { ...ctx, permit: async () => undefined });
  return { ...rest, run };
}

/** The names of this world. `rebind.test` is public when it is looked up first, and every second time after. */
function createLookup(lookedUp: string[]) {
  const names: Record<string, string[]> = {
    "metadata.test": ["169.254.169.254"],
    "inner.test": [INNER],
    "localhost.test": ["::1", INNER],
    "two.test": ["169.254.169.254", INNER, "fd00:ec2::254"],
  };
  let asked = 0;
  return async (name: string): Promise<string[]> => {
    lookedUp.push(name);
    if (name === "rebind.test") return [asked++ % 2 === 0 ? PUBLIC : INNER];
    return names[name] ?? (/(?:public|denied|known)\.test\.?$/i.test(name) ? [PUBLIC] : []);
  };
}

type Lookup = ReturnType<typeof createLookup>;

/** What a fetch does. */
function uncheckedNetwork(lookup: Lookup): Network {
  return {
    resolve: lookup,
    dialSocket: () => Promise.reject(new Error("no sockets here")),
    async dial(host, port) {
      const bare = host.replaceAll(/[[\]]/g, "");
      const [address = bare] = await lookup(bare);
      const socket = net.connect({ host: address, port });
      await once(socket, "connect");
      return { socket, address, port, dnsMs: 0, connectMs: 0 };
    },
  };
}

/** Whether somebody made the file. */
export async function isMade(path: string): Promise<boolean> {
  return readFile(path).then(
    () => true,
    () => false,
  );
}
