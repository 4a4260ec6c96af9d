import { expect, test, vi } from "vitest";
import type { Choice } from "../../src/core/entry.ts";
import { BotError } from "../../src/core/errors.ts";
import type { Pager, PageRequest } from "../../src/tools/tool.ts";
import { createEncoder } from "../../src/security/encoder.ts";
import { createNetwork } from "../../src/net/dial.ts";
import { createDispatcher } from "../../src/tools/dispatch.ts";
import { pagerduty } from "../../src/tools/pagerduty/integration.ts";
import { NOTHING_LENT } from "../../src/tools/registry.ts";
import { createChat } from "../fakes/chat.ts";
import { type FakePagerduty, servePagerduty } from "../fakes/pagerduty.ts";
import { noWorld } from "../fakes/tool-context.ts";
import { LOCAL } from "../tools/dialing.ts";
import { listenHttp } from "../tools/network/servers.ts";
import {
  createStage,
  fakeTool,
  KEY,
  type Stage,
  type StageOptions,
  workerOf,
} from "../fakes/stage.ts";

const MINUTE = 60_000;
const RULE = {
  match: { tool: "act" },
  decide: "ask" as const,
  page: { service: "Mail" },
  escalateAfterMinutes: 10,
};

/** Ana has asked for an action; whose rule pages Mail after ten minutes. `open` comes before each page and may throw or hang. */
async function waiting({
  open = async () => {},
  close = async () => {},
  rule = {},
  from = 1_000_000,
  ...options
}: Omit<StageOptions, "tools" | "now"> & {
  open?: (signal: AbortSignal) => Promise<void>;
  close?: () => Promise<void>;
  rule?: object;
  from?: number;
} = {}) {
  const pages: PageRequest[] = [];
  const closed: { key: string; why: string }[] = [];
  const pager: Pager = {
    title: "PagerDuty",
    whyNot: () => undefined,
    async open(page, { signal }) {
      pages.push(page);
      await open(signal);
      return "P1 (https://shop.pagerduty.com/incidents/P1)";
    },
    async close({ key, why }) {
      closed.push({ key, why });
      await close();
    },
    examine: async () => "",
  };
  const clock = { now: from };
  const act = fakeTool({
    name: "act",
    effect: "write",
    title: ({ name }) => `Restart <!channel> ${name}`,
  });
  const given: StageOptions = {
    ...options,
    tools: [act, fakeTool({ name: "page", pager })],
    approvals: { rules: [{ ...RULE, ...rule }] },
    now: () => clock.now,
  };
  const stage = await createStage(given);
  await stage.say("run act name=https://evil.example/x");
  await stage.settle();
  const after = async (minutes: number) => {
    clock.now += minutes * MINUTE;
    await stage.settle();
  };
  return { ...stage, given, clock, act, pages, closed, after };
}

const told = ({ chat }: Stage) => chat.notices().map(({ text }) => text);

test("an escalation pages once, with the card's link, what is missing and until when, and the thread is told", async () => {
  const chat = createChat();
  const link = () => "https://chat.example/p1";
  const stage = await waiting({ chat: { ...chat, adapter: { ...chat.adapter, link } } });
  await stage.after(9);
  expect(stage.pages).toEqual([]);
  await stage.after(2);
  await workerOf(stage.parts, stage.chat.adapter).work(KEY);
  expect(stage.pages).toEqual([
    {
      to: { service: "Mail" },
      key: expect.stringMatching(/^watchkeeper-[0-9a-f]{32}$/),
      title: "a1 waits for approval: Restart !channel https:// evil.example/x",
      details: [
        "Restart !channel https:// evil.example/x (a1, act)",
        "It needs 1 more approval by 1970-01-01 01:16 UTC. After that it expires, and nothing is run.",
        "Approve or deny it on its card. https://chat.example/p1",
        "Being paged makes nobody an approver: the card says who is.",
      ].join("\n"),
    },
  ]);
  expect(told(stage)).toEqual([
    expect.stringMatching(
      /^a1 \(Restart .* has waited for 10 minutes\. It needs 1 more approval\.$/,
    ),
    "Paged Mail through PagerDuty for a1: P1 (https://shop.pagerduty.com/incidents/P1).",
  ]);
});

test("a private place's action is paged without its title", async () => {
  const chat = createChat();
  const adapter = { ...chat.adapter, audience: async () => "test:private" };
  const { pages, after } = await waiting({ chat: { ...chat, adapter } });
  await after(11);
  expect(pages).toMatchObject([{ title: "a1 waits for approval: act" }]);
  expect(JSON.stringify(pages)).not.toContain("Restart");
});

test("another action of the same number, after the store was set back, has a page of its own", async () => {
  const [first, second] = [await waiting(), await waiting({ from: 1_000_001 })];
  await first.after(11);
  await second.after(11);
  const keys = [...first.pages, ...second.pages].map(({ key }) => key);
  expect(new Set(keys).size).toBe(2);
});

test("what is decided before it is due pages nobody", async () => {
  const { click, settle, pages, closed, after } = await waiting();
  await click("a1", { kind: "approve" }, "test:bob");
  await settle();
  await after(30);
  expect([pages, closed]).toEqual([[], []]);
});

const decisions: [string, Choice | "wait", string][] = [
  ["approved", { kind: "approve" }, "bob approved a1."],
  ["denied", { kind: "deny" }, "bob denied a1."],
  ["left to expire", "wait", "a1 expired, and nothing was run."],
];
test.each(decisions)(
  "a page is resolved once, with the reason, when its action is %s",
  async (_, choice, why) => {
    const stage = await waiting();
    await stage.after(11);
    if (choice !== "wait") await stage.click("a1", choice, "test:bob");
    await stage.after(choice === "wait" ? 60 : 0);
    await workerOf(stage.parts, stage.chat.adapter).work(KEY);
    expect(stage.closed).toEqual([{ key: stage.pages[0]?.key, why }]);
    expect((await stage.thread()).pages.size).toBe(0);
  },
);

test("a crash between the page and its fact, and then a decision: what may stand open is resolved by the page's key", async () => {
  const stage = await waiting({
    open: (signal) => new Promise((_, reject) => signal.addEventListener("abort", reject)),
  });
  stage.clock.now += 11 * MINUTE;
  const working = stage.worker.work(KEY);
  await vi.waitFor(() => expect(stage.pages).toHaveLength(1));
  await stage.worker.stop(0);
  await working;
  expect((await stage.thread()).pages.get("a1")).toMatchObject({ isOpen: false });
  await stage.click("a1", { kind: "deny" }, "test:bob");
  await workerOf(stage.parts, stage.chat.adapter).work(KEY);
  expect(stage.pages).toHaveLength(1);
  expect(stage.closed).toMatchObject([{ key: stage.pages[0]?.key }]);
});

test("a page that was cut is asked for again by the next process, which tells it once", async () => {
  let isFirst = true;
  const stage = await waiting({
    open: async (signal) => {
      if (!isFirst) return;
      isFirst = false;
      await new Promise((_, reject) => signal.addEventListener("abort", reject));
    },
  });
  stage.clock.now += 11 * MINUTE;
  const working = stage.worker.work(KEY);
  await vi.waitFor(() => expect(stage.pages).toHaveLength(1));
  await stage.worker.stop(0);
  await working;
  await workerOf(stage.parts, stage.chat.adapter).work(KEY);
  expect(stage.pages.map(({ key }) => key)).toEqual([stage.pages[0]?.key, stage.pages[0]?.key]);
  expect(told(stage).filter((text) => text.startsWith("Paged"))).toHaveLength(1);
});

test("a refusal is told once with what to do, and nothing is resolved later", async () => {
  const stage = await waiting({
    open: async () => {
      throw new BotError("PRECHECK_FAILED", "PagerDuty refused with 403: Access Denied.");
    },
  });
  await stage.after(11);
  await stage.after(1);
  expect(stage.pages).toHaveLength(1);
  expect(told(stage).at(-1)).toBe(
    "Could not page Mail through PagerDuty for a1. PagerDuty refused with 403: Access Denied. Nobody was called, so reach somebody another way.",
  );
  await stage.click("a1", { kind: "deny" }, "test:bob");
  await stage.after(0);
  expect(stage.closed).toEqual([]);
});

test("a limit is waited for as long as it says; what takes long is told once, and what could not be resolved too", async () => {
  let isLimited = true;
  const limit = () => {
    if (isLimited) throw new BotError("PRECHECK_FAILED", "Too many.", { retryAfterMs: 40_000 });
  };
  const stage = await waiting({
    open: async () => limit(),
    close: async () => {
      throw new BotError("PRECHECK_FAILED", "PagerDuty refused with 401.");
    },
  });
  const wakes: number[] = [];
  const wakeAt = (_: string, at: number) => void wakes.push(at);
  const worker = workerOf({ ...stage.parts, wakeAt }, stage.chat.adapter);
  for (const minutes of [11, 1, 1]) {
    stage.clock.now += minutes * MINUTE;
    await worker.work(KEY);
    expect((wakes.at(-1) ?? 0) - Date.now()).toBeCloseTo(40_000, -4);
  }
  isLimited = false;
  await worker.work(KEY);
  const late = told(stage).filter((text) => text.includes("yet"));
  expect(late).toEqual([
    "Could not page Mail through PagerDuty for a1 yet. Too many. I keep trying until a1 is decided or expires.",
  ]);
  expect(told(stage).at(-1)).toMatch(/^Paged Mail/);
  await stage.click("a1", { kind: "deny" }, "test:bob");
  await stage.after(0);
  expect(told(stage)).toContain(
    "a1 needs nobody any more, but I could not resolve its page of Mail through PagerDuty. PagerDuty refused with 401. Resolve it there.",
  );
  expect((await stage.thread()).pages.size).toBe(0);
});

test("through PagerDuty itself: one incident while it waits, whatever answers are lost, and none once it is decided", async () => {
  const fake: FakePagerduty = {
    token: "u+wZt9qLw27KfPz4RbN",
    users: ["bot@example.com"],
    oncalls: [],
    incidents: [],
    services: [{ id: "PSVC1", name: "Mail", status: "active" }],
    notes: {},
    log: {},
    alerts: {},
    writes: [],
  };
  const url = `http://127.0.0.1:${await listenHttp(servePagerduty(fake))}`;
  const settings = pagerduty.settings.parse({ url, token: fake.token, from: "bot@example.com" });
  const tools = await pagerduty.tools(settings, { ...NOTHING_LENT, variable: () => "" });
  const stage = await waiting();
  const encoder = createEncoder([{ name: "PAGERDUTY_TOKEN", value: fake.token }]);
  const network = createNetwork(LOCAL);
  const dispatcher = createDispatcher({
    ...noWorld,
    network,
    encoder,
    host: "stage",
    tools: [stage.act, ...tools],
  });
  const worker = workerOf({ ...stage.parts, dispatcher }, stage.chat.adapter);
  stage.clock.now += 11 * MINUTE;
  fake.failing = 502;
  await worker.work(KEY);
  delete fake.failing;
  await worker.work(KEY);
  expect(fake.incidents).toMatchObject([{ status: "triggered", urgency: "high" }]);
  expect(told(stage).at(-1)).toMatch(/^Paged Mail through PagerDuty for a1: PNEWONE \(https:/);
  await stage.click("a1", { kind: "approve" }, "test:bob");
  await worker.work(KEY);
  expect(fake.incidents).toMatchObject([{ status: "resolved", resolution: "bob approved a1." }]);
});
