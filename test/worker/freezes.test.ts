import { describe, expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { createFreezes } from "../../src/team/freezes.ts";
import { createFreeze, createFreezeList, createUnfreeze } from "../../src/tools/freeze/tools.ts";
import { openMemoryJournal } from "../fakes/memory-journal.ts";
import { createChat } from "../fakes/chat.ts";
import { card, dial } from "../fakes/dial.ts";
import { createStage, fakeTool, KEY, type Stage, type StageOptions } from "../fakes/stage.ts";

const MINUTE = 60_000;

/** Ana, in Madrid, has prod frozen until 14:00 her time, as Bob approved at 12:00 UTC; a dial of prod and one of staging are there. */
async function frozen(options: StageOptions & { freeze?: string } = {}) {
  const clock = { now: Date.UTC(2026, 10, 23, 12) };
  const journal = openMemoryJournal({ now: () => clock.now });
  onTestFinished(() => journal.close());
  const chat = createChat();
  chat.adapter.people.timezone = async () => "Europe/Madrid";
  const act = fakeTool({
    name: "act",
    effect: "write",
    endpoints: { prod: { url: "https://prod.test/" }, staging: { url: "https://staging.test/" } },
    input: z.strictObject({
      name: z.string(),
      instance: z.enum(["prod", "staging"]).optional(),
    }),
  });
  const own = fakeTool({ name: "note", effect: "write", own: true });
  const look = fakeTool({ name: "look" });
  const { world, tool: turn } = dial();
  const freezing = () => ({
    freezes: createFreezes(journal),
    tools: () => [act, own, look],
    hosts: async () => [],
  });
  const tools = [
    act,
    own,
    look,
    turn,
    createFreeze(freezing),
    createUnfreeze(freezing),
    createFreezeList(freezing),
  ];
  const stage = await createStage({ tools, journal, chat, ...options });
  const say = async (text: string, account?: string) => {
    await stage.say(text, account);
    await stage.settle();
  };
  await say(options.freeze ?? "freeze prod until 14:00 because migration");
  await stage.say("approve a1", "test:bob");
  await stage.settle();
  /** As when the put-off look is due; a worker waits for it otherwise. */
  const later = async (minutes: number) => {
    clock.now += minutes * MINUTE;
    await stage.settle();
  };
  return { ...stage, journal, act, own, look, world, clock, chat, say, later };
}

/** What says that an approved action waits; who asked is also told what others decided. */
function waiting({ chat }: Pick<Stage, "chat">): string[] {
  return chat.notices().flatMap(({ text }) => (text.includes("approved and waits") ? [text] : []));
}

const TEXT = "prod is frozen until 2026-11-23 13:00 UTC by ana: migration";

describe("a freeze", () => {
  test("is approved on a card that says exactly until when and what it holds, and is listed", async () => {
    const stage = await frozen();
    expect(card(stage, "a1")).toMatchObject({
      phase: "done",
      args: { what: "prod", until: "2026-11-23T13:00Z", because: "migration" },
      preview: {
        title: "Freeze prod until 2026-11-23 13:00 UTC",
        lines: [
          { label: "Until", value: "2026-11-23 13:00 UTC, for 60 min" },
          { label: "Holds", value: "writes of 1 tool there, and writes with prod as an argument" },
          { label: "Because", value: "migration" },
        ],
      },
    });
    expect(card(stage, "a1")?.offer).toBeUndefined();
    expect(stage.chat.answers().at(-1)?.results[0]?.text).toBe(`Verified: ${TEXT}.`);
    await stage.say("freezes");
    expect(stage.chat.answers().at(-1)?.results[0]?.text).toBe(TEXT);
  });

  test("lets others approve and deny what it holds: each is heard, and a deny ends it", async () => {
    const stage = await frozen();
    await stage.say("run act name=prod instance=prod");
    await stage.say("approve a2", "test:bob");
    await stage.say("approve a2", "test:cy");
    await stage.say("deny a2 not now", "test:bob");
    const told = stage.chat.notices().map(({ text }) => text.replaceAll(/test:/g, ""));
    expect(told.filter((text) => /^(?:bob|cy).* a2/.test(text))).toEqual([
      "bob approved a2 (act).",
      "bob denied a2 (act): not now",
    ]);
    expect(card(stage, "a2")).toMatchObject({ phase: "denied" });
    await stage.later(61);
    expect(stage.act.runs).toEqual([]);
  });

  test("holds approved writes and says why; when it is over they go on by themselves", async () => {
    const stage = await frozen();
    await stage.say("run act name=prod instance=prod");
    expect(card(stage, "a2")?.preview.lines[0]).toEqual({ label: "Frozen", value: TEXT });
    await stage.say("approve a2", "test:bob");
    expect(waiting(stage)).toEqual([`a2 (act) is approved and waits: ${TEXT}.`]);
    await stage.later(30);
    expect(stage.act.runs).toEqual([]);
    expect(waiting(stage)).toHaveLength(1);
    await stage.later(29);
    expect(stage.act.runs).toEqual([]);
    await stage.later(1);
    expect(stage.act.runs).toEqual(["prod"]);
    // What it waited for is over, and so is the word about it.
    expect(waiting(stage)).toEqual([]);
  });

  test("holds what policy allows, what a grant covers and an undo; not reads, our own records or another instance", async () => {
    const stage = await frozen({ freeze: "freeze everything for 2h" });
    stage.parts.policy.rules.push({ match: { tool: ["act"] }, decide: "allow" } as never);
    await stage.say("run act name=web");
    expect(card(stage, "a2")).toMatchObject({ phase: "open" });
    await stage.say("run note name=web");
    await stage.say("run look name=web");
    expect([stage.act.runs, stage.own.runs, stage.look.runs]).toEqual([[], ["web"], ["web"]]);

    const other = await frozen();
    other.parts.policy.rules.push({ match: { tool: ["act"] }, decide: "allow" } as never);
    await other.say("run act name=staging instance=staging");
    expect(other.act.runs).toEqual(["staging"]);
    // It may be for any of them, whatever else is called like one.
    await other.say("run act name=staging");
    expect(card(other, "a2")).toMatchObject({ phase: "open" });
  });

  test("holds the uses of a grant and an undo, until it is lifted", async () => {
    const stage = await frozen({ freeze: "run look name=web" });
    await stage.say("run act name=prod instance=prod");
    await stage.say("grant a1", "test:bob");
    await stage.say("run turn level=5");
    await stage.say("approve a2", "test:bob");
    await stage.say("freeze everything for 20m");
    await stage.say("approve a3", "test:bob");
    await stage.say("run act name=prod instance=prod");
    expect(card(stage, "a4")?.phase).toBe("open");
    await stage.say("undo a2");
    await stage.say("approve a5", "test:bob");
    expect([stage.act.runs, stage.world.turns]).toEqual([["prod"], [5]]);
    await stage.say("unfreeze everything", "test:cy");
    await stage.say("approve a6", "test:bob");
    await stage.later(1);
    expect(stage.world.turns).toEqual([5, 2]);
    await stage.say("run act name=prod instance=prod");
    expect(stage.act.runs).toEqual(["prod", "prod"]);
  });

  test("that came after the approval holds a use that is on its way", async () => {
    const stage = await frozen({ freeze: "run look name=web" });
    await stage.say("run act name=prod instance=prod");
    const by = { account: "test:cy", name: "cy" };
    Object.assign(stage.act, {
      precheck: async () => {
        const until = stage.clock.now + 20 * MINUTE;
        await stage.parts.freezes.post("f1", { by, what: "prod", until, thread: KEY });
      },
    });
    await stage.say("approve a1", "test:bob");
    expect(stage.act.runs).toEqual([]);
    expect(waiting(stage)).toHaveLength(1);
  });

  test("gives way to whoever may break the glass, and to nobody else", async () => {
    const stage = await frozen();
    stage.parts.policy.breakGlass = { who: ["test:bob"] };
    await stage.say("run act name=prod instance=prod");
    await stage.say("approve a2", "test:bob");
    expect(waiting(stage)[0]).toContain("To run it now, type: break-glass a2 because <reason>");
    await stage.say("break-glass a2 because it is worse without", "test:cy");
    expect(stage.chat.whispers()).toEqual([expect.stringMatching(/^You may not break the glass/)]);
    // Nor is who may not asked for a longer reason first.
    const later = [/^You may not break the glass/, /needs a reason of at least 10 characters/];
    for (const who of ["test:cy", "test:bob"]) await stage.say("break-glass a2 because so", who);
    expect(stage.chat.whispers().slice(1)).toEqual(
      later.map((each) => expect.stringMatching(each)),
    );
    expect(stage.act.runs).toEqual([]);
    await stage.say("break-glass a2 because it is worse without", "test:bob");
    expect(stage.act.runs).toEqual(["prod"]);
    const voters = card(stage, "a2")?.votes.map(({ name }) => name);
    expect(voters).toEqual(["bob", "bob (broke the glass)"]);
  });

  test("needs a time that is to come and a name; an unknown name is said on the card", async () => {
    const stage = await frozen();
    for (const text of ["freeze prod until 2026-11-23 11:00", "freeze prod for 200h"]) {
      await stage.say(text);
      expect(stage.chat.answers().at(-1)?.results).toMatchObject([{ outcome: "blocked" }]);
    }
    stage.clock.now += 0.75 * MINUTE;
    await stage.say("freeze prdo for 2h");
    expect(card(stage, "a2")?.preview.lines[0]?.value).toMatch(/, for 2 h$/);
    expect(card(stage, "a2")?.preview.lines[1]?.value).toMatch(
      /^only writes .* did you mean prod\?$/,
    );
    await stage.say("unfreeze staging");
    expect(stage.chat.answers().at(-1)?.results[0]?.text).toBe(
      "staging isn't frozen; frozen: prod.",
    );
  });
});

describe("what is frozen", () => {
  /** What each of these answers where outsiders read along, or not. */
  async function named(hasOutsiders: boolean | "unknown") {
    const stage = await frozen();
    stage.chat.adapter.hasOutsiders = async () => {
      if (hasOutsiders === "unknown") throw new Error("away");
      return hasOutsiders;
    };
    const answers: Record<string, string> = {};
    for (const asked of ["freezes", "status", "approvals", "unfreeze staging"]) {
      await stage.say(asked);
      const { text = "", results = [] } = stage.chat.answers().at(-1) ?? {};
      answers[asked] = [text, ...results.map((each) => each.text)].join("\n");
    }
    return answers;
  }

  test("is told by the list, status and approvals in a channel of the team's own", async () => {
    const { freezes, status, approvals, ...other } = await named(false);
    for (const text of [freezes, status, approvals]) expect(text).toContain(TEXT);
    expect(other["unfreeze staging"]).toContain("frozen: prod");
  });

  test.each([true, "unknown"] as const)(
    "is named nowhere where people of other companies read along (%s)",
    async (hasOutsiders) => {
      const answers = await named(hasOutsiders);
      for (const text of Object.values(answers)) {
        expect(text).not.toBe("");
        expect(text).not.toMatch(/frozen until|migration|frozen: prod/);
      }
      expect(answers["status"]).toContain("Open approvals in this thread: none");
      expect(answers["approvals"]).toContain("No open approvals");
      if (hasOutsiders === true)
        expect(answers["freezes"]).toContain("Ask in a channel of your own team");
    },
  );

  test.each([true, "unknown"] as const)(
    "is neither on cards nor in the word of what waits where people of other companies read along (%s)",
    async (hasOutsiders) => {
      const stage = await frozen({ freeze: "freeze prod until 13:30 because migration" });
      const before = stage.chat.notices().length;
      stage.chat.adapter.hasOutsiders = async () => {
        if (hasOutsiders === "unknown") throw new Error("away");
        return hasOutsiders;
      };
      await stage.say("run act name=web instance=prod");
      await stage.say("approve a2", "test:bob");
      await stage.say("unfreeze prod");
      const lines = ["a2", "a3"].map((action) => card(stage, action)?.preview.lines);
      const notices = stage.chat.notices().slice(before);
      expect(lines[0]?.[0]).toEqual({
        label: "Waits",
        value: "it goes on by itself as soon as it may run, unless its card expires before",
      });
      expect(waiting(stage)).toEqual([
        "a2 (act) is approved and waits: it goes on by itself as soon as it may run, unless its card expires before.",
      ]);
      expect(lines[1]).toEqual([]);
      expect(JSON.stringify([lines, notices])).not.toMatch(/frozen|migration/i);
      await stage.later(30);
      expect(stage.act.runs).toEqual(["web"]);
    },
  );

  test("shows nobody of another company when it ends: a card that it holds is the same whenever that is", async () => {
    /** The card of what is held, and what is said of it. */
    async function shown(until: string, hasOutsiders: boolean) {
      const stage = await frozen({ freeze: `freeze prod until ${until} because migration` });
      stage.chat.adapter.hasOutsiders = async () => hasOutsiders;
      const before = stage.chat.notices().length;
      await stage.say("run act name=web instance=prod");
      await stage.say("approve a2", "test:bob");
      const { expiresAt = 0, ...rest } = card(stage, "a2") ?? {};
      // The stage's clock goes on by itself while it works.
      const expires = Math.round(expiresAt / (10 * MINUTE));
      return JSON.stringify([rest, expires, stage.chat.notices().slice(before)]);
    }
    expect(await shown("13:05", true)).toBe(await shown("18:00", true));
    expect(await shown("13:05", false)).not.toBe(await shown("18:00", false));
  });

  test("lets what it holds expire at its own time where people of other companies read along", async () => {
    const stage = await frozen({ freeze: "freeze prod until 16:00 because migration" });
    stage.chat.adapter.hasOutsiders = async () => true;
    await stage.say("run act name=web instance=prod");
    await stage.say("approve a2", "test:bob");
    await stage.later(61);
    expect(card(stage, "a2")).toMatchObject({ phase: "expired" });
    await stage.later(180);
    expect(stage.act.runs).toEqual([]);
  });
});
