import { expect, test } from "vitest";
import type { Incident } from "../../src/incidents/incident.ts";
import { createLedger } from "../fakes/ledger.ts";
import { mayHear, newsOf } from "../../src/incidents/news.ts";
import { createStage, MINUTE } from "./stage.ts";

test("its channel hears of it, its severity, its end and its reopening, each once, also after a crash", async () => {
  const { journal, saying, clock } = await createStage();
  const told = new Map<string, string>();
  let crashes = false;
  const announce = async (incident: Incident) => {
    if (crashes) throw new Error("crash");
    for (const { id, text } of newsOf(incident)) if (!told.has(id)) told.set(id, text);
  };
  const make = () => createLedger(journal, (text) => text, { announce });
  const [one, two] = [make(), make()];
  const from = { link: "https://chat.test/p1" };
  const opened = await one.open(saying(from), { title: "Slow", severity: "sev3" });
  const { id } = opened;
  clock.now += MINUTE;
  await two.update(saying(), id, { severity: "sev3", note: "no news" });
  crashes = true;
  const worse = saying({ outside: true });
  await expect(one.update(worse, id, { severity: "sev1" })).rejects.toThrow("crash");
  crashes = false;
  await two.written(worse, id);
  await two.resolve(saying(), id, {});
  await one.update(saying(), id, { status: "open" });
  expect([...told.values()]).toEqual(
    [
      "opened by Ana as sev3: Slow",
      "now sev1, was sev3 (unverified): Slow",
      "resolved after 1 min: Slow",
      "open again: Slow",
    ].map((text) => `Incident ${text} · ${id} · https://chat.test/p1`),
  );
  clock.now += 2 * 86_400_000;
  expect(newsOf(await one.resolve(saying(), id, {}))).toHaveLength(1);
});

test.each([
  [undefined, "slack:T1", ["slack:T1:C7", "slack:T1:C8"]],
  [undefined, "discord:1", ["discord:1:2"]],
  [undefined, "mcp", []],
  ["slack:T1:C7", "slack:T1", ["slack:T1:C7"]],
  ["slack:T1:D9", "slack:T1", []],
])("of %s in %s hear only channels whose readers may read it", (audience, tenant, channels) => {
  const all = ["slack:T1:C7", "slack:T1:C8", "slack:T2:C1", "discord:1:2"];
  const hears = (hasOutsiders: boolean) =>
    all.filter((channel) => mayHear(channel, hasOutsiders, { audience, tenant }));
  expect(hears(false)).toEqual(channels);
  // People of other companies read along: it hears of its own alone.
  expect(hears(true)).toEqual(channels.filter((channel) => channel === audience));
});
