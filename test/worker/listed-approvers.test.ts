import { expect, test } from "vitest";
import { mentionable } from "../../src/thread/mentions.ts";
import type { Choice } from "../../src/core/entry.ts";
import { asked, TWO } from "../fakes/asked.ts";
import { createChat } from "../fakes/chat.ts";
import { KEY, workerOf } from "../fakes/stage.ts";

test("a card names the group that may approve as the rule does, with its number of people; Details has them", async () => {
  const chat = createChat({ groups: { "slack:group:SRE": ["test:bob", "test:cy"] } });
  const approvers = ["slack:group:SRE", "slack:T1:U07"];
  const rule = { match: { tool: "act" }, decide: "ask" as const, quorum: 2, approvers };
  await asked({ chat, approvals: { rules: [rule] } });
  expect(chat.cards()[0]).toMatchObject({
    approvers: "slack:group:SRE (2 people), slack:T1:U07",
    listed: ["test:bob", "test:cy", "slack:T1:U07"],
    mentions: ["slack:group:SRE", "slack:T1:U07"],
  });
});

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
    /^bob denied a1 .act.: peak hours$/,
  ],
  [
    "approved by two",
    [
      ["test:bob", yes],
      ["test:cy", yes],
    ],
    /^bob and cy approved a1 .act.\.$/,
  ],
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
    /^🚨 slack:T1:U07 .*broke the glass for a1/,
  ],
];
test.each(someDecide)("who asked is told of the decision once: %s", async (_, choices, told) => {
  const people = ["test:ana", "test:bob", "test:cy", "slack:T1:U07"];
  const standings = Object.fromEntries(people.map((each) => [each, "member" as const]));
  const chat = createChat({ standings });
  const approvals = { ...TWO, breakGlass: { who: ["slack:T1:U07"] } };
  const { click, settle, parts } = await asked({ chat, approvals });
  for (const [who, choice] of choices) await click("a1", choice, who);
  await settle();
  await workerOf(parts, chat.adapter).work(KEY);
  const notices = chat.notices().filter(({ mentions }) => mentions !== undefined);
  expect(notices).toMatchObject(
    told === undefined ? [] : [{ text: expect.stringMatching(told), mentions: ["test:ana"] }],
  );
});
