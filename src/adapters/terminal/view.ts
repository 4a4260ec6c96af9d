import { randomUUID } from "node:crypto";
import type { ActionCard, Outgoing } from "../shown.ts";
import type { MessageRef, View } from "../view.ts";
import { plainNotice } from "../render/phrases.ts";
import type { Activity } from "./activity.ts";
import type { Board } from "./board.ts";
import { cardText, livingText, replyLine, standingText } from "./card.ts";
import { livingLine } from "../render/living.ts";
import type { Look } from "./style.ts";
import { messageText, tryProgressText } from "./message.ts";
import { DELIVERED_TWICE } from "./phrases.ts";

export interface ViewParts {
  /** Resolves when the text is on the screen. @throws BotError CONNECTION_FAILED when the terminal is gone */
  print: (text: string) => Promise<void>;
  board: Board;
  activity: Activity;
  look: () => Look;
  interactive: boolean;
  /** Resolves when the thread's history is on the screen; nothing is shown before. */
  ready: Promise<void>;
  /** Runs whose answers the history has shown. */
  answered: ReadonlySet<string>;
}

/** What is printed stays: nothing is looked for or replaced, so a message needs no name. */
export interface TerminalView extends View {
  post(message: Outgoing): Promise<MessageRef>;
  postCard(card: ActionCard): Promise<MessageRef>;
}

/**
 * The thread on this screen. What it takes is printed when it returns; it throws once the terminal is gone, so that
 * nothing counts as shown that nobody saw.
 */
export function createView(parts: ViewParts): TerminalView {
  const { print, activity, look } = parts;
  /** How each living message stood when it was last told. */
  const lines = new Map<string, string>();

  async function say(message: Outgoing): Promise<string> {
    await parts.ready;
    const known = message.kind === "answer" && (message.isMoot || parts.answered.has(message.run));
    // Before anything is taken away: an answer replaces its draft at once.
    const text = known ? undefined : await messageText(message, look());
    activity.heard(message);
    noteNotice(message, parts.board);
    if (text !== undefined) await print(text);
    return randomUUID();
  }

  async function showAction(card: ActionCard): Promise<void> {
    await parts.ready;
    activity.heard("action");
    await showCard(card, parts.board, print, look());
  }

  return {
    progress(update) {
      activity.note(update);
      if (parts.interactive) return;
      const line = tryProgressText(update, look());
      // Disposable: what cannot be printed is dropped.
      if (line !== undefined) void parts.ready.then(() => print(line)).catch(() => undefined);
    },
    post: say,
    postPrivately: (_account, text, offer) => say({ ...plainNotice(text), ...offer }),
    async updateNotice(_ref, notice) {
      await parts.ready;
      // What no longer holds stands above; here nothing printed can be taken away.
      if (notice !== undefined) await print(await messageText(notice, look()));
    },
    async postCard(card) {
      await showAction(card);
      return randomUUID();
    },
    updateCard: (_ref, card) => showAction(card),
    async postLiving(living) {
      await parts.ready;
      lines.set(living.card.id, livingLine(living));
      await print(`\n${livingText(living, look())}\n`);
      return randomUUID();
    },
    async updateLiving(_ref, living) {
      await parts.ready;
      // What is printed stays, so only what says something else is worth a line.
      const line = livingLine(living);
      if (lines.get(living.card.id) === line) return;
      lines.set(living.card.id, line);
      await print(line);
    },
    async delete() {
      await parts.ready;
      await print(look().paint("dim", DELIVERED_TWICE));
    },
  };
}

/** Keeps what a notice lets people answer from here. */
export function noteNotice(message: Outgoing, board: Board): void {
  if (message.kind !== "notice") return;
  const { settles, asks } = message;
  if (settles !== undefined) board.askOutcome(settles);
  if (asks !== undefined) board.ask(asks.call, asks.choices);
}

/** Brings the screen up to date about a card: the whole of it, one line, or nothing when it is up to date. */
export async function showCard(
  card: ActionCard,
  board: Board,
  print: ViewParts["print"],
  look: Look,
): Promise<void> {
  const placement = board.place(card);
  if (placement === undefined) return;
  if (placement !== "card") {
    await print(standingText(card, look.paint, placement));
    return;
  }
  const several = board.answerable().open.size > 1;
  const footer = replyLine(several ? card.action : undefined);
  await print(`\n${cardText(card, look, footer)}\n`);
}
