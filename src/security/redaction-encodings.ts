/**
 * Finds a known value in the ways programs write it down: as it is, URL-encoded, JSON-, shell- or HTML-escaped (any part
 * of it, up to three levels deep), base64 in all three alignments, hexadecimal, and each of these wrapped over lines.
 */

/** Where something was found: the first and the first-after UTF-16 unit. */
export type Range = readonly [start: number, end: number];

export interface HeldSpan {
  start: number;
  end: number;
  name: string;
}

export interface HeldSecret {
  /** As people know it, such as `SLACK_BOT_TOKEN`; it is shown. */
  name: string;
  value: string;
}

/** Longer values (private keys, JSON key files) are looked for in this many parts, each on its own. */
const PARTS = 8;
const LONG = 256;
/** So many units are looked for at first; the whole pattern is only compiled when they are found. */
const PROBE_UNITS = 6;

/** As many as JSON in JSON in JSON puts before an escaped character. */
const BACKSLASHES = String.raw`\\{1,7}`;
const LINE_WRAP = String.raw`(?:\\?\r?\n[ \t]{0,32})?`;
const BASE64_WRAP = String.raw`(?:\s{1,34}|(?:\\{1,7}[nr]){1,2})?`;
const HEX_GAP = String.raw`(?:\s{1,34}|[:,-]|\\{1,7}x|(?:, ?)?0x)?`;

const ENTITIES: Record<string, string> = { "&": "amp", "<": "lt", ">": "gt" };

/**
 * Quotes and white space in turn, again and again: which backslash belongs to which could be read in exponentially many
 * ways, so of such a value only the plain forms are looked for.
 */
const TANGLED = /(?:[\\'"]+\s+){3}/;

/** What may stand for one piece of a value. */
interface Unit {
  pattern: string;
  /** The way it mostly stands there, which needs no pattern; "" for none. */
  plain: string;
  /** Where it begins and ends is no matter of choice, whatever stands beside it. */
  isFixed: boolean;
}

function fixed(pattern: string, plain: string): Unit {
  return { pattern, plain, isFixed: true };
}

function plainForms(value: string): Unit[][] {
  const forms = [
    value,
    JSON.stringify(value).slice(1, -1),
    encodeURIComponent(value.toWellFormed()),
  ];
  return [...new Set(forms)].map((form) =>
    Array.from(form, (unit) => fixed(unit.replace(/[\\^$.*+?()[\]{}|]/, String.raw`\$&`), unit)),
  );
}

/** A function that lists where `value` occurs in a text, in any encoding. */
export function createValueFinder(value: string): (text: string) => Range[] {
  const size = value.length > LONG ? Math.ceil(value.length / PARTS) : value.length;
  const parts = Array.from({ length: Math.ceil(value.length / size) }, (_, i) =>
    value.slice(i * size, (i + 1) * size),
  );
  const forms = parts.flatMap((part) => [
    ...(TANGLED.test(part) ? plainForms(part) : [writtenUnits(part)]),
    joined(hexUnits(part), HEX_GAP),
    ...[0, 1, 2].map((offset) => joined(base64Units(part, offset), BASE64_WRAP)),
  ]);
  const shortest = Math.min(...forms.map((units) => units.length));
  const finders = forms.map(createFinder);
  return (text) => (text.length < shortest ? [] : finders.flatMap((find) => find(text)));
}

function createFinder(units: readonly Unit[]): (text: string) => Range[] {
  const first = units.slice(0, PROBE_UNITS).map(({ pattern }) => pattern);
  const probe = new RegExp(first.join(""), "g");
  const steps = stepsOf(units);
  return (text) => {
    const ranges: Range[] = [];
    if (text.length < units.length) return ranges;
    probe.lastIndex = 0;
    for (let hit = probe.exec(text); hit !== null; hit = probe.exec(text)) {
      const end = endOf(steps, text, hit.index);
      if (end !== undefined) ranges.push([hit.index, end]);
      probe.lastIndex = end ?? hit.index + 1;
    }
    return ranges;
  };
}

/** Units of which one may have to give back what it took for the next, as one. */
function stepsOf(units: readonly Unit[]): Unit[] {
  const steps: Unit[] = [];
  for (const unit of units) {
    const last = steps.at(-1);
    if (last === undefined || (last.isFixed && unit.isFixed)) steps.push(unit);
    else steps[steps.length - 1] = { ...unit, pattern: last.pattern + unit.pattern, plain: "" };
  }
  return steps;
}

/** By source. V8 takes 1 ms for each unit of a pattern: one for a whole private key would hold everybody up for seconds. */
const patterns = new Map<string, RegExp>();

/** Where what begins at `at` ends, if all of it is there. */
function endOf(steps: readonly Unit[], text: string, at: number): number | undefined {
  let end = at;
  for (const { pattern, plain } of steps) {
    if (plain !== "" && text.startsWith(plain, end)) {
      end += plain.length;
      continue;
    }
    const compiled = patterns.get(pattern) ?? new RegExp(pattern, "y");
    patterns.set(pattern, compiled);
    compiled.lastIndex = end;
    if (!compiled.test(text)) return undefined;
    end = compiled.lastIndex;
  }
  return end;
}

function joined(units: readonly Unit[], gap: string): Unit[] {
  return units.map((unit, i) => (i === 0 ? unit : { ...unit, pattern: gap + unit.pattern }));
}

/**
 * The pattern of a value as it may be written, piece by piece. Where one piece ends and the next begins must not be a
 * matter of choice, or a value with many quotes would take exponential time: runs of quotes and backslashes, and runs
 * of white space, are one piece each, and a line may only be wrapped between two other characters.
 */
function writtenUnits(value: string): Unit[] {
  const pieces = value.match(/[\\'"]+|\s+|[^\\'"\s]/gu) ?? [];
  return pieces.map((piece, i) => {
    const pattern = writtenForms(piece, i, pieces);
    const plain = /\s/.test(piece) ? "" : piece;
    return { pattern, plain: isFixed(i, pieces) ? plain : "", isFixed: isFixed(i, pieces) };
  });
}

/** What stands so far behind a quote, `%` or `&` is no part of an escape of it. */
const LONGEST_ESCAPE = 24;

/** False where the same characters can be an escape or stand for themselves, and a `+` can be a space. */
function isFixed(i: number, pieces: readonly string[]): boolean {
  const [piece = "", before = ""] = [pieces[i], pieces[i - 1]];
  if (!/^(?:[\w/=.:+-]|\s+)$/.test(piece) || (piece === "+" && /[\s+]/.test(before))) return false;
  return !pieces.slice(Math.max(0, i - LONGEST_ESCAPE), i).some((near) => /[\\'"%&]/.test(near));
}

function writtenForms(piece: string, i: number, pieces: readonly string[]): string {
  const before = pieces[i - 1] ?? " ";
  if (/[\\'"]/.test(piece)) return quotingForms(piece);
  if (/\s/.test(piece)) return spaceForms(piece);
  if (/[\\'"]/.test(before)) return characterForms(piece, "");
  // Of the backslashes before the whole value one will do: asking for more at each place takes long in many.
  if (i === 0) return characterForms(piece, String.raw`\\`);
  const wrap = /\s/.test(before) ? "" : LINE_WRAP;
  return wrap + characterForms(piece, BACKSLASHES);
}

/** Quotes and backslashes, which shells and JSON multiply; with the backslashes of what comes after them. */
function quotingForms(run: string): string {
  const escapes = String.raw`(?<=\\)(?:u00(?:22|27|5[cC])|x(?:22|27|5[cC]))|%(?:25){0,2}(?:22|27|5[cC])`;
  const entities = "&(?:amp;){0,2}(?:quot|apos|#0{0,4}(?:34|39|92)|#[xX]0{0,4}(?:22|27|5[cC]));";
  return String.raw`(?:[\\'"\uff3c\uff07\uff02]|${escapes}|${entities}){${run.length},${8 * run.length + 7}}?`;
}

/** White space, which programs turn into other white space. */
function spaceForms(run: string): string {
  const ascii = String.raw`\\{1,7}(?:[nrt\s]|u00(?:20|09|0[aAdD])|x(?:20|09|0[aAdD])|0?(?:040|01[125]))|%(?:25){0,2}(?:20|09|0[aAdD])|\+`;
  const others = Array.from(new Set(run.replaceAll(/[ \t-\r]/g, "")), (space) =>
    escapedForms(space, BACKSLASHES),
  );
  const forms = [String.raw`\s`, ascii, ...others.flat()];
  return `(?:${forms.join("|")}){1,${2 * run.length + 40}}`;
}

/** A character as it is, fullwidth, and escaped. */
function characterForms(character: string, escape: string): string {
  const forms = [literal(character), ...escapedForms(character, escape)];
  if (character > " " && character <= "~") {
    forms.push(String.fromCharCode(character.charCodeAt(0) + 0xfee0));
  }
  if (escape !== "" && !/[A-Za-z0-9]/.test(character)) forms.push(escape + literal(character));
  return `(?:${forms.join("|")})`;
}

/** A character in the escapes of URLs, JSON, programming languages and HTML; `escape` is for its first backslashes. */
function escapedForms(character: string, escape: string): string[] {
  const code = character.codePointAt(0) ?? 0;
  const bytes = bytesOf(character);
  const units = Array.from({ length: character.length }, (_, i) => character.charCodeAt(i));
  const codes = units.map((unit) => anyCase(unit.toString(16).padStart(4, "0")));
  const forms = [
    bytes.map((byte) => `%(?:25){0,2}${anyCase(byte)}`).join(""),
    escape + codes.map((unit) => `u${unit}`).join(BACKSLASHES),
    escape + bytes.map((byte) => `x${anyCase(byte)}`).join(BACKSLASHES),
    escape + bytes.map((byte) => `0?${octal(byte)}`).join(BACKSLASHES),
    `&(?:amp;){0,2}#(?:0{0,4}${code}|[xX]0{0,4}${anyCase(code.toString(16))});`,
  ];
  const entity = ENTITIES[character];
  return entity === undefined ? forms : [...forms, `&(?:amp;){0,2}${entity};`];
}

function hexUnits(text: string): Unit[] {
  return bytesOf(text).map((byte) => fixed(anyCase(byte), byte));
}

/** The base64 of a value that `offset` bytes of something else precede. */
function base64Units(text: string, offset: number): Unit[] {
  return Array.from(base64Cores(Buffer.from(text))[offset] ?? "", (character) => {
    const other = { "+": "-", "/": "_" }[character];
    if (other === undefined) return fixed(character, character);
    return fixed(`(?:${other}|${characterForms(character, BACKSLASHES)})`, character);
  });
}

/**
 * The base64 characters that these bytes fully determine, for each of the three places at which they may begin. The ones at
 * the edges that they share with their neighbours stay; they tell at most 4 bits each.
 */
export function base64Cores(bytes: Buffer): string[] {
  return [0, 1, 2].map((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString("base64");
    const first = Math.ceil((offset * 8) / 6);
    const end = Math.floor(((offset + bytes.length) * 8) / 6);
    return text.slice(first, end);
  });
}

function bytesOf(text: string): string[] {
  return Array.from(Buffer.from(text), (byte) => byte.toString(16).padStart(2, "0"));
}

function octal(hex: string): string {
  return Number.parseInt(hex, 16).toString(8).padStart(3, "0");
}

function anyCase(hex: string): string {
  return hex.replaceAll(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
}

/** The pattern of exactly this text. */
export function literal(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`);
}
