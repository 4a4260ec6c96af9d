import type { Entry } from "../core/entry.ts";
import { wordsOf } from "./assent.ts";

/** What a text alone says of whether anybody has to answer it; what is none of these has no tone. */
export type Tone = NonNullable<Entry<"message">["tone"]>;

const THANKS =
  "thanks(?: (?:a lot|so much|again))?|thank (?:you|u)(?: (?:so|very) much)?|thx|tnx|tys?m?|cheers|appreciated|(?:much )?appreciate (?:it|that)|(?:good|great|nice) (?:work|job|catch|one)|well done|no (?:worries|problem)|np|yw|you(?:'|’| a)?re welcome|my bad|gern geschehen|keine ursache|de nada|de rien|どういたしまして|danke(?: sch[öo]n| sehr)?|vielen dank|merci(?: beaucoup)?|(?:muchas )?gracias|obrigad[oa]|grazie(?: mille)?|спасибо|ありがとう(?:ございます)?|谢谢|謝謝|감사합니다|dzięk(?:i|uję)|tack|bedankt|dank je";
const LAUGHS =
  "a?(?:ha|he|ja){2,}h?|lo+l+|lmf?ao+|rofl|xd+|kek|mdr|oof|yay|phew|(?:well )?wo+w|<3|[:;]-?[)D(P]";
const ACKS =
  "ok(?:ay)?|kk?|got (?:it|that)|cool|nice|great|perfect|awesome|sweet|noted|ack|acknowledged|roger|same(?: here)?|makes sense|(?:it |that |this )?(?:looks|sounds) good(?: to me)?|lgtm|fair enough|agreed?|indeed|exactly|right|true|\\+1|:\\+1:|:thumbsup:|:ok_hand:|:white_check_mark:|:heavy_check_mark:|(?:👍|👌|✅|✔)\\p{Emoji_Modifier}?️?";
const CONSENTS =
  "y|yes+|yep|yeah|yup|sure|please do|go(?: ahead| for it)?|do it|proceed|continue|ship it|run it|:shipit:|approved?|confirm(?:ed)?|fine(?: (?:by|with) me)?|no|nope|nah";
/** An emoji, but for those that ask something or call for help. */
const EMOJI =
  ":(?!(?:question|grey_question|sos|\\w*thinking\\w*):)[a-z0-9_+'-]+:(?::skin-tone-\\d:)?|(?![❓❔⁉🆘🤔©®™])\\p{Extended_Pictographic}(?:\\p{Emoji_Modifier}|️|‍\\p{Extended_Pictographic})*|\\p{Regional_Indicator}{2}";
const BESIDE =
  "all|every(?:one|body)|team|folks|guys|mate|man|both|very much|for (?:the|your) (?:help|update|info|fix|heads[- ]up)|for (?:that|this|it)|please|pls|then|now|so|that|it|this|oh|ah|too|@\\S+";

/** In this order they are taken out of a text: what is left says more. */
const FORMS = {
  chatter: wordsOf(`${THANKS}|${LAUGHS}`),
  ack: wordsOf(ACKS),
  consent: wordsOf(CONSENTS),
  emoji: new RegExp(EMOJI, "giu"),
  beside: wordsOf(BESIDE),
};
const THANKING = new RegExp(`(?<![\\p{L}\\p{N}])(?:${THANKS})(?![\\p{L}\\p{N}])`, "iu");
/** Longer texts say more than that. */
const MAX_CHARS = 80;

/** `thanks ana`: one word more, and no comma that could begin another sentence. */
const THANKED = new RegExp(`^(?:${THANKS}) \\p{L}{2,20}[.! ]*$`, "iu");

/** Asks or tells somebody to do something, as far as English words say. Used only to doubt that a line is for somebody else. */
const REQUEST =
  /^(?:(?:and|also|ok(?:ay)?|so|hey|hi|please|pls|then|now|but|yes|no|thanks)[,.!]?\s+)*(?:can|could|would|will|should|shall|may|what|what's|whats|why|how|which|who|whose|when|where|is|are|was|were|does|do|did|has|have|any|anything|anyone|check|look|show|list|find|get|give|tell|explain|summari[sz]e|compare|search|read|verify|investigate|restart|scale|roll|rollback|revert|run|start|stop|kill|deploy|drain|silence|page|open|close|resolve|update|create|help|watch|try|test|ping|query|count|draw|plot|describe|diagnose|debug|trace|fetch|curl|dig|tail|grep|go|let's)\b/iu;
/** The same after other words: `it is 1.42 there, why does it fail`. */
const ASKS_LATER =
  /[,;:.!\n–—-]\s*(?:(?:and|so|but|or|also|then)\s+)?(?:why|how|what(?:['’]?s)?|where|who|can|could|does|did|any(?:one|body))\b/iu;
const NAMES_BOT = /\b(?:watchkeeper|bot)\b/iu;

/**
 * Chatter is nothing but thanks, laughter and emoji; `thanks` says ok besides; an ack takes note; a consent could be the yes
 * or no to something said before; a request asks. Kept with the message, so that a later version's words change nothing of
 * what was said.
 */
export function toneOf(text: string): Tone | undefined {
  const said = text.trim();
  const small = smallTalk(said);
  if (small !== undefined) return small;
  const isAsking = /\?(?=\s|$|["')\]])|[？؟]/u.test(said);
  const patterns = [REQUEST, ASKS_LATER, NAMES_BOT];
  return isAsking || patterns.some((pattern) => pattern.test(said)) ? "request" : undefined;
}

/** It thanks, and says nothing else that anybody would have to answer. */
export function isThanks(text: string): boolean {
  const small = smallTalk(text.trim());
  return (small === "chatter" || small === "thanks") && THANKING.test(text);
}

function smallTalk(text: string): Tone | undefined {
  if (text.length > MAX_CHARS) return undefined;
  if (isThanking(text)) return "chatter";
  const found = new Set<string>();
  let rest = text;
  for (const [form, pattern] of Object.entries(FORMS)) {
    const without = rest.replaceAll(pattern, " ");
    if (without !== rest) found.add(form);
    rest = without;
  }
  if (!/^[\s,.!;:…~。！、-]*$/.test(rest)) return undefined;
  if (found.has("consent")) return "consent";
  const isChatter = found.has("chatter") || found.has("emoji");
  if (found.has("ack")) return isChatter ? "thanks" : "ack";
  return isChatter ? "chatter" : undefined;
}

function isThanking(text: string): boolean {
  const last =
    text
      .replace(/[.!\s]+$/, "")
      .split(/\s/)
      .at(-1) ?? "";
  return THANKED.test(text) && !REQUEST.test(last) && !IS_MORE.test(last);
}

/** One word that is no name. */
const IS_MORE =
  /^(?:but|wait|continue|proceed|retry|again|first|next|more|undo|abort|cancel|no|not|never)$/iu;
