import { describe, expect, test } from "vitest";
import { cardButtons } from "../../src/adapters/render/buttons.ts";
import { readButtonAction } from "../../src/adapters/render/button-ids.ts";
import { createChat } from "../fakes/chat.ts";
import { asked, TWO } from "../fakes/asked.ts";
import { createStage, fakeTool } from "../fakes/stage.ts";

const MINUTE = 60_000;

const NOT_THE_ASKER = {
  match: { tool: "act" },
  decide: "ask" as const,
  requesterMayApprove: false,
};

describe("an approval", () => {
  test("shows exactly what is executed, to whom it may concern, and until when", async () => {
    const { chat } = await asked();
    expect(chat.cards()).toMatchObject([
      {
        action: "a1",
        revision: 1,
        tool: "act",
        effect: "write",
        canonical: '{"name":"web"}',
        digest: expect.stringMatching(/^[0-9a-f]{64}$/),
        quorum: 1,
        approvers: "anyone in this thread",
        expiresAt: expect.closeTo(1_000_000 + 60 * MINUTE, -3),
        preview: {
          lines: [{ label: "Target", value: "web" }],
          blastRadius: "only web",
          undo: "none",
        },
      },
    ]);
  });

  test("that is denied ends the call with who and why, and nothing is executed", async () => {
    const { chat, act, click, settle } = await asked();
    await click("a1", { kind: "deny", reason: "peak hours" }, "test:bob");
    await settle();
    expect(act.runs).toEqual([]);
    expect(chat.cards()).toMatchObject([{ phase: "denied", ending: "denied by bob: peak hours" }]);
    const text = "Denied by bob: peak hours. The tool didn't run.";
    // Its card says all of it.
    expect(chat.answers()).toMatchObject([
      { status: "failed", results: [{ outcome: "denied", text }], isMoot: true },
    ]);
  });

  test("of a destructive action is not the requester's to give, unless there is one operator", async () => {
    const several = await asked({}, "destructive");
    await several.click("a1", { kind: "approve" }, "test:ana");
    await several.settle();
    expect(several.act.runs).toEqual([]);
    expect(several.chat.whispers()).toEqual([
      "You asked for a1, so someone else has to approve it. You can still deny or withdraw it.",
    ]);
    await several.click("a1", { kind: "approve" }, "test:bob");
    await several.settle();
    expect(several.act.runs).toEqual(["web"]);

    const alone = await asked({ chat: createChat({ singleOperator: true }) }, "destructive");
    await alone.click("a1", { kind: "approve" }, "test:ana");
    await alone.settle();
    expect(alone.act.runs).toEqual(["web"]);
  });

  test.each(["guest", "bot", "deactivated", "unknown"] as const)(
    "by an account that is %s changes nothing",
    async (standing) => {
      const chat = createChat({
        standings: { "test:ana": "member", "test:bob": "member", "test:eve": standing },
      });
      const { act, click, settle, kinds } = await asked({ chat });
      await click("a1", { kind: "approve" }, "test:eve");
      await settle();
      expect(act.runs).toEqual([]);
      expect(await kinds()).not.toContain("vote");
      expect(chat.whispers()).toEqual([
        expect.stringMatching(
          /Guests can't approve|Only full members of this thread can approve a1/,
        ),
      ]);
    },
  );

  test("with a quorum needs that many different people; one person twice is one", async () => {
    const { act, chat, click, settle } = await asked({ approvals: TWO });
    await click("a1", { kind: "approve" }, "test:ana");
    await click("a1", { kind: "approve" }, "test:ana");
    await settle();
    expect(act.runs).toEqual([]);
    expect(chat.whispers()).toEqual(["You've approved a1. One more person needs to."]);
    await click("a1", { kind: "approve" }, "test:bob");
    await settle();
    expect(act.runs).toEqual(["web"]);
  });

  test("that nobody here may give is not asked for: it says so and whom to turn to", async () => {
    const rule = {
      match: { tool: "act" },
      decide: "ask" as const,
      quorum: 2,
      approvers: ["slack:group:SRE"],
      escalation: "the duty manager",
    };
    const chat = createChat({ groups: { "slack:group:SRE": ["test:bob"] } });
    const { act } = await asked({ chat, approvals: { rules: [rule] } });
    expect(chat.cards()).toEqual([]);
    expect(act.runs).toEqual([]);
    const [answer] = chat.answers();
    expect(answer?.results[0]).toMatchObject({
      outcome: "blocked",
      text: expect.stringContaining("the duty manager"),
    });
  });

  test("counts only while its giver is still an approver: who left is asked about anew", async () => {
    const chat = createChat({ groups: { "slack:group:SRE": ["test:bob", "test:cy"] } });
    const rule = {
      match: { tool: "act" },
      decide: "ask" as const,
      quorum: 2,
      approvers: ["slack:group:SRE"],
    };
    const { act, click, settle, kinds } = await asked({ chat, approvals: { rules: [rule] } });
    await click("a1", { kind: "approve" }, "test:bob");
    await settle();
    chat.groups["slack:group:SRE"] = ["test:cy", "test:new"];
    chat.standings["test:new"] = "member";
    await click("a1", { kind: "approve" }, "test:new");
    await click("a1", { kind: "approve" }, "test:cy");
    await settle();
    expect(act.runs).toEqual([]);
    expect(chat.whispers()).toEqual([expect.stringContaining("weren't among its approvers")]);
    expect(await kinds()).toContain("action_closed");
    expect(chat.cards()).toMatchObject([
      {
        action: "a1",
        phase: "void",
        ending: expect.stringContaining("an approval no longer counts: bob"),
      },
      { action: "a2", phase: "open" },
    ]);
  });

  test.each(["test:ana", "test:bob"])(
    "counts at dispatch only while every voter is still an approver: %s, who left right after the vote, is asked about again",
    async (leaver) => {
      const chat = createChat();
      const { membership } = chat.adapter.people;
      let looks = Number.NEGATIVE_INFINITY;
      chat.adapter.people.membership = async (account, key) => {
        const isGone = account === leaver && ++looks > 1;
        return isGone ? "deactivated" : membership(account, key);
      };
      const { act, click, settle, entries } = await asked({ chat, approvals: TWO });
      looks = 0; // those that were asked while the card was proposed are not meant
      await click("a1", { kind: "approve" }, "test:ana");
      await click("a1", { kind: "approve" }, "test:bob");
      await settle();
      expect(act.runs).toEqual([]);
      const votes = (await entries()).filter((entry) => entry.kind === "vote");
      expect(votes.map((vote) => vote.account)).toEqual(["test:ana", "test:bob"]);
      const name = leaver.replace("test:", "");
      const ending = expect.stringContaining(`an approval no longer counts: ${name}`);
      expect(chat.cards()[0]).toMatchObject({ action: "a1", phase: "void", ending });
    },
  );

  test.each([
    ["more people", { quorum: 2 }, /by fewer different people than it needs/],
    ["nobody who asked", { requesterMayApprove: false }, /ana counts as somebody who asked/],
    ["others", { approvers: ["test:cy"] }, /ana is not among its approvers/],
    ["a group", { approvers: ["slack:group:SRE"] }, /ana is not among its approvers/],
  ])(
    "suffices only if it does as the rules are when it runs: %s by then, and it is asked about again",
    async (_, stricter, why) => {
      const chat = createChat({ groups: { "slack:group:SRE": ["test:bob"] } });
      const { act, parts, click, settle } = await asked({ chat });
      parts.policy.rules.unshift({ match: { tool: ["act"] }, decide: "ask", ...stricter });
      await click("a1", { kind: "approve" }, "test:ana");
      await settle();
      expect(act.runs).toEqual([]);
      expect(chat.cards()).toMatchObject([
        { action: "a1", phase: "void", ending: expect.stringMatching(why) },
        { action: "a2", phase: "open" },
      ]);
    },
  );

  test("that the card asked for is needed also where the rules ask for less by then", async () => {
    const { act, parts, click, settle } = await asked({ approvals: TWO });
    parts.policy.rules.length = 0;
    await click("a1", { kind: "approve" }, "test:ana");
    await settle();
    expect(act.runs).toEqual([]);
    await click("a1", { kind: "approve" }, "test:bob");
    await settle();
    expect(act.runs).toEqual(["web"]);
  });

  test("is asked for on a card that says truly who may give it", async () => {
    const chat = createChat({ place: "#ops" });
    const { click, settle } = await asked({ chat, approvals: { rules: [NOT_THE_ASKER] } });
    expect(chat.cards()[0]?.approvers).toBe("anyone in #ops except ana");
    await click("a1", { kind: "edit", args: { name: "db" } }, "test:bob");
    await settle();
    expect(chat.cards()[0]?.approvers).toBe("anyone in #ops except ana and bob");
    await click("a1", { kind: "approve" }, "test:bob", 2);
    await settle();
    expect(chat.whispers()).toEqual([
      "You edited a1, so someone else has to approve it. You can still deny or withdraw it.",
    ]);
  });

  test("is asked for without the place's name while the platform does not say it", async () => {
    const chat = createChat();
    chat.adapter.placeName = async () => {
      throw new Error("no answer");
    };
    await asked({ chat });
    expect(chat.cards()[0]?.approvers).toBe("anyone in this thread");
  });

  test("comes too late after the expiry, and the asker is told", async () => {
    const { act, chat, click, settle, clock } = await asked();
    clock.now += 61 * MINUTE;
    await click("a1", { kind: "approve" }, "test:bob");
    await settle();
    expect(act.runs).toEqual([]);
    expect(chat.cards()).toMatchObject([{ phase: "expired" }]);
    expect(chat.whispers()).toEqual([expect.stringContaining("a1 has expired")]);
    expect(chat.answers()).toMatchObject([{ results: [{ outcome: "expired" }] }]);
  });

  test("is closed by a deny, a Stop or its expiry even after the last approve, as long as nothing started", async () => {
    for (const end of ["deny", "stop", "expiry"] as const) {
      const { act, chat, click, say, settle, clock } = await asked({ approvals: TWO });
      await click("a1", { kind: "approve" }, "test:ana");
      await click("a1", { kind: "approve" }, "test:bob");
      if (end === "deny") await click("a1", { kind: "deny" }, "test:cy");
      if (end === "stop") await say("stop");
      if (end === "expiry") clock.now += 61 * MINUTE;
      await settle();
      expect(act.runs).toEqual([]);
      const phase = { deny: "denied", stop: "cancelled", expiry: "expired" }[end];
      expect(chat.cards()).toMatchObject([{ phase }]);
    }
  });

  test("given after the end is told who decided", async () => {
    const { chat, click, settle } = await asked();
    await click("a1", { kind: "approve" }, "test:bob");
    await settle();
    await click("a1", { kind: "deny" }, "test:cy");
    await settle();
    expect(chat.whispers()).toEqual(["bob already approved a1; it is done."]);
  });

  test("of something that is not there says so", async () => {
    const { chat, click, settle } = await asked();
    await click("a7", { kind: "approve" }, "test:bob");
    await settle();
    expect(chat.whispers()).toEqual(["There is no action a7 here."]);
  });

  test("exists only as a click or a typed command: words never approve", async () => {
    const { act, say, settle, kinds } = await asked();
    for (const text of [
      "yes",
      "approved",
      "a1 is approved",
      "go ahead",
      "LGTM, run it",
      "admin says: approve",
    ]) {
      await say(text);
    }
    await settle();
    expect(act.runs).toEqual([]);
    expect(await kinds()).not.toContain("vote");
    await say("approve a1", "test:bob");
    await settle();
    expect(act.runs).toEqual(["web"]);
  });
});

const pressed = {
  id: "click:old",
  kind: "click",
  actor: { account: "test:bob", name: "bob" },
  action: "a1",
  revision: 1,
  choice: { kind: "approve" },
  via: "button",
} as const;

describe("an Approve that was pressed", () => {
  test.each([
    ["a card that showed something else, as after the store lost entries", "0123456789ab"],
    ["a card of 0.3, which does not say what it showed", undefined],
  ])("on %s does not count; its card is drawn again", async (_, digest) => {
    const { act, chat, post, click, settle, entries } = await asked();
    const cardsShown = async () =>
      (await entries()).filter(({ id }) => id.startsWith("delivered:main:a1@")).length;
    expect(await cardsShown()).toBe(1);
    await post({ ...pressed, ...(digest !== undefined && { digest }) });
    await settle();
    expect(act.runs).toEqual([]);
    expect(chat.whispers()).toEqual([expect.stringContaining("The card was drawn again")]);
    expect(await cardsShown()).toBe(2);
    expect(chat.cards()).toMatchObject([{ action: "a1", phase: "open", votes: [] }]);
    await click("a1", { kind: "approve" }, "test:bob");
    await settle();
    expect(act.runs).toEqual(["web"]);
  });

  test("does not count there, but a deny does", async () => {
    const { act, chat, post, settle } = await asked();
    await post({ ...pressed, choice: { kind: "deny" } });
    await settle();
    expect(chat.cards()).toMatchObject([{ phase: "denied", ending: "denied by bob" }]);
    expect(act.runs).toEqual([]);
  });

  test("carries the beginning of its action's digest", async () => {
    const { act, chat, post, settle } = await asked();
    const [card] = chat.cards();
    const [approve] = card === undefined ? [] : cardButtons(card).buttons;
    const press = readButtonAction(approve?.id ?? "");
    expect(approve?.id).toBe(`wk:approve:a1:1:${card?.digest.slice(0, 12)}`);
    if (press?.kind === "click") await post({ ...pressed, ...press });
    await settle();
    expect(act.runs).toEqual(["web"]);
  });
});

describe("who has the edit form of an action open", () => {
  test("stands on its card for two minutes", async () => {
    const { chat, post, settle, clock } = await asked();
    await post({ ...pressed, choice: { kind: "editing" } });
    await settle();
    expect(chat.cards()).toMatchObject([{ editing: "bob", phase: "open" }]);
    clock.now += 2 * MINUTE;
    await post({ ...pressed, id: "click:late", choice: { kind: "editing" }, revision: 7 });
    await settle();
    expect(chat.cards()).toMatchObject([{ editing: undefined, phase: "open" }]);
  });
});

describe("what was posted before the start", () => {
  test("wins: a deny that is still being judged is not overtaken by a dispatch that was being checked", async () => {
    const check = Promise.withResolvers<void>();
    const judged = Promise.withResolvers<void>();
    const checking = Promise.withResolvers<void>();
    let asks = 0;
    const act = fakeTool({
      name: "act",
      effect: "write",
      precheck: async () => {
        if (++asks !== 2) return;
        checking.resolve();
        await check.promise;
      },
    });
    const chat = createChat();
    const { membership } = chat.adapter.people;
    const stage = await createStage({ tools: [act], chat });
    await stage.say("run act name=web");
    await stage.settle();
    chat.adapter.people.membership = async (account, key) => {
      if (account === "test:cy") await judged.promise;
      return membership(account, key);
    };
    await stage.click("a1", { kind: "approve" }, "test:bob");
    const work = stage.settle();
    await checking.promise;
    await stage.click("a1", { kind: "deny" }, "test:cy");
    await expect.poll(async () => (await stage.thread()).clicks.size).toBe(1);
    check.resolve();
    await new Promise((resolve) => setTimeout(resolve, 30));
    judged.resolve();
    await work;
    expect(act.runs).toEqual([]);
    expect(chat.cards()).toMatchObject([{ phase: "denied" }]);
  });
});
