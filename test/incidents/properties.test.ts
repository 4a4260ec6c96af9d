import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import type { Viewer } from "../../src/core/viewer.ts";
import type { Change, Incident, Ledger } from "../../src/incidents/incident.ts";
import { createLedger } from "../fakes/ledger.ts";
import { openCatalog } from "../../src/incidents/catalog.ts";
import { listedOf } from "../../src/incidents/tables.ts";
import { HORIZON, type Move, moves, optional, PLACES, play, SEVERITIES, WORDS } from "./moves.ts";
import { createStage, MINUTE, START } from "./stage.ts";

const NOBODY = { account: "test:nobody", name: "Nobody" };

/** What a plain list of assignments makes of an incident, without the fold. */
interface Model {
  place: string | undefined;
  fields: Change & { startedAt: number };
  actions: string[];
  said: number;
}

function modelStep(known: Model | undefined, move: Move, now: number): Model | undefined {
  const said: Change = {
    ...move.change,
    ...(move.verb === "resolve" && { status: "resolved" as const }),
  };
  if (move.verb === "open") said.title ??= "untitled";
  const place = PLACES[move.place];
  const isOver = known?.fields.status === "resolved";
  if (Object.keys(said).length === 0) return undefined;
  if (known !== undefined && known.place !== place) return undefined;
  if ([said.startedAt, said.detectedAt, said.resolvedAt].some((at = 0) => at > now))
    return undefined;
  if (known === undefined && said.resolvedAt !== undefined) return undefined;
  if (known !== undefined && said.status === "resolved" && isOver) return undefined;
  if (known !== undefined && said.status === "open" && !isOver) return undefined;
  const ends = said.status === "resolved" || (isOver && said.status !== "open");
  if (said.resolvedAt !== undefined && !ends) return undefined;
  const before = known?.fields ?? { startedAt: now, status: "open" as const };
  const fields = { ...before, ...said, startedAt: said.startedAt ?? before.startedAt };
  if (ends)
    fields.resolvedAt = said.resolvedAt ?? before.resolvedAt ?? Math.max(now, fields.startedAt);
  else delete fields.resolvedAt;
  if ((fields.detectedAt ?? Infinity) < fields.startedAt) return undefined;
  if ((fields.resolvedAt ?? Infinity) < fields.startedAt) return undefined;
  const actions = [...(known?.actions ?? []), ...(said.actions ?? [])];
  return { place, fields, actions, said: (known?.said ?? 0) + 1 };
}

test("whatever is said in whatever order, the record is what a plain list of assignments gives", async () => {
  await fc.assert(
    fc.asyncProperty(moves, async (all) => {
      const stage = await createStage();
      const models = new Map<string, Model>();
      const ids = await play(stage, all, (move, id, incident) => {
        const expected = modelStep(models.get(id ?? ""), move, stage.clock.now);
        expect(incident !== undefined, JSON.stringify(move)).toBe(expected !== undefined);
        if (incident !== undefined && expected !== undefined) models.set(incident.id, expected);
      });
      const other = createLedger(stage.journal, (text) => text);
      for (const id of ids) {
        const { place, fields, actions, said } = models.get(id) ?? expect.unreachable();
        for (const ledger of [stage.ledger, other]) {
          const found = await ledger.get(id, { audience: place, tenants: ["test"] });
          const { title, severity, status, startedAt, detectedAt, resolvedAt, cause } = fields;
          expect(found).toMatchObject({
            title,
            severity,
            services: [...new Set(fields.services)],
            status,
            startedAt,
            detectedAt,
            resolvedAt,
            cause,
            actions,
            audience: place,
          });
          expect(found.history).toHaveLength(said);
        }
      }
    }),
    { numRuns: 150 },
  );
});

/** Everything that a viewer can find out. */
async function seenBy(ledger: Ledger, viewer: Viewer, ids: readonly string[]): Promise<unknown> {
  const periods = [-HORIZON, -500, 0, 300].map((from) => ({
    from: START + from * MINUTE,
    to: START + (from + 700) * MINUTE,
    zone: "UTC",
    name: "some time",
  }));
  const asked = [...ids, ...ids.map((id) => `${id.slice(0, -1)}_`), "inc-20261120-zzzz"];
  return {
    list: await ledger.list({}, viewer),
    filtered: await Promise.all(
      SEVERITIES.map((severity) => ledger.list({ severity, status: "open" }, viewer)),
    ),
    services: await ledger.list({ service: "web" }, viewer),
    searches: await Promise.all(
      [...WORDS, "disk full", "untitled"].map((text) => ledger.search(text, viewer)),
    ),
    stats: await Promise.all(periods.map((period) => ledger.stats(period, viewer, 5))),
    got: await Promise.all(asked.map((id) => ledger.get(id, viewer).catch(String))),
  };
}

test("what a viewer sees is the same whether or not other places have incidents: lists, order, counts, errors, suggestions", async () => {
  await fc.assert(
    fc.asyncProperty(moves, fc.nat({ max: PLACES.length - 1 }), async (all, who) => {
      const viewer = { audience: PLACES[who], tenants: ["test"] };
      const whole = await createStage();
      const ids = await play(whole, all);
      // The same ids mean the same incidents, as they are made of thread and call; what is not the viewer's is left out.
      const part = await createStage();
      const isTheirs = (audience: string | undefined) =>
        audience === undefined || audience === viewer.audience;
      for await (const { key } of whole.journal.list({ prefix: "incident:" })) {
        const entries = await whole.journal.read(key);
        for (const entry of entries) {
          if (entry.kind !== "incident" || !isTheirs(entry.audience)) continue;
          const { seq: _, head: _head, at, ...draft } = entry;
          part.clock.now = at;
          await part.journal.post(key, draft);
        }
      }
      const seen = await seenBy(whole.ledger, viewer, ids);
      expect(seen).toEqual(await seenBy(part.ledger, viewer, ids));
    }),
    { numRuns: 80 },
  );
});

test("the numbers of a period are those that counting by hand gives", async () => {
  const instants = fc.option(fc.integer({ min: 0, max: 100 }), { nil: undefined });
  const incident = fc
    .record({
      id: fc.uuid(),
      startedAt: fc.integer({ min: 0, max: 60 }),
      detected: instants,
      lasted: instants,
      severity: optional(fc.constantFrom(...SEVERITIES)),
      services: fc.uniqueArray(fc.constantFrom("web", "db", "dns")),
    })
    .map(({ detected, lasted, ...rest }): Incident => ({
      ...rest,
      audience: undefined,
      tenant: undefined,
      link: undefined,
      thread: "test:thread",
      impact: undefined,
      updateEvery: undefined,
      pins: [],
      title: "T",
      status: lasted === undefined ? "open" : "resolved",
      detectedAt: detected === undefined ? undefined : rest.startedAt + detected,
      acknowledgedAt: undefined,
      mitigatedAt: undefined,
      known: {},
      spells: [],
      certainty: undefined,
      evidence: [],
      roles: [],
      followUps: [],
      alerts: [],
      acted: [],
      isImported: false,
      resolvedAt: lasted === undefined ? undefined : rest.startedAt + lasted,
      cause: undefined,
      actions: [],
      history: [{ at: 1, actor: NOBODY, link: undefined, outside: false, change: {} }],
    }));
  const many = fc.uniqueArray(incident, { selector: ({ id }) => id, maxLength: 12 });
  const bounds = fc.tuple(fc.nat({ max: 80 }), fc.integer({ min: 1, max: 80 }));
  const median = (all: number[]) => {
    let left = all.toSorted((a, b) => a - b);
    while (left.length > 2) left = left.slice(1, -1);
    return left.length === 0 ? undefined : left.reduce((a, b) => a + b) / left.length;
  };
  const catalog = openCatalog();
  onTestFinished(() => catalog.clear());
  fc.assert(
    fc.property(many, bounds, (all, [from, length]) => {
      const to = from + length;
      catalog.clear();
      catalog.put(
        all.map((each) => ({ id: each.id, last: 1, head: each.id, listed: listedOf(each) })),
        "1",
      );
      const period = { from, to, zone: "UTC", name: "t" };
      const viewer = { audience: undefined, tenants: "all" } as const;
      const stats = catalog.stats(period, viewer, 5);
      const opened = new Set<Incident>();
      const resolved = new Set<Incident>();
      const open = new Set<Incident>();
      for (const one of all) {
        for (let t = from; t < to; t++) {
          if (one.startedAt === t) opened.add(one);
          if (one.resolvedAt === t) resolved.add(one);
        }
        if (one.resolvedAt === undefined && one.startedAt < to) open.add(one);
      }
      expect(stats.opened).toBe(opened.size);
      expect(stats.resolved).toBe(resolved.size);
      expect(stats.open).toBe(open.size);
      const any = new Set([...opened, ...resolved, ...open]);
      expect(stats.all).toBe(any.size);
      expect(stats.newest.map(({ id }) => id)).toEqual(
        [...any]
          .toSorted((a, b) => b.startedAt - a.startedAt || (a.id < b.id ? -1 : 1))
          .slice(0, 5)
          .map(({ id }) => id),
      );
      for (const severity of [...SEVERITIES, undefined]) {
        const found = stats.bySeverity.find((one) => one.severity === severity)?.count ?? 0;
        expect(found).toBe([...opened].filter((one) => one.severity === severity).length);
      }
      for (const service of ["web", "db", "dns"]) {
        const found = stats.byService.find((one) => one.service === service)?.count ?? 0;
        expect(found).toBe([...opened].filter((one) => one.services.includes(service)).length);
      }
      const times = [...resolved].map((one) => (one.resolvedAt ?? NaN) - one.startedAt);
      expect(stats.toResolve.count).toBe(times.length);
      expect(stats.toResolve.median).toBe(median(times));
      if (times.length > 0) {
        expect(stats.toResolve.mean).toBeCloseTo(times.reduce((a, b) => a + b) / times.length, 9);
        const longest = all.find(({ id }) => id === stats.longest[0]?.id);
        expect((longest?.resolvedAt ?? NaN) - (longest?.startedAt ?? NaN)).toBe(Math.max(...times));
      } else expect([stats.toResolve.mean, stats.longest]).toEqual([undefined, []]);
      const noticed = [...opened].flatMap((one) =>
        one.detectedAt === undefined ? [] : [one.detectedAt - one.startedAt],
      );
      expect(stats.toDetect).toMatchObject({ count: noticed.length, median: median(noticed) });
    }),
    { numRuns: 200 },
  );
});
