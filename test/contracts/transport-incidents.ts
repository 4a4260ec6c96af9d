import { expect, test } from "vitest";
import { createLedger } from "../fakes/ledger.ts";
import {
  createIncidentOpen,
  createIncidentResolve,
  createIncidentUpdate,
} from "../../src/tools/incidents/record-tools.ts";
import type { HostOptions } from "../fakes/host.ts";
import { until } from "../until.ts";
import type { Surface } from "./surface.ts";

/** An incident's card: it, the record and what can be typed always say the same. */
export function incidentsOnSurface({ at, journal, run, shows, crowd }: Surface): void {
  test("an incident has one card, which is pressed or typed at, and agrees with the record", async () => {
    const ledger = createLedger(journal());
    const viewer = { audience: undefined, tenants: "all" } as const;
    const tools = [createIncidentOpen, createIncidentUpdate, createIncidentResolve].map((create) =>
      create(() => ledger),
    ) as NonNullable<HostOptions["tools"]>;
    const first = await run({ tools });
    const key = await at().begin("ana", 'incident open "Checkout fails" severity=sev2');
    await shows(key, "sev2 · open");
    const [opened] = await ledger.list({}, viewer);
    const id = opened?.id ?? "";
    const hard = 'rolled "back" to \\1.41, see https://evil.test @everyone';
    await at().fill(key, crowd ? "bob" : "ana", { label: "Update…", action: id }, { impact: hard });
    await until(async () => (await ledger.get(id, viewer)).impact === hard);
    await shows(key, /\w+ updated inc-[\w-]+: impact\. Its card shows it/);

    // Another process shows the same card.
    await first.end();
    await run({ tools });
    const resolve = { label: "Resolve…", action: id };
    await Promise.all([
      at().fill(key, "ana", resolve, { cause: "deploy 1.42" }),
      at().fill(key, crowd ? "bob" : "ana", resolve, { cause: "deploy 1.42" }),
    ]);
    await shows(key, "sev2 · resolved after");
    await shows(key, /was already resolved at/);
    const record = await ledger.get(id, viewer);
    expect(record).toMatchObject({ status: "resolved", cause: "deploy 1.42" });
    expect(record.history).toHaveLength(3);
    if (crowd) {
      const cards = at().shown(key).split("sev2 · resolved after").length - 1;
      expect(cards).toBe(1);
      expect(at().shown(key)).not.toContain("sev2 · open");
      expect(at().pings()).toEqual([]);
    }
  });

  if (!crowd) return;
  test("📌 on a message quotes it in the timeline, once, until who put it there takes it away", async () => {
    const ledger = createLedger(journal());
    const viewer = { audience: undefined, tenants: "all" } as const;
    const tools = [createIncidentOpen, createIncidentUpdate].map((create) =>
      create(() => ledger),
    ) as NonNullable<HostOptions["tools"]>;
    const first = await run({ tools });
    const said = 'rolled "back" @everyone <!here> [x](https://evil.test)';
    const key = await at().begin("ana", 'incident open "Checkout fails"');
    await shows(key, /\w+ opened inc-[\w-]+\. Its card shows it/);
    const [opened] = await ledger.list({}, viewer);
    const id = opened?.id ?? "";
    await at().write(key, "bob", said);
    await until(async () => at().shown(key).includes("rolled"));
    const before = at().shown(key);
    at().scramble?.();

    await at().mark?.(key, "ana", "rolled", true);
    await at().mark?.(key, "bob", "rolled", true);
    await shows(key, /ana: 📌 bob: "rolled/);
    const record = await ledger.get(id, viewer);
    expect(record.pins).toMatchObject([{ name: "bob", link: expect.stringMatching(/^https:/) }]);
    expect(record.history.at(-1)?.actor.name).toBe("ana");

    // Another process; and Bob did not bring it in.
    await first.end();
    const second = await run({ tools });
    await at().mark?.(key, "bob", "rolled", false);
    await at().mark?.(key, "ana", "rolled", false);
    await until(async () => (await ledger.get(id, viewer)).pins.length === 0);
    await at().mark?.(key, "ana", "rolled", true);
    await until(async () => (await ledger.get(id, viewer)).pins.length === 1);

    // A guest may not; who can't be quoted is told alone.
    await at().mark?.(key, "gus", "Timeline", true);
    await at().mark?.(key, "bob", "Timeline", true);
    await until(async () => at().told("bob").includes("That message isn't in the timeline"));
    await second.end();
    expect((await ledger.get(id, viewer)).history).toHaveLength(4);
    expect(at().shown(key).split("\n").length).toBe(before.split("\n").length + 1);
    expect(at().pings()).toEqual([]);
  });
}
