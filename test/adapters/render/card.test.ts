import { describe, expect, test } from "vitest";
import type { ActionCard } from "../../../src/adapters/shown.ts";
import {
  type Block,
  type RenderedMessage,
  textOf,
} from "../../../src/adapters/render/rich-text.ts";
import { readButtonAction, type ButtonAction } from "../../../src/adapters/render/button-ids.ts";
import { renderCard } from "../../../src/adapters/render/card.ts";
import {
  renderDetails,
  renderOpened,
  wholeCard,
} from "../../../src/adapters/render/card-details.ts";
import { killCard } from "../terminal/harness.ts";

function linesOf(parts: readonly Block[]): string[] {
  return parts.map((part) => `${part.kind}: ${textOf(part)}`);
}

function pressesOf({
  buttons,
}: Pick<RenderedMessage, "buttons">): [string, ButtonAction | undefined][] {
  return buttons.map(({ label, id }) => [label, readButtonAction(id)]);
}

describe("a card in a chat", () => {
  test("under a freeze says that it waits, and until when, also once it is approved", () => {
    const lines = [{ label: "Frozen", value: "Everything is frozen until 14:00" }];
    const preview = { ...killCard().preview, lines };
    for (const phase of ["open", "approved"] as const)
      expect(renderCard(killCard({ phase, preview })).notes).toEqual([
        "❄ Everything is frozen until 14:00. It waits until then.",
      ]);
    expect(renderCard(killCard({ phase: "done", preview })).notes).toEqual([]);
  });

  const labelsOf = (rendered: { buttons: { label: string }[] }) =>
    rendered.buttons.map(({ label }) => label);

  test("is read in five seconds: what, who may say so, the command, what comes of it, until when", () => {
    const preview = {
      ...killCard().preview,
      title: "End process 4242 with SIGTERM",
      command: "kill -TERM 4242",
      filled: ["before"],
    };
    const args = { pid: 4242, signal: "SIGTERM", host: "web-1", before: { at: 1_795_318_200_000 } };
    const told = renderCard(
      killCard({ preview, args, host: "web-1", revision: 2, filled: '{"before":…}' }),
    );
    expect(told).toMatchObject({
      tone: "danger",
      title: "End process 4242 with SIGTERM on web-1?",
      standing: "Needs 1 approval · anyone in this thread",
      command: "kill -TERM 4242",
      notes: [],
      facts: [
        { label: "Process", text: "nginx: worker process (www-data)" },
        { label: "Listens on", text: "0.0.0.0:80, 0.0.0.0:443" },
        { label: "Impact", text: "2 open client connections are cut." },
        { label: "Undo", text: "None: a killed process does not come back by itself." },
        { label: "Checked again before it runs", text: "at 2026-11-22 03:30 UTC" },
        { label: "Why (AI-written, not verified)", text: "it hangs and holds the lock" },
      ],
      about: [{ text: "a1 · revision 2 · expires " }, { at: killCard().expiresAt }],
      exact: { title: "Exactly what will run · a1 · 0f0f…0f", added: '{"before":…}' },
      summary: "Approve a1? End process 4242 with SIGTERM on web-1",
    });
    expect(labelsOf(told)).toEqual(["Approve", "Deny…"]);
    expect(labelsOf({ buttons: told.more })).toEqual(["Edit…", "Details", "Withdraw"]);
    expect(told.buttons[0]?.confirm).toEqual({
      title: "End process 4242 with SIGTERM on web-1?",
      text: "kill -TERM 4242\nNone: a killed process does not come back by itself.",
      yes: "Approve",
      no: "Cancel",
    });
  });

  test("asks once for a write, and says what a person would type where the tool has no command", () => {
    const told = renderCard(killCard({ effect: "write", host: "web-1" }));
    expect(told).toMatchObject({
      tone: "caution",
      title: "Run kill_process on web-1?",
      command: "kill_process pid=4242 signal=SIGTERM",
    });
    expect(told.buttons[0]?.confirm).toBeUndefined();
  });

  test("says who has approved, and its button means this very revision", () => {
    const votes = [{ name: "ana", approve: true, reason: undefined }];
    const told = renderCard(killCard({ revision: 2, quorum: 2, votes, reason: undefined }));
    expect(told.standing).toBe(
      "Needs 2 approvals · anyone in this thread · approved by ana so far",
    );
    expect(told.facts.some(({ label }) => label.startsWith("Why"))).toBe(false);
    expect(pressesOf(told)[0]?.[1]).toEqual({
      kind: "click",
      action: "a1",
      revision: 2,
      choice: { kind: "approve" },
      digest: "0f0f0f0f0f0f",
    });
  });

  test("marks what looks like something else, and who is editing", () => {
    const warning = { label: "Look closely", value: "раypal mixes Cyrillic and Latin letters." };
    const preview = { ...killCard().preview, lines: [warning] };
    const told = renderCard(killCard({ preview, editing: "bob" }));
    expect(told.notes).toEqual(["⚠ раypal mixes Cyrillic and Latin letters.", "✏️ bob is editing"]);
    expect(told.facts.map(({ label }) => label)).not.toContain("Look closely");
  });

  test("that is too long to be read has a button that opens it in place of Approve", () => {
    const card = killCard({ args: { script: "z".repeat(2_000) }, mustOpen: true });
    const told = renderCard(card);
    expect(told.notes.join()).toContain("Too long for a card");
    expect(told.exact).toBeUndefined();
    expect(pressesOf(told)[0]).toEqual(["Open to read all", { kind: "open", action: "a1" }]);
    const opened = renderOpened(card);
    expect(linesOf(opened.blocks)).toContain(`exact: ${card.canonical}`);
    expect(labelsOf(opened)).toEqual(["Approve a1"]);
    expect(labelsOf(renderOpened({ ...card, phase: "denied" }))).toEqual([]);
  });

  test.each<[Parameters<typeof killCard>[0], string, string]>([
    [{ phase: "approved" }, "approved by ana", "calm"],
    [{ phase: "running" }, "⏳ approved by ana · running", "calm"],
    [{ phase: "done", ending: "done in 340 ms" }, "✓ done in 340 ms · approved by ana", "good"],
    [{ phase: "failed", ending: "failed in 1 ms" }, "✗ failed in 1 ms · approved by ana", "bad"],
    [
      { phase: "unknown", ending: "outcome unknown" },
      "❓ UNKNOWN outcome · approved by ana",
      "bad",
    ],
    [
      { phase: "unknown", ending: "settled by bo: it happened" },
      "settled by bo: it happened · approved by ana",
      "bad",
    ],
    [{ phase: "denied", ending: "denied by bo: no", votes: [] }, "– denied by bo: no", "calm"],
    [
      { phase: "denied", votes: [{ name: "bo", approve: false, reason: "wrong host" }] },
      "– denied by bo: wrong host",
      "calm",
    ],
    [{ phase: "expired", ending: "expired" }, "– expired", "calm"],
    [{ phase: "cancelled", ending: "cancelled by root" }, "– cancelled by root", "calm"],
    [{ phase: "void" }, "– void", "calm"],
  ])("once it is %j it says %j, the action and Details", (changes, standing, tone) => {
    const votes = [{ name: "ana", approve: true, reason: undefined }];
    const told = renderCard(killCard({ votes, ...changes }));
    expect(told).toMatchObject({
      tone,
      standing,
      title: "Run kill_process",
      command: "kill_process pid=4242 signal=SIGTERM",
      facts: [],
      exact: undefined,
      more: [],
    });
    expect(pressesOf(told)).toEqual([["Details", { kind: "details", action: "a1" }]]);
  });

  test.each<[ActionCard["verified"], string, string]>([
    ["done", "✓ Checked afterwards: it worked · done", "good"],
    ["not done", "✗ Checked afterwards: it has not worked · done", "bad"],
    ["unknown", "❓ Checked afterwards: not sure whether it worked · done", "good"],
  ])("that was looked at again and is %j says so", (verified, words, tone) => {
    const told = renderCard(killCard({ phase: "done", verified }));
    expect(told.tone).toBe(tone);
    expect(told.standing).toBe(words);
  });

  test("no text can look like another line of it", () => {
    const preview = {
      ...killCard().preview,
      lines: [{ label: "Process", value: "x\nUndo: easy" }],
    };
    const rows = wholeCard(killCard({ preview, reason: undefined })).blocks.find(
      ({ kind }) => kind === "fields",
    );
    expect(rows && textOf(rows)).toContain("Process: x\n      Undo: easy\nImpact: ");
  });

  test("shortens what is not the action, and has it whole in the details", () => {
    const lines = Array.from({ length: 30 }, (_, at) => ({
      label: `Argument ${at}`,
      value: `value-${at} ${"y".repeat(90)}`,
    }));
    const preview = { lines, blastRadius: "b".repeat(3_000), undo: "None." };
    const card = killCard({ preview, reason: "r".repeat(600) });
    const told = renderCard(card);
    expect(told.facts).toHaveLength(9);
    expect(told.facts[5]).toEqual({ label: "More", text: "25 lines in Details" });
    expect(told.exact?.asked).toBe(card.canonical);
    const details = linesOf(renderDetails(card).blocks).join("\n");
    for (const { value } of lines) expect(details).toContain(value);
    for (const whole of [card.canonical, "b".repeat(300), "r".repeat(600), card.digest, card.key]) {
      expect(details).toContain(whole);
    }
  });

  test("shows in its details the lines of a text that has line breaks, and every vote", () => {
    const votes = [{ name: "bo", approve: false, reason: "wrong host" }];
    const card = killCard({ args: { script: "set -e\nrm \u202ex" }, votes });
    const parts = linesOf(renderDetails(card).blocks);
    expect(parts).toContain("code: set -e\nrm \\u202ex");
    expect(parts.join("\n")).toContain("bo denied: wrong host");
  });
});

describe("taking back", () => {
  const done = (undo: ActionCard["undo"]) =>
    renderCard(killCard({ phase: "done", ending: "done in 340 ms", undo }));

  test("is offered below the card of what is done, by a button that means that very action", () => {
    const card = done({ state: "offered" });
    expect(pressesOf(card)).toEqual([
      [
        "Undo",
        {
          kind: "click",
          action: "a1",
          revision: 1,
          choice: { kind: "undo" },
          digest: killCard().digest.slice(0, 12),
        },
      ],
      ["Details", { kind: "details", action: "a1" }],
    ]);
    expect(card.standing).toBe("✓ done in 340 ms");
  });

  test.each<[ActionCard["undo"], string]>([
    [undefined, ""],
    [{ state: "asked", by: "ana" }, " · undo asked for by ana"],
    [{ state: "undone", by: "a5" }, " · undone by a5"],
    [{ state: "unknown", by: "a5" }, " · undo a5: outcome unknown"],
  ])("that stands as %j is told there, and not offered once more", (undo, words) => {
    const card = done(undo);
    expect(card.standing).toBe(`✓ done in 340 ms${words}`);
    expect(card.buttons.map(({ label }) => label)).toEqual(["Details"]);
  });

  test("is a card that cannot be edited", () => {
    const labels = renderCard(killCard({ undoes: "a7" })).more.map(({ label }) => label);
    expect(labels).toEqual(["Details", "Withdraw"]);
  });
});
