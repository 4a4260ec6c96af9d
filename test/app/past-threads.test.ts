import { expect, onTestFinished, test } from "vitest";
import { createPastThreads } from "../../src/app/past-threads.ts";
import type { Draft } from "../../src/core/entry.ts";
import type { JournalKey } from "../../src/core/journal-key.ts";
import { openCatalog } from "../../src/incidents/catalog.ts";
import { ASKER } from "../fakes/asker.ts";
import { createChat } from "../fakes/chat.ts";
import { openMemoryJournal } from "../fakes/memory-journal.ts";

const HERE: JournalKey = "slack:T1:C1:1.1";
const standings = { "slack:T1:U0ANA": "member", "slack:T1:U0GUS": "guest" } as const;

/** Threads on Slack, of which channels C1 and C2 are public until `isPrivate` says otherwise. */
async function threads(said: Record<JournalKey, string>) {
  const journal = openMemoryJournal();
  const catalog = openCatalog();
  onTestFinished(async () => (catalog.clear(), journal.close()));
  const { adapter } = createChat({ transport: "slack", standings });
  const channelOf = (key: string) => key.split(":").slice(0, 3).join(":");
  const secret = new Set(["slack:T1:G1", "slack:T1:G2"]);
  adapter.audience = async (key) => (secret.has(channelOf(key)) ? channelOf(key) : undefined);
  adapter.link = (key) => `https://slack/${key}`;
  let posts = 0;
  const say = (key: JournalKey, text: string, id = `msg:${(posts += 1)}`) => {
    const actor = { account: "slack:T1:U0ANA", name: "ana" };
    return journal.post(key, { id, kind: "message", actor, text });
  };
  for (const [key, text] of Object.entries(said)) await say(key as JournalKey, text);
  const append = async (key: JournalKey, draft: Draft<"run_ended" | "view_added">) => {
    const granted = await journal.lease(key, 1_000);
    if (granted === undefined) throw new Error("no lease");
    const { last = 0, head } = (await journal.summary(key)) ?? {};
    const reply = await journal.append(granted.lease, { last, head }, [draft]);
    if (reply.kind === "ok") await journal.release(granted.lease, last + 1);
  };
  const { search } = createPastThreads({
    journal,
    catalog,
    adapters: new Map([["slack", adapter]]),
    encode: (text) => text.replaceAll("hunter2", "[redacted]"),
  });
  const all = (text: string, asker: Partial<typeof ASKER> = {}) =>
    search(
      text,
      {
        ...ASKER,
        key: HERE,
        account: "slack:T1:U0ANA",
        tenants: async () => ["slack:T1"],
        ...asker,
      },
      10,
    );
  return {
    journal,
    all,
    say,
    append,
    secret,
    async find(text: string, place?: string) {
      const found = await all(text, { audience: async () => place });
      return found.map(({ where }) => where.slice("https://slack/".length));
    },
  };
}

test("past threads are found by words in the public channels of the tenant, those of a private place only there", async () => {
  const { find, append, all } = await threads({
    [HERE]: "the disk of db2 is full",
    "slack:T1:C2:2.1": "disk of db2 again?",
    "slack:T1:G1:3.1": "db2 disk, in private",
    "slack:T1:G2:4.1": "db2 disk, elsewhere in private",
    "slack:T2:C1:5.1": "db2 disk of another workspace",
    "slack:T1:C2:6.1": "something else",
  });
  await append("slack:T1:C2:2.1", {
    id: "ended:r1",
    kind: "run_ended",
    run: "r1",
    status: "completed",
    text: "Old backups fill it; hunter2.",
  });
  expect(await find("disk db2")).toEqual(["slack:T1:C2:2.1"]);
  expect(await find("DB2 dis", "slack:T1:G1")).toEqual(["slack:T1:C2:2.1", "slack:T1:G1:3.1"]);
  expect(await find("backups")).toEqual(["slack:T1:C2:2.1"]);
  expect(await find("hunter2")).toEqual([]);
  expect(await find('" OR *')).toEqual([]);
  expect(await all("disk")).toMatchObject([
    { by: "ana", question: "disk of db2 again?", answer: "Old backups fill it; [redacted]." },
  ]);
});

test("what is private by now, was taken away, or is shown in a private place too, is not found any more", async () => {
  const there = "slack:T1:C2:2.1";
  const { find, secret, journal, say, append } = await threads({ [there]: "kafka lag" });
  await say(there, "the lag is gone", "msg:more");
  expect(await find("lag gone")).toEqual([there]);
  secret.add("slack:T1:C2");
  expect(await find("lag")).toEqual([]);
  secret.delete("slack:T1:C2");
  await journal.post(there, { id: "gone", kind: "removed", of: "msg:more" });
  expect([await find("lag gone"), await find("kafka")]).toEqual([[], [there]]);
  await append(there, { id: "view:1", kind: "view_added", view: "slack:T1:G1:9.9" });
  expect([await find("kafka"), await find("kafka", "slack:T1:G1")]).toEqual([[], []]);
});

test("an entry that is dated back, as Redis signs them, is found by the next search", async () => {
  const [there, late] = ["slack:T1:C2:2.1", "slack:T1:C2:3.1"] as const;
  const { find, say, journal } = await threads({ [there]: "kafka lag" });
  const list = journal.list.bind(journal);
  journal.list = async function* ({ prefix = "", since = 0 } = {}) {
    for await (const found of list({ prefix })) {
      const changed = found.changed - (found.key === late ? 5_000 : 0);
      if (changed >= since) yield { ...found, changed };
    }
  };
  expect(await find("kafka")).toEqual([there]);
  await say(late, "kafka again");
  expect(await find("kafka")).toEqual(expect.arrayContaining([there, late]));
});

test("only members search other threads", async () => {
  const { all } = await threads({ "slack:T1:C2:2.1": "kafka lag" });
  await expect(all("kafka", { account: "slack:T1:U0GUS" })).rejects.toMatchObject({
    code: "NOT_AVAILABLE",
  });
});
