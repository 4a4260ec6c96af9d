import type { Adapter } from "../../src/adapters/adapter.ts";
import { createOpsAdapter } from "../../src/app/ops-adapter.ts";
import { BotError } from "../../src/core/errors.ts";
import { createOps } from "../../src/team/ops.ts";
import { until } from "../until.ts";
import { expect, test } from "vitest";
import { mentionable } from "../../src/thread/mentions.ts";
import type { Choice, Entry } from "../../src/core/entry.ts";
import { asked, TWO } from "../fakes/asked.ts";
import { createChat } from "../fakes/chat.ts";
import { fakeTool, KEY, workerOf } from "../fakes/stage.ts";

const called = { "slack:group:SRE": "@sre\u202e\n", "slack:T1:U07": "Ana" };
test.each([
  ["people call them", called, "@sre\\u202e\\u{a} (2 people), Ana (U07)"],
  ["the rule does where they have no names", {}, "slack:group:SRE (2 people), slack:T1:U07"],
] as const)(
  "a card names those who may approve as %s; Details has all",
  async (_, names, shown) => {
    const chat = createChat({ groups: { "slack:group:SRE": ["test:bob", "test:cy"] }, names });
    const approvers = ["slack:group:SRE", "slack:T1:U07"];
    const rule = { match: { tool: "act" }, decide: "ask" as const, quorum: 2, approvers };
    const { journal } = await asked({ chat, approvals: { rules: [rule] } });
    const proposed = (await journal.read(KEY)).find(({ kind }) => kind === "action_proposed");
    expect(Object.keys((proposed as Entry<"action_proposed">).names ?? {})).toEqual(
      Object.keys(names),
    );
    expect(chat.cards()[0]).toMatchObject({
      approvers: shown,
      listed: ["test:bob", "test:cy", "slack:T1:U07"],
      mentions: ["slack:group:SRE", "slack:T1:U07"],
    });
  },
);

test("a card mentions at most ten of a platform, each once, and nobody where anyone may approve", async () => {
  const many = Array.from({ length: 12 }, (_, i) => `slack:T1:U0${i}`);
  expect(mentionable([...many, ...many, "discord:1"])).toEqual([...many.slice(0, 10), "discord:1"]);
  const chat = createChat();
  await asked({ chat });
  expect(chat.cards()[0]?.mentions).toEqual([]);
});

const yes: Choice = { kind: "approve" };
const glass: Choice = { kind: "break", reason: "the shop is down" };
const someDecide: [string, [who: string, choice: Choice][], RegExp | undefined][] = [
  [
    "denied",
    [["test:bob", { kind: "deny", reason: "peak hours" }]],
    /^bob denied a1 .Turn 'web' off.: peak hours$/,
  ],
  [
    "approved by two",
    [
      ["test:bob", yes],
      ["test:cy", yes],
    ],
    /^bob and cy approved a1 .Turn 'web' off.\.$/,
  ],
  [
    "withdrawn by somebody else",
    [["test:bob", { kind: "cancel", sure: true }]],
    /^bob withdrew a1 .Turn 'web' off. for everyone\.$/,
  ],
  ["withdrawn by who asked", [["test:ana", { kind: "cancel" }]], undefined],
  ["not enough", [["test:bob", yes]], undefined],
  ["denied by who asked", [["test:ana", { kind: "deny" }]], undefined],
  [
    "approved by who asked, last",
    [
      ["test:bob", yes],
      ["test:ana", yes],
    ],
    undefined,
  ],
  [
    "carried by one who broke the glass",
    [["slack:T1:U07", glass]],
    /^🚨 slack:T1:U07 .*broke the glass for a1 .Turn 'web' off./,
  ],
];
test.each(someDecide)("who asked is told of the decision once: %s", async (_, choices, told) => {
  const people = ["test:ana", "test:bob", "test:cy", "slack:T1:U07"];
  const standings = Object.fromEntries(people.map((each) => [each, "member" as const]));
  const chat = createChat({ standings });
  const approvals = { ...TWO, breakGlass: { who: ["slack:T1:U07"] } };
  const title = ({ name }: { name: string }) => `Turn \`${name}\`\n off`;
  const tools = [fakeTool({ name: "act", effect: "write", title })];
  const stage = await asked({ chat, approvals, tools, ops: "slack:T1:C0OPS" });
  const { click, settle, parts, journal } = stage;
  for (const [who, choice] of choices) await click("a1", choice, who);
  await settle();
  await workerOf(parts, chat.adapter).work(KEY);
  const notices = chat.notices().filter(({ mentions }) => mentions !== undefined);
  expect(notices).toMatchObject(
    told === undefined ? [] : [{ text: expect.stringMatching(told), mentions: ["test:ana"] }],
  );
  const alarms = await journal.read("ops:slack:T1:C0OPS");
  expect(alarms).toMatchObject(choices[0]?.[1] === glass ? [{ kind: "alarm" }] : []);
});

test("the operations channel is told once what it is to know, by whichever process, when its chat is there", async () => {
  const { parts, journal } = await asked({ ops: "test:T1:ops" });
  const { ops } = parts;
  for (let i = 0; i < 2; i += 1) expect(await ops?.tell("glass", "🚨 bob broke it")).toBe(true);
  const said: string[] = [];
  let refusals = 1;
  const chat: Adapter = {
    ...createChat().adapter,
    async announce(channel, { text }, { id, isRetry }) {
      said.push(`${channel} ${text}${isRetry ? ", again" : ""}`);
      if (refusals-- > 0) throw new BotError("PLATFORM_UNREACHABLE", "away");
      return id;
    },
  };
  const key = "ops:test:T1:ops" as const;
  const away = createOpsAdapter(() => undefined);
  expect(away.view(key)).toBeUndefined();
  const adapter = createOpsAdapter(() => chat);
  const isShown = async () => (await journal.read(key)).some(({ kind }) => kind === "delivered");
  await until(async () => {
    await workerOf(parts, adapter).work(key);
    return isShown();
  });
  await workerOf(parts, adapter).work(key);
  expect(said).toEqual(["test:T1:ops 🚨 bob broke it", "test:T1:ops 🚨 bob broke it, again"]);
  expect(await createOps({ journal, channel: undefined, wake() {} }).tell("a", "b")).toBe(false);
});

test("what expired is asked for once more by whoever presses, with the arguments that were shown, once", async () => {
  const { chat, act, click, say, settle, clock, entries } = await asked({
    approvals: NOT_THE_ASKER,
  });
  await click("a1", { kind: "edit", args: { name: "db" } }, "test:ana");
  await settle();
  await click("a1", { kind: "repeat" }, "test:bob", 2);
  await settle();
  clock.now += 61 * 60_000;
  await settle();
  // The card as it was before the edit.
  await click("a1", { kind: "repeat" }, "test:cy", 1);
  await click("a1", { kind: "repeat" }, "test:bob", 2);
  await say("ask again a1", "test:cy");
  await settle();
  expect(chat.cards()).toMatchObject([
    { action: "a1", phase: "expired", repeat: { state: "asked", by: "bob" } },
    {
      action: "a2",
      phase: "open",
      args: { name: "db" },
      approvers: "anyone in this thread except bob",
    },
  ]);
  expect(chat.whispers()).toEqual([
    "a1 hasn't expired. Only what nobody decided in time can be asked for again.",
    expect.stringMatching(/^You pressed Ask again on an old card of a1/),
    "bob already asked for a1 again: decide on the new card.",
  ]);
  const started = (await entries()).filter(({ kind }) => kind === "run_started");
  expect(started.at(-1)).toMatchObject({ repeats: "a1", principals: ["test:bob"] });
  await click("a2", { kind: "approve" }, "test:ana");
  await settle();
  expect(act.runs).toEqual(["db"]);
});

const NOT_THE_ASKER = {
  rules: [{ match: { tool: "act" }, decide: "ask" as const, requesterMayApprove: false }],
};

test.each([
  ["slack:group:DUTY", /has waited for 10 minutes\. It needs 1 more approval\. Please get/],
  ["slack:group:SRE", /^a1 .act. has waited for 10 minutes\. .*You can approve or deny it\.$/],
])(
  "%s is mentioned once when an action has waited, and promised no more than it may",
  async (to, told) => {
    const chat = createChat({ groups: { "slack:group:SRE": ["test:bob"] } });
    const rule = {
      match: { tool: "act" },
      decide: "ask" as const,
      approvers: ["slack:group:SRE"],
      escalation: [to],
      escalateAfterMinutes: 10,
    };
    const { clock, settle, parts, click } = await asked({ chat, approvals: { rules: [rule] } });
    clock.now += 9 * 60_000;
    await settle();
    expect(chat.notices()).toEqual([]);
    clock.now += 2 * 60_000;
    await settle();
    await workerOf(parts, chat.adapter).work(KEY);
    expect(chat.notices()).toMatchObject([{ text: expect.stringMatching(told), mentions: [to] }]);
    clock.now += 20 * 60_000;
    await settle();
    expect(chat.notices().at(-1)?.text).toContain("expires in 29 minutes");
    await click("a1", { kind: "approve" }, "test:bob");
    await settle();
    expect(chat.notices().filter(({ text }) => text.includes("has waited"))).toEqual([]);
  },
);
