/** What people write in a few words when they agree or need time. Only the exact forms count: a sentence is neither. */

const AGREES = wordsOf(
  "ok(?:ay)?|kk?|yes+|yep|yeah|yup|sure|lgtm|(?:it |that |this )?(?:looks|sounds) good(?: to me)?|(?:i )?approved?|go(?: ahead| for it)?|proceed|do it|ship it|run it|fine(?: (?:by|with) me)?|agreed?|confirm(?:ed)?|\\+1|:\\+1:|:thumbsup:|:white_check_mark:|:shipit:|(?:👍|👌|✅|✔)\\p{Emoji_Modifier}?",
);
/** What may stand beside it and changes nothing. */
const BESIDE = wordsOf(
  "a\\d+|please|pls|and|then|now|with it|it|this|that|for me|from me|thanks|thank you|ty",
);

/** Any of these forms as whole words. */
export function wordsOf(forms: string): RegExp {
  return new RegExp(`(?<![\\p{L}\\p{N}])(?:${forms})(?![\\p{L}\\p{N}])`, "giu");
}

/** Longer texts say more than that. */
const MAX_CHARS = 80;

/**
 * True for nothing but agreement: "yes", "ok approved, go ahead", "LGTM", "👍". It permits nothing; it only shows what the
 * person means to do.
 */
export function isAssent(text: string): boolean {
  return isOnly(text, AGREES, BESIDE);
}

const HOLDS = wordsOf(
  "h+m+|uh+m*|er+m*|let me (?:check|look|see|ask|think)|(?:give me )?(?:one|just a|a) (?:sec(?:ond)?|moment|minute)|wait|hold on|hang on|(?:i'm )?(?:checking|looking|not sure)|good question|i(?:['’]ll| will) (?:check|look|ask|see)|brb",
);
/** What may stand beside it and names nothing. */
const BESIDE_HOLDS = wordsOf(
  "yet|first|please|ok(?:ay)?|sorry|well|it|that|this|for (?:it|that)|into (?:it|that)|it up|and|then|now",
);

/** True for nothing but "hmm let me check" and the like: the person who was asked says that the answer is still to come. "hmm, staging I think" is an answer. */
export function isHolding(text: string): boolean {
  return isOnly(text, HOLDS, BESIDE_HOLDS);
}

/** Some of these forms, and nothing but them and what may stand beside them. */
function isOnly(text: string, forms: RegExp, beside: RegExp): boolean {
  if (text.length > MAX_CHARS) return false;
  const rest = text.replaceAll(forms, " ");
  return rest !== text && /^[\s,.!;:?…-]*$/.test(rest.replaceAll(beside, " "));
}
