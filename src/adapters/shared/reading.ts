import { characterEnd } from "../../core/characters.ts";
import { formatBytes } from "../../core/text.ts";
import type { JournalKey } from "../../core/journal-key.ts";
import type { CallOutput } from "../shown.ts";
import type { Queries } from "../queries.ts";
import {
  checkLines,
  evidenceTitle,
  isOutput,
  outputButton,
  renderWhole,
} from "../render/answer.ts";
import { type Button, readButton } from "../render/buttons.ts";
import type { Reading } from "../render/button-ids.ts";
import { callInlines } from "../render/call.ts";
import { checkLabel } from "../render/phrases.ts";
import type { AllowLink, BasicBlock, Block } from "../render/rich-text.ts";

/** One page of something long, for one person. */
export interface Page {
  /** At most 24 characters, the shorter limit of the platforms (Slack's window). */
  title: string;
  blocks: Block[];
  buttons: Button[];
}

/** The same as a file. */
export interface ReadFile {
  name: string;
  text: string;
}

export interface ReadingParts {
  key: JournalKey;
  queries: Pick<Queries, "answer" | "output">;
  allowLink: AllowLink;
  /** The blocks as pages that the platform can show. */
  paginate(blocks: readonly Block[]): BasicBlock[][];
  /** Characters of plain output on a page; whatever they are, they fit. */
  outputChars: number;
}

const BACK = "← Back";
const NEXT = "Next →";

/** Whether what a button with this label opens takes the place of the page that it is on. */
export function turnsPage(label: string): boolean {
  return label === BACK || label === NEXT;
}

/** Buttons of a page besides those that turn it. */
const MAX_CHECKS = 20;
const MAX_ARGS = 400;

/** Undefined: the thread doesn't know it any more, or there is no such page. */
export async function loadPage(
  parts: ReadingParts,
  { what, ref, page }: Reading & { page: number },
): Promise<Page | undefined> {
  const { key, queries, allowLink } = parts;
  if (what === "output") {
    const output = await queries.output(key, ref);
    return output && outputPage(output, page, parts);
  }
  const answer = await queries.answer(key, ref);
  if (answer === undefined) return undefined;
  if (what === "checks") {
    const lines = checkLines(answer)
      .slice(0, page * MAX_CHECKS)
      .slice((page - 1) * MAX_CHECKS);
    const buttons = lines
      .filter(({ result }) => isOutput(result))
      .map(({ result }) => outputButton(result, `Show ${checkLabel(result.call)}`));
    const blocks = lines.map(({ inlines }): Block => ({ kind: "line", inlines }));
    const head: Block = { kind: "heading", inlines: [{ text: evidenceTitle(answer) }] };
    const of = Math.ceil(answer.results.length / MAX_CHECKS);
    if (lines.length === 0) return undefined;
    return {
      title: "Evidence",
      blocks: [head, ...blocks],
      buttons: [...buttons, ...turning({ what, ref, page }, of)],
    };
  }
  const pages = parts.paginate((await renderWhole(answer, allowLink)).blocks);
  const blocks = pages[page - 1];
  if (blocks === undefined) return undefined;
  return {
    title: titled("The whole answer", page, pages.length),
    blocks: [...blocks, ...footing(page, pages.length)],
    buttons: [...turning({ what, ref, page }, pages.length), fileButton(what, ref)],
  };
}

function outputPage(
  { result, text }: CallOutput,
  page: number,
  { outputChars }: ReadingParts,
): Page | undefined {
  const pieces = piecesOf(text, outputChars);
  const piece = pieces[page - 1];
  if (piece === undefined) return undefined;
  const { call: ref } = result;
  const what = "output";
  const size = formatBytes(Buffer.byteLength(text));
  return {
    title: titled(`${checkLabel(ref)} output`, page, pieces.length),
    blocks: [
      { kind: "line", inlines: callInlines(result, MAX_ARGS) },
      { kind: "code", text: piece.trimEnd() === "" ? "(empty)" : piece.trimEnd(), isOutput: true },
      ...footing(page, pieces.length, ` · ${size}`),
    ],
    buttons: [
      ...turning({ what, ref, page }, pieces.length),
      ...(pieces.length === 1 ? [] : [fileButton(what, ref)]),
    ],
  };
}

function footing(page: number, of: number, more = ""): Block[] {
  return of === 1 ? [] : [{ kind: "small", inlines: [{ text: `Page ${page} of ${of}${more}` }] }];
}

function titled(title: string, page: number, of: number): string {
  const paged = `${title} ${page}/${of}`;
  return of === 1 || paged.length > 24 ? title : paged;
}

function turning(
  { what, ref, page }: Omit<Reading, "kind"> & { page: number },
  of: number,
): Button[] {
  return [
    ...(page > 1 ? [readButton(what, ref, BACK, page - 1)] : []),
    ...(page < of ? [readButton(what, ref, NEXT, page + 1)] : []),
  ];
}

function fileButton(what: Reading["what"], ref: string): Button {
  return readButton(what, ref, "Get it as a file", "file");
}

/** At line ends where there are some, else between characters. */
function piecesOf(text: string, most: number): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length || pieces.length === 0;) {
    const end = Math.min(text.length, at + most);
    const lineEnd = text.lastIndexOf("\n", end - 1) + 1;
    const cut = end === text.length || lineEnd <= at ? characterEnd(text, end) : lineEnd;
    pieces.push(text.slice(at, cut));
    at = cut;
    if (text === "") break;
  }
  return pieces;
}

/** All of it; undefined as `loadPage`. */
export async function loadFile(
  { key, queries }: Pick<ReadingParts, "key" | "queries">,
  { what, ref }: Pick<Reading, "what" | "ref">,
): Promise<ReadFile | undefined> {
  if (what === "output") {
    const output = await queries.output(key, ref);
    if (output === undefined) return undefined;
    return { name: `${output.result.tool}-${checkLabel(ref)}.txt`, text: output.text };
  }
  const answer = await queries.answer(key, ref);
  return answer?.text === undefined ? undefined : { name: "answer.md", text: answer.text };
}
