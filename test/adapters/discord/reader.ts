/** What Discord makes of a text: what is visible, and what it would turn into more than text. */
export interface Read {
  visible: string;
  mentions: string[];
  links: string[];
  headings: number;
}

type Rule = [pattern: RegExp, take: (read: Read, match: RegExpExecArray) => string];

/**
 * Rules at the beginning of a line, then anywhere, in Discord's own order of precedence; after discord.js's documented
 * formats and the rules of SimpleMarkdown that Discord's clients are built on.
 */
const LINE_RULES: Rule[] = [
  [/^ *#{1,3} +(?=\S)/, (read) => ((read.headings += 1), "")],
  [/^ *-# +(?=\S)/, () => ""],
  [/^ *>(?:>>)? /, () => ""],
  [/^ *(?:[-*+]|\d+\.) /, () => ""],
];

const RULES: Rule[] = [
  [/^```(?:[a-z0-9_+\-.#]+?\n)?\n*([^\n][^]*?)\n*```/i, (_, match) => match[1] ?? ""],
  [
    /^(`+)([^]*?[^`])\1(?!`)/,
    (_, match) => (match[2] ?? "").replaceAll(/^ (?= *`)|(` *) $/g, "$1"),
  ],
  [/^\\([^0-9A-Za-z\s])/, (_, match) => match[1] ?? ""],
  [/^<t:-?\d+(?::[a-zA-Z])?>/, () => ""],
  [
    /^<(?:@[!&]?\d+|#\d+|a?:\w+:\d+|id:\w+|\/[^>]+:\d+)>/,
    (read, match) => (read.mentions.push(match[0]), match[0]),
  ],
  // The server looks for these in the raw text, whatever stands before them.
  [/^@(?:everyone|here)/, (read, match) => (read.mentions.push(match[0]), match[0])],
  [/^<([^: >]+:\/[^ >]+)>/, (read, match) => (read.links.push(match[1] ?? ""), match[1] ?? "")],
  [/^\[[^\]\\]*\]\([^)]*\)/, (read, match) => (read.links.push(match[0]), match[0])],
  [/^[a-z][a-z0-9+.-]*:\/\/[^\s<]+/i, (read, match) => (read.links.push(match[0]), match[0])],
  [/^(?:\*\*|\*|__|_|~~|\|\|)/, () => ""],
];

/** Words are taken whole, as Discord does, so that an address is only found where one begins. */
const PLAIN = /^(?:[0-9A-Za-z]+(?![0-9A-Za-z+.-]*:\/\/)|[^\\`<@[*_~|\n0-9A-Za-z]+)+/;

export function readDiscord(content: string): Read {
  const read: Read = { visible: "", mentions: [], links: [], headings: 0 };
  let rest = content;
  let isLineStart = true;
  while (rest !== "") {
    const plain = isLineStart ? undefined : PLAIN.exec(rest)?.[0];
    if (plain !== undefined) {
      read.visible += plain;
      rest = rest.slice(plain.length);
      continue;
    }
    const found = firstOf(isLineStart ? [...LINE_RULES, ...RULES] : RULES, rest);
    if (found === undefined) {
      const char = rest.slice(0, 1);
      read.visible += char;
      rest = rest.slice(1);
      isLineStart = char === "\n" || (isLineStart && char === " ");
    } else {
      const { match, take } = found;
      read.visible += take(read, match);
      rest = rest.slice(match[0].length);
      // After a quote's or a list's mark there may be another mark.
      isLineStart = isLineStart && /^ *(?:>|-|\d)/.test(match[0]);
    }
  }
  return read;
}

interface Found {
  match: RegExpExecArray;
  take: Rule[1];
}

function firstOf(rules: readonly Rule[], text: string): Found | undefined {
  for (const [pattern, take] of rules) {
    const match = pattern.exec(text);
    if (match !== null) return { match, take };
  }
  return undefined;
}
