import type { JournalKey } from "../../core/journal-key.ts";
import type { ActionCard } from "../shown.ts";
import { isSettled } from "../render/phrases.ts";
import { type Manner, standingText } from "./card.ts";
import type { Answerable } from "./input.ts";
import { createPaint } from "./style.ts";

/** What has to be printed to bring the screen up to date: the whole card, one line of a manner, or nothing. */
type Placement = "card" | Manner | undefined;

const plain = createPaint(false);

/** What this screen has shown of each action and question. Printed text cannot be taken back, so answers are judged by it. */
export function createBoard(thread: JournalKey) {
  const cards = new Map<string, ActionCard>();
  const lines = new Map<string, string>();
  const unsettled = new Map<string, number>();
  const asked = new Set<string>();
  const questions = new Map<string, readonly string[]>();

  return {
    /** Takes the card as shown. A new action or revision that waits is shown whole; an identical line never twice. */
    place(card: ActionCard): Placement {
      const before = cards.get(card.action);
      const line = standingText(card, plain);
      const same = lines.get(card.action) === line;
      cards.set(card.action, card);
      lines.set(card.action, line);
      if (card.phase === "unknown" && !isSettled(card)) unsettled.set(card.action, card.revision);
      else if (card.phase !== "running") unsettled.delete(card.action);
      const revised = before?.revision !== card.revision || before.phase !== "open";
      if (card.phase === "open" && revised) return "card";
      // Who asked for the undo, or again, sees its card next.
      if (same || card.undo?.state === "asked" || card.repeat?.state === "asked") return undefined;
      if (before === undefined) return "introduced";
      return before.phase === "approved" ? "continued" : "whole";
    },
    askOutcome(ref: string): void {
      unsettled.set(ref, cards.get(ref)?.revision ?? 1);
    },
    settled(ref: string): void {
      unsettled.delete(ref);
    },
    /** A question was shown: the call that waits, and answers to choose from. */
    ask(call: string, choices: readonly string[]): void {
      asked.add(call);
      // The one shown last is the newest, also when it was shown before.
      questions.delete(call);
      questions.set(call, choices);
    },
    hasAsked: (call: string): boolean => asked.has(call),
    /** Of the questions only these still wait. */
    keepQuestions(waiting: readonly string[]): void {
      for (const call of questions.keys()) if (!waiting.includes(call)) questions.delete(call);
    },
    answered(call: string): void {
      questions.delete(call);
    },
    card: (action: string): ActionCard | undefined => cards.get(action),
    /** What can be answered now; later changes do not show in it. */
    answerable: (): Answerable => ({
      thread,
      open: new Map([...cards].filter(([, card]) => card.phase === "open")),
      unsettled: new Map(unsettled),
      questions: new Map(questions),
    }),
  };
}

export type Board = ReturnType<typeof createBoard>;
