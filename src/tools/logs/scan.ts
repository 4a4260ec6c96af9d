/** What of a log line varies and what does not. */

export interface Token {
  /** Bytes of the text in UTF-8. */
  from: number;
  to: number;
  varies: boolean;
}

/** Of one line; what comes behind it does not tell lines apart. */
export const MAX_SCANNED = 4_096;
const MAX_QUOTED = 1_000;

const NEWLINE = 10;
const ESCAPE = 0x1b;
const SPACE = 0x20;
const DOUBLE = 0x22;
const SINGLE = 0x27;
const COLON = 0x3a;
const EQUALS = 0x3d;
const BACKSLASH = 0x5c;
const BRACE = 0x7b;

const WORD = 1;
const DIGIT = 2;
const HEX = 4;
const LETTER = 8;
const UPPER = 16;
const JOINT = 32;

/** What a byte may be part of; 0: it stands between words. */
const FLAGS = Uint8Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte);
  if (byte >= 0x80) return WORD | LETTER;
  if (/\d/.test(character)) return WORD | DIGIT;
  if (/[a-f]/i.test(character)) return WORD | HEX | (byte < 97 ? UPPER : 0);
  if (/[a-z]/i.test(character)) return WORD | LETTER | (byte < 97 ? UPPER : 0);
  if (/[._]/.test(character)) return WORD | JOINT;
  return /[-:@%+#&?!*$~^]/.test(character) ? WORD : 0;
});

/** `k`, `K`, `M`, `G`, `T` */
const UNIT_SCALES: ReadonlySet<number> = new Set([0x6b, 0x4b, 0x4d, 0x47, 0x54]);

const TEXT = 1;
const LEVEL = 2;
const STATUS = 3;

/** Keys of JSON and of `key=value` whose values are more than an example. */
export const KEYS: Readonly<Record<string, number>> = {
  ...Object.fromEntries(
    ["msg", "message", "log", "event", "error", "err", "exception", "reason", "detail", "body"].map(
      (key) => [key, TEXT],
    ),
  ),
  ...Object.fromEntries(
    ["level", "lvl", "severity", "loglevel", "log.level", "levelname"].map((key) => [key, LEVEL]),
  ),
  ...Object.fromEntries(
    ["status", "code", "status_code", "statusCode", "http_status"].map((key) => [key, STATUS]),
  ),
};

/** `ORA-00600`, `E11000`, `HTTP500`: what a code says is not an example's. */
function isCode(bytes: Uint8Array, from: number, to: number): boolean {
  let at = from;
  while (at < to && ((FLAGS[bytes[at] ?? 0] ?? 0) & UPPER) !== 0) at += 1;
  const letters = at - from;
  if (bytes[at] === 0x2d) at += 1;
  const digits = to - at;
  if (letters < 1 || letters > 6 || digits < 3 || digits > 5) return false;
  while (at < to && ((FLAGS[bytes[at] ?? 0] ?? 0) & DIGIT) !== 0) at += 1;
  return at === to;
}

/** `MB`, `KiB`, `ms`: behind a number it varies with that. */
function isUnit(bytes: Uint8Array, from: number, length: number): boolean {
  const last = bytes[from + length - 1];
  if (last !== 0x42 && last !== 0x73) return false;
  if (length === 1) return true;
  const first = bytes[from] ?? 0;
  if (last === 0x73) return length === 2 && (first === 0x6d || first === 0x6e || first === 0x75);
  const isScaled = UNIT_SCALES.has(first);
  return isScaled && (length === 2 || (length === 3 && bytes[from + 1] === 0x69));
}

/** Where the quote closes, or -1. */
function closing(bytes: Uint8Array, open: number): number {
  const quote = bytes[open];
  const limit = Math.min(bytes.length, open + MAX_QUOTED);
  for (let at = open + 1; at < limit; at += 1) {
    const byte = bytes[at];
    if (byte === quote) return at;
    if (byte === NEWLINE) return -1;
    if (byte === BACKSLASH) at += 1;
  }
  return -1;
}

/** `GET /…`: the request line in access logs says more than an example. */
function isRequest(bytes: Uint8Array, from: number, to: number): boolean {
  let at = from;
  while (at < to && ((FLAGS[bytes[at] ?? 0] ?? 0) & UPPER) !== 0) at += 1;
  return at - from >= 3 && bytes[at] === SPACE && bytes[at + 1] === 0x2f;
}

/** What stands in quotes is. */
const NOTHING = 0;
const VARIABLE = 1;
const KEY = 2;

const PRIME = 0x01000193;

/** The keys of `KEYS` as hashes with this seed. */
function hashedKeys(seed: number): Map<number, number> {
  const entries = Object.entries(KEYS);
  return new Map(
    entries.map(([key, kind]) => [hashOf(Buffer.from(key), 0, key.length, seed), kind]),
  );
}

function hashOf(bytes: Uint8Array, from: number, to: number, seed: number): number {
  let hash = seed;
  for (let at = from; at < to; at += 1) hash = Math.imul(hash ^ (bytes[at] ?? 0), PRIME);
  return hash;
}

/**
 * Reads a line in one pass over its bytes: a file of 1 GB is read in seconds, so lines of a known shape must not become strings. A line
 * is a sequence of words; what has digits, is long like an id, or stands in quotes is a variable part, and several of them side by side
 * are one.
 */
export class Scanner {
  /** Of the last line two numbers of 32 bits, which are the same for the same shape. */
  one = 0;
  two = 0;
  /** Differs from process to process, so that nobody can write lines that are taken for others. */
  private readonly seed = Math.trunc(Math.random() * 0x7fffffff);
  private readonly keys = hashedKeys(this.seed);
  private recorded: Token[] | undefined;
  private isJson = false;
  /** What the last key says of what follows it, and where that would begin. */
  private kind = 0;
  private valueAt = -1;
  /** A quote that closes a text which is scanned like any other. */
  private closes = -1;
  /** What `takeQuoted` found. */
  private found = NOTHING;
  private foundHash = 0;

  /** The tokens of a text, which is one line. */
  tokens(text: string): Token[] {
    const tokens: Token[] = [];
    this.recorded = tokens;
    this.scan(Buffer.from(text), 0);
    this.recorded = undefined;
    return tokens;
  }

  /**
   * Scans the line that begins there. Where it ends: its line break, the end of the bytes, or where scanning gave up. What is touched
   * for each word is local: this loop runs for each byte.
   */
  scan(bytes: Uint8Array, from: number): number {
    const { seed, recorded } = this;
    this.kind = 0;
    this.valueAt = -1;
    this.closes = -1;
    this.isJson = bytes[from] === BRACE;
    let one = seed;
    let two = ~seed;
    /** The last token is a variable part. */
    let isOpen = false;
    const limit = Math.min(bytes.length, from + MAX_SCANNED);
    let at = from;
    while (at < limit) {
      let byte = bytes[at] ?? 0;
      let flags = FLAGS[byte] ?? 0;
      let varies = false;
      let hash = seed;
      if (flags !== 0) {
        const start = at;
        let any = 0;
        while (flags !== 0) {
          any |= flags;
          at += 1;
          byte = bytes[at] ?? 0;
          flags = FLAGS[byte] ?? 0;
        }
        const length = at - start;
        if ((any & DIGIT) !== 0)
          varies = length < 3 || length > 12 || !this.stays(bytes, start, at, any);
        else if ((any & (HEX | LETTER)) === 0) continue;
        else if (length >= 8 && (any & JOINT) === 0) varies = (any & LETTER) === 0 || length >= 40;
        // Asked of new shapes only, since the loop is dear: `4 KB` and `4 MB` are told apart here, and come to one shape.
        else if (recorded !== undefined && isOpen) varies = isUnit(bytes, start, length);
        if (!varies) {
          for (let each = start; each < at; each += 1)
            hash = Math.imul(hash ^ (bytes[each] ?? 0), PRIME);
          if (byte === EQUALS) this.expect(hash, at + 1);
        }
        if (recorded !== undefined) this.record(start, at, varies);
      } else if (byte === SPACE) {
        at += 1;
        continue;
      } else if (byte === NEWLINE) break;
      else {
        at = this.takeOther(bytes, at);
        if (this.found === NOTHING) continue;
        varies = this.found === VARIABLE;
        hash = this.foundHash;
      }
      if (varies && isOpen) continue;
      isOpen = varies;
      const mixed = varies ? 7 : hash;
      one = Math.imul(one ^ mixed, 0x85ebca6b);
      one ^= one >>> 13;
      two = ((two << 5) - two + mixed) | 0;
    }
    this.one = one;
    this.two = two;
    return at;
  }

  /** What follows a key. */
  private expect(key: number, at: number): void {
    this.kind = this.keys.get(key) ?? 0;
    this.valueAt = at;
  }

  /** A number or a name with digits that is no example. */
  private stays(bytes: Uint8Array, from: number, to: number, any: number): boolean {
    if ((any & UPPER) !== 0) return isCode(bytes, from, to);
    if (any !== (WORD | DIGIT) || to - from !== 3) return false;
    const isStatus = this.kind === STATUS && from === this.valueAt;
    return isStatus || (bytes[from - 1] === SPACE && bytes[from - 2] === DOUBLE);
  }

  private record(from: number, to: number, varies: boolean): void {
    const last = this.recorded?.at(-1);
    if (varies && last?.varies === true) last.to = to;
    else this.recorded?.push({ from, to, varies });
  }

  /** Takes a byte that is of no word, or what it opens; where to go on. */
  private takeOther(bytes: Uint8Array, at: number): number {
    this.found = NOTHING;
    switch (bytes[at] ?? 0) {
      case ESCAPE:
        return behindEscape(bytes, at);
      case DOUBLE:
        return this.closes >= at ? at + 1 : this.takeQuoted(bytes, at);
      case SINGLE:
        return this.closes >= at ? at + 1 : this.takeSingle(bytes, at);
      default:
        return at + 1;
    }
  }

  private takeQuoted(bytes: Uint8Array, open: number): number {
    const close = closing(bytes, open);
    if (close < 0) return open + 1;
    const next = this.isJson ? behindColon(bytes, close + 1) : -1;
    if (next >= 0) {
      this.found = KEY;
      this.foundHash = hashOf(bytes, open + 1, close, this.seed);
      if (this.recorded !== undefined) this.record(open + 1, close, false);
      this.expect(this.foundHash, next);
      return next;
    }
    const isValue = this.kind !== 0 && open === this.valueAt;
    if (isValue || (!this.isJson && isRequest(bytes, open + 1, close))) {
      this.closes = close;
      return open + 1;
    }
    return this.takeVariable(open + 1, close);
  }

  /** `it's` opens nothing. */
  private takeSingle(bytes: Uint8Array, open: number): number {
    const before = open === 0 ? 0 : (FLAGS[bytes[open - 1] ?? 0] ?? 0);
    if ((before & (LETTER | HEX | DIGIT)) !== 0) return open + 1;
    const close = closing(bytes, open);
    const behind = FLAGS[bytes[close + 1] ?? 0] ?? 0;
    if (close < 0 || (behind & (LETTER | HEX)) !== 0) return open + 1;
    return this.takeVariable(open + 1, close);
  }

  private takeVariable(from: number, to: number): number {
    this.found = VARIABLE;
    if (this.recorded !== undefined) this.record(from, to, true);
    return to + 1;
  }
}

/** Where what follows a colon begins; -1: there is none. */
function behindColon(bytes: Uint8Array, from: number): number {
  let at = from;
  while (bytes[at] === SPACE) at += 1;
  if (bytes[at] !== COLON) return -1;
  at += 1;
  while (bytes[at] === SPACE) at += 1;
  return at;
}

/** Behind a control sequence such as a colour. */
function behindEscape(bytes: Uint8Array, at: number): number {
  if (bytes[at + 1] !== 0x5b) return at + 1;
  let next = at + 2;
  while (next < bytes.length && next < at + 20 && (bytes[next] ?? 0) < 0x40) next += 1;
  return bytes[next] === NEWLINE ? next : next + 1;
}
