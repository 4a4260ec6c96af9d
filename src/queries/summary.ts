import type { Notice } from "../adapters/shown.ts";
import { conclusionOf, plainNotice, standingOf } from "../adapters/render/phrases.ts";
import type { JournalKey } from "../core/journal-key.ts";
import { oneLine, shortened } from "../core/text.ts";
import { isOpen } from "../thread/action.ts";
import { whatOf } from "../thread/phrases.ts";
import type { Thread } from "../thread/state.ts";
import { type Call, refOf } from "../thread/call.ts";
import { summaryWords } from "../thread/summary-phrases.ts";
import { cardOf, type Encode } from "./cards.ts";

const MAX_LINE = 200;
const MAX_ACTIONS = 6;

/** What a thread was asked, found, changed and still waits for; from the journal alone. */
export function summaryOf(
  key: JournalKey,
  thread: Thread,
  newest: string | undefined,
  encode: Encode,
): Notice {
  const { question, answers, count } = thread.digest;
  const short = (encoded: string) => shortened(oneLine(encoded), MAX_LINE);
  const line = (text: string) => short(encode(text));
  const listed = (title: string, lines: string[]) =>
    lines.length === 0 ? [] : [[title, ...lines.map((each) => `• ${each}`)].join("\n")];
  const actions = [...thread.actions.values()].map((action) => {
    const card = cardOf(key, action, encode);
    const what = (action.proposal.preview.title ?? card.tool).replace(/\?$/, "");
    return { isOpen: isOpen(action), text: line(`${card.action} ${what}: ${standingOf(card)}`) };
  });
  const named = (some: { text: string }[]) => some.map(({ text }) => text);
  const unsettled = [...thread.unknown.values()].filter(({ settled }) => settled === undefined);
  const text = [
    question === undefined || question.text === ""
      ? summaryWords.title
      : `${summaryWords.title}\n${summaryWords.asked(line(question.name), line(question.text))}`,
    ...listed(
      summaryWords.found(count),
      answers.map(({ text: answer }) => short(conclusionOf(encode(answer)))).filter(Boolean),
    ),
    ...listed(
      summaryWords.done,
      named(actions.filter((action) => !action.isOpen).slice(-MAX_ACTIONS)),
    ),
    ...listed(summaryWords.open, [
      ...named(actions.filter((action) => action.isOpen)),
      ...questionsIn(thread).map(line),
      ...unsettled.map((call) => line(summaryWords.unknown(refOf(call), whatOf(call)))),
    ]),
    ...(newest === undefined ? [] : [summaryWords.newest(newest)]),
  ].join("\n\n");
  return plainNotice(text);
}

function questionsIn({ going }: Thread): string[] {
  const open = [...going].flatMap((run): Call[] => [...run.open.values()]);
  return open.flatMap(({ asked }) => (asked === undefined ? [] : [asked.text]));
}
