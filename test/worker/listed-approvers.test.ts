import { expect, test } from "vitest";
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
  });
});
