import { isPeriod } from "../incidents/period.ts";

/** With the longest form of a period. */
const MAX_LENGTH = 120;

/** Without the end of a question or a request. */
function kindly(text: string): string {
  return text
    .trim()
    .replace(/\s*[.!?]+$/, "")
    .replace(/,?\s+please$/i, "");
}

const OPEN = /^(?:is anything|anything|what(?: is|[’']s)) (?:still )?open$/i;
const HAPPENED = /^what(?: has|[’']s| is)? happened (?:in |on |over |during )?(?:the )?(\S[^?]*)$/i;
const HAND_OVER = /^(?:hand[- ]?over|hand[- ]?off)(?: (?:the )?(\S[^?]*))?$/i;

/**
 * The arguments of `handoff`, where somebody asks for it in plain words and for nothing else: "what happened last week?", "hand over",
 * "anything still open?". What names a thing is not meant: "hand over the keys", "what is open on web-1?".
 */
export function readHandOver(text: string): { period?: string } | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const said = kindly(text).replaceAll(/\s+/g, " ");
  if (OPEN.test(said)) return {};
  const [, happened] = HAPPENED.exec(said) ?? [];
  const [isHandOver, handed] = HAND_OVER.exec(said) ?? [];
  const period = happened ?? handed;
  if (period === undefined) return isHandOver === undefined ? undefined : {};
  return isPeriod(period) ? { period } : undefined;
}

const FIRING =
  /^(?:(?:what(?: is|[’']?s| are)?|which|any|anything|is anything|are there|show(?: me)?|list)\s+)*(?:all |the |any |current |open |active |firing )*(?:firing|fires|alerting|alerts?|alarms?|alerts? (?:are |is )?(?:firing|open|active))(?: (?:right now|now|rn|currently|at the moment))*$/i;

/** Somebody asks which alerts there are, in so few words: "what is firing?", "any alerts?", "list alerts". */
export function asksWhatFires(text: string): boolean {
  return text.length <= MAX_LENGTH && FIRING.test(kindly(text).replaceAll(/\s+/g, " "));
}
