import { expect, test } from "vitest";
import * as z from "zod";
import type { AlertCard, LivingCard } from "../../src/adapters/shown.ts";
import { livingMessage } from "../../src/adapters/render/living.ts";
import { textOf } from "../../src/adapters/render/rich-text.ts";
import { createLinkRule } from "../../src/core/links.ts";
import type { Tool } from "../../src/tools/tool.ts";
import { renderAlerts } from "../../src/adapters/render/alerts.ts";
import { alertFields, alertState, overState } from "../fakes/alert-state.ts";
import { createChat } from "../fakes/chat.ts";
import { createStage, fakeTool, type StageOptions } from "../fakes/stage.ts";

const MINUTE = 60_000;

/** All that a message says, line by line. */
function textIn({ living }: { living: LivingCard }): string {
  const { blocks } = livingMessage(living);
  return blocks.map(textOf).join("\n");
}

/** A thread that is told of alerts, and a clock. */
async function told(options: StageOptions = {}) {
  let now = Date.parse("2026-11-24T10:03:00Z");
  const chat = createChat({ finds: true });
  const stage = await createStage({ chat, now: () => now, ...options });
  const living = () => chat.shown.flatMap((each) => (each.kind === "living" ? [each] : []));
  return {
    ...stage,
    chat,
    /** Posts the states one after the other, each worked on at once. */
    async tell(...states: ReturnType<typeof alertState>[]) {
      for (const state of states) {
        await stage.post(state);
        await stage.settle();
      }
    },
    async pass(ms: number) {
      now += ms;
      await stage.settle();
    },
    living,
    standing: () =>
      living().map(({ living: { kind, card } }) =>
        kind === "alerts" ? renderAlerts(card).standing : card.id,
      ),
    said: () => chat.notices().map(({ text }) => text),
  };
}

test("a group of alerts has one message, which says how it stands and is brought up to date", async () => {
  const stage = await told();
  await stage.tell(alertState(1));
  expect(stage.standing()).toEqual(["🔥 Firing · critical"]);
  await stage.pass(MINUTE);
  const two = [alertFields(), alertFields({ fingerprint: "f2" })];
  await stage.tell(alertState(3, { firing: 2, alerts: two }));
  // An older state that comes late changes nothing.
  await stage.tell(alertState(2, { firing: 7 }));
  await stage.pass(MINUTE);
  expect(stage.standing()).toEqual(["🔥 2 firing · critical"]);
  await stage.tell(overState(4, 42));
  await stage.pass(MINUTE);
  expect(stage.standing()).toEqual(["✅ Resolved after 42 min"]);
  expect(stage.said()).toEqual(["✅ HighErrorRate is over after 42 min."]);
});

test("a group that flaps is edited seldom, told to be over seldom, and ends as it stands", async () => {
  const stage = await told();
  for (let last = 1; last < 200; last += 2) {
    await stage.tell(alertState(last), overState(last + 1, 42));
    await stage.pass(2_000);
  }
  const [message] = stage.living();
  // 200 states in 200 s.
  expect(message?.edits).toBeLessThan(10);
  expect(stage.said()).toEqual([]);
  await stage.pass(15 * MINUTE);
  expect(stage.standing()).toEqual(["✅ Resolved after 42 min"]);
  expect(stage.said()).toHaveLength(1);
  await stage.pass(60 * MINUTE);
  expect(stage.said()).toHaveLength(1);
});

test("whom the route names is told once when it opens, and again only if it became more severe", async () => {
  const stage = await told();
  const mention = ["test:oncall"];
  const mild = alertFields({ labels: { severity: "warning" } });
  await stage.tell(alertState(1, { mention, alerts: [mild] }));
  expect(stage.chat.notices()).toMatchObject([
    { text: "🔥 HighErrorRate fires (warning): 5xx at 12 %", mentions: mention },
  ]);
  await stage.tell(alertState(2, { mention, alerts: [mild] }));
  await stage.tell({ ...overState(3, 1), mention });
  await stage.pass(MINUTE);
  await stage.tell(alertState(4, { mention, alerts: [mild] }));
  await stage.pass(MINUTE);
  expect(stage.chat.notices().filter(({ mentions }) => mentions !== undefined)).toHaveLength(1);
  expect(stage.standing()).toEqual(["⚠️ Firing again · warning"]);
  await stage.tell(alertState(5, { mention }));
  await stage.pass(MINUTE);
  const pinged = stage.chat.notices().filter(({ mentions }) => mentions !== undefined);
  expect(pinged.map(({ text }) => text).at(-1)).toBe(
    "🔥 HighErrorRate fires (critical): 5xx at 12 %",
  );
  expect(pinged).toHaveLength(2);
});

test("two groups of one thread have a message each, and a restart or a lost reply makes no second one", async () => {
  const chat = createChat({ finds: true });
  const first = await told({ chat });
  await first.tell(alertState(1), alertState(1, { group: "g2.0", name: "DiskFull" }));
  expect(chat.shown.filter(({ kind }) => kind === "living")).toHaveLength(2);
  // Another process, whose journal lost what was delivered last.
  const second = await told({ chat });
  await second.tell(alertState(1), alertState(1, { group: "g2.0", name: "DiskFull" }));
  expect(chat.shown.filter(({ kind }) => kind === "living")).toHaveLength(2);
});

test("what may be clicked are pages of the monitoring systems' own domains, and hosts that the configuration names", async () => {
  const stage = await told({ hide: (text) => text.replaceAll("hunter2", "•••") });
  stage.parts.mayLinkAlert = createLinkRule(["prometheus.corp:9090"]);
  const links = [
    { label: "PagerDuty", url: "https://acme.pagerduty.com/incidents/Q1" },
    { label: "Rule", url: "https://pagerduty.com.evil.test/x" },
    { label: "Runbook", url: "https://ana@acme.pagerduty.com/x" },
    { label: "Query", url: "http://prometheus.corp:9090/graph?g0.expr=up" },
  ];
  await stage.tell(alertState(1, { alerts: [alertFields({ links })] }));
  const [message] = stage.living();
  const { card } = message?.living ?? {};
  expect(card).toMatchObject({
    links: [
      { ...links[0], isKnown: true },
      { ...links[3], isKnown: true },
      { ...links[1], isKnown: false },
      // Without the name before its host, and never a link.
      { label: "Runbook", url: "https://acme.pagerduty.com/x", isKnown: false },
    ],
  });
  const [text] = stage.living().map(textIn);
  // What leads elsewhere can be copied: all of it stands there, as code.
  expect(text).toContain("Rule: https://pagerduty.com.evil.test/x");
  const inlines = renderAlerts(message?.living.card as AlertCard).timeline ?? [];
  expect(inlines.flatMap(({ url, label }) => (url === undefined ? [] : [[label, url]]))).toEqual([
    ["PagerDuty (acme.pagerduty.com)", links[0]?.url],
    ["Query (prometheus.corp:9090)", links[3]?.url],
  ]);
  expect(inlines.find(({ text: shown }) => shown.includes("evil.test"))?.code).toBe(true);
});

test("an address with a secret is shown without it, and never a link", async () => {
  const stage = await told({ hide: (text) => text.replaceAll("hunter2", "•••") });
  stage.parts.mayLinkAlert = createLinkRule(["prometheus.corp:9090"]);
  const links = [{ label: "Token", url: "http://prometheus.corp:9090/graph?token=hunter2" }];
  await stage.tell(alertState(1, { alerts: [alertFields({ links })] }));
  const url = "http://prometheus.corp:9090/graph?token=•••";
  const [message] = stage.living();
  expect(message?.living.card).toMatchObject({ links: [{ label: "Token", url, isKnown: false }] });
});

test.each([
  ["http://PROMETHEUS.corp:9090/graph", "http://prometheus.corp:9090/graph"],
  ["http://prometheus.corp.:9090/graph", "http://prometheus.corp:9090/graph"],
  ["https://Acme.PagerDuty.com:443/x", "https://acme.pagerduty.com/x"],
])("a host in odd spelling is the host: %s", async (url, plain) => {
  const stage = await told({});
  stage.parts.mayLinkAlert = createLinkRule(["prometheus.corp:9090"]);
  await stage.tell(alertState(1, { alerts: [alertFields({ links: [{ label: "Query", url }] })] }));
  const [message] = stage.living();
  const { timeline = [] } = renderAlerts(message?.living.card as AlertCard);
  expect(timeline.flatMap((inline) => inline.url ?? [])).toEqual([plain]);
});

test("a silenced group says so, until when and by whom; when that ends it fires again, and says if nothing was heard since", async () => {
  const until = Date.parse("2026-11-24T11:03:00Z");
  const silence = fakeTool({
    name: "alertmanager_silence",
    effect: "write",
    run: async () => ({
      text: "Silenced.",
      undo: { tool: "alertmanager_expire_silence", args: { id: "s1", until } },
    }),
  });
  const input = z.strictObject({ matchers: z.array(z.string()) });
  const tools = [{ ...silence, input } as unknown as Tool];
  const stage = await told({ tools, approvals: { default: { write: "allow" } } });
  await stage.tell(alertState(1));
  await stage.say(`run alertmanager_silence matchers='["alertname=\\"HighErrorRate\\""]'`);
  await stage.settle();
  await stage.pass(MINUTE);
  expect(stage.standing()).toEqual(["🔕 Silenced · critical"]);
  const shown = () => stage.living().map(textIn).join("");
  expect(shown()).toContain(
    "🔕 Silenced until 2026-11-24 11:03 UTC by ana. What still fires when the silence ends fires here again.",
  );
  await stage.pass(61 * MINUTE);
  await stage.pass(MINUTE);
  expect(stage.standing()).toEqual(["🔥 Firing · critical"]);
  expect(shown()).toContain("Nothing was heard of it since: it may be over.");
  await stage.tell(alertState(2));
  await stage.pass(MINUTE);
  expect(shown()).toContain("🔔 The silence ended");
  expect(shown()).not.toContain("Nothing was heard");
});

test("of a group that flaps no line says that it is over, until it has stayed so", async () => {
  const stage = await told();
  const flaps = { turns: 7, since: Date.parse("2026-11-24T09:53:00Z") };
  await stage.tell(alertState(1));
  await stage.tell({ ...overState(2, 42), flaps });
  await stage.pass(5 * MINUTE);
  expect(stage.standing()).toEqual(["🔁 On and off · critical"]);
  expect(stage.said()).toEqual([]);
  const calm = overState(2, 42);
  await stage.tell({ ...calm, id: `${calm.id}:calm` });
  await stage.pass(MINUTE);
  expect(stage.standing()).toEqual(["✅ Resolved after 42 min"]);
  expect(stage.said()).toEqual(["✅ HighErrorRate is over after 42 min."]);
});

test("a group that flaps says so with how often, until it stays as it is", async () => {
  const stage = await told();
  const flaps = { turns: 6, since: Date.parse("2026-11-24T09:53:00Z") };
  await stage.tell(alertState(1, { flaps }));
  expect(stage.standing()).toEqual(["🔁 Firing · critical"]);
  expect(stage.living().map(textIn).join("")).toContain(
    "🔁 Flapping: 6 changes in 10 min. I tell it again when it stays as it is.",
  );
  await stage.pass(MINUTE);
  // As of the same word: nothing was said since, and that is what it says.
  const calm = alertState(1);
  await stage.tell({ ...calm, id: `${calm.id}:calm` });
  await stage.pass(MINUTE);
  expect(stage.standing()).toEqual(["🔥 Firing · critical"]);
});
