import { expect, test } from "vitest";
import { createChat } from "../fakes/chat.ts";
import { createFeedbackList } from "../../src/tools/feedback/feedback-list.ts";
import { createStage, fakeTool, type StageOptions } from "../fakes/stage.ts";

/** `access.rules` as the worker keeps to them; the pure decision is test/approvals/access.test.ts. */

const OPS = "slack:T1:C1";

async function staged(options: StageOptions & { channel?: string } = {}) {
  const chat = createChat({
    channel: options.channel ?? OPS,
    standings: {
      "test:ana": "member",
      "test:bob": "member",
      "test:cy": "member",
      "test:gus": "guest",
    },
    groups: { "slack:group:S0SRE": ["test:bob"] },
  });
  const look = fakeTool({ name: "look" });
  const act = fakeTool({ name: "act", effect: "destructive" });
  const clock = { now: 1_000_000 };
  const stage = await createStage({ tools: [look, act], chat, now: () => clock.now, ...options });
  const ask = async (text: string, account: string) => {
    await stage.say(text, account);
    await stage.settle();
  };
  const press = async (account: string) => {
    await stage.click("a1", { kind: "approve" }, account);
    await stage.settle();
  };
  const said = () => chat.answers().at(-1)?.results[0]?.text ?? "";
  return { ...stage, look, act, clock, ask, press, said };
}

const GUESTS_LOOK = {
  rules: [{ who: "guest" as const, channels: OPS, tools: "look", decide: "allow" as const }],
};

test("a rule lets guests ask for what it names, where it says, and for nothing else", async () => {
  const stage = await staged({ access: GUESTS_LOOK });
  await stage.ask("run look name=web", "test:gus");
  expect(stage.look.runs).toEqual(["web"]);
  await stage.ask("run act name=web", "test:gus");
  expect(stage.said()).toMatch(/Guests can't ask for actions here/);
  const elsewhere = await staged({ access: GUESTS_LOOK, channel: "slack:T1:C2" });
  await elsewhere.ask("run look name=web", "test:gus");
  expect(elsewhere.look.runs).toEqual([]);
  expect(elsewhere.said()).toMatch(/Guests can't run checks here/);
});

test("what members said of answers elsewhere is told to members, and to no guest", async () => {
  const tool = createFeedbackList(() => ({ list: async () => [] }));
  const stage = await staged({ tools: [tool] });
  await stage.ask("feedback", "test:gus");
  expect(stage.said()).toMatch(/Guests can't run checks here/);
  await stage.ask("feedback", "test:ana");
  expect(stage.said()).toBe("Nobody has rated an answer yet.");
});

test("a rule that asks has a read approved, by a full member and not by who asked", async () => {
  const rule = { who: "guest" as const, tools: "look", decide: "ask" as const };
  const stage = await staged({ access: { rules: [rule] } });
  await stage.ask("run look name=web", "test:gus");
  expect(stage.chat.cards()).toHaveLength(1);
  await stage.press("test:gus");
  expect(stage.look.runs).toEqual([]);
  await stage.press("test:ana");
  expect(stage.look.runs).toEqual(["web"]);
});

test.each([
  ["not by who asked", undefined, 0],
  ["by who asked where its own rule lets them", true, 1],
])(
  "a rule that asks for what approvals ask for too has it approved %s",
  async (_, requesterMayApprove, runs) => {
    const rule = { who: "member" as const, decide: "ask" as const };
    const act = fakeTool({ name: "act", effect: "write" });
    const asks = { match: { tool: "act" }, decide: "ask" as const, requesterMayApprove };
    const access = { rules: [rule] };
    const stage = await staged({ tools: [act], access, approvals: { rules: [asks] } });
    await stage.ask("run act name=web", "test:ana");
    await stage.press("test:ana");
    expect(act.runs).toHaveLength(runs);
    await stage.press("test:bob");
    expect(act.runs).toEqual(["web"]);
  },
);

test("a rule narrows what members may ask for, but for those that a rule before it names", async () => {
  const rules = [
    { who: "slack:group:S0SRE", effects: "destructive" as const, decide: "allow" as const },
    { who: "*" as const, channels: OPS, effects: "destructive" as const, decide: "deny" as const },
  ];
  const stage = await staged({ access: { rules } });
  await stage.ask("run act name=web", "test:ana");
  expect(stage.said()).toBe("Rule 2 of access.rules doesn't let those who asked use act here.");
  expect(stage.chat.cards()).toEqual([]);
  await stage.ask("run act name=web", "test:bob");
  expect(stage.chat.cards()).toHaveLength(1);
  await stage.press("test:ana");
  expect(stage.act.runs).toEqual(["web"]);
});

test("a rule of approvals may tell by who asks", async () => {
  const stage = await staged({
    approvals: {
      rules: [
        { match: { tool: "act", requester: "slack:group:S0SRE" }, decide: "ask" as const },
        { match: { tool: "act" }, decide: "deny" as const },
      ],
    },
  });
  await stage.ask("run act name=web", "test:bob");
  expect(stage.chat.cards()).toEqual([]);
  expect(stage.said()).toContain("Policy denies it");
  const asks = await staged({
    approvals: {
      rules: [{ match: { tool: "look", requester: "slack:group:S0SRE" }, decide: "ask" as const }],
    },
  });
  await asks.ask("run look name=web", "test:ana");
  expect(asks.look.runs).toEqual(["web"]);
  await asks.ask("run look name=db", "test:bob");
  expect(asks.look.runs).toEqual(["web"]);
  expect(asks.chat.cards()).toHaveLength(1);
});

test("who asked is looked at again last thing: a guest by then has nothing run, whoever approved", async () => {
  const stage = await staged({
    approvals: { rules: [{ match: { tool: "act" }, decide: "ask", quorum: 2 }] },
  });
  await stage.ask("run act name=web", "test:ana");
  await stage.press("test:bob");
  stage.chat.standings["test:ana"] = "guest";
  await stage.press("test:cy");
  expect(stage.act.runs).toEqual([]);
  expect(stage.chat.cards()[0]?.phase).toBe("void");
  expect(stage.said()).toMatch(/Guests can't ask for actions here/);
});
