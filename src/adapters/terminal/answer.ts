import type { Outcome } from "../../core/entry.ts";
import type { CallResult } from "../adapter.ts";
import { type Answer, briefArgs, evidenceOf, formatMs, spentWords } from "../render/phrases.ts";
import { renderMarkdown } from "./markdown.ts";
import type { Look, Paint, Style } from "./style.ts";
import { clip } from "./wrap.ts";

const MARKS: Readonly<Record<Outcome, [style: Style | undefined, mark: string]>> = {
  ok: ["green", "✓"],
  error: ["red", "✗"],
  blocked: ["red", "✗"],
  unknown: ["destructive", "?"],
  denied: [undefined, "–"],
  expired: [undefined, "–"],
  cancelled: [undefined, "–"],
};

/** How a call ended, in one character. */
export function outcomeMark(outcome: Outcome, paint: Paint): string {
  const [style, text] = MARKS[outcome];
  return style === undefined ? text : paint(style, text);
}

/** Every line of `text` but the empty ones with `by` in front. */
export function indent(text: string, by: string): string {
  return text
    .split("\n")
    .map((line) => (line === "" ? "" : by + line))
    .join("\n");
}

/** `✓ http_check url=http://a/ · 34 ms`: what it was, how it ended unless well, how long it took. */
function resultLine(result: CallResult, look: Look): string {
  const how = result.outcome === "ok" ? "" : ` · ${result.outcome}`;
  const took = result.ms === undefined ? "" : ` · ${formatMs(result.ms)}`;
  const room = look.columns - 4 - result.tool.length - how.length - took.length;
  const args = clip(briefArgs(result.args), Math.max(8, room));
  const shown = args === "" ? "" : ` ${look.paint("dim", args)}`;
  return `${outcomeMark(result.outcome, look.paint)} ${look.paint("bold", result.tool)}${shown}${how}${look.paint("dim", took)}`;
}

function renderResult(result: CallResult, look: Look, full: boolean): string {
  const artifacts = result.artifacts.map((each) =>
    look.paint("dim", `full output: artifact ${each.id} (${each.bytes} bytes)`),
  );
  const text = full && result.text !== "" ? [result.text.trimEnd()] : [];
  const body = [...text, ...artifacts].map((each) => `\n${indent(each, "  ")}`);
  return resultLine(result, look) + body.join("");
}

/** The conclusion first: the answer's own words when it has them, then each call; else each call with its output. */
export async function renderAnswer(answer: Answer, look: Look): Promise<string> {
  if (answer.talk && answer.text !== undefined) return renderTalk(answer, answer.text, look);
  const words = answer.text?.trimEnd();
  const full = words === undefined && !answer.talk;
  const results = answer.results.map((each) => renderResult(each, look, full));
  // What failed says so itself; a Stop is told whatever the calls came to.
  const told = answer.status === "failed" && answer.results.some(({ outcome }) => outcome !== "ok");
  const status = answer.status === "completed" || told ? undefined : statusSign(answer, look.paint);
  const head = words ?? (results.length === 0 || status !== undefined ? answer.status : undefined);
  const first = [status, head].filter((part) => part !== undefined).join(" ");
  return [...(first === "" ? [] : [first]), ...results].join("\n");
}

function statusSign({ status }: Answer, paint: Paint): string {
  if (status === "failed") return paint("red", "✗");
  return status === "wrapped_up" ? paint("yellow", "!") : "–";
}

/** A model's answer, as Markdown where that can be rendered, and below it the evidence that it refers to. */
async function renderTalk(answer: Answer, text: string, look: Look): Promise<string> {
  const sign = answer.status === "completed" ? "" : `${statusSign(answer, look.paint)} `;
  const words = look.rich ? await renderRich(text, sign, look) : sign + text.trimEnd();
  const below = [...evidenceLines(answer, look), ...spentLine(answer, look)];
  return [words, ...(below.length === 0 ? [] : ["", ...below])].join("\n");
}

/** What the answer cost. */
function spentLine({ spent }: Answer, { paint }: Look): string[] {
  return spent === undefined ? [] : [paint("dim", spentWords(spent))];
}

async function renderRich(text: string, sign: string, look: Look): Promise<string> {
  const margin = sign === "" ? "" : "  ";
  const columns = look.columns - margin.length;
  const [first = "", ...rest] = await renderMarkdown(text, { ...look, columns });
  return [sign + first, ...rest.map((line) => indent(line, margin))].join("\n");
}

/** A line for each result that the answer's text cites, and one for the other calls. */
export function evidenceLines(answer: Answer, look: Look): string[] {
  const { cited, others } = evidenceOf(answer);
  const lines = cited.map(({ label, result }) => {
    const columns = look.columns - label.length - 1;
    return `${look.paint("cyan", label)} ${resultLine(result, { ...look, columns })}`;
  });
  return others === undefined ? lines : [...lines, look.paint("dim", others)];
}
