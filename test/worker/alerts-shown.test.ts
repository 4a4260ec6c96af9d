import { expect, test } from "vitest";
import { renderAlerts } from "../../src/adapters/render/alerts.ts";
import { alertFields, alertState, overState } from "../fakes/alert-state.ts";
import { createChat } from "../fakes/chat.ts";
import { createStage, type StageOptions } from "../fakes/stage.ts";

const MINUTE = 60_000;

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

test("links lead to pages of the monitoring systems' own domains, or to hosts that the configuration names", async () => {
  const stage = await told();
  const links = [
    { label: "PagerDuty", url: "https://acme.pagerduty.com/incidents/Q1" },
    { label: "Rule", url: "https://pagerduty.com.evil.test/x" },
    { label: "Runbook", url: "https://ana@acme.pagerduty.com/x" },
    { label: "Query", url: "http://app.datadoghq.com/x" },
  ];
  await stage.tell(alertState(1, { alerts: [alertFields({ links })] }));
  const [message] = stage.living();
  const { card } = message?.living ?? {};
  expect(card).toMatchObject({ links: [links[0]] });
});
