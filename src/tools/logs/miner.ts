import { ANY, createDrain, seen, type Shape, WHATEVER } from "./drain.ts";
import { lineText, type Severity, severityOfLine } from "./line-text.ts";
import { shortened } from "../../core/text.ts";
import { MAX_SCANNED, Scanner } from "./scan.ts";

/** Lines one after the other, as bytes, and how they are to be read. */
export interface Batch {
  bytes: Buffer;
  /** The lines to take, from the beginning of one to the end of one. */
  from: number;
  to: number;
  service: string;
  /** As the source says it; undefined: the line does. */
  severity?: Severity | undefined;
  /** When the line that begins there was written, ms since 1970. */
  timeAt(offset: number): number | undefined;
  /** The text between two places, safe to show. */
  encoded(from: number, to: number): string;
}

/** Lines of one shape, for people. */
export interface Template {
  service: string;
  severity: Severity;
  /** One of its lines; what varies stands in ‹›. */
  text: string;
  count: number;
  /** ms since 1970; undefined: its lines do not say. */
  first: number | undefined;
  last: number | undefined;
}

/** What was made of all lines. */
export interface Mined {
  templates: Template[];
  lines: number;
  /** Lines of a stack trace or the like, which belong to the line before them. */
  continued: number;
  /** Lines whose shapes came when there were too many already. */
  others: number;
}

export interface MinerLimits {
  shapes: number;
  /** Shapes as the scanner tells them apart. */
  known: number;
}

const LIMITS: MinerLimits = { shapes: 2_000, known: 50_000 };
const NEWLINE = 10;
const SPACE = 0x20;
const TAB = 0x09;
const RETURN = 0x0d;
/** Of an example. */
const MAX_EXAMPLE = 2_000;

/** A shape as the scanner tells it. */
interface Known {
  one: number;
  two: number;
  /** Undefined: there were too many. */
  shape: Shape | undefined;
  /** In the batch that is being read: where its first and last line begin; -1: there is none. */
  first: number;
  last: number;
}

/** A line, and the first frame of the trace behind it. */
interface Head {
  from: number;
  to: number;
  one: number;
  two: number;
  frame: { from: number; to: number } | undefined;
}

/**
 * Folds lines into templates as they come, in bounded memory and without keeping them. A line whose shape is known costs one pass
 * over its bytes; only a new shape becomes text, and its example is made safe to show before anything else is made of it.
 */
export class Miner {
  private readonly scanner = new Scanner();
  private readonly drain: ReturnType<typeof createDrain>;
  private readonly cache: ReturnType<typeof createCache>;
  private lines = 0;
  private continued = 0;
  private others = 0;
  private touched: Known[] = [];

  constructor(limits: MinerLimits = LIMITS) {
    this.drain = createDrain(limits.shapes);
    this.cache = createCache(limits.known);
  }

  mine(batch: Batch): void {
    const { scanner } = this;
    const { bytes, to } = batch;
    const base = baseOf(batch);
    /** The line whose continuation is not read yet. */
    let head: Head | undefined;
    let at = batch.from;
    while (at < to) {
      const begin = at;
      let stop = scanner.scan(bytes, begin);
      if (stop < to && bytes[stop] !== NEWLINE) {
        stop = bytes.indexOf(NEWLINE, stop);
        if (stop < 0) stop = to;
      }
      at = stop + 1;
      if (stop === begin || (stop === begin + 1 && bytes[begin] === RETURN)) continue;
      if (head !== undefined && continues(bytes, begin)) {
        this.continued += 1;
        if (head.frame === undefined && isFrame(bytes, begin)) {
          head.frame = { from: begin, to: stop };
          head.one = Math.imul(head.one, 31) ^ scanner.one;
          head.two = Math.imul(head.two, 37) ^ scanner.two;
        }
        continue;
      }
      // Before the last line is taken, since learning one uses the scanner too.
      const { one, two } = scanner;
      if (head !== undefined) this.take(batch, head);
      head = { from: begin, to: stop, one: one ^ base, two, frame: undefined };
    }
    if (head !== undefined) this.take(batch, head);
    this.settleTimes(batch);
  }

  /** Templates in no order that means something. */
  result(): Mined {
    const { drain, scanner, lines, continued, others } = this;
    const templates = drain.shapes().map((shape) => templateOf(shape, scanner));
    return { templates, lines, continued, others };
  }

  private take(batch: Batch, head: Head): void {
    const { one, two, from } = head;
    this.lines += 1;
    const known = this.cache.find(one, two) ?? this.cache.add(one, two, this.learn(batch, head));
    if (known.shape === undefined) {
      this.others += 1;
      return;
    }
    while (known.shape.partOf !== undefined) known.shape = known.shape.partOf;
    known.shape.count += 1;
    known.last = from;
    if (known.first >= 0) return;
    known.first = from;
    this.touched.push(known);
  }

  private learn(batch: Batch, { from, to, frame }: Head): Shape | undefined {
    const parts = [{ from, to }, ...(frame === undefined ? [] : [frame])];
    const raw = parts.map((part) =>
      batch.bytes.toString("utf8", part.from, Math.min(part.to, part.from + MAX_SCANNED)),
    );
    const text = joined(raw);
    const bytes = Buffer.from(text);
    const words = this.scanner
      .tokens(text)
      .map((token) => (token.varies ? ANY : bytes.toString("utf8", token.from, token.to)));
    const severity = batch.severity ?? severityOfLine(text);
    return this.drain.shapeOf({ service: batch.service, severity, words }, () =>
      joined(
        parts.map((part) => batch.encoded(part.from, Math.min(part.to, part.from + MAX_EXAMPLE))),
      ),
    );
  }

  /** Only the first and last line of a shape are asked for their time. */
  private settleTimes(batch: Batch): void {
    for (const known of this.touched) {
      if (known.shape !== undefined) {
        seen(known.shape, batch.timeAt(known.first));
        seen(known.shape, batch.timeAt(known.last));
      }
      known.first = -1;
    }
    this.touched = [];
  }
}

/** Tells the lines of one service and level from those of another. */
function baseOf({ service, severity }: Batch): number {
  let base = 0;
  for (const character of `${severity}\n${service}`)
    base = Math.imul(base, 31) + (character.codePointAt(0) ?? 0);
  return base;
}

/**
 * What is known, by two numbers. No Map: it would make an object of each number, and this is asked for each line. When it is full it
 * begins anew: shapes are not lost with it.
 */
function createCache(most: number) {
  const mask = 2 ** Math.ceil(Math.log2(most * 2)) - 1;
  let slots: (Known | undefined)[] = Array.from({ length: mask + 1 });
  let size = 0;

  return {
    find(one: number, two: number): Known | undefined {
      for (let at = one & mask; ; at = (at + 1) & mask) {
        const known = slots[at];
        if (known === undefined || (known.one === one && known.two === two)) return known;
      }
    },
    add(one: number, two: number, shape: Shape | undefined): Known {
      if (size >= most) {
        slots = Array.from({ length: mask + 1 });
        size = 0;
      }
      size += 1;
      let at = one & mask;
      while (slots[at] !== undefined) at = (at + 1) & mask;
      const known = { one, two, shape, first: -1, last: -1 };
      slots[at] = known;
      return known;
    },
  };
}

/** The first line of a trace with its first frame. */
function joined(parts: readonly string[]): string {
  const [line = "", ...frames] = parts;
  return [lineText(line), ...frames.map((frame) => frame.trim())]
    .join(" | ")
    .replaceAll(/\s*\n\s*/g, " ");
}

/** Indented, or `Caused by:`: it belongs to the line before it. */
function continues(bytes: Buffer, from: number): boolean {
  const byte = bytes[from];
  if (byte === SPACE || byte === TAB) return true;
  return byte === 0x43 && bytes.toString("latin1", from, from + 10) === "Caused by:";
}

const FRAME = /^\s*(?:at |File "|#\d+ |from )/;

function isFrame(bytes: Buffer, from: number): boolean {
  return FRAME.test(bytes.toString("latin1", from, from + 40));
}

/** What stands before the message in most formats, and says nothing that the columns do not say. */
const STAMP =
  /^(?:\[?\d{4}[-/]\d\d[-/]\d\d[T ][\d:.,]+ ?(?:Z|UTC|GMT|[+-]\d\d:?\d\d)?\]?|(?:<\d+>)?[A-Z][a-z]{2} {1,2}\d{1,2} [\d:.]{8,15})[ :,|-]*/;
const MAX_SHOWN = 280;
/** An id that is longer is told by its beginning. */
const MAX_VALUE = 40;

function templateOf(shape: Shape, scanner: Scanner): Template {
  const { service, severity, example, words, count, first, last } = shape;
  const tokens = scanner.tokens(example);
  const isSame = tokens.length === words.length;
  const bytes = Buffer.from(example);
  const from = Buffer.byteLength(STAMP.exec(example)?.[0] ?? "");
  let [text, at] = ["", from];
  for (const [index, token] of tokens.entries()) {
    const begin = Math.max(token.from, from);
    const varies = token.varies || (isSame && words[index] === WHATEVER);
    if (!varies || token.to <= begin) continue;
    const value = bytes.toString("utf8", begin, token.to);
    const short = value.length > MAX_VALUE ? shortened(value, 16) : value;
    text += `${bytes.toString("utf8", at, begin)}‹${short}›`;
    at = token.to;
  }
  text += bytes.toString("utf8", at);
  return { service, severity, text: shortened(text.trim(), MAX_SHOWN), count, first, last };
}
