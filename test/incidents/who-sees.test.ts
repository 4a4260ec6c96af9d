import fc from "fast-check";
import { expect, test } from "vitest";
import { maySee, type Viewer } from "../../src/core/viewer.ts";
import { openCatalog } from "../../src/incidents/catalog.ts";
import { belongingOf, spaceOf } from "../../src/memory/item.ts";
import { rowOf } from "./catalog-row.ts";

const tenant = fc.constantFrom("slack:T1", "slack:T2", "discord:1");
const audience = fc.constantFrom(undefined, undefined, "slack:T1:C7", "discord:dm:5");
const thread = fc.constantFrom("slack:T1:C1:1.1", "slack:T1:C7:1.2", "discord:1:44");
const place = fc.record({ audience, tenant: fc.option(tenant, { nil: undefined }), thread });
const viewers: fc.Arbitrary<Viewer> = fc.record(
  { audience, tenants: fc.oneof(fc.uniqueArray(tenant), fc.constant("all" as const)), thread },
  { requiredKeys: ["audience", "tenants"] },
);

test("the catalog's lists, counts and suggestions have just the incidents that may be seen", () => {
  fc.assert(
    fc.property(fc.array(place, { maxLength: 12 }), viewers, (places, viewer) => {
      const catalog = openCatalog();
      const rows = places.map((each, i) => rowOf(i, { title: "Disk full" }, each));
      catalog.put(rows, "1");
      const seen = rows.filter((_, i) => maySee(viewer, places[i] ?? {})).map(({ id }) => id);
      expect(
        catalog
          .list({}, viewer)
          .map(({ id }) => id)
          .toSorted(),
      ).toEqual(seen);
      expect(catalog.count({}, viewer)).toBe(seen.length);
      expect(
        catalog.near("inc-20261120-zzzz", viewer).newest.every((id) => seen.includes(id)),
      ).toBe(true);
      const { found, count } = catalog.search("disk", {}, viewer);
      expect(found.map(({ id }) => id).toSorted()).toEqual(seen);
      expect(count).toBe(seen.length);
      catalog.clear();
    }),
  );
});

test("memory's spaces are seen by the same rule", () => {
  fc.assert(
    fc.property(viewers, audience, tenant, (viewer, of, where) => {
      const space = spaceOf({ audience: of }, `memory:${where}:2026-11`);
      expect(maySee(viewer, belongingOf(space))).toBe(
        maySee(viewer, { audience: of, tenant: where }),
      );
    }),
  );
});
