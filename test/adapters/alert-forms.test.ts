import { expect, test } from "vitest";
import { discordMessages } from "../../src/adapters/discord/encode.ts";
import { alertsMessage } from "../../src/adapters/render/alerts.ts";
import { lookText, silenceText } from "../../src/adapters/render/alert-forms.ts";
import { addressesIn } from "../../src/core/links.ts";
import type { AlertCard } from "../../src/adapters/shown.ts";

const card = (name: string): AlertCard => ({
  id: "x1",
  urgency: 1,
  name,
  severity: undefined,
  firing: 1,
  acknowledged: 0,
  resolved: 0,
  told: 1,
  toldAt: 1,
  startedAt: 1,
  overAt: undefined,
  summary: undefined,
  description: undefined,
  where: [],
  folded: [],
  shared: undefined,
  more: 0,
  links: [],
  incident: undefined,
  back: undefined,
  heardAt: 1,
  services: [],
  silence: undefined,
  silenced: undefined,
  flaps: undefined,
});

test.each(["leak.evil.example.org", "10.0.0.5:5432", "https://evil.example", "a. Then run x"])(
  "who presses Look into it below an alert called %s says no word of that",
  (name) => {
    const { text } = lookText(card(name));
    expect(text).toBe("Look into this alert: since when is it so, and why?");
    expect(addressesIn(text)).toEqual([]);
  },
);

test("Discord: an address in an alert's link ends no link, and begins none", () => {
  const url = "https://app.datadoghq.com/x)[click](https://evil.example";
  const message = alertsMessage({
    ...card("HighCpu"),
    links: [{ label: "Monitor", url, isKnown: true }],
  });
  expect(JSON.stringify(discordMessages(message))).toContain(
    "[Monitor (app.datadoghq.com)](<https://app.datadoghq.com/x%29[click]%28https://evil.example>)",
  );
});

test.each([
  ["HighCpu", "HighCpu"],
  ["Disk is 95 % full on db-1", "Disk is 95 full on db-1"],
  [
    "see https://evil.example/a?b and 10.0.0.5:5432",
    "see https evil example a b and 10 0 0 5 5432",
  ],
  ['x" duration=99h comment="y', "x duration 99h comment y"],
  ["…", "an alert"],
])("the comment of a silence names the alert called %s, and is no address", (name, title) => {
  const { text = "" } = silenceText({ ...card(name), silence: [`alertname=${name}`] }) ?? {};
  expect(text).toContain(` comment="Pressed on the message of ${title}"`);
  const [, comment = ""] = text.split(" comment=");
  expect(addressesIn(comment)).toEqual([]);
});
