import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Entry } from "../../src/core/entry.ts";
import type { JournalKey } from "../../src/core/journal-key.ts";
import { createLedger } from "../fakes/ledger.ts";
import type { Journal } from "../../src/journal/journal.ts";
import { openRedisJournal } from "../../src/journal/redis/journal.ts";
import { openSqliteJournal } from "../../src/journal/sqlite/journal.ts";
import { createIncidentUpdate } from "../../src/tools/incidents/record-tools.ts";
import { createChat } from "../fakes/chat.ts";
import { Program } from "../fakes/program.ts";
import { RedisServer } from "../fakes/redis-server.ts";
import { createStage, KEY } from "../fakes/stage.ts";

/**
 * Stores as the programs of these versions left them after an evening: a model's answer, an incident, an approved, a denied
 * and an open command in one thread, an open note on the incident in another. Never changed: whoever upgrades has them.
 */
const VERSIONS = [
  { version: "0.3", time: /\b179538\d{7}\b/g, thread: "42c9c8d6", told: "it is not graded" },
  { version: "0.4", time: /\b17954\d{8}\b/g, thread: "e94c2a26", told: "the disk is not full" },
] as const;
type Older = (typeof VERSIONS)[number];

const read = (name: string) => readFileSync(join(import.meta.dirname, "../journal", name), "utf8");
const SECRET = "a secret of the tests, 32 long or more";
const ANA = { account: "terminal:root", name: "root" };

/** Some minutes later, before its cards expire. */
const later = (dump: string, time: RegExp) =>
  Math.max(...Array.from(dump.matchAll(time), ([ms]) => Number(ms))) - 1_000_000;

function restoreFile(path: string, { version }: Older): void {
  const db = new DatabaseSync(path);
  db.exec(read(`store-${version}.sql`));
  db.close();
}

async function openFile(older: Older): Promise<Journal> {
  const folder = mkdtempSync(join(tmpdir(), "wk-older-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "watchkeeper.db");
  restoreFile(path, older);
  const now = later(read(`store-${older.version}.sql`), older.time);
  return openSqliteJournal({ path, now: () => now });
}

async function openRedis({ version, time }: Older): Promise<Journal> {
  const server = await RedisServer.start();
  onTestFinished(() => server.stop());
  const dump = read(`store-${version}-redis.json`);
  for (const command of JSON.parse(dump) as string[][]) server.cli(...command);
  const now = later(dump, time);
  return openRedisJournal({ address: server.address, secret: SECRET, now: () => now });
}

async function keysOf(journal: Journal, prefix: string): Promise<JournalKey[]> {
  const keys: JournalKey[] = [];
  for await (const { key } of journal.list({ prefix })) keys.push(key);
  return keys;
}

const STORES = [
  { store: "SQLite", open: openFile },
  { store: "Redis", open: openRedis },
];
const ALL = VERSIONS.flatMap((older) => STORES.map((store) => ({ ...store, ...older, older })));

test.each(ALL)(
  "$store: $version's open cards are decided, and its threads and incidents go on",
  async ({ open, older }) => {
    const journal = await open(older);
    onTestFinished(() => journal.close());
    const chat = createChat({ standings: { [ANA.account]: "member" } });
    const view = chat.adapter.view(KEY);
    const ledger = createLedger(journal);
    const stage = await createStage({
      journal,
      chat,
      tools: [createIncidentUpdate(() => ledger)],
      adapter: { ...chat.adapter, transport: "terminal", singleOperator: true, view: () => view },
      approvals: { rules: [{ match: { tool: "incident_update" }, decide: "ask" }] },
    });
    const keys = await keysOf(journal, "terminal:");
    const [noted = KEY] = keys;
    const talked = keys.at(-1) ?? KEY;
    const decide = async (key: JournalKey, action: string, approve: boolean) => {
      const before = (await journal.read(key)).length;
      const choice = { kind: approve ? "approve" : "deny" } as const;
      const click = {
        kind: "click",
        actor: ANA,
        action,
        revision: 1,
        choice,
        via: "typed",
      } as const;
      await journal.post(key, { id: `click:${action}`, ...click });
      await stage.worker.work(key);
      return (await journal.read(key)).slice(before) as Entry[];
    };
    // The tool has another form by now, so it is asked about as it is.
    expect(await decide(noted, "a1", true)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ kind: "vote", approve: true }),
        expect.objectContaining({ kind: "action_closed", action: "a1", outcome: "void" }),
      ]),
    );
    expect(await decide(noted, "a2", true)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ kind: "vote", approve: true }),
        expect.objectContaining({ kind: "tool_finished", outcome: "ok" }),
      ]),
    );
    const [incident = KEY] = await keysOf(journal, "incident:");
    expect((await journal.read(incident)).at(-1)).toMatchObject({
      change: { note: "the deploy is rolled back" },
      head: expect.any(String),
    });
    expect(await decide(talked, "a3", false)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ kind: "action_closed", outcome: "denied" }),
      ]),
    );
    const help = { id: "help", kind: "command", actor: ANA, text: "help" } as const;
    await journal.post(talked, { ...help, command: { name: "help" } });
    await stage.worker.work(talked);
    expect((await journal.read(talked)).findLast(({ kind }) => kind === "run_ended")).toMatchObject(
      {
        status: "completed",
      },
    );
    expect(await journal.check()).toBeUndefined();
  },
);

test.each(VERSIONS)(
  "the program opens $version's store, goes on in its thread and tells the whole of it",
  async (older) => {
    const program = new Program();
    onTestFinished(() => program.remove());
    await program.run(["ask", "help"]);
    rmSync(program.store);
    restoreFile(program.store, older);
    const said = await program.run(["--thread", older.thread], "cost\n");
    expect(said).toMatchObject({ code: 0 });
    const trace = await program.run(["trace", older.thread]);
    expect(trace.out).toContain(older.told);
    expect(trace.out).toMatch(/ command .* text=cost /);
    expect((await program.run(["audit", "--verify"])).code).toBe(0);
  },
);
