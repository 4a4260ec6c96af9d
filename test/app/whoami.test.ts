import { expect, test } from "vitest";
import { createApprovals } from "../../src/app/approvals.ts";
import { createWhoIs } from "../../src/app/whoami.ts";
import { accessPolicy, approvalPolicy } from "../../src/config/policy.ts";
import type { Entry } from "../../src/core/entry.ts";
import { ASKER } from "../fakes/asker.ts";
import { createChat } from "../fakes/chat.ts";

const GROUP = "slack:group:S0SRE";
const CHAT = {
  transport: "slack",
  place: "#ops",
  channel: "slack:T1:C1",
  standings: {
    "slack:T1:U0ANA": "member",
    "slack:T1:U0GUS": "guest",
    "slack:T1:U0CY": "outsider",
  } as const,
  groups: { [GROUP]: ["slack:T1:U0ANA"] },
  names: { [GROUP]: "@sre" },
};
const APPROVALS = {
  breakGlass: { who: [GROUP] },
  rules: [
    { match: { effect: "destructive" }, decide: "ask", approvers: [GROUP] },
    { match: { tool: "run_command" }, decide: "ask", approvers: ["slack:T1:U0CY"] },
    { match: { tool: "freeze" }, decide: "ask" },
  ],
};
const ACCESS = {
  rules: [
    { who: "guest", tools: "http_check", decide: "allow" },
    { who: GROUP, effects: "destructive", decide: "deny" },
    { who: "*", channels: "slack:T1:C9", decide: "deny" },
  ],
};

interface Asked {
  configured?: boolean;
  chat?: ReturnType<typeof createChat>;
  entries?: Entry[];
}

async function whoami(
  account: string,
  { configured = true, chat = createChat(CHAT), entries = [] }: Asked = {},
) {
  const { of } = createWhoIs({
    journal: { read: async () => entries },
    adapters: new Map([[chat.adapter.transport, chat.adapter]]),
    config: {
      approvals: approvalPolicy.parse(configured ? APPROVALS : {}),
      access: accessPolicy.parse(configured ? ACCESS : {}),
      people: configured ? [{ name: "Ana", accounts: ["slack:T1:U0ANA", "discord:1122"] }] : [],
    },
  });
  const name = account.slice(account.lastIndexOf(":") + 3).toLowerCase();
  return of({ ...ASKER, key: `${chat.adapter.transport}:T1:C1:1.1`, account, name });
}

test("a member is told their accounts, groups, and what which rules let them do", async () => {
  expect((await whoami("slack:T1:U0ANA")).split("\n")).toEqual([
    "You are ana: slack:T1:U0ANA.",
    "You count as one person, with discord:1122: Ana.",
    "In #ops you are a full member.",
    "Groups of yours that the rules name: @sre (slack:group:S0SRE).",
    "Asking: anything, but first access.rules: 2 denies destructive calls.",
    "Approving: what rules 1 and 3 of approvals.rules cover and whatever no rule covers, but not what rule 2 of approvals.rules covers. Each card says whether you may, also where you asked for it yourself.",
    "Break-glass: you may, with a reason.",
  ]);
});

test("a guest and somebody who is not in the channel are told what is left to them, and nothing of others", async () => {
  const guest = await whoami("slack:T1:U0GUS");
  expect(guest.split("\n").slice(1)).toEqual([
    "In #ops you are a guest.",
    "The rules name no group that you are in.",
    "Asking: only what everybody here may know, but first access.rules: 1 allows http_check.",
    "Approving: nothing, whatever the rules say.",
    "Break-glass: you may not.",
  ]);
  const outsider = await whoami("slack:T1:U0CY");
  expect(outsider).toContain(
    "Approving: what rule 2 of approvals.rules covers, but not what rules 1 and 3 of approvals.rules cover.",
  );
  expect(guest + outsider).not.toMatch(/ANA|discord/);
});

test("without rules, alone in the terminal, and for an agent it is short", async () => {
  expect((await whoami("slack:T1:U0ANA", { configured: false })).split("\n").slice(1)).toEqual([
    "In #ops you are a full member.",
    "Asking: anything.",
    "Approving: whatever no rule covers. Each card says whether you may, also where you asked for it yourself.",
  ]);
  const chat = createChat({ transport: "terminal", singleOperator: true, standings: {} });
  const alone = await whoami("terminal:me", { configured: false, chat });
  expect(alone).toContain("Only you write here: you ask and you decide.");
  expect(await whoami("mcp:agent", { configured: false })).toMatch(
    /agent.*\n.*\nApproving: nothing/,
  );
});

test("what can't be looked up now is said, and grants nothing", async () => {
  const chat = createChat(CHAT);
  const membership = async () => {
    throw new Error("away");
  };
  const adapter = { ...chat.adapter, people: { ...chat.adapter.people, membership } };
  expect(await whoami("slack:T1:U0ANA", { chat: { ...chat, adapter } })).toMatch(
    /^You are ana.*\n.*\nWhat you may do here can't be looked up now\./,
  );
});

test("a private place is named to nobody who reads the answer in the thread's other place", async () => {
  const chat = createChat(CHAT);
  const adapter = { ...chat.adapter, audience: async () => "slack:T1:C1" };
  const view = "discord:22:3:4";
  const added: Entry = {
    kind: "view_added",
    id: `view:${view}`,
    seq: 1,
    at: 1,
    view,
    channel: view,
  };
  const alone = await whoami("slack:T1:U0ANA", { chat: { ...chat, adapter } });
  expect(alone).toContain("In #ops you are");
  const shared = await whoami("slack:T1:U0ANA", { chat: { ...chat, adapter }, entries: [added] });
  expect(shared).toContain("In this place you are a full member.");
});

test("in the second place of a mirrored thread approvals lists others' to who is a member there, and to nobody else", async () => {
  const view = "discord:22:3:4";
  const id = `view:${view}`;
  const channel = "discord:22:3";
  const added: Entry = { kind: "view_added", id, seq: 1, at: 1, view, channel };
  const other = "discord:22:9:9";
  const standings = { "discord:1": "member", "discord:2": "guest" } as const;
  const [slack, discord] = [createChat(CHAT), createChat({ transport: "discord", standings })];
  const known = discord.adapter.people.membership;
  // A platform knows nobody in a place of another's.
  discord.adapter.people.membership = async (account, key) =>
    key === view ? known(account, key) : "unknown";
  const card = { key: other, action: "a7", preview: { title: "Restart web" }, expiresAt: 9e15 };
  const { list } = createApprovals({
    journal: { read: async () => [added] },
    adapters: new Map([slack, discord].map(({ adapter }) => [adapter.transport, adapter])),
    queries: {
      recent: async () => [other],
      thread: async () => ({ openActions: ["a7"], open: false, title: "" }) as never,
      action: async () => card as never,
    },
  });
  const ask = async (account: string) =>
    list({ ...ASKER, key: "slack:T1:C1:1.1", account, tenants: async () => ["discord:22"] });
  expect(await ask("discord:1")).toMatch(/In other threads:\n• Restart web/);
  expect(await ask("discord:2")).toBe("No open approvals in this thread.");
});

test("approvals say what is frozen as far as the asker's place may see it, and nothing where nobody knows who reads along", async () => {
  const { adapter } = createChat(CHAT);
  const { list } = createApprovals({
    journal: { read: async () => [] },
    adapters: new Map([["slack", adapter]]),
    queries: { recent: async () => [] } as never,
    frozen: ({ tenants }) => [`frozen for ${tenants === "all" ? "all" : tenants.join()}`],
  });
  const ask = async (tenants: () => Promise<string[]>) =>
    list({ ...ASKER, key: "slack:T1:C1:1.1", tenants });
  expect(await ask(async () => ["slack:T1"])).toContain("frozen for slack:T1");
  expect(await ask(() => Promise.reject(new Error("away")))).not.toContain("frozen");
});
