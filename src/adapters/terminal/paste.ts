import { StringDecoder } from "node:string_decoder";
import { Readable } from "node:stream";

/**
 * Bracketed paste (xterm, `DECSET 2004`): the terminal puts marks around what is pasted, so that a line break in it is no
 * Enter and a letter in it no answer. A terminal that does not know the mode sends no marks; a paste is then typing.
 */
export const PASTE_ON = "\u001b[?2004h";
export const PASTE_OFF = "\u001b[?2004l";
const BEGIN = "\u001b[200~";
const END = "\u001b[201~";

/** More is not a message any more; the rest of the paste is dropped and said to be. */
export const MAX_PASTE_CHARACTERS = 1024 * 1024;

export interface Paste {
  text: string;
  /** It was longer than `MAX_PASTE_CHARACTERS`. */
  isCut: boolean;
}

/** Switches of a terminal that the line editor uses, where the input is one. */
interface TerminalInput {
  isTTY?: boolean;
  setRawMode?(mode: boolean): unknown;
}

/** What is typed, without what is pasted. */
export type Keys = Readable & TerminalInput;

/**
 * Reads `input` until the keys are destroyed. Pastes go to `onPaste`, each whole and in its place: what was typed before it
 * has been handed on by then.
 */
export function readKeys(input: Readable & TerminalInput, onPaste: (paste: Paste) => void): Keys {
  const decoder = new StringDecoder("utf8");
  /** What was read and not handed on yet, in order. */
  const waiting: (string | Paste)[] = [];
  let held = "";
  let paste: Paste | undefined;

  function take(text: string): void {
    // Alone it is the key of that name; at the end of more it may begin a mark.
    const isEscape = held === "" && text === "\u001b";
    let rest = held + text;
    for (;;) {
      const mark = paste === undefined ? BEGIN : END;
      const at = rest.indexOf(mark);
      if (at < 0) break;
      keep(rest.slice(0, at));
      rest = rest.slice(at + mark.length);
      if (paste !== undefined) waiting.push(paste);
      paste = paste === undefined ? { text: "", isCut: false } : undefined;
    }
    const half =
      isEscape && paste === undefined ? 0 : halfMark(rest, paste === undefined ? BEGIN : END);
    held = rest.slice(rest.length - half);
    keep(rest.slice(0, rest.length - half));
    handOn();
  }

  /** What was typed waits to be handed on, what was pasted for the end of the paste. */
  function keep(text: string): void {
    if (text === "") return;
    if (paste === undefined) {
      waiting.push(text);
      return;
    }
    const room = MAX_PASTE_CHARACTERS - paste.text.length;
    paste.isCut ||= text.length > room;
    paste.text += text.slice(0, room);
  }

  function handOn(): void {
    while (!keys.isPaused()) {
      const next = waiting.shift();
      if (next === undefined) return;
      // While nobody has paused it, what is pushed is handed on before `push` returns.
      if (typeof next === "string") keys.push(next);
      else onPaste(next);
    }
  }

  const onData = (chunk: Buffer) => take(decoder.write(chunk));
  const onEnd = () => {
    if (paste === undefined && held !== "") waiting.push(held);
    handOn();
    keys.push(null);
  };
  const keys: Keys = new Readable({
    read() {},
    destroy(error, done) {
      input.off("data", onData).off("end", onEnd).off("error", onError);
      input.pause();
      done(error);
    },
  });
  const onError = (error: Error) => keys.destroy(error);
  keys.on("pause", () => input.pause());
  keys.on("resume", () => {
    input.resume();
    handOn();
  });
  if (input.isTTY === true) keys.isTTY = true;
  if (input.setRawMode !== undefined) keys.setRawMode = (mode) => input.setRawMode?.(mode);
  input.on("data", onData).on("end", onEnd).on("error", onError);
  return keys;
}

/** How many last characters may be the beginning of a mark. */
function halfMark(text: string, mark: string): number {
  for (let length = mark.length - 1; length > 0; length -= 1) {
    if (text.endsWith(mark.slice(0, length))) return length;
  }
  return 0;
}
