import { capText, counted, formatBytes } from "../../core/text.ts";
import type { CallResult } from "../shown.ts";
import { shownBlocks } from "./basic.ts";
import { type Button, continueButton, quietButton, readButton, saveButton } from "./buttons.ts";
import { callInlines, type CallLine } from "./call.ts";
import { gradedBlocks, withReferences } from "./grades.ts";
import { readMarkdown } from "./markdown.ts";
import {
  aboveWords,
  type Answer,
  AI_MADE,
  changedWords,
  evidenceOf,
  spentWords,
  statusSign,
} from "./phrases.ts";
import {
  type AllowLink,
  type Block,
  type Inline,
  programInlines,
  type RenderedMessage,
  type ShownBlock,
  type Table,
  textOf,
} from "./rich-text.ts";
import { splitBlocks } from "./split.ts";

/** A longer result is shown in part where its whole is kept as an artifact. */
const MAX_RESULT_BYTES = 2_500;
const MAX_ARGS = 120;
/** Characters of an answer that everybody in the thread reads; the rest is behind More. Checks' answers end with what memory has. */
const MAX_READ = { model: 900, checks: 1_200 };
/** A table that is shown page by page takes the room of so many rows. */
const PAGED_ROWS = 10;

export interface RenderOptions {
  /** There is room for everything, however long, and nothing to press. */
  isUncut?: boolean;
  /** True for a table that the platform shows page by page. */
  isPaged?(table: Table): boolean;
}

type Rendered = Omit<RenderedMessage, "summary">;

/** A model's answer, its conclusion first, or what a direct command found. */
export async function renderAnswer(
  answer: Answer,
  allowLink: AllowLink,
  options: RenderOptions,
): Promise<Rendered> {
  const { links = [] } = answer;
  const mayLink = (url: string) => allowLink(url) || links.includes(url);
  if (answer.isModelRun && answer.text !== undefined) {
    const said = signed(answer, gradedBlocks(await readMarkdown(answer.text, mayLink)));
    if (options.isUncut)
      return { blocks: [...said, ...evidenceLines(answer)], buttons: offerButtons(answer) };
    const most = answer.byChecks === true ? MAX_READ.checks : MAX_READ.model;
    const { head, isCut } = cut(withReferences(said), most, options);
    const more = isCut ? [readButton("answer", answer.run, "More")] : [];
    const whole = { name: "answer.md", text: answer.text };
    const blocks = [...head, ...evidenceFold(answer), ...footer(answer)];
    const isRun = answer.goal === undefined;
    const feedback = isModels(answer) && isRun ? { feedbackOn: answer.run } : {};
    const saves = isModels(answer) && answer.canSave === true ? [saveButton(answer.run)] : [];
    const buttons = [...more, ...offerButtons(answer), ...saves];
    return { blocks, buttons, ...feedback, ...(isCut && { whole }) };
  }
  return renderDirect(answer, mayLink, options);
}

/** The whole of a model's answer, for whoever wants to read on. */
export async function renderWhole(answer: Answer, allowLink: AllowLink): Promise<RenderedMessage> {
  const { links = [], text = "" } = answer;
  const mayLink = (url: string) => allowLink(url) || links.includes(url);
  const said = gradedBlocks(await readMarkdown(text, mayLink));
  const whole = { name: "answer.md", text };
  return { blocks: withReferences(said), buttons: [], summary: "The whole answer", whole };
}

/** As much as everybody reads, cut where a paragraph ends if that is possible. */
function cut(
  blocks: readonly Block[],
  most: number,
  { isPaged = () => false }: RenderOptions,
): { head: Block[]; isCut: boolean } {
  const weigh = (block: ShownBlock): number => {
    if (block.kind !== "table" || !isPaged(block)) return textOf(block).length;
    return textOf({ ...block, rows: block.rows.slice(0, PAGED_ROWS) }).length;
  };
  const [head = [], ...rest] = splitBlocks(
    shownBlocks(blocks),
    (some) => some.reduce((sum, block) => sum + weigh(block), 0) <= most,
  );
  const last = head.at(-1);
  const isHeading = last?.kind === "text" && textOf(last).endsWith(":");
  // What it introduces is behind More.
  if (rest.length > 0 && head.length > 1 && isHeading) head.pop();
  return { head, isCut: rest.length > 0 };
}

/** What a direct command found, or how its run ended. */
function renderDirect(answer: Answer, allowLink: AllowLink, options: RenderOptions): Rendered {
  const words = answer.text?.trimEnd();
  const isFull = words === undefined && !answer.isModelRun;
  // Words stand for what went well, and has no more to show.
  const isWhole = words !== undefined && answer.status === "completed";
  const isSaid = ({ outcome, artifacts }: CallResult) =>
    isWhole && outcome === "ok" && artifacts.length === 0;
  const results = answer.results
    .filter((result) => !isSaid(result))
    .map((result) => renderResult(result, isFull, options));
  // What failed says so itself; a Stop is told whatever the calls came to.
  const isTold =
    answer.status === "failed" && answer.results.some(({ outcome }) => outcome !== "ok");
  const isStatusShown = answer.status !== "completed" && !isTold;
  const head = words ?? (results.length === 0 || isStatusShown ? answer.status : undefined);
  const inlines = head === undefined ? [] : programInlines(head, allowLink);
  const said: Block[] = inlines.length === 0 ? [] : [{ kind: "text", inlines }];
  const first = isWhole && COLUMNS.test(words) ? tableBlocks(words) : said;
  return {
    blocks: [
      ...(isStatusShown ? signed(answer, first) : first),
      ...results.flatMap(({ blocks }) => blocks),
    ],
    buttons: [...results.flatMap(({ buttons }) => buttons), ...offerButtons(answer)],
  };
}

/** What stands below its first line in columns keeps them. */
const COLUMNS = /\n.*\S {2,}\S/;

function tableBlocks(words: string): Block[] {
  const [head = "", ...rest] = words.split("\n");
  const table = rest.join("\n").replace(/^\n+/, "");
  return [
    { kind: "text", inlines: [{ text: head }] },
    { kind: "code", text: table, isOutput: true },
  ];
}

function offerButtons({ offer, goesOn, run }: Answer): Button[] {
  return [
    ...(goesOn === undefined ? [] : [continueButton(run, goesOn)]),
    ...(offer === undefined ? [] : [quietButton(offer, run)]),
  ];
}

/** Begins with the sign of a status that is not the usual one. */
function signed({ status }: Answer, blocks: readonly Block[]): Block[] {
  const sign: Inline = { text: statusSign(status) };
  const [first, ...rest] = blocks;
  if (sign.text === "") return [...blocks];
  if (first?.kind === "text") return [{ ...first, inlines: [sign, ...first.inlines] }, ...rest];
  return [{ kind: "text", inlines: [{ text: sign.text + status.replace("_", " ") }] }, ...blocks];
}

function renderResult(result: CallResult, isFull: boolean, { isUncut }: RenderOptions): Rendered {
  const { text, artifacts, call } = result;
  // What no artifact keeps can be read nowhere else.
  const shown = (
    artifacts.length > 0 && !isUncut ? capText(text, MAX_RESULT_BYTES) : text
  ).trimEnd();
  const [kept] = artifacts;
  const how = kept && `All of it (${formatBytes(kept.bytes)}): output ${call}`;
  return {
    blocks: [
      { kind: "line", inlines: callInlines(asTyped(result), MAX_ARGS) },
      ...(isFull && shown !== ""
        ? [{ kind: "code" as const, text: shown, isOutput: true as const }]
        : []),
      ...(isUncut && how !== undefined
        ? [{ kind: "small" as const, indent: 1, inlines: [{ text: how }] }]
        : []),
    ],
    buttons:
      kept === undefined || isUncut
        ? []
        : [readButton("output", call, `Show all output (${formatBytes(kept.bytes)})`)],
  };
}

/** Who typed a call sees it as typed; what nobody typed has words, or only a name. */
function asTyped(result: CallResult): CallLine {
  return result.isPressed ? { ...result, args: {} } : { ...result, doing: undefined };
}

/** Each check that the answer rests on, those that it cites first. */
export function checkLines(answer: Answer): { inlines: Inline[]; result: CallResult }[] {
  const { cited, others } = evidenceOf(answer);
  return [...cited, ...others].map(({ label, result }) => ({
    inlines: [{ text: `${label} ` }, ...callInlines(result, MAX_ARGS)],
    result,
  }));
}

function evidenceFold(answer: Answer): Block[] {
  if (answer.results.length === 0) return [];
  const title = evidenceTitle(answer);
  const lines = checkLines(answer).map(({ inlines, result }) => ({
    inlines,
    ...(isOutput(result) && { button: outputButton(result, "Show output") }),
  }));
  return [{ kind: "fold", title, open: readButton("checks", answer.run, title), lines }];
}

/** `Evidence · 3 of 6 checks, 1 failed` */
export function evidenceTitle(answer: Answer): string {
  const { cited } = evidenceOf(answer);
  const { results } = answer;
  const failed = results.filter(({ outcome }) => outcome !== "ok").length;
  const some = cited.length === 0 || cited.length === results.length ? "" : `${cited.length} of `;
  const how = failed === 0 ? "" : `, ${failed} failed or didn't run`;
  return `Evidence · ${some}${counted(results.length, "check")}${how}`;
}

export function outputButton({ call }: CallResult, label: string) {
  return readButton("output", call, label);
}

/** False for a call that returned nothing to read. */
export function isOutput({ text, artifacts }: CallResult): boolean {
  return text.trim() !== "" || artifacts.length > 0;
}

/** Words about a failure or a Stop are the program's. */
function isModels({ status }: Answer): boolean {
  return status === "completed" || status === "wrapped_up";
}

/** One small line: what it was told, what it cost, and who wrote it. */
function footer(answer: Answer): Block[] {
  const { above, spent, changed } = answer;
  const read = above && aboveWords(above)?.replace(/\.$/, "");
  const words = [
    ...(read === undefined ? [] : [read]),
    ...(changed === undefined ? [] : [changedWords(changed)]),
    ...(spent === undefined ? [] : [spentWords(spent)]),
    ...(isModels(answer) && answer.byChecks !== true ? [AI_MADE] : []),
  ];
  if (words.length === 0) return [];
  return [{ kind: "small", inlines: [{ text: words.join(" · ") }] }];
}

/** Where there is nothing to press: a line for each result that is cited, one for the other calls, and what it cost. */
export function evidenceLines(answer: Answer): Block[] {
  const { cited, rest } = evidenceOf(answer);
  const lines = cited.map(({ label, result }): Inline[] => [
    { text: `[${label}] ` },
    ...callInlines(result, MAX_ARGS),
  ]);
  if (rest !== undefined) lines.push([{ text: rest }]);
  const above = answer.above && aboveWords(answer.above);
  if (above !== undefined) lines.push([{ text: above }]);
  const { changed, spent } = answer;
  const told = [
    ...(changed === undefined ? [] : [changedWords(changed)]),
    ...(spent === undefined ? [] : [spentWords(spent)]),
  ];
  if (told.length > 0) lines.push([{ text: told.join(" · ") }]);
  return lines.map((inlines) => ({ kind: "small", inlines }));
}
