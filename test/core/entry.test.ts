import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { decodeContent, ENTRY_KINDS, ENTRY_VERSION, isFact, isPost } from "../../src/core/entry.ts";

interface Golden {
  kind: string;
  version: number;
  body: Record<string, unknown>;
}

/** Entries as released versions wrote them. They are never changed: whoever upgrades has them in the store. */
const golden = JSON.parse(
  readFileSync(join(import.meta.dirname, "golden-entries.json"), "utf8"),
) as Golden[];

test("what any released version wrote can still be read, every kind of it", () => {
  for (const { kind, version, body } of golden) {
    expect(decodeContent(kind, version, body), kind).toEqual({ kind, ...body });
  }
  expect([...new Set(golden.map(({ kind }) => kind))].toSorted()).toEqual(ENTRY_KINDS.toSorted());
});

test("a kind or version of a newer program is left alone; a known one that does not fit is an error", () => {
  for (const { kind, body } of golden) {
    expect(decodeContent(kind, ENTRY_VERSION + 1, body)).toBeUndefined();
    expect(() => decodeContent(kind, 1, { ...body, surprise: 1 })).toThrow(/surprise/);
  }
  expect(decodeContent("hologram", 1, {})).toBeUndefined();
  expect(decodeContent("__proto__", 1, {})).toBeUndefined();
});

test("posts, facts and decisions are told apart", () => {
  const posts = new Set(golden.filter(isPost).map(({ kind }) => kind));
  expect([...posts]).toEqual(["message", "command", "click", "stop", "timer", "signal"]);
  const finished = { id: "f", kind: "tool_finished", run: "r1", call: "r1.t1", text: "" } as const;
  expect(isFact({ ...finished, outcome: "ok" })).toBe(true);
  expect(isFact({ ...finished, outcome: "error" })).toBe(true);
  expect(isFact({ ...finished, outcome: "ok", recovered: true })).toBe(false);
  expect(isFact({ ...finished, outcome: "unknown" })).toBe(false);
});
