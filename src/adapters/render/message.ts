import { characterStart } from "../../core/characters.ts";
import { capText } from "../../core/text.ts";
import type { JsonObject, Outcome } from "../../core/entry.ts";
import type { CallResult, Notice, Offer, Outgoing, Progress } from "../adapter.ts";
import { readMarkdown } from "./markdown.ts";
import {
  approveButton,
  type Button,
  cancelButton,
  settleButtons,
  STOP_BUTTON,
  tryAnswerButton,
  withdrawButton,
} from "./buttons.ts";
import { type AllowLink, type Block, plainInlines, type Inline, textOf } from "./rich-text.ts";
import { clip, summaryOf, type RenderedMessage } from "./card.ts";
import {
  type Answer,
  briefArgs,
  evidenceOf,
  formatMs,
  plainNotice,
  spentWords,
} from "./phrases.ts";

/** A longer result is shown in part where its whole is kept as an artifact. */
const MAX_RESULT_BYTES = 2_500;
const MAX_ARGS = 120;
const MAX_BUTTONS = 25;

const MARKS: Readonly<Record<Outcome, string>> = {
  ok: "✓",
  error: "✗",
  blocked: "✗",
  unknown: "❓",
  denied: "–",
  expired: "–",
  cancelled: "–",
};

const SIGNS: Readonly<Record<Answer["status"], string>> = {
  completed: "",
  failed: "✗ ",
  cancelled: "⏹ ",
  wrapped_up: "⚠ ",
};

/** An answer, its conclusion first, or a notice with the buttons it offers. */
export async function renderOutgoing(
  message: Outgoing,
  allowLink: AllowLink,
): Promise<RenderedMessage> {
  const told = await (message.kind === "answer"
    ? renderAnswer(message, allowLink)
    : renderNotice(message, allowLink));
  const said = told.blocks.map(textOf).find((text) => text.trim() !== "");
  return { ...told, summary: summaryOf(said ?? "Done.") };
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
  const { text, settles, asks, holds, approves = [], confirms } = notice;
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
    const how = offered.length === 0 ? "Reply with the answer." : "Press one, or reply.";
    blocks.push({ kind: "small", inlines: [{ text: how }] });
    buttons.push(...offered);
  }
  buttons.push(...approves.map((card) => approveButton(card)));
  buttons.push(...[...new Set(holds)].map(cancelButton));
  if (confirms !== undefined) buttons.push(withdrawButton(confirms));
  return { blocks, buttons: buttons.slice(0, MAX_BUTTONS) };
}

/** A button for each choice that its id can hold; the rest has to be written. */
function choiceButtons({ call, choices }: { call: string; choices: string[] }): Button[] {
  return [...new Set(choices)].flatMap((choice) => tryAnswerButton(call, choice) ?? []);
}

async function renderAnswer(answer: Answer, allowLink: AllowLink): Promise<Untitled> {
  if (answer.talk && answer.text !== undefined) {
    const words = signed(answer, await readMarkdown(answer.text, allowLink));
    return { blocks: [...words, ...evidence(answer), ...spentLine(answer)], buttons: [] };
  }
  const words = answer.text?.trimEnd();
  const isFull = words === undefined && !answer.talk;
  const results = answer.results.flatMap((result) => renderResult(result, isFull));
  // What failed says so itself; a Stop is told whatever the calls came to.
  const isTold =
    answer.status === "failed" && answer.results.some(({ outcome }) => outcome !== "ok");
  const isStatusShown = answer.status !== "completed" && !isTold;
  const head = words ?? (results.length === 0 || isStatusShown ? answer.status : undefined);
  const inlines = head === undefined ? [] : plainInlines(head, allowLink);
  const first: Block[] = inlines.length === 0 ? [] : [{ kind: "text", inlines: inlines }];
  return { blocks: [...(isStatusShown ? signed(answer, first) : first), ...results], buttons: [] };
}

/** Begins with the sign of a status that is not the usual one. */
function signed({ status }: Answer, parts: readonly Block[]): Block[] {
  const sign: Inline = { text: SIGNS[status] };
  const [first, ...rest] = parts;
  if (sign.text === "") return [...parts];
  if (first?.kind === "text") return [{ ...first, inlines: [sign, ...first.inlines] }, ...rest];
  return [{ kind: "text", inlines: [{ text: sign.text + status.replace("_", " ") }] }, ...parts];
}

/** A call in one line. `outcome` undefined: it runs. */
interface Ran {
  tool: string;
  args: JsonObject;
  outcome: Outcome | undefined;
  ms: number | undefined;
}

/** `✓ http_check url=http://a/ · 34 ms`: what it was, how it ended unless well, how long it took. */
function callInlines({ tool, args, outcome, ms }: Ran, room: number): Inline[] {
  const brief = clip(briefArgs(args), room);
  const how = outcome === undefined || outcome === "ok" ? "" : ` · ${outcome}`;
  const took = ms === undefined ? "" : ` · ${formatMs(ms)}`;
  return [
    { text: `${outcome === undefined ? "⏳" : MARKS[outcome]} ${tool}` },
    ...(brief === "" ? [] : [{ text: " " }, { text: brief, code: true as const }]),
    { text: how + took },
  ];
}

function renderResult(result: CallResult, isFull: boolean): Block[] {
  const { text, artifacts } = result;
  // What no artifact keeps can be read nowhere else.
  const shown = (artifacts.length > 0 ? capText(text, MAX_RESULT_BYTES) : text).trimEnd();
  const kept = artifacts.map(({ id, bytes }): Block => ({
    kind: "small",
    inlines: [
      { text: "full output: artifact " },
      { text: id, code: true },
      { text: ` (${bytes} bytes)` },
    ],
  }));
  return [
    { kind: "text", inlines: callInlines(result, MAX_ARGS) },
    ...(isFull && shown !== "" ? [{ kind: "code" as const, text: shown }] : []),
    ...kept,
  ];
}

/** A small line for each result that the answer's text cites, and one for the other calls. */
function evidence(answer: Answer): Block[] {
  const { cited, others } = evidenceOf(answer);
  const lines = cited.map(({ label, result }): Block => ({
    kind: "small",
    inlines: [{ text: `${label} ` }, ...callInlines(result, MAX_ARGS)],
  }));
  return others === undefined ? lines : [...lines, { kind: "small", inlines: [{ text: others }] }];
}

/** What the answer cost. */
function spentLine({ spent }: Answer): Block[] {
  return spent === undefined ? [] : [{ kind: "small", inlines: [{ text: spentWords(spent) }] }];
}

/** What a run has done and is doing, for the one message that the answer replaces. */
export interface ProgressLog {
  /** True when there is something new to show. */
  note(update: Progress): boolean;
  /** Fits one message of any platform. */
  render(): Promise<RenderedMessage>;
}

interface Task {
  tool: string;
  args: JsonObject;
  ended?: { outcome: Outcome; ms: number | undefined };
}

const MAX_TASKS = 8;
const MAX_TASK_WEIGHT = 100;
const MAX_DRAFT = 1_000;

/** Progress may come late, twice or not at all. */
export function createProgressLog(allowLink: AllowLink): ProgressLog {
  const tasks = new Map<string, Task>();
  let step = 0;
  let draft = "";
  let isWaiting = false;

  function noteTask(update: Extract<Progress, { call: string }>): boolean {
    const before = tasks.get(update.call);
    if (before?.ended !== undefined) return false;
    if (update.kind === "tool_started") {
      if (before !== undefined) return false;
      tasks.set(update.call, { tool: update.tool, args: update.args });
      return true;
    }
    const { tool, outcome, ms } = update;
    tasks.set(update.call, { tool, args: before?.args ?? {}, ended: { outcome, ms } });
    return true;
  }

  return {
    note(update) {
      const wasWaiting = isWaiting;
      isWaiting = update.kind === "waiting";
      if (update.kind === "waiting") return !wasWaiting;
      if ("call" in update) return noteTask(update) || wasWaiting;
      if (update.kind === "thinking") {
        if (update.step <= step) return false;
        step = update.step;
        draft = "";
        return true;
      }
      if (update.text === draft) return false;
      draft = update.text;
      return true;
    },
    async render() {
      const recent = [...tasks.values()].slice(-MAX_TASKS);
      const earlier = tasks.size - recent.length;
      const isRunning = recent.some(({ ended }) => ended === undefined);
      const thinking = step > 1 ? `⏳ thinking · step ${step}` : "⏳ thinking";
      const idle = tasks.size === 0 && step === 0 ? "⏳ working" : thinking;
      const state = isWaiting ? "⏸ waits for people, see below" : idle;
      const lines = [
        ...(earlier > 0 ? [[{ text: `… ${earlier} earlier` }]] : []),
        ...recent.map(taskInlines),
        ...(isRunning || draft !== "" ? [] : [[{ text: state }]]),
      ];
      const parts: Block[] = lines.map((inlines) => ({ kind: "small", inlines }));
      const words = await readMarkdown(endOf(draft), allowLink);
      const last = recent.at(-1);
      const what = last === undefined || draft !== "" ? "Working" : `Working: ${last.tool}`;
      return { blocks: [...parts, ...words], buttons: [STOP_BUTTON], summary: summaryOf(what) };
    },
  };
}

function taskInlines({ tool, args, ended }: Task): Inline[] {
  const { outcome, ms } = ended ?? { outcome: undefined, ms: undefined };
  return callInlines({ tool: clip(tool, MAX_TASK_WEIGHT), args, outcome, ms }, MAX_TASK_WEIGHT);
}

/** The end of a long draft, from a line's beginning. */
function endOf(draft: string): string {
  if (draft.length <= MAX_DRAFT) return draft;
  const end = draft.slice(characterStart(draft, draft.length - MAX_DRAFT));
  const line = end.indexOf("\n") + 1;
  return `…\n${line < MAX_DRAFT / 2 ? end.slice(line) : end}`;
}
