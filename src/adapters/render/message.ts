import type { ResultImage } from "../../core/entry.ts";
import { capText } from "../../core/text.ts";
import type { CallResult, Notice, Offer, Outgoing } from "../adapter.ts";
import {
  type Button,
  cancelButton,
  decideButton,
  quietButton,
  settleButtons,
  tryAnswerButton,
  withdrawButton,
} from "./buttons.ts";
import { callInlines } from "./call.ts";
import { summaryOf } from "./clip.ts";
import { readMarkdown } from "./markdown.ts";
import {
  aboveWords,
  type Answer,
  evidenceOf,
  plainNotice,
  spentWords,
  statusSign,
} from "./phrases.ts";
import {
  type AllowLink,
  type Block,
  type Inline,
  plainInlines,
  type RenderedMessage,
  textOf,
} from "./rich-text.ts";

/** A longer result is shown in part where its whole is kept as an artifact. */
const MAX_RESULT_BYTES = 2_500;
const MAX_ARGS = 120;
const MAX_BUTTONS = 25;

/** `isUncut`: there is room for everything, however long. */
export interface RenderOptions {
  isUncut?: boolean;
}

/** An answer, its conclusion first, or a notice with the buttons it offers. */
export async function renderOutgoing(
  message: Outgoing,
  allowLink: AllowLink,
  options: RenderOptions = {},
): Promise<RenderedMessage> {
  const rendered = await (message.kind === "answer"
    ? renderAnswer(message, allowLink, options)
    : renderNotice(message, allowLink));
  const said = rendered.blocks.map(textOf).find((text) => text.trim() !== "");
  return { ...rendered, summary: summaryOf(said ?? "Done.") };
}

export function imagesOf({ results }: Answer): ResultImage[] {
  return results.flatMap((result) => result.images ?? []);
}

/** What images show, in words, for where they cannot be shown. */
export function imageBlocks(images: readonly ResultImage[]): Block[] {
  return images.map(({ name, alt = name, artifact }) => ({
    kind: "small",
    inlines: [
      { text: `Image: ${alt} (artifact ` },
      { text: artifact.id, code: true },
      { text: ")" },
    ],
  }));
}

/** The same as a message. */
export function renderImages(images: readonly ResultImage[]): RenderedMessage {
  return { blocks: imageBlocks(images), buttons: [], summary: images[0]?.alt ?? "image" };
}

/** A sentence of ours, and what its reader can press. */
export function renderText(
  text: string,
  allowLink: AllowLink,
  offer?: Offer,
): Promise<RenderedMessage> {
  return renderOutgoing({ ...plainNotice(text), ...offer, kind: "notice", text }, allowLink);
}

type Untitled = Omit<RenderedMessage, "summary">;

function renderNotice(notice: Notice, allowLink: AllowLink): Untitled {
  const { text, settles, asks, holds, approves = [], confirms, mentions = [] } = notice;
  const blocks: Block[] = [{ kind: "text", inlines: plainInlines(text.trimEnd(), allowLink) }];
  const buttons: Button[] = settles === undefined ? [] : settleButtons(settles);
  if (asks !== undefined) {
    const offered = choiceButtons(asks);
    // What a button cannot say whole is read here.
    const unsaid = asks.choices.filter((choice) => !offered.some(({ label }) => label === choice));
    blocks.push(
      ...unsaid.map((choice): Block => ({
        kind: "item",
        depth: 0,
        marker: "•",
        inlines: plainInlines(choice, allowLink),
      })),
    );
    const how = offered.length === 0 ? "Reply with the answer." : "Pick one, or reply.";
    blocks.push({ kind: "small", inlines: [{ text: how }] });
    buttons.push(...offered);
  }
  buttons.push(...approves.map(decideButton));
  buttons.push(...[...new Set(holds)].map((action) => cancelButton(action)));
  if (confirms !== undefined) buttons.push(withdrawButton(confirms));
  return { blocks, buttons: buttons.slice(0, MAX_BUTTONS), mentions };
}

/** A button for each choice that its id can hold; the rest has to be written. */
function choiceButtons({ call, choices }: { call: string; choices: string[] }): Button[] {
  return [...new Set(choices)].flatMap((choice) => tryAnswerButton(call, choice) ?? []);
}

async function renderAnswer(
  answer: Answer,
  allowLink: AllowLink,
  options: RenderOptions,
): Promise<Untitled> {
  if (answer.isModelRun && answer.text !== undefined) {
    const words = signed(answer, await readMarkdown(answer.text, allowLink));
    return { blocks: [...words, ...evidenceBlocks(answer)], buttons: offerButtons(answer) };
  }
  const words = answer.text?.trimEnd();
  const isFull = words === undefined && !answer.isModelRun;
  const results = answer.results.flatMap((result) => renderResult(result, isFull, options));
  // What failed says so itself; a Stop is told whatever the calls came to.
  const isTold =
    answer.status === "failed" && answer.results.some(({ outcome }) => outcome !== "ok");
  const isStatusShown = answer.status !== "completed" && !isTold;
  const head = words ?? (results.length === 0 || isStatusShown ? answer.status : undefined);
  const inlines = head === undefined ? [] : plainInlines(head, allowLink);
  const first: Block[] = inlines.length === 0 ? [] : [{ kind: "text", inlines }];
  const blocks = [...(isStatusShown ? signed(answer, first) : first), ...results];
  return { blocks, buttons: offerButtons(answer) };
}

function offerButtons({ offer, run }: Answer): Button[] {
  return offer === undefined ? [] : [quietButton(offer, run)];
}

/** Begins with the sign of a status that is not the usual one. */
function signed({ status }: Answer, blocks: readonly Block[]): Block[] {
  const sign: Inline = { text: statusSign(status) };
  const [first, ...rest] = blocks;
  if (sign.text === "") return [...blocks];
  if (first?.kind === "text") return [{ ...first, inlines: [sign, ...first.inlines] }, ...rest];
  return [{ kind: "text", inlines: [{ text: sign.text + status.replace("_", " ") }] }, ...blocks];
}

function renderResult(result: CallResult, isFull: boolean, { isUncut }: RenderOptions): Block[] {
  const { text, artifacts } = result;
  // What no artifact keeps can be read nowhere else.
  const shown = (
    artifacts.length > 0 && !isUncut ? capText(text, MAX_RESULT_BYTES) : text
  ).trimEnd();
  const kept = artifacts.map(({ id, bytes }): Block => ({
    kind: "small",
    indent: 1,
    inlines: [
      { text: "full output: artifact " },
      { text: id, code: true },
      { text: ` (${bytes} bytes)` },
    ],
  }));
  return [
    // Who typed a call sees it as typed.
    { kind: "line", inlines: callInlines({ ...result, doing: undefined }, MAX_ARGS) },
    ...(isFull && shown !== ""
      ? [{ kind: "code" as const, text: shown, isOutput: true as const }]
      : []),
    ...kept,
  ];
}

/** A small line for each result that the answer's text cites, one for the other calls, and what the answer cost. */
export function evidenceBlocks(answer: Answer): Block[] {
  const { cited, others } = evidenceOf(answer);
  const lines = cited.map(({ label, result }) => [
    { text: `${label} ` },
    ...callInlines(result, MAX_ARGS),
  ]);
  if (others !== undefined) lines.push([{ text: others }]);
  const above = answer.above && aboveWords(answer.above);
  if (above !== undefined) lines.push([{ text: above }]);
  if (answer.spent !== undefined) lines.push([{ text: spentWords(answer.spent) }]);
  return lines.map((inlines) => ({ kind: "small", inlines }));
}
