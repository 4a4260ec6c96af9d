import { inCodeBlock } from "../core/edit.ts";
import { lazily } from "../core/lazily.ts";

/**
 * What is done to text before a person or a model sees it: `encodeText` to everything that leaves this program or is
 * stored, `exactText` to what is approved as it is. Cut with `capText` only afterwards: half a secret is not found.
 */

const ESC = "\u001b";
const BEL = "\u0007";
const CR = "\r";
/** The 8-bit forms of ESC followed by `[`, `\`, and of the five openers of a control string: DCS, SOS, OSC, PM, APC. */
const CSI = "\u009b";
const ST = "\u009c";
const STRING_OPENERS = "\u0090\u0098\u009d\u009e\u009f";
const STRING_CONTENT = String.raw`[^\u0000-\u0008\u000a-\u001f\u007f-\u009f]`;

/**
 * ECMA-48 escape sequences: control strings that end on their own line, with what they carry; control sequences; the
 * rest. A string that never ends loses only its opener, so it hides nothing that comes after it.
 */
const ESCAPE_SEQUENCES = new RegExp(
  `(?:${ESC}[\\]PX^_]|[${STRING_OPENERS}])${STRING_CONTENT}*(?:${BEL}|${ESC}\\\\|${ST})` +
    `|(?:${ESC}\\[|${CSI})[0-?]*[ -/]*[@-~]?` +
    `|${ESC}[ -/]*[0-~]?`,
  "g",
);

/** `\r\n`, and everything else that Unicode calls a mandatory line break. */
const LINE_BREAKS = new RegExp(`${CR}\\n|[${CR}\\v\\f\u0085\u2028\u2029]`, "g");

/**
 * Format characters (bidi controls, joiners, tags, annotation marks), everything that is drawn as nothing (zero-width
 * characters, variation selectors, fillers, the soft hyphen) and noncharacters.
 */
const invisible = lazily(
  () => /[\p{Cf}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}]/gu,
);
const CONTROLS = /[^\n\t\P{Cc}]/gu;
const NEEDS_CLEANING = /[^\n\t -~]/;

/**
 * The text with nothing in it that hides, moves or rewrites other text: no escape sequences, no controls but `\n` and
 * `\t`, no invisible characters; line ends are `\n`, lone surrogates U+FFFD. What remains is in the same order.
 * Emoji lose their joiners and variation selectors: a family is shown as its members, a red heart may turn black.
 */
export function cleanText(text: string): string {
  return clean(text, (some) => some.replaceAll(invisible(), ""));
}

function clean(text: string, withoutUnseen: (text: string) => string): string {
  if (!NEEDS_CLEANING.test(text)) return text;
  return withoutUnseen(text.toWellFormed())
    .replaceAll(ESCAPE_SEQUENCES, "")
    .replaceAll(LINE_BREAKS, "\n")
    .replaceAll(CONTROLS, "");
}

/**
 * The one encoder: what every text passes before it is shown, sent to a model, logged or stored. It cleans first: a
 * secret with an escape sequence or an invisible character in it is found only without them. Emoji stay whole; the
 * redactor looks for secrets without their joiners too.
 */
export function encodeText(text: string, redactor: { redact(text: string): string }): string {
  return redactor.redact(clean(text, withoutInvisible));
}

/** Emoji with the joiners and variation selectors between and behind them, which draw several as one. */
const joinedEmoji = lazily(
  () =>
    /\p{Extended_Pictographic}\p{Emoji_Modifier}?(?:\ufe0f|\u200d\p{Extended_Pictographic}\p{Emoji_Modifier}?)+/gu,
);
/** Those that Unicode recommends; with any others something could be hidden. */
const knownEmoji = lazily(() => /^\p{RGI_Emoji}$/v);

function withoutInvisible(text: string): string {
  let shown = "";
  let end = 0;
  for (const { 0: emoji, index } of text.matchAll(joinedEmoji())) {
    if (!knownEmoji().test(emoji)) continue;
    shown += text.slice(end, index).replaceAll(invisible(), "") + emoji;
    end = index + emoji.length;
  }
  return shown + text.slice(end).replaceAll(invisible(), "");
}

/** Letters, numbers, punctuation and symbols can be seen; marks, spaces, private and unassigned characters are escaped. */
const visible = lazily(() => /^[\p{L}\p{N}\p{P}\p{S}]$/u);

/**
 * Visible by category and yet not fit to be shown raw: fillers and other blanks (U+2800, U+1D159), conjoining Hangul
 * (joins to what a single character also shows), and the right-to-left blocks, which reorder the JSON around them.
 */
const deceptive = lazily(
  () =>
    /[\p{Default_Ignorable_Code_Point}\u2800\u{1d159}\u1100-\u11ff\ua960-\ua97f\ud7b0-\ud7ff\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u,
);

function isPlain(character: string): boolean {
  if (character >= " " && character <= "~") return true;
  return (
    visible().test(character) &&
    !deceptive().test(character) &&
    character.normalize("NFC") === character
  );
}

function escaped(character: string): string {
  if (character < " ") return `\\u{${character.charCodeAt(0).toString(16)}}`;
  const units = Array.from({ length: character.length }, (_, i) => character.charCodeAt(i));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
}

/** What follows `\u` when it reads like one of the escapes written here. Below 0020 they are canonical JSON's own. */
const OUR_ESCAPE = /\{|(?!00[01])[0-9a-f]{4}/iy;

function looksLikeOurs(text: string, offset: number): boolean {
  OUR_ESCAPE.lastIndex = offset;
  return OUR_ESCAPE.test(text);
}

/**
 * The text as a card shows it: one line, printable, and never the same for two different texts, even to a reader who
 * cannot tell composed from decomposed letters. Of canonical JSON (RFC 8785) it is JSON of the same value.
 * Everything that is not plainly visible is written `\uXXXX`. A raw control character (canonical JSON has none) is
 * `\u{…}`, and so is a backslash that the text itself put before something that reads like an escape.
 */
export function exactText(text: string): string {
  return text.replaceAll(/\\[^]?|[^ -~]/gu, (token: string, offset: number) => {
    if (!token.startsWith("\\")) return isPlain(token) ? token : escaped(token);
    const next = token.slice(1);
    if (next === "" || (next !== "u" && isPlain(next))) return token;
    if (next === "u") return looksLikeOurs(text, offset + 2) ? "\\u{5c}u" : token;
    return `\\u{5c}${escaped(next)}`;
  });
}

/** Bytes of arguments as a card shows them. */
export function shownBytes(args: object): number {
  return Buffer.byteLength(inCodeBlock(exactText(JSON.stringify(args))));
}

const namedScripts = lazily(() =>
  "Latin Cyrillic Greek Armenian Cherokee Coptic Georgian Hebrew Arabic Devanagari Thai Han Hiragana Katakana Bopomofo Hangul"
    .split(" ")
    .map((name) => ({ name, pattern: new RegExp(`\\p{Script_Extensions=${name}}`, "u") })),
);

/** Scripts that are written together, with Latin too ("highly restrictive" in Unicode UTS #39, section 5.2). */
const WRITTEN_TOGETHER = [
  new Set(["Latin", "Han", "Hiragana", "Katakana"]),
  new Set(["Latin", "Han", "Bopomofo"]),
  new Set(["Latin", "Han", "Hangul"]),
];

const STYLED = "styled letters";

/**
 * Letters that fonts draw like a Latin one, by the confusables of Unicode UTS #39: of scripts that words of nothing else can be
 * written in. Left out is what is drawn like a digit, and what only some fonts draw so.
 */
const lookalikes = lazily(() =>
  [
    { script: "Cyrillic", letters: "ЅІЈАВЕКМНОРСТУХЬавгекмнорстухѕіјѡѴѵҮүһҽӀӏӠԁԌԛԜԝꙄꙇ" },
    { script: "Greek", letters: "ͺͿΑΒΕΖΗΙΚΜΝΟΡΤΥΧαγικνορσυχϒϜϱϲϳϹϺᴦ" },
    { script: "Armenian", letters: "ՍՏՕագզհոռսցքօ" },
    { script: "Cherokee", letters: "ᎠᎡᎢᎥᎩᎪᎫᎬᎳᎷᎻᎽᏀᏂᏃᏎᏏᏒᏔᏕᏙᏚᏞᏟᏢᏦᏧᏮᏳᏴꭵꮁꮃꮓꮩꮪꮯ" },
    { script: "Coptic", letters: "ϨⲅⲎⲒⲔⲘⲚⲞⲟⲢⲣⲤⲥⲦⲨⲬⳊⳌⳐⳒ" },
    { script: "Lisu", letters: "ꓐꓑꓒꓓꓔꓖꓗꓙꓚꓜꓝꓟꓠꓡꓢꓣꓦꓧꓪꓫꓬꓮꓰꓲꓳꓴ" },
  ].map(({ script, letters }) => ({
    all: new RegExp(`^[${letters}]+$`, "u"),
    /** A letter that can be of no other script. */
    plain: new RegExp(`(?![${letters}])\\p{Script=${script}}`, "u"),
  })),
);

/** Letters of phonetic and old alphabets that are Latin too; not the `ı` of Turkish. */
const LIKE_LATIN = /[ƄƍƖƦƧƷƼƽǀȜȢȣɑɡɣɩɪɯʋʏᴄᴏᴑᴜᴠᴡᴢᶃᶌẝỿꜱꝚꝪꝮꞘꞙꞟꞫꞲꞳꞴꬲꬵꬽꭇꭈꭎꭒꭚ]/u;

function scriptOf(character: string): string | undefined {
  if (!/[\p{L}\p{Nd}]/u.test(character)) return undefined;
  if (character > "\u00ff" && /^[A-Za-z0-9]+$/.test(character.normalize("NFKC"))) return STYLED;
  if (/[\p{Nd}\p{Script=Common}]/u.test(character)) return undefined;
  return namedScripts().find(({ pattern }) => pattern.test(character))?.name ?? "another script";
}

/** `foreign`: the look-alikes of scripts that nothing around the word is plainly written in. */
function oddityOf(word: string, foreign: ReturnType<typeof lookalikes>): string | undefined {
  const letters = [...new Set(word)].flatMap((character) => {
    const script = scriptOf(character);
    return script === undefined ? [] : [{ character, script }];
  });
  const scripts = new Set(letters.map(({ script }) => script));
  const isMixed =
    scripts.size > 1 &&
    !WRITTEN_TOGETHER.some((set) => [...scripts].every((script) => set.has(script)));
  const isDisguised =
    scripts.has(STYLED) || LIKE_LATIN.test(word) || foreign.some(({ all }) => all.test(word));
  if (!isMixed && !isDisguised) return undefined;
  const strangers = letters
    .filter(({ character, script }) => script !== "Latin" || LIKE_LATIN.test(character))
    .slice(0, 5);
  const named = strangers.map(
    ({ character, script }) => `${codePointOf(character)} ${exactText(character)} (${script})`,
  );
  return `"${exactText(word.slice(0, 40))}" contains ${named.join(", ")}`;
}

function codePointOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
}

/** What is invisible, but the joiners and selectors that Persian, Hindi and emoji are written with. */
const hiding = lazily(
  () =>
    /(?!\u200c|\u200d|\ufe0f)[\p{Cf}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}]|(?<=[!-~])(?:\u200c|\u200d|\ufe0f)(?=[!-~])/gu,
);

const MAX_ODDITIES = 3;

function odditiesIn(text: string): string[] {
  const found: string[] = [];
  for (const line of text.split("\n")) {
    // What is written beside it, such as a note, makes a name no less of a trap.
    const foreign = lookalikes().filter(({ plain }) => !plain.test(line));
    for (const word of new Set(line.match(/[\p{L}\p{M}\p{N}]+/gu))) {
      const oddity = /[^ -~]/.test(word) ? oddityOf(word, foreign) : undefined;
      if (oddity !== undefined && !found.includes(oddity)) found.push(oddity);
      if (found.length === MAX_ODDITIES) return found;
    }
  }
  return found;
}

/**
 * A card's warning that a word is not what it looks like, naming up to three such words and five characters of
 * each: scripts mixed inside a word, fullwidth, mathematical and phonetic letters, words of nothing but look-alikes in a line
 * that is not otherwise in their script; and characters that nobody sees. Undefined if the text has none.
 */
export function confusables(text: string): string | undefined {
  const oddities = odditiesIn(cleanText(text));
  const unseen = new Set(text.match(hiding())?.map(codePointOf));
  if (unseen.size > 0)
    oddities.push(`it holds what nobody sees: ${[...unseen].slice(0, 5).join(", ")}`);
  return oddities.length === 0 ? undefined : `Not what it looks like: ${oddities.join("; ")}.`;
}
