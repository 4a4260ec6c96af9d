import { expect, test } from "vitest";
import { countPeople, createPersonOf } from "../../src/approvals/people.ts";
import { createChat } from "../fakes/chat.ts";
import { asked } from "../fakes/asked.ts";

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
