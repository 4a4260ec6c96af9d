import * as readline from "node:readline";
import type { Readable, Writable } from "node:stream";
import { BotError } from "../../core/errors.ts";
import type { Answerable } from "./input.ts";
import { type Keys, type Paste, PASTE_OFF, PASTE_ON, readKeys } from "./paste.ts";
import { apart } from "./wrap.ts";

/** Where text goes; a terminal knows its size. */
export type Output = Writable & { columns?: number; rows?: number };

/** A line that was entered, and what could be answered on the screen when its first character was typed. */
export interface Line {
  text: string;
  seen: Answerable | undefined;
  /** Some of it was pasted: it may be words of anyone's, so it decides nothing. */
  pasted: boolean;
}

export interface ScreenOptions {
  input: Readable;
  output: Output;
  /** True for a person at a terminal: prompt, line editing, lines that are redrawn. */
  interactive: boolean;
}

/** For outputs that do not say how wide they are. */
export const DEFAULT_COLUMNS = 80;
const MAX_LIVE_LINES = 10;
/** A paste of one line and no more characters stands in the line as it is; any other by a word in brackets. */
const MAX_INLINE_PASTE = 200;
/** Entered lines that may wait to be read before a pipe is asked to wait. */
const MAX_WAITING_LINES = 100;

/**
 * The terminal: text that stays, below it a few live lines, below them the line being typed. Text and live lines come
 * and go without touching what is typed. Without a terminal it prints text and reads lines, nothing else.
 */
export class Screen {
  /** Called when a line is begun: what can be answered now. */
  answerable: () => Answerable | undefined = () => undefined;
  onInterrupt: () => void = () => {};
  /** Completes the beginning of a line; several candidates are narrowed to what they share. */
  complete: (line: string) => string[] = () => [];

  readonly #input: Readable;
  readonly #keys: Keys | undefined;
  readonly #output: Output;
  readonly #interactive: boolean;
  readonly #editor: readline.Interface;
  readonly #lines: Line[] = [];
  #seen: Answerable | undefined;
  #pasted = false;
  /** What was pasted, by the word that stands for it in the line. */
  readonly #pastes = new Map<string, string>();
  #live: string[] = [];
  #waiting: ((line: Line | undefined) => void) | undefined;
  #ended = false;
  #broken = false;
  /** False while the line editor's row is not on the screen. */
  #drawn = false;

  constructor(options: ScreenOptions) {
    this.#output = options.output;
    this.#interactive = options.interactive;
    this.#keys = this.#interactive
      ? readKeys(options.input, (paste) => this.#paste(paste))
      : undefined;
    this.#input = this.#keys ?? options.input;
    this.#editor = readline.createInterface({
      input: this.#input,
      ...(this.#interactive ? { output: options.output } : {}),
      terminal: this.#interactive,
      crlfDelay: Number.POSITIVE_INFINITY,
      removeHistoryDuplicates: true,
      completer: (line: string) => [completion(line, this.complete(line)), line],
    });
    // Before the editor's own listener: it must see the line as it was before the key.
    if (this.#interactive) this.#input.prependListener("keypress", this.#key);
    this.#editor.on("line", (text) => this.#entered(text));
    this.#editor.on("history", (history) => {
      // "y" is an answer to what is on the screen now, nothing to be recalled later.
      if (history[0]?.length === 1) history.shift();
    });
    this.#editor.on("SIGINT", () => this.onInterrupt());
    this.#editor.on("close", () => this.#end());
    // A terminal that is gone is the end of the conversation, not an error.
    options.output.on("error", () => {
      this.#broken = true;
      this.#end();
    });
    this.#input.on("error", () => this.#end());
    if (this.#interactive) this.#output.write(PASTE_ON);
  }

  get columns(): number {
    return this.#output.columns ?? DEFAULT_COLUMNS;
  }

  get liveRoom(): number {
    return Math.max(1, Math.min(MAX_LIVE_LINES, (this.#output.rows ?? 24) - 4));
  }

  /** True once nothing can be printed any more. */
  get broken(): boolean {
    return this.#broken;
  }

  get typed(): string {
    return this.#editor.line;
  }

  /**
   * Prints text that stays, above what is being typed. Resolves when the output has taken it.
   * @throws BotError CONNECTION_FAILED when the terminal is gone
   */
  async print(text: string): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    if (this.#broken) reject(goneError());
    else {
      this.#redraw(() =>
        this.#output.write(`${apart(text)}\n`, (error) =>
          error ? reject(goneError(error)) : resolve(),
        ),
      );
    }
    return promise;
  }

  /** Replaces the live lines, in place. */
  live(lines: string[]): void {
    const room = this.liveRoom;
    const more = lines.length - room;
    const some = more > 0 ? [...lines.slice(0, room), `… and ${more} more`] : lines;
    const shown = some.map(apart);
    if (!this.#interactive || this.#ended) return;
    if (shown.length === this.#live.length && this.#drawn) this.#overwrite(shown);
    else this.#redraw(() => (this.#live = shown));
  }

  /** Shows the prompt, and `text` in the line to be edited. */
  prompt(label: string, text = ""): void {
    if (!this.#interactive || this.#ended) return;
    if (text !== "") this.clearTyped();
    this.#redraw(() => this.#editor.setPrompt(label));
    if (text !== "") this.#editor.write(text);
  }

  clearTyped(): void {
    if (!this.#interactive || this.#ended) return;
    this.#editor.write(null, { ctrl: true, name: "e" });
    this.#editor.write(null, { ctrl: true, name: "u" });
  }

  /** The next line, or undefined once no more will come. */
  async next(): Promise<Line | undefined> {
    const line = this.#lines.shift();
    if (this.#lines.length === 0 && !this.#ended) this.#editor.resume();
    if (line !== undefined || this.#ended) return line;
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }

  /** Ends reading; what is printed stays. */
  close(): void {
    this.#end();
  }

  readonly #key = (_text: unknown, key: { name?: string } | undefined): void => {
    if (this.#editor.line === "") this.#begin();
    if (this.#drawn) this.#setEditorRow(this.#editor.getCursorPos().rows);
    const entering = key?.name === "return" || key?.name === "enter";
    // What is entered stays on the screen as it is. The live lines above it must not; they come back with their next tick.
    if (entering && this.#live.length > 0) this.#redraw(() => (this.#live = []));
  };

  #begin(): void {
    this.#seen = this.answerable();
    this.#pasted = false;
  }

  /** Puts a paste into the line, which only Enter sends. */
  #paste({ text, isCut }: Paste): void {
    if (this.#ended || text === "") return;
    if (this.#editor.line === "") this.#begin();
    this.#pasted = true;
    const whole = text.replaceAll(/\r\n?/g, "\n");
    const isPlain = whole.length <= MAX_INLINE_PASTE && !/\p{Cc}/u.test(whole);
    this.#editor.write(isPlain ? whole : this.#wordFor(whole, isCut));
  }

  #wordFor(text: string, isCut: boolean): string {
    const lines = text.replace(/\n$/, "").split("\n").length;
    const cut = isCut ? ", cut" : "";
    const word = `[pasted ${this.#pastes.size + 1}: ${lines} ${lines === 1 ? "line" : "lines"}${cut}]`;
    this.#pastes.set(word, text);
    return word;
  }

  /** The line with what was pasted into it. */
  #whole(line: string): string {
    const words = /\[pasted \d+: \d+ lines?(?:, cut)?\]/g;
    return line.replaceAll(words, (word) => this.#pastes.get(word) ?? word);
  }

  #entered(text: string): void {
    if (!this.#interactive) this.#begin();
    this.#drawn = false;
    const whole = this.#whole(text);
    // Also a line recalled from the history.
    const pasted = this.#pasted || whole !== text;
    this.#pasted = false;
    this.#lines.push({ text: whole, seen: this.#seen, pasted });
    if (this.#lines.length > MAX_WAITING_LINES) this.#editor.pause();
    this.#redraw(() => {});
    this.#deliver();
  }

  #deliver(): void {
    const waiting = this.#waiting;
    if (waiting === undefined || (this.#lines.length === 0 && !this.#ended)) return;
    this.#waiting = undefined;
    waiting(this.#lines.shift());
  }

  #end(): void {
    if (this.#ended) return;
    if (this.#drawn && !this.#broken) this.#output.write(this.#erasure());
    this.#ended = true;
    if (this.#interactive && !this.#broken) this.#output.write(PASTE_OFF);
    this.#input.off("keypress", this.#key);
    this.#deliver();
    this.#editor.close();
    this.#keys?.destroy();
  }

  /** Takes the cursor to where the live lines begin, and everything below it away. */
  #erasure(): string {
    if (!this.#drawn) return "";
    const up = this.#editor.getCursorPos().rows + this.#live.length;
    return `\r${up > 0 ? `\u001b[${up}A` : ""}\u001b[J`;
  }

  /** Erases live lines and typed line, lets `change` happen, and draws them again below it. */
  #redraw(change: () => void): void {
    if (!this.#interactive || this.#ended) {
      change();
      return;
    }
    this.#output.cork();
    this.#output.write(this.#erasure());
    change();
    this.#output.write(this.#live.map((line) => `${line}\n`).join(""));
    this.#setEditorRow(0);
    this.#editor.prompt(true);
    this.#drawn = true;
    this.#output.uncork();
  }

  /**
   * Tells the editor on which row below its prompt the cursor is. It goes up by that before it draws, remembers it from
   * its last drawing, and forgets to count what was pasted since (Node 24, `prevRows`).
   */
  #setEditorRow(row: number): void {
    Object.assign(this.#editor, { prevRows: row });
  }

  /** As many live lines as before: only they are written, so that the typed line never flickers. */
  #overwrite(lines: string[]): void {
    if (lines.length === 0) return;
    const up = this.#editor.getCursorPos().rows + this.#live.length;
    this.#live = lines;
    const text = lines.map((line) => `\u001b[2K${line}\n`).join("");
    this.#output.write(`\u001b7\r\u001b[${up}A${text}\u001b8`);
  }
}

/** Says that text was not shown, so that nobody takes it as told. */
export function goneError(cause?: Error): BotError {
  return new BotError(
    "CONNECTION_FAILED",
    "The terminal that shows this thread is gone; what it was told is kept in the thread.",
    cause === undefined ? {} : { cause },
  );
}

/** The one completion that all candidates agree on, so that the editor never lists them across the screen. */
function completion(line: string, candidates: string[]): string[] {
  const [first, ...rest] = candidates.filter((each) => each.startsWith(line));
  if (first === undefined) return [];
  let shared = first;
  for (const each of rest) {
    while (!each.startsWith(shared)) shared = shared.slice(0, -1);
  }
  return shared === line ? [] : [shared];
}
