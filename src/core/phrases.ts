/** What people write in a few words when they agree or need time. Only the exact forms count: a sentence is neither. */

const AGREES = wordsOf(
  "ok(?:ay)?|kk?|yes+|yep|yeah|yup|sure|lgtm|(?:it |that |this )?(?:looks|sounds) good(?: to me)?|(?:i )?approved?|go(?: ahead| for it)?|proceed|do it|ship it|run it|fine(?: (?:by|with) me)?|agreed?|confirm(?:ed)?|\\+1|:\\+1:|:thumbsup:|:white_check_mark:|:shipit:|(?:👍|👌|✅|✔)\\p{Emoji_Modifier}?",
);
/** What may stand beside it and changes nothing. */
const BESIDE = wordsOf(
  "a\\d+|please|pls|and|then|now|with it|it|this|that|for me|from me|thanks|thank you|ty",
);

function wordsOf(forms: string): RegExp {
  return new RegExp(`(?<![\\p{L}\\p{N}])(?:${forms})(?![\\p{L}\\p{N}])`, "giu");
}

/** Longer texts say more than that. */
const MAX_CHARS = 80;

/**
 * True for nothing but agreement: "yes", "ok approved, go ahead", "LGTM", "👍". It permits nothing; it only shows what the
 * person means to do.
 */
export function isAssent(text: string): boolean {
  if (text.length > MAX_CHARS) return false;
  const rest = text.replaceAll(AGREES, " ");
  return rest !== text && /^[\s,.!;:…-]*$/.test(rest.replaceAll(BESIDE, " "));
}

const HOLDING =
  /^(?:h+m+|uh+m*|er+m*|let me|one (?:sec(?:ond)?|moment|minute)|(?:just )?a (?:sec(?:ond)?|moment|minute)|wait|hold on|hang on|checking|looking|not sure(?: yet)?|good question|i(?:'ll| will) (?:check|look|ask|see)|brb)\b/i;

/** True for "hmm let me check" and the like: the person who was asked says that the answer is still to come. */
export function isHolding(text: string): boolean {
  const said = text.trim();
  return said.length <= MAX_CHARS && HOLDING.test(said);
}
