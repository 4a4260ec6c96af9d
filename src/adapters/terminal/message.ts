import type { Notice, Outgoing, Progress } from "../shown.ts";
import type { Button } from "../render/buttons.ts";
import { readButtonAction } from "../render/button-ids.ts";
import { evidenceLines as evidenceBlocks } from "../render/answer.ts";
import { callInlines } from "../render/call.ts";
import { imageBlocks, imagesOf, renderOutgoing } from "../render/message.ts";
import { type Answer, statusSign } from "../render/phrases.ts";
import type { Block } from "../render/rich-text.ts";
import { terminalLines } from "./encode.ts";
import { isGoal } from "../../core/goal.ts";
import type { Look } from "./style.ts";

/** Nothing here can be clicked. */
const noLink = (): boolean => false;

export async function messageText(message: Outgoing, look: Look): Promise<string> {
  const lines = await (message.kind === "answer"
    ? answerLines(message, look)
    : noticeLines(message, look));
  return lines.join("\n");
}

async function answerLines(said: Answer, look: Look): Promise<string[]> {
  // No file goes along here: it is read where the answer is, which it begins with.
  const answer = said.file === undefined ? said : { ...said, text: said.file.text };
  const images = imageBlocks(imagesOf(answer));
  if (look.rich || !answer.isModelRun || answer.text === undefined) {
    const { blocks } = await renderOutgoing(answer, noLink, { isUncut: true });
    return terminalLines([...blocks, ...images], look);
  }
  const evidence = [...evidenceLines(answer, look), ...terminalLines(images, look)];
  return [
    statusSign(answer.status) + answer.text.trimEnd(),
    ...(evidence.length === 0 ? [] : ["", ...evidence]),
  ];
}

/** A line for each result that the answer's text cites, one for the other calls, and what it cost. */
export function evidenceLines(answer: Answer, look: Look): string[] {
  return terminalLines(evidenceBlocks(answer), look);
}

/** The sentence behind a sign, and below it what can be typed. */
async function noticeLines(notice: Notice, look: Look): Promise<string[]> {
  const { asks, ...rest } = notice;
  const { blocks, buttons } = await renderOutgoing({ ...rest, asks: undefined }, noLink);
  const replies = buttons.map(replyTo).filter((reply) => reply !== "");
  const below: Block[] = [
    ...(asks === undefined ? [] : choiceBlocks(asks.choices)),
    ...(replies.length === 0
      ? []
      : [{ kind: "line" as const, inlines: [{ text: replies.join(" · ") }] }]),
  ];
  const inner = { ...look, columns: look.columns - 2 };
  const [first = "", ...others] = [...terminalLines(blocks, inner), ...terminalLines(below, inner)];
  return [
    `${noticeSign(notice, look)} ${first}`,
    ...others.map((line) => (line === "" ? "" : `  ${line}`)),
  ];
}

function noticeSign({ settles, asks }: Notice, { paint }: Look): string {
  if (settles !== undefined) return paint("destructive", "?");
  return asks === undefined ? paint("yellow", "•") : paint("cyan", "?");
}

/** The answers to choose from, numbered from 1, and how to answer. */
function choiceBlocks(choices: readonly string[]): Block[] {
  const numbers = choices.length === 1 ? "1" : `1–${choices.length}`;
  const how = choices.length === 0 ? "Answer" : `Type ${numbers}, or answer`;
  return [
    ...choices.map((choice, at): Block => ({
      kind: "item",
      depth: 0,
      marker: `${at + 1})`,
      inlines: [{ text: choice }],
    })),
    { kind: "small", indent: 0, inlines: [{ text: `${how} in your own words.` }] },
  ];
}

/** What is typed instead of pressing a notice's button. */
function replyTo({ id }: Button): string {
  const pressed = readButtonAction(id);
  if (pressed?.kind === "open") return `y ${pressed.action} approves it`;
  if (pressed?.kind !== "click") return "";
  const { action, choice } = pressed;
  switch (choice.kind) {
    case "approve":
      return `y ${action} approves it`;
    case "cancel":
      return choice.sure ? `cancel ${action} for everyone` : `c ${action} withdraws it`;
    case "settle":
      return choice.happened ? `h ${action} it happened` : `x ${action} it did not`;
    case "incident":
      return choice.opens ? "incident open <what fails> records it" : "";
    case "extend":
      return isGoal(action) ? "goal extend" : `extend ${action} lets it use more`;
    case "continue":
      return "continue goes on from here";
    case "open":
    case "editing":
    case "deny":
    case "edit":
    case "answer":
    case "undo":
    case "repeat":
    case "break":
    case "revoke":
    case "quiet":
    case "listen":
      return "";
    case "goal":
      return `goal ${choice.do}`;
  }
}

/** One plain line per start and finish of a tool, where nothing can be redrawn; what a model is at is not told there. */
export function tryProgressText(update: Progress, look: Look): string | undefined {
  if (!("call" in update)) return undefined;
  const call =
    update.kind === "tool_finished"
      ? { ...update, args: {} }
      : { ...update, doing: undefined, outcome: undefined, ms: undefined };
  const inlines = callInlines(call, Number.POSITIVE_INFINITY);
  return terminalLines([{ kind: "line", inlines }], look).join("\n");
}
