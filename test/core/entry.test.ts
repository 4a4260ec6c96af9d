import { expect, test } from "vitest";
import * as z from "zod";
import { type Draft, isFact, isPost, type Kind } from "../../src/core/entry.ts";
import { decodeContent, encodeDraft, entryVersion, migrate } from "../../src/core/entry-codec.ts";
import released from "./golden-entries.json" with { type: "json" };

interface Golden {
  version: number;
  body: object;
}

/** As a store keeps it in the form of 0.4. */
const decode = (kind: string, version: number, body: object) =>
  decodeContent({ stored: "x", kind, version, body: JSON.stringify(body) });

/** Entries as released versions wrote them. They are never changed: whoever upgrades has them in the store. */
const byKind: Readonly<Record<Kind, readonly Golden[]>> = released;
const golden = Object.entries(byKind).flatMap(([kind, entries]) =>
  entries.map((entry) => ({ ...entry, kind: kind as Kind })),
);

test("what any released version wrote can still be read, every kind of it", () => {
  for (const { kind, version, body } of golden) {
    expect(decode(kind, version, body), kind).toEqual({ kind, ...body });
  }
});

test("every version of every kind is among them, up to the one that is written", () => {
  for (const kind of new Set(golden.map((entry) => entry.kind))) {
    const versions = golden.filter((entry) => entry.kind === kind).map(({ version }) => version);
    const expected = Array.from({ length: entryVersion(kind) }, (_, i) => i + 1);
    expect([...new Set(versions)], kind).toEqual(expected);
    const bodies = golden.filter((entry) => entry.kind === kind).map(({ body }) => body);
    for (const body of bodies) {
      for (const form of ["object", "tuple"] as const) {
        const written = encodeDraft({ id: "x", kind, ...body } as Draft, form);
        expect(written.version).toBe(entryVersion(kind));
        expect(decodeContent(written)).toEqual({ kind, ...body });
      }
    }
  }
});

test("a kind or version of a newer program is left alone; a known one that does not fit is an error", () => {
  for (const { kind, body } of golden) {
    expect(decode(kind, entryVersion(kind) + 1, body)).toBeUndefined();
    expect(() => decode(kind, 1, { ...body, surprise: 1 })).toThrow(/surprise/);
  }
  expect(decode("hologram", 1, {})).toBeUndefined();
  expect(decode("__proto__", 1, {})).toBeUndefined();
});

test("an entry of an older shape is read in the newest one, version by version", () => {
  const alarm = {
    version: 4,
    migrations: {
      1: {
        schema: z.strictObject({ loud: z.boolean() }),
        next: (fields: object) => ({ volume: "loud" in fields && fields.loud === true ? 11 : 1 }),
      },
      // Version 3 added `place`, which may be missing.
      3: {
        schema: z.strictObject({ volume: z.number(), place: z.string().optional() }),
        next: (fields: object) => ({ place: "everywhere", ...fields }),
      },
    },
  };
  const newest = z.strictObject({ volume: z.number(), place: z.string() });
  const read = (version: number, body: object) => migrate(alarm, newest, version, body);
  expect(read(1, { loud: true })).toEqual({ volume: 11, place: "everywhere" });
  expect(read(2, { volume: 5 })).toEqual({ volume: 5, place: "everywhere" });
  expect(read(3, { volume: 5, place: "hall" })).toEqual({ volume: 5, place: "hall" });
  expect(read(4, { volume: 5, place: "hall" })).toEqual({ volume: 5, place: "hall" });
  expect(() => read(1, { volume: 5 })).toThrow(/loud/);
  expect(() => read(4, { volume: 5 })).toThrow(/place/);
});

test("posts, facts and decisions are told apart", () => {
  const posts = new Set(golden.filter(isPost).map(({ kind }) => kind));
  expect([...posts]).toEqual([
    "message",
    "command",
    "edited",
    "removed",
    "click",
    "stop",
    "timer",
    "signal",
    "incident",
    "alarm",
    "incident_state",
    "tenant",
    "tool_form",
    "secret",
    "freeze",
    "feedback",
    "mirror",
    "moved",
    "alert",
    "alert_state",
    "memory",
  ]);
  const finished = { id: "f", kind: "tool_finished", run: "r1", call: "r1.t1", text: "" } as const;
  expect(isFact({ ...finished, outcome: "ok" })).toBe(true);
  expect(isFact({ ...finished, outcome: "error" })).toBe(true);
  expect(isFact({ ...finished, outcome: "ok", recovered: true })).toBe(false);
  expect(isFact({ ...finished, outcome: "unknown" })).toBe(false);
  // A model's turn was paid for and happened; a person's answer and a gate's word are decided on.
  const facts = golden
    .map(({ kind, body }, i) => ({ id: `e${i}`, kind, ...body }) as Draft)
    .filter((draft) => !isPost(draft) && isFact(draft));
  expect(new Set(facts.map(({ kind }) => kind))).toEqual(
    new Set([
      "above",
      "plan",
      "assistant",
      "condensed",
      "overflow",
      "delivered",
      "tool_started",
      "tool_finished",
      "view_added",
      "view_removed",
      "alert_told",
    ]),
  );
  expect(isFact({ ...finished, outcome: "ok", answers: "click:8" })).toBe(false);
});
