import { describe, expect, onTestFinished, test } from "vitest";
import type { Finding } from "../../src/core/finding.ts";
import { createIncidentOpen } from "../../src/tools/incidents/record-tools.ts";
import type { Tool } from "../../src/tools/tool.ts";
import { alertState } from "../fakes/alert-state.ts";
import { call } from "../agent/talking.ts";
import { createLedger } from "../fakes/ledger.ts";
import { openMemoryJournal } from "../fakes/memory-journal.ts";
import { scriptedModel } from "../fakes/scripted-model.ts";
import { createStage, fakeTool, type StageOptions } from "../fakes/stage.ts";

const START = Date.parse("2026-11-20T12:00:00Z");
const MINUTE = 60_000;
const OFFER = "This looks like an incident. Record it?";

const DEAD: Finding = {
  object: { kind: "Service", namespace: "shop", name: "web" },
  cause: "no endpoints",
  severity: "error",
  evidence: "0 of 3 pods are ready",
  since: null,
};

/** A thread in which `look` finds a service broken and `act` changes something. */
async function createScene(options: StageOptions = {}, { records = true } = {}) {
  const clock = { now: START };
  const journal = openMemoryJournal({ now: () => clock.now });
  onTestFinished(() => journal.close());
  const ledger = createLedger(journal);
  const look = fakeTool({
    name: "look",
    run: async () => ({ text: "looked", findings: [DEAD] }),
  });
  const act = fakeTool({ name: "act", effect: "write" });
  const open = createIncidentOpen(() => ledger) as unknown as Tool;
  const tools = [look, act, ...(records ? [open] : [])];
  const stage = await createStage({
    tools,
    journal,
    approvals: { singleOperator: true },
    ...options,
  });
  const write = async (text: string, account?: string) => {
    await stage.say(text, account);
    await stage.settle();
  };
  const press = async (opens: boolean, account = "test:bob") => {
    await stage.click("incident-offer", { kind: "incident", opens }, account);
    await stage.settle();
  };
  const offers = async () =>
    (await stage.entries()).flatMap((entry) =>
      entry.kind === "notice" && entry.offers !== undefined ? [entry] : [],
    );
  const words = async () =>
    (await stage.entries()).flatMap((entry) => (entry.kind === "notice" ? [entry.text] : []));
  const recorded = () => ledger.list({}, { audience: undefined, tenants: "all" });
  return { ...stage, clock, write, press, offers, words, recorded };
}

describe("a thread looks like an incident", () => {
  test.each(["this is sev1", "SEV-2!", "we have a P1 here", "Sev2: checkout fails"])(
    "once somebody writes %j",
    async (text) => {
      const { write, offers } = await createScene();
      await write(text);
      await write(text);
      expect(await offers()).toMatchObject([{ text: OFFER, offers: { title: text } }]);
    },
  );

  test.each([
    "sev3",
    "how many sev1 incidents were there?",
    "the p1x host",
    "web-P1 is slow",
    "ok",
  ])("and not because somebody writes %j", async (text) => {
    const { write, offers } = await createScene();
    await write(text);
    expect(await offers()).toEqual([]);
  });

  test("when three people write within 15 minutes and something was found broken", async () => {
    const { write, offers, clock } = await createScene();
    await write("run look name=web", "test:ana");
    clock.now += MINUTE;
    await write("it is slow for me too", "test:bob");
    expect(await offers()).toEqual([]);
    clock.now += MINUTE;
    await write("and for me", "test:cy");
    expect(await offers()).toMatchObject([{ offers: { startedAt: START, services: ["web"] } }]);
  });

  test("and not when they write over an hour, or when nothing is broken", async () => {
    const slow = await createScene();
    await slow.write("run look name=web", "test:ana");
    slow.clock.now += 16 * MINUTE;
    await slow.write("it is slow for me too", "test:bob");
    await slow.write("and for me", "test:cy");
    expect(await slow.offers()).toEqual([]);
    const well = await createScene();
    for (const who of ["ana", "bob", "cy"]) await well.write("hello", `test:${who}`);
    expect(await well.offers()).toEqual([]);
  });

  test("when an answer says the cause and something was done about it that people approved", async () => {
    const model = scriptedModel([
      { calls: [call("look")] },
      { text: "**LIKELY: the pool of web is full [T1].**\n\nMore." },
      { text: "CONFIRMED: the pool of web was full [T1].\n\nIt is mended." },
    ]);
    const { write, offers, click, settle } = await createScene({ model });
    await write("why is web down?");
    expect(await offers()).toEqual([]);
    await write("run act name=web");
    await click("a1", { kind: "approve" });
    await settle();
    expect(await offers()).toEqual([]);
    await write("and now?");
    expect(await offers()).toMatchObject([
      { offers: { title: "the pool of web was full.", startedAt: START } },
    ]);
  });
});

describe("no offer is made", () => {
  test("where incidents cannot be recorded", async () => {
    const { write, offers } = await createScene({}, { records: false });
    await write("this is sev1");
    expect(await offers()).toEqual([]);
  });

  test("where somebody opens the incident themselves, or asks the bot to be quiet", async () => {
    const { write, offers, recorded } = await createScene();
    await write('incident open "Checkout fails"');
    await write("this is sev1");
    expect(await recorded()).toHaveLength(1);
    expect(await offers()).toEqual([]);
  });

  test("where alerts stand in the thread: their message has a button for it", async () => {
    const { write, offers, post } = await createScene();
    await post(alertState(1));
    await write("this is sev1");
    expect(await offers()).toEqual([]);
  });

  test("of what was said long ago, as an older program read it", async () => {
    const scene = await createScene();
    await scene.say("this is sev1");
    scene.clock.now += 61 * MINUTE;
    await scene.settle();
    expect(await scene.offers()).toEqual([]);
  });
});

describe("the offer", () => {
  test("is taken up by a run of whoever pressed, with what is known", async () => {
    const { write, press, recorded, words, entries } = await createScene();
    await write("run look name=web");
    await write("this is sev1");
    await press(true);
    await press(true, "test:cy");
    const [record, ...others] = await recorded();
    expect(record).toMatchObject({
      title: "this is sev1",
      startedAt: START,
      services: ["web"],
    });
    expect(record?.history[0]?.actor.account).toBe("test:bob");
    expect(others).toEqual([]);
    expect((await words()).at(-1)).toBe(`This is recorded already: ${record?.id ?? ""}.`);
    const calls = (await entries()).flatMap((entry) =>
      entry.kind === "run_started" ? [entry.calls.map(({ tool }) => tool).join()] : [],
    );
    expect(calls.filter((tool) => tool === "incident_open")).toHaveLength(1);
  });

  test("ends when somebody says that it is none, and is not made again", async () => {
    const { write, press, recorded, words, offers } = await createScene();
    await write("this is sev1");
    await press(false);
    await press(true, "test:cy");
    expect((await words()).at(-1)).toMatch(/bob.* already said that this is not an incident\./);
    await write("but this is sev1");
    expect(await offers()).toHaveLength(1);
    expect(await recorded()).toEqual([]);
  });

  test("is not taken up after a Stop, and never where none was made", async () => {
    const { press, post, say, settle, write, recorded, words, click } = await createScene();
    await press(true);
    expect((await words()).at(-1)).toBe("I offered to record nothing here.");
    await write("this is sev1");
    await click("incident-offer", { kind: "incident", opens: true }, "test:bob");
    await post({ id: "stop:1", kind: "stop", actor: { account: "test:ana", name: "ana" } });
    await settle();
    expect(await recorded()).toEqual([]);
    await say("ok");
  });
});
