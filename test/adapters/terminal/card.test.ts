import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ActionCard } from "../../../src/adapters/shown.ts";
import {
  cardText,
  detailsText,
  replyLine,
  standingText,
} from "../../../src/adapters/terminal/card.ts";
import { createPaint } from "../../../src/adapters/terminal/style.ts";
import { CONTINUED, foldExact, widthOf, wrapWords } from "../../../src/adapters/terminal/wrap.ts";
import { exactText } from "../../../src/security/sanitize.ts";
import { killCard, NIGHT } from "./harness.ts";

const plain = createPaint(false);

function shown(card: ActionCard, columns: number): string {
  return cardText(card, { paint: plain, columns, now: NIGHT, rich: false }, replyLine(undefined));
}

describe("the card of an action", () => {
  test("says everything that a person decides by (golden)", () => {
    expect(shown(killCard(), 80)).toBe(
      `
╭─ a1 · DESTRUCTIVE · Run kill_process? ────────────────────────────────
│   kill_process pid=4242 signal=SIGTERM
│
│ Process     nginx: worker process (www-data)
│ Listens on  0.0.0.0:80, 0.0.0.0:443
│ Impact      2 open client connections are cut.
│ Undo        None: a killed process does not come back by itself.
│
│ > Why (AI-written, not verified): it hangs and holds the lock
│
│ Needs    1 approval · anyone in this thread
│ Expires  03:30 (in 1 h)
│
│ {"pid":4242,"signal":"SIGTERM"}
╰─ y approve · n deny · n because … · e edit · c withdraw · d details
`.trim(),
    );
  });

  test("keeps every byte on a narrow screen, where labels stand on lines of their own (golden)", () => {
    const args = { path: "/srv/app/current", script: "set -e\nrm  -r  ./cache/*\n" };
    const card = killCard({
      args,
      reason: undefined,
      preview: { lines: [], blastRadius: "Nothing else.", undo: "None." },
      quorum: 2,
      votes: [{ name: "ana", approve: true, reason: undefined }],
      revision: 2,
    });
    expect(shown(card, 36)).toBe(
      `
╭─ a1 · DESTRUCTIVE · Run kill_process? · revision 2 ─
│   kill_process path=/srv/app/current script="set -e\\nrm  -r  ./cache/*\\n"
│
│ Impact
│   Nothing else.
│ Undo
│   None.
│
│ Needs
│   2 approvals · anyone in this
│   thread · approved by ana so far
│ Expires
│   03:30 (in 1 h)
│
│ script, with its line breaks:
│   set -e
│   rm  -r  ./cache/*
│
│
│ {"path":"/srv/app/current","scrip↵
│ t":"set -e\\nrm  -r  ./cache/*\\n"}
╰─ y approve · n deny · n because …
   · e edit · c withdraw · d details
`.trim(),
    );
  });

  test("holds the whole canonical form at every width", () => {
    const args = fc.dictionary(fc.string({ unit: "grapheme", minLength: 1 }), fc.jsonValue());
    const property = fc.property(args, fc.integer({ min: 24, max: 140 }), (value, columns) => {
      const canonical = exactText(JSON.stringify(value));
      const card = killCard({ canonical });
      expect(unfolded(shown(card, columns))).toBe(canonical);
    });
    fc.assert(property, { numRuns: 500 });
  });

  test("marks destructive in red, and says it in capitals where there is no colour", () => {
    const red = cardText(
      killCard(),
      { paint: createPaint(true), columns: 80, now: NIGHT, rich: false },
      replyLine(undefined),
    );
    expect(red).toContain("\u001b[1m\u001b[31mDESTRUCTIVE");
    expect(shown(killCard(), 80)).toContain("DESTRUCTIVE");
    expect(shown(killCard({ effect: "write" }), 80)).toContain("· write ·");
  });

  test("tells votes with their reasons, revision, digest and thread among its details", () => {
    const votes = [{ name: "ana", approve: true, reason: "seen it" }];
    const look = { paint: plain, columns: 100, now: NIGHT, rich: false };
    const details = detailsText(killCard({ votes }), look, "");
    expect(details).toContain("ana approved: seen it");
    expect(details).toContain("0f".repeat(32));
    expect(details).toContain(killCard().key);
  });
});

/** The exact arguments, read back from the card's last lines. */
function unfolded(text: string): string {
  let joined = "";
  const lines = text.split("\n");
  for (const line of lines.slice(lines.lastIndexOf("│") + 1)) {
    const part = line.slice(2);
    joined += part.endsWith(CONTINUED) ? part.slice(0, -1) : part;
    if (!part.endsWith(CONTINUED)) return joined;
  }
  return joined;
}

describe("where an action stands", () => {
  const root = { name: "root", approve: true, reason: undefined };
  test.each<[Partial<ActionCard>, string]>([
    [{ phase: "approved", votes: [root] }, "a1 approved by root"],
    [{ phase: "running", votes: [root] }, "a1 approved by root · running"],
    [{ phase: "done", ending: "done in 1.2 s" }, "a1 done in 1.2 s"],
    [{ phase: "done", ending: "in 1.2 s" }, "a1 done in 1.2 s"],
    [
      { phase: "done", ending: "in 1.2 s", undo: { state: "offered" } },
      "a1 done in 1.2 s · undo a1 takes it back",
    ],
    [
      { phase: "done", ending: "in 1.2 s", undo: { state: "undone", by: "a2" } },
      "a1 done in 1.2 s · undone by a2",
    ],
    [{ phase: "failed", ending: "exit code 1" }, "a1 failed: exit code 1"],
    [{ phase: "denied", ending: "denied by root: wrong host" }, "a1 denied by root: wrong host"],
    [
      { phase: "denied", votes: [{ name: "root", approve: false, reason: "no" }] },
      "a1 denied by root: no",
    ],
    [{ phase: "expired" }, "a1 expired"],
    [{ phase: "cancelled", ending: "by root" }, "a1 cancelled by root"],
    [{ phase: "void", ending: "the process has gone" }, "a1 void: the process has gone"],
    [{ phase: "unknown", ending: "outcome unknown" }, "a1 UNKNOWN outcome"],
    [
      { phase: "unknown", ending: "settled by root: it happened" },
      "a1 settled by root: it happened",
    ],
    [{ quorum: 2, votes: [root] }, "a1 waiting for 2 approvals · approved by root so far"],
  ])("%j reads %s", (changes, line) => {
    expect(standingText(killCard(changes), plain)).toBe(line);
  });
});

describe("breaking lines", () => {
  /** Without spaces and what joins emoji, in the form that the library writes characters in. */
  const bare = (some: string) => some.replaceAll(/\s|\u200d|\ufe0f/g, "").normalize();
  const text = fc.string({ unit: "grapheme", maxLength: 200 });
  const columns = fc.integer({ min: 3, max: 60 });

  test("exact text comes back byte for byte, and no line is too wide", () => {
    const property = fc.property(text, columns, (value, width) => {
      const lines = foldExact(value, width);
      expect(lines.every((line) => widthOf(line) <= width)).toBe(true);
      expect(lines.slice(0, -1).every((line) => line.endsWith(CONTINUED))).toBe(true);
      const parts = lines.map((line, at) => (at < lines.length - 1 ? line.slice(0, -1) : line));
      expect(parts.join("")).toBe(value);
    });
    fc.assert(property);
  });

  test("prose loses nothing but spaces", () => {
    const property = fc.property(text, columns, (value, width) => {
      const lines = wrapWords(value, width);
      expect(lines.every((line) => widthOf(line) <= width)).toBe(true);
      expect(bare(lines.join(""))).toBe(bare(value));
    });
    fc.assert(property);
  });

  test("a long text is broken in linear time, whatever its script", () => {
    const long = "x".repeat(400_000);
    expect(foldExact(long, 80).length).toBeGreaterThan(4_000);
    expect(wrapWords(`${long} ${long}`, 80).length).toBeGreaterThan(8_000);
    const wide = "満".repeat(400_000);
    expect(wrapWords(`${wide} ${wide}`, 80)).toHaveLength(20_000);
  });
});
