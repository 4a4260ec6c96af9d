import { expect, test } from "vitest";
import { mentionable } from "../../src/thread/mentions.ts";
import { asked } from "../fakes/asked.ts";
import { createChat } from "../fakes/chat.ts";

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
