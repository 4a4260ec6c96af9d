import { expect, test } from "vitest";
import type { Journal } from "../../src/journal/journal.ts";
import type { Snapshot } from "../../src/journal/snapshot.ts";
import { snapshots } from "../../src/worker/thread/snapshot.ts";
import { ANSWER, call, talking } from "../agent/talking.ts";
import { KEY, type Stage, workerOf } from "../fakes/stage.ts";

const ROUNDS = 600;

/** A thread that is long because people talk, in which a card waits for bob. */
async function longThread() {
  const stage = await talking([{ calls: [call("act")] }, ANSWER]);
  await stage.ask("restart web");
  const said = { kind: "message", actor: { account: "test:eve", name: "eve" } } as const;
  for (let i = 0; i < ROUNDS; i++)
    await stage.post({ ...said, id: `talk:${i}`, text: "lunch?", tone: "chatter", address: {} });
  await stage.settle();
  return stage;
}

/** Bob approves, and a worker that does not know the thread takes it up. Returns how many entries it read. */
async function approveElsewhere({ journal, parts, chat, click }: Stage): Promise<number> {
  let read = 0;
  const counting: Journal = {
    ...journal,
    async read(key, after) {
      const found = await journal.read(key, after);
      if (key === KEY) read += found.length;
      return found;
    },
  };
  await click("a1", { kind: "approve" }, "test:bob");
  await workerOf({ ...parts, journal: counting }, chat.adapter).work(KEY);
  return read;
}

async function kept({ journal }: Stage): Promise<Snapshot> {
  const found = await journal.snapshot(KEY, snapshots.version);
  if (found === undefined) throw new Error("there is no snapshot");
  return found;
}

test("a worker that takes up a long thread reads what came since its snapshot, and goes on as if it had read all", async () => {
  const stage = await longThread();
  expect(await approveElsewhere(stage)).toBeLessThan(10);
  expect(stage.act.runs).toEqual(["web"]);
  expect(stage.model.left()).toBe(0);
  expect(stage.chat.answers()).toHaveLength(1);
});

test.each<[string, (stage: Stage) => Promise<void>]>([
  [
    "another version's",
    async (stage) =>
      stage.journal.keepSnapshot(KEY, { ...(await kept(stage)), version: "another" }),
  ],
  [
    "no fold",
    async (stage) =>
      stage.journal.keepSnapshot(KEY, { ...(await kept(stage)), bytes: Buffer.from("theirs") }),
  ],
  [
    "an earlier entry's fold",
    async (stage) => {
      const before = await kept(stage);
      const actor = { account: "test:eve", name: "eve" };
      const said = { text: "hm", tone: "chatter", address: {} } as const;
      await stage.post({ id: "more", kind: "message", actor, ...said });
      const { last = 0, head = "" } = (await stage.journal.summary(KEY)) ?? {};
      await stage.journal.keepSnapshot(KEY, { ...before, last, head });
    },
  ],
  [
    "gone with what was said otherwise",
    async ({ post }) => {
      const actor = { account: "test:eve", name: "eve" };
      await post({ id: "talk:1:edit", kind: "edited", of: "talk:1", actor, text: "dinner?" });
    },
  ],
])("a snapshot that is %s is not used: all entries are read", async (_, change) => {
  const stage = await longThread();
  await change(stage);
  expect(await approveElsewhere(stage)).toBeGreaterThan(ROUNDS);
  expect(stage.act.runs).toEqual(["web"]);
  expect(stage.chat.answers()).toHaveLength(1);
});

test("nothing is kept of a thread once words were taken away in it", async () => {
  const stage = await longThread();
  await stage.post({ id: "talk:1:removed", kind: "removed", of: "talk:1" });
  expect(await approveElsewhere(stage)).toBeGreaterThan(ROUNDS);
  await expect(kept(stage)).rejects.toThrow("no snapshot");
});
