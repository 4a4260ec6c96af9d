import { expect, onTestFinished, test } from "vitest";
import type { Draft } from "../../src/core/entry.ts";
import { BotError } from "../../src/core/errors.ts";
import type { Incident, Ledger } from "../../src/incidents/incident.ts";
import { createLedger } from "../fakes/ledger.ts";
import { openMemoryJournal } from "../fakes/memory-journal.ts";
import { createStage, fakeTool, KEY, workerOf } from "../fakes/stage.ts";

const MINUTE = 60_000;
const START = Date.parse("2026-11-20T12:00:00Z");
const GROUP = { of: "alerts:test:C1", group: "g1.0" };

/** A thread with an incident; `restart` needs Bob's yes and is looked at again after 5 minutes. */
async function createScene({
  verdict = "done",
  opens = true,
}: { verdict?: "done" | "not done"; opens?: boolean } = {}) {
  const clock = { now: START };
  const journal = openMemoryJournal({ now: () => clock.now });
  onTestFinished(() => journal.close());
  const ledger = createLedger(journal);
  const restart = fakeTool({
    name: "restart",
    effect: "write",
    verifyLater: {
      afterMs: 5 * MINUTE,
      check: async () => ({ verdict, evidence: "seen" }),
    },
  });
  const stage = await createStage({ tools: [restart], journal, ledger });
  const open = () =>
    ledger.open(
      {
        actor: { account: "test:ana", name: "Ana" },
        thread: KEY,
        call: "r0.t1",
        link: undefined,
        audience: undefined,
        tenants: ["test"],
        at: clock.now,
      },
      { title: "Checkout fails" },
    );
  const id = opens ? (await open()).id : "";
  const alert = (
    last: number,
    changes: Partial<Draft<"alert_state">> = {},
    place: { of: string; group: string } = GROUP,
  ): Promise<void> =>
    stage.post({
      id: `alert:${place.of}:${place.group}@${last}`,
      kind: "alert_state",
      ...place,
      last,
      name: "HighLatency",
      firing: 1,
      acknowledged: 0,
      resolved: 0,
      told: last,
      folded: [],
      startedAt: START - 10 * MINUTE,
      alerts: [],
      ...changes,
    });
  const get = (of = id): Promise<Incident> =>
    ledger.get(of, { audience: undefined, tenants: ["test"] });
  return { ...stage, clock, ledger, id, open, alert, get };
}

type Scene = Awaited<ReturnType<typeof createScene>>;

async function restarted({ say, click, settle, clock }: Scene): Promise<void> {
  await say("run restart name=api");
  await settle();
  clock.now += MINUTE;
  await click("a1", { kind: "approve" }, "test:bob");
  await settle();
}

test("alerts of an incident's thread are written into its record: since when, who knew, and that it is over", async () => {
  const scene = await createScene();
  const { alert, settle, get, clock } = scene;
  await alert(1);
  await settle();
  expect(await get()).toMatchObject({
    startedAt: START - 10 * MINUTE,
    detectedAt: START - 10 * MINUTE,
    known: { startedAt: "alert", detectedAt: "alert" },
    alerts: [{ ...GROUP, name: "HighLatency" }],
    status: "open",
  });
  clock.now += 2 * MINUTE;
  await alert(2, { firing: 0, acknowledged: 1 });
  await settle();
  clock.now += 8 * MINUTE;
  await alert(3, { firing: 0, resolved: 1, overAt: clock.now });
  await settle();
  expect(await get()).toMatchObject({
    acknowledgedAt: START + 2 * MINUTE,
    mitigatedAt: START + 10 * MINUTE,
    status: "mitigated",
    known: { acknowledgedAt: "alert", mitigatedAt: "alert" },
    spells: [
      { status: "open", from: START - 10 * MINUTE },
      { status: "mitigated", from: START + 10 * MINUTE },
    ],
  });
  // It fires again.
  clock.now += MINUTE;
  await alert(4);
  await settle();
  expect(await get()).toMatchObject({ status: "open", mitigatedAt: undefined });
  const { history } = await get();
  expect(history.slice(1).every(({ actor }) => actor.name === "Watchkeeper")).toBe(true);
});

test("what people said stays: an alert that says otherwise is recorded, and changes no time of theirs", async () => {
  const { alert, settle, get, ledger, id, clock } = await createScene();
  clock.now += MINUTE;
  const saying = {
    actor: { account: "test:ana", name: "Ana" },
    thread: KEY,
    call: "r0.t2",
    link: undefined,
    audience: undefined,
    tenants: ["test"],
    at: clock.now,
  };
  await ledger.update(saying, id, { startedAt: START - MINUTE, detectedAt: START });
  await alert(1);
  await settle();
  expect(await get()).toMatchObject({
    startedAt: START - MINUTE,
    detectedAt: START,
    known: { startedAt: "said", detectedAt: "said" },
    alerts: [{ startedAt: START - 10 * MINUTE }],
  });
});

test("told again without anything new, an alert changes no record", async () => {
  const { alert, settle, get } = await createScene();
  await alert(1);
  await settle();
  const { history } = await get();
  await alert(2, { told: 17 });
  await settle();
  expect((await get()).history).toHaveLength(history.length);
});

test("an approved action is recorded with who approved it and its end, and what was seen afterwards", async () => {
  const scene = await createScene();
  await restarted(scene);
  const { get, clock, settle } = scene;
  expect(await get()).toMatchObject({
    acknowledgedAt: START + MINUTE,
    known: { acknowledgedAt: "action" },
    status: "open",
    acted: [
      {
        action: "a1",
        tool: "restart",
        outcome: "ok",
        endedAt: START + MINUTE,
        votes: [{ name: "bob", at: START + MINUTE, approve: true }],
      },
    ],
  });
  clock.now += 5 * MINUTE;
  await settle();
  await settle();
  expect(await get()).toMatchObject({
    acted: [{ action: "a1", outcome: "ok", verified: "fixed", verifiedAt: START + 6 * MINUTE }],
    status: "mitigated",
    mitigatedAt: START + 6 * MINUTE,
    known: { mitigatedAt: "verify" },
  });
});

test("an action that fixed nothing mitigates nothing, and one that is said to have while the alert fires neither", async () => {
  for (const scene of [await createScene({ verdict: "not done" }), await createScene()]) {
    const { get, clock, settle, alert } = scene;
    await alert(1);
    await restarted(scene);
    clock.now += 5 * MINUTE;
    await settle();
    await settle();
    const { acted, status, mitigatedAt } = await get();
    expect(acted[0]?.verified).toMatch(/fixed/);
    expect([status, mitigatedAt]).toEqual(["open", undefined]);
  }
});

test("an incident that is opened afterwards is told of the alerts and actions of its thread", async () => {
  const scene = await createScene({ opens: false });
  const { alert, settle, clock, open, get } = scene;
  await alert(1);
  await restarted(scene);
  clock.now += MINUTE;
  const { id } = await open();
  await settle();
  expect(await get(id)).toMatchObject({
    startedAt: START - 10 * MINUTE,
    alerts: [GROUP],
    acted: [{ action: "a1", outcome: "ok" }],
  });
});

test("a worker that dies on the way leaves nothing out and nothing twice", async () => {
  const scene = await createScene();
  const { alert, settle, get, parts, chat, ledger } = scene;
  let left = 1;
  const failing: Pick<Ledger, "happened"> = {
    async happened(...told) {
      await ledger.happened(...told);
      if (left-- > 0) throw new BotError("STORE_UNAVAILABLE", "gone after it was written");
    },
  };
  await alert(1);
  const first = workerOf({ ...parts, ledger: failing }, chat.adapter);
  await first.work(KEY).catch(() => undefined);
  scene.clock.now += MINUTE;
  await settle();
  const { history } = await get();
  expect(history.filter(({ change }) => change.alert !== undefined)).toHaveLength(1);
  expect((await scene.thread()).record.owed.size).toBe(0);
});

test("of an incident that is over nothing is recorded that began afterwards", async () => {
  const { alert, settle, get, ledger, id, clock } = await createScene();
  const saying = {
    actor: { account: "test:ana", name: "Ana" },
    thread: KEY,
    call: "r0.t2",
    link: undefined,
    audience: undefined,
    tenants: ["test"],
    at: clock.now,
  };
  await ledger.resolve(saying, id, {});
  clock.now += 30 * MINUTE;
  await alert(1, { startedAt: clock.now });
  await settle();
  expect((await get()).alerts).toEqual([]);
});

test("which systems told of an alert is in its record, also of one that joins it later", async () => {
  const { alert, settle, get } = await createScene();
  const sources = async () => (await get()).alerts.map((each) => each.sources);
  await alert(1, { sources: ["alertmanager"] });
  await settle();
  expect(await sources()).toEqual([["alertmanager"]]);
  const before = (await get()).history.length;
  await alert(2, { sources: ["alertmanager"] });
  await settle();
  expect((await get()).history).toHaveLength(before);
  await alert(3, { sources: ["pagerduty"] });
  await settle();
  expect(await sources()).toEqual([["alertmanager", "pagerduty"]]);
  expect((await get()).history).toHaveLength(before + 1);
});
