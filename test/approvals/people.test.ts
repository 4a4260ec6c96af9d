import { describe, expect, onTestFinished, test } from "vitest";
import {
  countPeople,
  countVoters,
  createPersonOf,
  type KnownPerson,
  signed,
} from "../../src/core/people.ts";
import { type Draft, isPost } from "../../src/core/entry.ts";
import type { Journal } from "../../src/journal/journal.ts";
import { openMemoryJournal } from "../fakes/memory-journal.ts";
import { createChat } from "../fakes/chat.ts";
import { asked } from "../fakes/asked.ts";
import { createStage, KEY } from "../fakes/stage.ts";

const PEOPLE = [
  { name: "Ana", accounts: ["test:ana", "test:ana-phone"] },
  { name: "Bob", accounts: ["test:bob", "discord:2"] },
];
const DESTRUCTIVE = { rules: [{ match: { tool: "act" }, decide: "ask" as const, quorum: 2 }] };

test("an account is its person's, and without one its own", () => {
  const personOf = createPersonOf(PEOPLE);
  expect(personOf("test:ana-phone")).toBe(personOf("test:ana"));
  expect(personOf("discord:2")).toBe(personOf("test:bob"));
  expect(personOf("test:cy")).toBe("test:cy");
});

test("who decides is shown with handle and id, which no other account has", () => {
  const ana = { account: "slack:T1:U07", name: "Ana", handle: "ana" };
  const mallory = { account: "slack:T1:U66", name: "Ana (@ana, U07)", handle: "mallory" };
  expect(signed(ana)).toBe("Ana (@ana, U07)");
  expect(signed(mallory)).toBe("Ana (@ana, U07) (@mallory, U66)");
  expect(signed({ account: "discord:4411", name: "Ana" })).toBe("Ana (4411)");
  expect(signed({ account: "terminal:root", name: "root" })).toBe("root");
});

test.each([
  [[], 0],
  [["slack:T1:U1", "slack:T1:U1"], 1],
  [["slack:T1:U1", "slack:T1:U2"], 2],
  [["slack:T1:U1", "discord:7"], 1],
  [["slack:T1:U1", "slack:T1:U2", "discord:7"], 2],
  [["person:Ana", "discord:7"], 2],
  [["person:Ana", "person:Bob", "slack:T1:U1", "discord:7"], 3],
])("%j are certainly %i different people", (persons, count) => {
  expect(countPeople(persons)).toBe(count);
});

const crowd = () =>
  createChat({
    standings: {
      "test:ana": "member",
      "test:ana-phone": "member",
      "test:bob": "member",
      "test:cy": "member",
      "discord:2": "member",
      "discord:9": "member",
      "test:out": "outsider",
    },
  });

test("one human with two accounts approves once", async () => {
  const { act, click, settle, chat } = await asked({
    approvals: DESTRUCTIVE,
    people: PEOPLE,
    chat: crowd(),
  });
  await click("a1", { kind: "approve" }, "test:bob");
  await click("a1", { kind: "approve" }, "discord:2");
  await settle();
  expect(act.runs).toEqual([]);
  expect(chat.whispers().join()).toContain("You've approved a1");
  await click("a1", { kind: "approve" }, "test:cy");
  await settle();
  expect(act.runs).toEqual(["web"]);
});

test("accounts of two platforms that nobody is named for do not add up", async () => {
  const { act, click, settle } = await asked({ approvals: DESTRUCTIVE, chat: crowd() });
  await click("a1", { kind: "approve" }, "test:bob");
  await click("a1", { kind: "approve" }, "discord:9");
  await settle();
  expect(act.runs).toEqual([]);
});

test("who asked cannot approve with another account, named or on another platform", async () => {
  const { act, click, settle, chat } = await asked({
    approvals: { rules: [{ match: { tool: "act" }, decide: "ask", requesterMayApprove: false }] },
    people: PEOPLE,
    chat: crowd(),
  });
  await click("a1", { kind: "approve" }, "test:ana-phone");
  await settle();
  expect(act.runs).toEqual([]);
  expect(chat.whispers().join()).toContain("someone else has to approve it");
  await click("a1", { kind: "approve" }, "test:bob");
  await settle();
  expect(act.runs).toEqual(["web"]);
});

test("who is not in the channel decides only where a rule names them", async () => {
  const open = await asked({ chat: crowd() });
  await open.click("a1", { kind: "approve" }, "test:out");
  await open.settle();
  expect(open.act.runs).toEqual([]);
  expect(open.chat.whispers().join()).toContain("Only full members of this thread can approve a1.");
  const chat = crowd();
  chat.standings["discord:9"] = "outsider";
  const named = await asked({
    approvals: { rules: [{ match: { tool: "act" }, decide: "ask", approvers: ["discord:9"] }] },
    chat,
  });
  await named.click("a1", { kind: "approve" }, "discord:9");
  await named.settle();
  expect(named.act.runs).toEqual(["web"]);
});

test("who asked for an action may think better of it", async () => {
  const { act, click, settle, chat } = await asked({
    approvals: { rules: [{ match: { tool: "act" }, decide: "ask", requesterMayApprove: false }] },
    chat: crowd(),
  });
  await click("a1", { kind: "deny" }, "test:ana");
  await settle();
  expect(act.runs).toEqual([]);
  expect(chat.cards()).toMatchObject([{ phase: "denied" }]);
});

describe("when `people:` is changed while an action waits", () => {
  const NOBODY: KnownPerson[] = [];
  const ANA = [{ name: "Ana", accounts: ["test:ana", "test:ana-phone"] }];
  const RENAMED = [{ name: "Ana Lopez", accounts: ["test:ana", "test:ana-phone"] }];
  const BARS = {
    rules: [{ match: { tool: "act" }, decide: "ask" as const, requesterMayApprove: false }],
  };

  test.each([
    ["names her", NOBODY, ANA],
    ["names her otherwise", ANA, RENAMED],
    ["no longer names her", ANA, NOBODY],
  ])("whoever asked does not approve after it %s", async (_, before, after) => {
    const chat = crowd();
    const stage = await asked({ approvals: BARS, people: before, chat });
    stage.parts.personOf = createPersonOf(after);
    await stage.click("a1", { kind: "approve" }, "test:ana");
    if (after !== NOBODY) await stage.click("a1", { kind: "approve" }, "test:ana-phone");
    await stage.settle();
    expect(stage.act.runs).toEqual([]);
    expect((await stage.kinds()).includes("vote")).toBe(false);
    await stage.click("a1", { kind: "approve" }, "test:bob");
    await stage.settle();
    expect(stage.act.runs).toEqual(["web"]);
  });

  test("what version 0.3 stored, people, bars their accounts", async () => {
    const chat = crowd();
    const first = await asked({ approvals: BARS, people: ANA, chat });
    const written = (await first.entries()).map(({ seq: _seq, at: _at, head: _head, ...draft }) =>
      draft.kind === "action_proposed" ? { ...draft, barred: ["person:Ana"] } : draft,
    );
    const journal = await copyOf(written);
    const stage = await createStage({ tools: [first.act], journal, people: RENAMED, chat });
    await stage.click("a1", { kind: "approve" }, "test:ana");
    await stage.click("a1", { kind: "approve" }, "test:ana-phone");
    await stage.settle();
    expect(first.act.runs).toEqual([]);
    await stage.click("a1", { kind: "approve" }, "test:bob");
    await stage.settle();
    expect(first.act.runs).toEqual(["web"]);
  });

  test("two votes that are one person's by now are one", async () => {
    const stage = await asked({ approvals: DESTRUCTIVE, chat: crowd(), people: NOBODY });
    await stage.click("a1", { kind: "approve" }, "test:bob");
    await stage.settle();
    stage.parts.personOf = createPersonOf([{ name: "Bob", accounts: ["test:bob", "test:cy"] }]);
    await stage.click("a1", { kind: "approve" }, "test:cy");
    await stage.settle();
    expect(stage.act.runs).toEqual([]);
  });
});

test.each([
  [["slack:T1:U1", "slack:T1:U2"], [], [], 2],
  [["slack:T1:U1", "slack:T1:U2"], [], ["slack:T1:U1", "slack:T1:U2"], 1],
  [["slack:T1:U1", "slack:T1:U2"], ["slack:T1:U1", "slack:T1:U2"], [], 1],
  [
    ["slack:T1:U1", "slack:T1:U2", "slack:T1:U3"],
    ["slack:T1:U1", "slack:T1:U2"],
    ["slack:T1:U2", "slack:T1:U3"],
    1,
  ],
  [["slack:T1:U1", "discord:7"], ["slack:T1:U1"], [], 1],
])(
  "votes of %j, named together as %j then and as %j now, are %i people's",
  (accounts, then, now, count) => {
    const of = (list: readonly string[]) =>
      createPersonOf(list.length === 0 ? [] : [{ name: "X", accounts: list }]);
    const votes = accounts.map((account) => ({ account, person: of(then)(account) }));
    expect(countVoters(votes, of(now))).toBe(count);
  },
);

describe("where only who asked could approve", () => {
  const alone = (singleOperator = false) => ({
    chat: createChat({ standings: { "test:ana": "member", "test:guest": "guest" } }),
    approvals: { singleOperator },
  });

  test.each(["write", "destructive"] as const)(
    "a %s is refused, with what to do",
    async (effect) => {
      const { chat, act } = await asked(alone(), effect);
      expect(chat.cards()).toEqual([]);
      expect(act.runs).toEqual([]);
      expect(chat.answers()[0]?.results[0]?.text).toBe(
        "Nobody here can approve this except you, and you asked for it. Ask in a channel with a teammate, or set `approvals.singleOperator: true`.",
      );
    },
  );

  test.each(["write", "destructive"] as const)(
    "a single operator approves a %s",
    async (effect) => {
      const { act, click, settle } = await asked(alone(true), effect);
      await click("a1", { kind: "approve" }, "test:ana");
      await settle();
      expect(act.runs).toEqual(["web"]);
    },
  );

  test("a rule that names others who are not there does not make it theirs to approve", async () => {
    const { chat } = await asked({
      chat: createChat({ standings: { "test:ana": "member" } }),
      approvals: {
        rules: [{ match: { tool: "act" }, decide: "ask", approvers: ["discord:7"] }],
      },
    });
    expect(chat.cards()).toEqual([]);
  });
});

async function copyOf(drafts: readonly { kind: string }[]): Promise<Journal> {
  const journal = openMemoryJournal({ now: () => 1_000_000 });
  onTestFinished(() => journal.close());
  for (const draft of drafts as Draft[]) {
    if (isPost(draft)) await journal.post(KEY, draft);
  }
  const granted = await journal.lease(KEY, 60_000);
  if (granted === undefined) throw new Error("no lease");
  for (const draft of drafts as Draft[]) {
    if (isPost(draft)) continue;
    const { length } = await journal.read(KEY);
    await journal.append(granted.lease, length, [draft]);
  }
  const { length } = await journal.read(KEY);
  await journal.release(granted.lease, length);
  return journal;
}
