import { expect, test } from "vitest";
import { createIncidentOpen } from "../../src/tools/incidents/record-tools.ts";
import { ofKind } from "../agent/talking.ts";
import type { HostOptions } from "../fakes/host.ts";
import { createLedger } from "../fakes/ledger.ts";
import { fakeTool } from "../fakes/stage.ts";
import { until } from "../until.ts";
import type { Surface } from "./surface.ts";

/** A thread that looks like an incident offers to record it, on every surface. */
export function offersOnSurface({ at, journal, run, shows, entriesOf, crowd }: Surface): void {
  async function begin() {
    const ledger = createLedger(journal());
    const tools = [fakeTool({ name: "look" }), createIncidentOpen(() => ledger)] as NonNullable<
      HostOptions["tools"]
    >;
    const first = await run({ tools });
    const key = await at().begin("ana", "this is a sev1: checkout @everyone fails");
    await shows(key, "This looks like an incident. Record it?");
    const recorded = () => ledger.list({}, { audience: undefined, tenants: "all" });
    return { key, recorded, first, tools };
  }

  test("a thread that looks like an incident offers to record it, and records nothing by itself", async () => {
    const { key, recorded } = await begin();
    if (!crowd) await shows(key, "incident open <what fails> records it");
    expect(await recorded()).toEqual([]);
    expect(at().pings()).toEqual([]);
  });

  if (!crowd) return;

  test("Open incident records it for whoever pressed first, also after a restart, and no guest may press it", async () => {
    const { key, recorded, first, tools } = await begin();
    await first.end();
    await run({ tools });
    await at().press(key, "gus", "Open incident", "looks like");
    await until(() => at().told("gus") !== "");
    expect(at().told("gus")).toMatch(/Guests can't/);
    expect(await recorded()).toEqual([]);
    await Promise.all([
      at().press(key, "bob", "Open incident", "looks like"),
      at().press(key, "cy", "Open incident", "looks like"),
    ]);
    await shows(key, /Record it\? → recorded as inc-[\w-]+ by (?:bob|cy)/i);
    await until(() => at().told("bob") + at().told("cy") !== "");
    expect(at().told("bob") + at().told("cy")).toMatch(
      /it is being recorded|This is recorded already/,
    );
    const records = await recorded();
    expect(records).toMatchObject([{ status: "open" }]);
    expect(records[0]?.title).toContain("this is a sev1: checkout");
    const opener = records[0]?.history[0]?.actor.name ?? "";
    expect(at().shown(key)).toContain(`by ${opener}`);
    expect(at().pings()).toEqual([]);
  });

  test("Not an incident ends the offer for everybody, and says who said so", async () => {
    const { key, recorded } = await begin();
    await at().press(key, "gus", "Not an incident", "looks like");
    await until(() => at().told("gus") !== "");
    expect(at().told("gus")).toMatch(/Guests can't/);
    await Promise.all([
      at().press(key, "bob", "Not an incident", "looks like"),
      at().press(key, "bob", "Not an incident", "looks like"),
    ]);
    await shows(key, /Record it\? → bob.*: not an incident/i);
    await until(() => /bob.* already said that this is not an incident/i.test(at().told("bob")));
    expect(await recorded()).toEqual([]);
    expect(ofKind(await entriesOf(key), "notice").filter(({ offers }) => offers)).toHaveLength(1);
  });
}
