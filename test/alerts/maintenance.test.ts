import { expect, test } from "vitest";
import { alertOf } from "../../src/alerts/alert.ts";
import { createMaintenance } from "../../src/alerts/maintenance.ts";
import { alertsPart } from "../../src/config/alerts.ts";

const windowsOf = (...maintenance: object[]) =>
  alertsPart.settings.parse({ routes: [], sources: {}, maintenance }).maintenance;
const at = (text: string) => Date.parse(text);
const backup = alertOf({ name: "BackupSlow", status: "firing", labels: { service: "backup-db" } });
const other = alertOf({ name: "HighCpu", status: "firing", labels: { service: "shop" } });

test("a nightly window holds by its zone's clock, in summer as in winter, until its very end", () => {
  const nightly = { name: "nightly", match: { service: "backup-*" }, minutes: 90 };
  const quietAt = createMaintenance(
    windowsOf({ ...nightly, cron: "0 2 * * *", zone: "Europe/Berlin" }),
    undefined,
  );
  const when = (text: string) => quietAt("alertmanager", backup, at(text));
  expect(when("2026-11-24T00:59:59Z")).toBeUndefined();
  expect(when("2026-11-24T01:00:00Z")).toEqual({
    window: "nightly",
    until: at("2026-11-24T02:30:00Z"),
  });
  expect(when("2026-11-24T02:29:59.999Z")).toBeDefined();
  expect(when("2026-11-24T02:30:00Z")).toBeUndefined();
  expect(when("2026-07-01T00:00:00Z")).toEqual({
    window: "nightly",
    until: at("2026-07-01T01:30:00Z"),
  });
  expect(quietAt("alertmanager", other, at("2026-11-24T01:00:00Z"))).toBeUndefined();
});

test("a window that begins again before it ends goes on; the one that ends last counts", () => {
  const quietAt = createMaintenance(
    windowsOf(
      { name: "often", cron: "0,5,10 12 * * *", minutes: 7 },
      { name: "once", from: "2026-11-24T13:00:00+01:00", to: "2026-11-24T12:06:00Z" },
    ),
    "UTC",
  );
  const when = (text: string) => quietAt("grafana", other, at(text));
  expect(when("2026-11-24T12:00:00Z")).toEqual({
    window: "often",
    until: at("2026-11-24T12:17:00Z"),
  });
  expect(when("2026-11-24T12:17:00Z")).toBeUndefined();
});

test.each([
  [{ name: "a" }],
  [{ name: "a", from: "2026-11-24T13:00:00Z" }],
  [{ name: "a", from: "2026-11-24T13:00:00", to: "2026-11-24T14:00:00" }],
  [{ name: "a", from: "2026-11-24T13:00:00Z", to: "2026-11-24T12:00:00Z" }],
  [{ name: "a", from: "2026-11-24T13:00:00Z", to: "2026-11-24T14:00:00Z", zone: "UTC" }],
  [{ name: "a", cron: "0 2 * * *" }],
])("a window without clear times is refused: %j", (written) => {
  expect(() => windowsOf(written)).toThrow("expected");
});

test.each([["0 99 * * *"], ["0 2 * *"]])("a cron that is none is refused by name: %s", (cron) => {
  expect(() => createMaintenance(windowsOf({ name: "nightly", cron, minutes: 1 }), "UTC")).toThrow(
    "alerts.maintenance: nightly",
  );
});

test("a zone that is none is refused", () => {
  const windows = windowsOf({ name: "a", cron: "0 2 * * *", minutes: 1, zone: "Mars/Base" });
  expect(() => createMaintenance(windows, "UTC")).toThrow("Mars/Base");
});
