import { expect, test } from "vitest";
import type { JournalKey } from "../../src/core/journal-key.ts";
import { createLedger } from "../../src/incidents/ledger.ts";
import type { Journal } from "../../src/journal/journal.ts";
import {
  createIncidentOpen,
  createIncidentResolve,
  createIncidentUpdate,
} from "../../src/tools/incidents/record-tools.ts";
import type { HostOptions } from "../fakes/host.ts";
import { until } from "../until.ts";

type Who = "ana" | "bob";

/** What of the surface people use here. */
interface Place {
  begin(who: Who, text: string): Promise<JournalKey>;
  fill(
    key: JournalKey,
    who: Who,
    on: { label: string; action: string },
    written: Record<string, string>,
  ): Promise<void>;
  shown(key: JournalKey): string;
  pings(): readonly unknown[];
}

/** A conversation on a surface, as `transportContract` sets it up. */
interface Surface {
  at(): Place;
  journal(): Journal;
  run(options: HostOptions): Promise<{ end(): Promise<void> }>;
  shows(key: JournalKey, text: string | RegExp): Promise<void>;
  crowd: boolean;
}

/** An incident's card: it, the record and what can be typed always say the same. */
export function incidentsOnSurface({ at, journal, run, shows, crowd }: Surface): void {
  test("an incident has one card, which is pressed or typed at, and agrees with the record", async () => {
    const ledger = createLedger(journal(), (text) => text);
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
    await shows(key, /Updated inc-[\w-]+: its card shows it/);

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
}
