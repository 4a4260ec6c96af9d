import { describe, expect, test } from "vitest";
import { BotError } from "../../src/core/errors.ts";
import type { Entry } from "../../src/core/entry.ts";
import { openMemoryJournal } from "../fakes/memory-journal.ts";
import { grantContract } from "../contracts/grants.ts";
import { createChat } from "../fakes/chat.ts";
import { card } from "../fakes/dial.ts";
import { createStage, fakeTool, KEY, type StageOptions } from "../fakes/stage.ts";

const MINUTE = 60_000;

/** Ana has had web acted on, and Bob approved it and the same again, at 12:00 UTC. */
async function granted(options: StageOptions = {}) {
  const clock = { now: Date.UTC(2026, 10, 23, 12) };
  const act = fakeTool({ name: "act", effect: "write" });
  const stage = await createStage({ tools: [act], now: () => clock.now, ...options });
  const ask = async (name = "web", account = "test:ana") => {
    await stage.say(`run act name=${name}`, account);
    await stage.settle();
  };
  await ask();
  await grant();
  const started = async () =>
    (await stage.entries()).filter(
      (entry): entry is Entry<"tool_started"> => entry.kind === "tool_started",
    );
  async function grant(action = "a1", account = "test:bob") {
    await stage.click(action, { kind: "approve", grants: true }, account);
    await stage.settle();
  }
  return { ...stage, act, clock, ask, grant, started };
}

describe("an approval that grants the same again", () => {
  test("lets the very same write go on without a press, on a card that says whose grant it is", async () => {
    const stage = await granted();
    expect(card(stage, "a1")).toMatchObject({
      phase: "done",
      offer: { uses: 5, minutes: 30 },
      grant: { words: "used 0 of 5, until 12:30 UTC", isLeft: true },
    });
    await stage.ask();
    expect(stage.act.runs).toEqual(["web", "web"]);
    expect(card(stage, "a2")).toMatchObject({
      phase: "done",
      granted: { action: "a1", by: "bob" },
      votes: [],
      preview: { lines: [{ label: "Target", value: "web" }] },
    });
    expect(card(stage, "a1")?.grant).toEqual({
      words: "used 1 of 5, until 12:30 UTC",
      isLeft: true,
    });
    expect((await stage.started()).map(({ action, grant }) => [action, grant])).toEqual([
      ["a1", undefined],
      ["a2", "a1"],
    ]);
    await stage.say("grants");
    await stage.settle();
    expect(stage.chat.answers().at(-1)?.text).toBe(
      "a1: act, granted by bob, used 1 of 5, until 12:30 UTC. `revoke a1`",
    );
  });

  test("covers nothing else: another argument, a tool that was changed, another thread's call", async () => {
    const stage = await granted();
    await stage.ask("db");
    expect(card(stage, "a2")).toMatchObject({ phase: "open" });
    expect(card(stage, "a2")?.granted).toBeUndefined();
    Object.assign(stage.act, { version: "2" });
    await stage.ask();
    expect(card(stage, "a3")).toMatchObject({ phase: "open" });
    expect(stage.act.runs).toEqual(["web"]);
  });

  test("ends after its uses, after its time, with a Stop and with a revocation", async () => {
    const used = await granted();
    for (let use = 0; use < 6; use += 1) await used.ask();
    expect(used.act.runs).toHaveLength(6);
    expect(card(used, "a7")).toMatchObject({ phase: "open" });
    expect(card(used, "a1")?.grant).toMatchObject({ isLeft: false });

    const late = await granted();
    late.clock.now += 30 * MINUTE;
    await late.ask();
    expect(card(late, "a2")?.phase).toBe("open");
    expect(card(late, "a1")?.grant?.words).toBe("used 0 of 5, expired");

    const stopped = await granted();
    await stopped.say("stop");
    await stopped.ask();
    expect(card(stopped, "a2")?.phase).toBe("open");

    const revoked = await granted();
    await revoked.say("revoke a1", "test:cy");
    await revoked.ask();
    expect(card(revoked, "a2")?.phase).toBe("open");
    expect(card(revoked, "a1")?.grant?.words).toBe("used 0 of 5, revoked by cy");
    await revoked.say("revoke a1", "test:bob");
    await revoked.settle();
    expect(revoked.chat.whispers()).toEqual(["The grant of a1 was revoked by cy."]);
  });

  test("may be revoked by who asked and by whoever may approve, and by nobody else", async () => {
    const standings = { "test:ana": "member", "test:bob": "member", "test:gus": "guest" } as const;
    const stage = await granted({ chat: createChat({ standings }) });
    await stage.say("revoke a1", "test:gus");
    await stage.settle();
    expect(stage.chat.whispers().at(-1)).toMatch(/^Guests can't revoke/);
    await stage.ask();
    expect(stage.act.runs).toHaveLength(2);
    await stage.say("revoke a1", "test:ana");
    await stage.settle();
    await stage.ask();
    expect(stage.act.runs).toHaveLength(2);
  });

  test("wins over nothing: a revocation, a deny rule or who left meanwhile comes before the next use", async () => {
    // Posted while the use is prepared, or while it is looked at for the last time: it is judged first.
    for (const look of [1, 2]) {
      const stage = await granted();
      let looks = 0;
      Object.assign(stage.act, {
        precheck: async () => {
          looks += 1;
          if (looks === look) await stage.say("revoke a1", "test:bob");
        },
      });
      await stage.ask();
      expect(looks).toBeGreaterThanOrEqual(look);
      expect(stage.act.runs).toEqual(["web"]);
      expect(card(stage, "a2")?.phase).toBe("open");
    }

    const left = await granted();
    left.chat.standings["test:bob"] = "deactivated";
    await left.ask();
    expect(card(left, "a2")?.phase).toBe("open");

    const denied = await granted();
    denied.parts.policy.rules.unshift({ match: { tool: ["act"] }, decide: "deny" } as never);
    await denied.ask();
    expect(denied.chat.answers().at(-1)?.results).toMatchObject([{ outcome: "blocked" }]);
    expect(denied.act.runs).toEqual(["web"]);
  });

  test("is not used by whom its giver could not approve, nor while nobody knows what it did", async () => {
    const approvals = {
      rules: [{ match: { tool: "act" }, decide: "ask" as const, requesterMayApprove: false }],
    };
    const stage = await granted({ approvals });
    await stage.ask("web", "test:cy");
    expect(stage.act.runs).toHaveLength(2);
    // Bob would have to approve what he asks for himself.
    await stage.ask("web", "test:bob");
    expect(card(stage, "a3")?.phase).toBe("open");

    const cut = await granted();
    const run = cut.act.run;
    Object.assign(cut.act, {
      run: async () => {
        throw new BotError("TIMEOUT", "cut");
      },
    });
    await cut.ask();
    Object.assign(cut.act, { run });
    await cut.ask();
    expect(card(cut, "a2")?.phase).toBe("unknown");
    expect(card(cut, "a3")?.phase).toBe("open");
  });

  test("is offered for plain writes alone", async () => {
    const wipe = fakeTool({ name: "wipe", effect: "destructive" });
    const act = fakeTool({ name: "act", effect: "write" });
    const offers = async (options: StageOptions, tool = "act") => {
      const stage = await createStage({ tools: [act, wipe], ...options });
      await stage.say(`run ${tool} name=web`);
      await stage.settle();
      return card(stage, "a1")?.offer !== undefined;
    };
    const ruled = (more: object) => ({
      approvals: { rules: [{ match: { tool: "act" }, decide: "ask" as const, ...more }] },
    });
    expect(await offers({})).toBe(true);
    expect(await offers({}, "wipe")).toBe(false);
    expect(await offers(ruled({ quorum: 2 }))).toBe(false);
    expect(await offers(ruled({ confirm: "typed" }))).toBe(false);
    expect(await offers(ruled({ grants: false }))).toBe(false);
    expect(await offers({ approvals: { grants: { uses: 0 } } })).toBe(false);
  });

  test("is what stood on the pressed card, or nothing", async () => {
    const stage = await createStage({ tools: [fakeTool({ name: "act", effect: "write" })] });
    await stage.say("run act name=web");
    await stage.settle();
    const press = {
      kind: "click" as const,
      actor: { account: "test:bob", name: "bob" },
      action: "a1",
      revision: 1,
      choice: { kind: "approve", grants: true } as const,
      via: "button" as const,
    };
    await stage.post({ ...press, id: "click:x", digest: card(stage, "a1")?.digest.slice(0, 12) });
    await stage.settle();
    expect(stage.chat.whispers()).toHaveLength(1);
    expect(card(stage, "a1")?.phase).toBe("open");
    await stage.post({
      ...press,
      id: "click:y",
      digest: card(stage, "a1")?.offer?.digest.slice(0, 12),
    });
    await stage.settle();
    expect(card(stage, "a1")).toMatchObject({ phase: "done", grant: { isLeft: true } });
  });

  test("loses the use that a crash left set aside", async () => {
    const stage = await granted({ approvals: { grants: { uses: 1, minutes: 30 } } });
    const digest = (await stage.thread()).grants.get("a1")?.offer.digest.slice(0, 12);
    expect(await stage.journal.reserve(`grant:${KEY}:a1:${digest}`, 1, 1)).toBeDefined();
    await stage.ask();
    expect(card(stage, "a2")?.phase).toBe("open");
    expect(stage.act.runs).toEqual(["web"]);
  });
});

describe("what has to be typed to approve", () => {
  const typed = {
    rules: [{ match: { tool: "act" }, decide: "ask" as const, confirm: "typed" as const }],
  };
  async function asked(approvals: StageOptions["approvals"] = typed) {
    const act = fakeTool({
      name: "act",
      effect: "write",
      resource: ({ name }) => `service ${name}`,
    });
    const wipe = fakeTool({ name: "wipe", effect: "destructive", confirm: ({ name }) => name });
    const stage = await createStage({ tools: [act, wipe], ...(approvals && { approvals }) });
    return { ...stage, act, wipe };
  }

  test("is compared by the program: a press alone and other words are no yes", async () => {
    const stage = await asked();
    await stage.say("run act name=web");
    await stage.settle();
    expect(card(stage, "a1")?.confirm).toBe("service web");
    await stage.click("a1", { kind: "approve" }, "test:bob");
    await stage.click("a1", { kind: "approve", typed: "service db" }, "test:bob");
    await stage.say("confirm a1 service  web!", "test:bob");
    await stage.settle();
    expect(stage.chat.whispers()).toHaveLength(3);
    expect(stage.chat.whispers()[0]).toBe(
      "a1 needs more than a press. To approve it, type: confirm a1 service web",
    );
    expect(stage.act.runs).toEqual([]);
    await stage.say("confirm a1 service web", "test:bob");
    await stage.settle();
    expect(stage.act.runs).toEqual(["web"]);
  });

  test("is asked for by tools that delete, and where nothing is asked for typing is no yes", async () => {
    const stage = await asked({});
    await stage.say("run wipe name=shop");
    await stage.say("run act name=web");
    await stage.settle();
    expect(card(stage, "a1")?.confirm).toBe("shop");
    await stage.say("confirm a2 web", "test:bob");
    await stage.settle();
    expect(stage.chat.whispers()).toEqual([
      "a2 asks for nothing to be typed, so I wasn't sure that you meant yes. To approve it, type only: approve a2",
    ]);
    await stage.say("confirm a1 shop", "test:bob");
    await stage.settle();
    expect([stage.wipe.runs, stage.act.runs]).toEqual([["shop"], []]);
  });
});

describe("breaking the glass", () => {
  const two = { match: { tool: "act" }, decide: "ask" as const, quorum: 2 };
  const REASON = "nobody else is awake";
  async function asked(who: string[], chat = createChat()) {
    const act = fakeTool({ name: "act", effect: "write" });
    const stage = await createStage({ tools: [act], chat, approvals: { rules: [two] } });
    if (who.length > 0) stage.parts.policy.breakGlass = { who };
    await stage.say("run act name=web");
    await stage.settle();
    const broken = async (account = "test:bob", reason = REASON) => {
      await stage.click("a1", { kind: "break", reason }, account);
      await stage.settle();
    };
    return { ...stage, act, broken };
  }

  test("runs what lacks its approvals, by one who may and says why, loudly", async () => {
    const stage = await asked(["test:bob"]);
    expect(card(stage, "a1")?.breakable).toBe(true);
    await stage.broken("test:bob", "too short");
    await stage.broken("test:cy");
    expect(stage.act.runs).toEqual([]);
    expect(stage.chat.whispers()).toHaveLength(2);
    await stage.broken();
    expect(stage.act.runs).toEqual(["web"]);
    expect(stage.chat.notices().map(({ text }) => text)).toEqual([
      `🚨 bob broke the glass for a1 (act), without waiting for other approvals or the end of a freeze: ${REASON}`,
    ]);
    expect((await stage.entries()).find(({ kind }) => kind === "vote")).toMatchObject({
      basis: "button, break-glass",
      breaksGlass: true,
      reason: REASON,
    });
  });

  test("is off unless it is configured, and a deny anywhere wins", async () => {
    const off = await asked([]);
    await off.broken();
    expect(off.act.runs).toEqual([]);
    expect(off.chat.whispers()[0]).toMatch(/^Nobody may break the glass here/);

    const on = await asked(["test:bob"]);
    on.parts.policy.rules.push({ match: { tool: ["act"] }, decide: "deny" } as never);
    await on.broken();
    expect(on.act.runs).toEqual([]);
    expect(card(on, "a1")?.phase).toBe("void");
  });

  test("has a card where too few could approve otherwise", async () => {
    const chat = createChat({ standings: { "test:ana": "member" } });
    const stage = await asked(["test:ana"], chat);
    await stage.say(`break-glass a1 because ${REASON}`);
    await stage.settle();
    expect(stage.act.runs).toEqual(["web"]);
  });
});

grantContract(
  "SQLite",
  async () => {
    const clock = { now: Date.UTC(2026, 10, 23, 12) };
    const journal = openMemoryJournal({ now: () => clock.now });
    return { journal, pass: (ms) => void (clock.now += ms), close: () => journal.close() };
  },
  25,
);
