import type { Address } from "../../core/entry.ts";

type Others = NonNullable<Address["others"]>;

/** What may stand before the name of who is spoken to: a greeting, a thanks, an emoji. */
const GREETING =
  /^(?:(?:hey|hi|hello|yo|ok|okay|oh|ah|lol|thanks|thank you|thx|ty|cheers|sorry|yes|yeah|yep|no|nope|and|\+1|<3|:[\w+-]+:)|[^\p{L}\p{N}])*$/iu;

/**
 * Whom a text names, by their marks in it, and where: at its start and at its end it speaks to them, in between it may speak
 * of them. `accountOf` is asked of each match; undefined: it names nobody, or the bot.
 */
export function spokenTo(
  text: string,
  marks: RegExp,
  accountOf: (mark: RegExpExecArray) => string | undefined,
): Others {
  const named = [...text.matchAll(marks)];
  const bare = (part: string) => part.replaceAll(marks, "");
  return named.flatMap((mark) => {
    const account = accountOf(mark);
    if (account === undefined) return [];
    const before = bare(text.slice(0, mark.index));
    const behind = bare(text.slice(mark.index + mark[0].length));
    const isLast = /^[\s.?!]*$/.test(behind) && /[,–—\n]\s*$/.test(before);
    const at = GREETING.test(before) ? "start" : isLast ? "end" : "within";
    return [{ account, at } as const];
  });
}

/** As an entry keeps it. */
export function addressOf(
  { bot, direct }: { bot: boolean; direct: boolean },
  others: Others,
): Address {
  return {
    ...(bot && { bot }),
    ...(direct && { direct }),
    ...(others.length > 0 && { others }),
  };
}
