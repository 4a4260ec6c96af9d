import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type Belonging,
  insiderOf,
  maySee,
  maySeeFreezes,
  prefixesSeen,
  type Viewer,
  viewerAt,
  viewerOf,
} from "../../src/core/viewer.ts";
import { tenantOf } from "../../src/core/journal-key.ts";

const CHANNEL: Viewer = { audience: undefined, tenants: ["slack:T1"], thread: "slack:T1:C1:1" };
const PRIVATE: Viewer = { audience: "slack:T1:C7", tenants: ["slack:T1"] };
const NOBODY: Viewer = { audience: undefined, tenants: [] };
const OPERATOR: Viewer = { audience: undefined, tenants: "all" };

test.each<[string, Belonging, Record<"channel" | "private" | "nobody" | "operator", boolean>]>([
  [
    "what is public in a tenant",
    { tenant: "slack:T1" },
    { channel: true, private: true, nobody: false, operator: true },
  ],
  [
    "what is public in another tenant",
    { tenant: "slack:T2" },
    { channel: false, private: false, nobody: false, operator: true },
  ],
  [
    "what belongs to a private place",
    { audience: "slack:T1:C7", tenant: "slack:T1" },
    { channel: false, private: true, nobody: false, operator: false },
  ],
  [
    "what belongs to another private place",
    { audience: "slack:T1:C8", tenant: "slack:T1" },
    { channel: false, private: false, nobody: false, operator: false },
  ],
  [
    "what is public in no tenant",
    {},
    { channel: false, private: false, nobody: false, operator: true },
  ],
  [
    "what is public in another tenant, of the thread that asks",
    { tenant: "discord:1", thread: "slack:T1:C1:1" },
    { channel: true, private: false, nobody: false, operator: true },
  ],
  [
    "what was said privately in the thread that asks, before it was public",
    { audience: "slack:T1:C1", tenant: "slack:T1", thread: "slack:T1:C1:1" },
    { channel: false, private: false, nobody: false, operator: false },
  ],
])("%s is seen by nobody else", (_, what, seen) => {
  expect({
    channel: maySee(CHANNEL, what),
    private: maySee(PRIVATE, what),
    nobody: maySee(NOBODY, what),
    operator: maySee(OPERATOR, what),
  }).toEqual(seen);
});

const tenants = fc.subarray(["slack:T1", "slack:T2", "discord:1", "terminal"]);
const audience = fc.constantFrom(undefined, "slack:T1:C1", "slack:T3:D1", "discord:dm:5");
const threads = fc.constantFrom(
  "slack:T1:C1:1.1",
  "slack:T1:C2:1.2",
  "slack:T3:D1:1.3",
  "discord:1:44",
  "discord:dm:5",
  "terminal:7f3c",
);

test("a thread that may be seen has a key that begins with one of the viewer's prefixes", () => {
  const viewers = fc.record({ audience, tenants: fc.oneof(tenants, fc.constant("all" as const)) });
  fc.assert(
    fc.property(viewers, threads, fc.boolean(), (viewer, key, isPrivate) => {
      const place = key.startsWith("discord:") ? key : key.replace(/:[\d.]+$/, "");
      const what = { tenant: tenantOf(key), ...(isPrivate && { audience: place }) };
      const prefixes = prefixesSeen(viewer, ["slack", "discord", "terminal"]);
      if (maySee(viewer, what))
        expect(prefixes.some((prefix) => key.startsWith(prefix))).toBe(true);
    }),
  );
});

test("a place sees what is its tenant's and its own, and an insider what its readers see", () => {
  const at = viewerAt("slack:T1:C7", { audience: "slack:T1:C7", hasOutsiders: false });
  expect(maySee(at, { tenant: "slack:T1" })).toBe(true);
  expect(maySee(at, { audience: "slack:T1:C7", tenant: "slack:T1" })).toBe(true);
  expect(maySee(at, { audience: "slack:T1:C8", tenant: "slack:T1" })).toBe(false);
  expect(maySee(viewerAt("discord:dm:5", { audience: undefined, hasOutsiders: false }), {})).toBe(
    false,
  );
  const shared = viewerAt("slack:T1:C7", { audience: "slack:T1:C7", hasOutsiders: true });
  expect(maySee(shared, { audience: "slack:T1:C7", tenant: "slack:T1" })).toBe(true);
  expect(maySee(shared, { tenant: "slack:T1" })).toBe(false);
  for (const what of [{}, { tenant: "slack:T1" }, { tenant: "slack:T1", audience: "slack:T1:C7" }])
    expect(maySee(insiderOf(what), what)).toBe(true);
});

test("a platform that cannot say who reads along shows nothing", async () => {
  const key = "slack:T1:C1:1";
  const asker = { key, audience: async () => undefined, tenants: async () => ["slack:T1"] };
  expect(await viewerOf(asker)).toEqual(CHANNEL);
  const away = { ...asker, audience: () => Promise.reject(new Error("away")) };
  await expect(viewerOf(away)).rejects.toThrow("away");
});

test("freezes are a team's own: no place with outsiders sees them, and the operator does", () => {
  const of = (served: Viewer["tenants"]) => maySeeFreezes({ audience: undefined, tenants: served });
  expect([of("all"), of(["slack:T1"]), of([])]).toEqual([true, true, false]);
});
