/** With the longest of these questions. */
const MAX_LENGTH = 80;

/** What it is about is the bot's own work: what "that" cost may be an outage. */
const WORK =
  "(?:this|it|this (?:thread|run|answer|investigation)|that (?:answer|run)|your answer|you|we)";
const HERE = /^(?:\/?usage|what are your costs?(?: here)?)$/i;
const COST = new RegExp(
  `^(?:what|how much) (?:did|does|has|have) ${WORK} (?:cost|used?|spent|spend)(?: (?:so far|here|in total))?$`,
  "i",
);
const TOKENS = new RegExp(
  `^how (?:many tokens|much money) (?:did|has|have) ${WORK} (?:cost|used?|spent|spend)(?: (?:so far|here|in total))?$`,
  "i",
);
const TODAY =
  /^(?:\/?usage today|(?:what|how much|how many tokens) (?:did|have|has) (?:it|you|we|i) (?:cost|used?|spent|spend) today|what did today cost|(?:what|how much) (?:budget |of (?:the|my|our) budget )?(?:is|do (?:i|we) have) left(?: of (?:the|my|our) budget)?(?: (?:for )?today)?|(?:what(?:'s| is) )?(?:my|our|the) budget(?: today)?)$/i;

/** Where somebody asks what was used and for nothing else, in plain words: of the thread, or of the day. */
export function readCostWords(text: string): "thread" | "today" | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const said = text
    .trim()
    .replace(/\s*[.!?]+$/, "")
    .replace(/,?\s+please$/i, "")
    .replaceAll("’", "'")
    .replaceAll(/\s+/g, " ");
  if (TODAY.test(said)) return "today";
  return HERE.test(said) || COST.test(said) || TOKENS.test(said) ? "thread" : undefined;
}
