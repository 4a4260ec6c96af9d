import type { JournalKey } from "../../core/journal-key.ts";
import type { ActionCard } from "../shown.ts";
import type { Click } from "../inbox.ts";
import { openedClick } from "../render/buttons.ts";
import { digestStart } from "../render/button-ids.ts";
import { NOTHING_OPEN } from "./phrases.ts";

/** What can be answered on this screen: open cards, outcomes that nobody knows and somebody may settle, questions. */
export interface Answerable {
  readonly thread: JournalKey;
  readonly open: ReadonlyMap<string, ActionCard>;
  /** What a notice asked about, an action or a call, to the revision that was shown. */
  readonly unsettled: ReadonlyMap<string, number>;
  /** Questions that wait, by their calls, to the answers to choose from; the newest is the last. */
  readonly questions: ReadonlyMap<string, readonly string[]>;
}

type Refusal = { kind: "refused"; why: string };

export type Reply =
  | { kind: "empty" }
  /** For the inbox, whose grammar knows more. */
  | { kind: "text"; text: string }
  | { kind: "command"; name: LocalCommand; rest: string }
  /** `first`: what must be in the journal before it counts. */
  | { kind: "click"; click: Click; first?: Click }
  /** Wants the card's arguments in the line editor, or has typed them all as JSON. */
  | { kind: "edit"; card: ActionCard; json: string | undefined }
  | { kind: "details"; action: string }
  /** Meant for a card, but not clear or not safe to guess. */
  | Refusal;

/** Commands that this screen answers itself, with a slash or without, and what they do. */
export const LOCAL_COMMANDS = [
  ["threads", "your threads, newest first"],
  ["resume", "go to another thread, by its number or key"],
  ["new", "start a new thread"],
  ["approvals", "open approvals in all threads"],
  ["details", "everything about an action, such as a1"],
  ["output", "all that a check returned, such as t3"],
  ["stop", "stop what is running; so does Ctrl-C"],
  ["help", "this list, and what you can ask"],
  ["exit", "leave; so do quit and Ctrl-D. Open approvals stay open"],
] as const;

export type LocalCommand = (typeof LOCAL_COMMANDS)[number][0];

/** Commands of the thread's own that Tab and /help tell of as well. */
export const THREAD_COMMANDS = [
  ["model", "the model that answers in this thread; with a name, another one"],
] as const;

const VERBS = ["y", "n", "e", "c", "d", "h", "x"] as const;
type Verb = (typeof VERBS)[number];

const REPLY =
  /^(?<letter>[ynecdhx])(?:\s+(?!because\b)(?<action>[^\s{]+))?(?:\s+because\s+(?<reason>.+)|\s*(?<json>\{.*))?$/isu;

/**
 * Reads a line. `seen` is what could be answered on the screen when the line was begun, `shown` what can be now: an
 * answer goes to the card, in the revision, that the person had before their eyes, and never to one that came up
 * while they typed.
 */
export function readLine(line: string, seen: Answerable, shown: Answerable): Reply {
  const text = line.trim();
  if (text === "") return { kind: "empty" };
  return (
    tryCommand(text) ??
    tryBareCommand(text, shown) ??
    tryReply(answerLetter(text, seen, shown), seen, shown) ??
    tryChoice(text, seen, shown) ?? { kind: "text", text }
  );
}

/** The number of a choice, as in `2` or `2)`. */
const CHOICE = /^(?<number>[1-9]\d?)(?<closed>\)?)$/;

/** Commands without their slash. Whatever else begins with such a word is meant for the thread. */
const BARE =
  /^(?:(?<name>threads|new|approvals|help|quit|exit)|(?<resume>resume)\s+(?<thread>[\w:-]*\d[\w:-]*)|(?<details>details)\s+(?<action>a\d+))$/i;

/** Letters by the words that stand for them. */
const ANSWERS: Readonly<Record<string, Verb>> = { yes: "y", no: "n" };
const ANSWER = /^(?:yes|no)(?=\s|$)/i;

/** True for what means something else where a question waits: the number of a choice, a lone letter, a word to leave. */
export function dependsOnQuestion(line: string): boolean {
  const text = line.trim();
  const isWord = BARE.test(text) || ANSWER.test(text);
  return CHOICE.test(text) || isWord || /^[a-z]$/i.test(text);
}

/** A question may ask for that very word. */
function tryBareCommand(text: string, shown: Answerable): Reply | undefined {
  const found = BARE.exec(text)?.groups;
  if (found === undefined || shown.questions.size > 0) return undefined;
  const { name = "", resume, thread, action } = found;
  const rest = thread ?? action ?? "";
  const meant = /^(?:quit|exit)$/i.test(name) ? "exit" : (resume ?? found["details"] ?? name);
  return tryCommand(`/${meant.toLowerCase()} ${rest}`.trim());
}

/** `yes` and `no` to a card are its letters; where a question waits or no card does, they are words. */
function answerLetter(text: string, seen: Answerable, shown: Answerable): string {
  const [word] = ANSWER.exec(text) ?? [];
  const isToCard = seen.open.size + shown.open.size > 0 && shown.questions.size === 0;
  if (word === undefined || !isToCard) return text;
  return `${ANSWERS[word.toLowerCase()]}${text.slice(word.length)}`;
}

/**
 * A bare number picks of the newest question's choices, when that was on the screen as the line was begun. Where no
 * choice has that number, it is an answer in words.
 */
function tryChoice(text: string, seen: Answerable, shown: Answerable): Reply | undefined {
  const { number, closed } = CHOICE.exec(text)?.groups ?? {};
  const newest = [...shown.questions.keys()].at(-1);
  if (number === undefined || newest === undefined) return undefined;
  const [call, choices = []] = [...seen.questions].at(-1) ?? [];
  if (call === undefined || !shown.questions.has(call)) {
    const why = `There is another question now, so nothing was sent. Read it, then type ${number} again.`;
    return { kind: "refused", why };
  }
  const choice = choices[Number(number) - 1];
  if (choice === undefined) return undefined;
  if (closed === "" && choice.trim() !== number && choices.some((each) => each.trim() === number)) {
    const why = `${number} is an answer and the number of another one, ${JSON.stringify(choice)}. Type ${number}) for that one, or answer in words. Nothing was sent.`;
    return { kind: "refused", why };
  }
  return click(call, 1, { kind: "answer", text: choice });
}

/** Without a slash too: nothing else is meant by it. */
const OUTPUT = /^\/?output\s+((?:r\d+\.)?t\d+)$/iu;

function tryCommand(text: string): Reply | undefined {
  const output = OUTPUT.exec(text)?.[1];
  if (output !== undefined) return { kind: "command", name: "output", rest: output };
  const [, word, rest = ""] = /^\/([a-z]+)(?:\s+(.*))?$/su.exec(text) ?? [];
  const name = LOCAL_COMMANDS.find(([each]) => each === word)?.[0];
  return name === undefined ? undefined : { kind: "command", name, rest: rest.trim() };
}

function tryReply(text: string, seen: Answerable, shown: Answerable): Reply | undefined {
  const { letter, action, reason, json } = REPLY.exec(text)?.groups ?? {};
  const verb = VERBS.find((each) => each === letter?.toLowerCase());
  if (verb === undefined) return undefined;
  // "y because …" and "n {…}" say something that no answer can carry: words for the thread.
  if (reason !== undefined && verb !== "n" && verb !== "h" && verb !== "x") {
    return undefined;
  }
  if (json !== undefined && verb !== "e") return undefined;
  // To a question a letter is an answer in words; else nobody means it for the AI.
  const isLone = text.length === 1 && shown.questions.size === 0;
  const lone: Reply | undefined = isLone ? { kind: "refused", why: NOTHING_OPEN } : undefined;
  const because = reason === undefined ? {} : { reason };
  if (verb === "h" || verb === "x") {
    return (
      pick(verb, action, seen.unsettled, shown.unsettled, (id, revision) =>
        click(id, revision, { kind: "settle", happened: verb === "h", ...because }),
      ) ?? lone
    );
  }
  const answer = pick(verb, action, seen.open, shown.open, (id, card) => {
    if (verb === "d") return { kind: "details", action: id };
    if (verb === "y") return approval(card);
    if (verb === "c") return click(id, card.revision, { kind: "cancel" });
    if (verb === "n") return click(id, card.revision, { kind: "deny", ...because });
    return { kind: "edit", card, json };
  });
  return answer ?? lone;
}

/** Makes a reply of the one thing that is meant; refuses when that is not clear; undefined when it is no answer. */
function pick<T>(
  verb: Verb,
  named: string | undefined,
  seen: ReadonlyMap<string, T>,
  shown: ReadonlyMap<string, T>,
  reply: (id: string, value: T) => Reply,
): Reply | undefined {
  if (seen.size === 0 && shown.size === 0) return undefined;
  if (named === undefined && seen.size > 1) {
    const each = [...seen.keys()].map((id) => `${verb} ${id}`).join(" · ");
    return { kind: "refused", why: `Several are open; say which: ${each}` };
  }
  const [only] = seen.size === 0 ? shown.keys() : seen.keys();
  const id = named ?? only ?? "";
  const value = seen.get(id);
  if (value !== undefined) return reply(id, value);
  if (shown.has(id)) {
    const why = `${id} came up while you were typing, so nothing was sent. Read it, then type ${verb} ${id}.`;
    return { kind: "refused", why };
  }
  // "n idea", "d oh": words, unless it looks like an action.
  if (!/^a\d+$/u.test(id)) return undefined;
  return { kind: "refused", why: `${id} is not open for that here.` };
}

/** It means the card on the screen, whatever has that number by now. */
function approval(card: ActionCard): Reply {
  const { action, revision, digest, mustOpen } = card;
  const choice = { kind: "approve" } as const;
  const meant = { action, revision, choice, digest: digestStart(digest) };
  // A screen shows every card whole.
  const first = mustOpen === true ? { first: openedClick(card) } : {};
  return { kind: "click", click: { kind: "click", via: "typed", ...meant }, ...first };
}

function click(action: string, revision: number, choice: Click["choice"]): Reply {
  return { kind: "click", click: { kind: "click", action, revision, choice, via: "typed" } };
}
