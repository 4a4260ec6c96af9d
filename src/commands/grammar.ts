import { capText } from "../core/text.ts";
import type { Choice, Command } from "../core/entry.ts";
import { isPeriod, PERIOD_FORMS } from "../incidents/period.ts";
import { isJsonObject, tryJson } from "../core/json.ts";
import { suggest } from "../core/suggest.ts";

/** What a typed text is. `message`: plain language, for whoever answers those. */
export type Reading =
  | { kind: "message" }
  | { kind: "command"; command: Command }
  | { kind: "stop" }
  | { kind: "click"; action: string; revision: number; choice: Choice };

/** 16 KiB: several times what any command needs. A longer text is a message that somebody pasted. */
export const MAX_TEXT_BYTES = 16 * 1024;

/** Every command as people type it, for the answer to `help`. A slash before it is the same. */
export const COMMAND_FORMS = {
  run: "run <tool> name=value name='text with spaces' name='[\"a\", \"list\"]'",
  stop: "stop",
  help: "help",
  tools: "tools",
  cost: "cost",
  approvals: "approvals",
  approve: "approve a1 (a1.2 for its second revision)",
  deny: "deny a1 because <reason>",
  settle: "settle a1 happened, or settle a1 not-happened because <reason>",
  edit: 'edit a1 {"name": "value"} with all arguments as one JSON object',
  cancel: "cancel a1 (cancel a1 for everyone, where somebody else asked for it)",
  answer: "answer r1.t2 <text>",
  incidents:
    "incidents, incidents <period> such as incidents last week, or incidents search <words>",
  incident:
    "incident <id>, incident open <title> [name=value …], incident update <id> name=value …, or incident resolve <id> [cause='…']",
  model: "model, or model <wire>/<name> such as model anthropic/claude-sonnet-5-5",
} as const;

type Word = keyof typeof COMMAND_FORMS;

const MESSAGE: Reading = { kind: "message" };

/**
 * Reads what a person typed. Only the exact form of a command is one: prose that mentions an approval, agrees, or begins
 * with a command's word stays a message. A text that was clearly meant as a command and is not of its form is the
 * command `invalid`, whose problem says what to type instead. Never throws.
 */
export function readText(text: string): Reading {
  if (Buffer.byteLength(text) > MAX_TEXT_BYTES) {
    // A deny that is too long must not pass for a message: its author is told.
    const isCommand = readText(capText(text, MAX_TEXT_BYTES)).kind !== "message";
    const problem = `A command may have ${MAX_TEXT_BYTES / 1024} KiB. This one is longer, so nothing was done; send it shorter.`;
    return isCommand ? invalid(problem) : MESSAGE;
  }
  const [, slash, first = "", rest = ""] = /^(\/?)([a-z-]+)(?:\s+([^]*))?$/i.exec(bare(text)) ?? [];
  const typed = slash === "/";
  const word = first.toLowerCase();
  switch (word) {
    case "stop":
      return rest === "" ? { kind: "stop" } : proseOr(typed, word);
    case "help":
    case "tools":
    case "cost":
    case "approvals":
      return rest === "" ? { kind: "command", command: { name: word } } : proseOr(typed, word);
    case "model":
      return readModel(rest, typed);
    case "run":
      return readRun(rest, typed);
    case "incidents":
      return readIncidents(rest, typed);
    case "incident":
      return readIncident(rest, typed);
    case "approve":
    case "deny":
    case "settle":
    case "edit":
    case "cancel":
    case "answer":
      return readClick(word, rest, typed);
    default:
      return typed ? readUnknown(word, rest) : MESSAGE;
  }
}

/** Without the space around it; of `stop!` only the word, for who is in a hurry should be stopped for. */
function bare(text: string): string {
  return text.trim().replace(/^(\/?stop)[.!]+$/i, "$1");
}

function invalid(problem: string): Reading {
  return { kind: "command", command: { name: "invalid", problem } };
}

/** Not the form of `word`: a mistake when a slash says that a command was meant, else prose. */
function proseOr(typed: boolean, word: Word): Reading {
  return typed ? invalid(`Write exactly: ${COMMAND_FORMS[word]}`) : MESSAGE;
}

/** A slash and a word that is none: close to one, or alone, it was meant as a command; else it is a path or prose. */
function readUnknown(word: string, rest: string): Reading {
  const meant = suggest(word, Object.keys(COMMAND_FORMS));
  if (meant !== undefined) {
    const forms: Readonly<Record<string, string>> = COMMAND_FORMS;
    return invalid(`/${word} is no command; did you mean: ${forms[meant] ?? meant}`);
  }
  return rest === "" ? invalid(`/${word} is no command; help lists them.`) : MESSAGE;
}

function readModel(rest: string, typed: boolean): Reading {
  if (rest === "") return { kind: "command", command: { name: "model" } };
  if (!/^[a-z-]+\/\S+$/.test(rest)) return proseOr(typed, "model");
  return { kind: "command", command: { name: "model", model: rest } };
}

/**
 * `run` and a tool's name, then only name=value. Without a slash it is prose when the next word after the name is not
 * of that form and the name could be an English word ("run the tests"); "run uptime" is a command, whose answer is a
 * near miss if no tool has that name.
 */
function readRun(rest: string, typed: boolean): Reading {
  const [, tool, text = ""] = /^([a-z][a-z0-9_]*)(?:\s+([^]*))?$/.exec(rest) ?? [];
  if (tool === undefined) return rest === "" ? proseOr(true, "run") : proseOr(typed, "run");
  const meant = typed || text === "" || tool.includes("_") || ASSIGNMENT.test(text);
  return meant ? callOf(tool, {}, text, "run") : MESSAGE;
}

/** The call of a tool with `args` and what `text` adds to them as name=value; `word` is the command it stands in. */
function callOf(
  tool: string,
  args: Record<string, string>,
  text: string,
  word: "run" | "incident",
): Reading {
  const words = splitWords(text);
  if (words === undefined) return invalid("A quote is opened and never closed.");
  for (const assignment of words) {
    const name = ASSIGNMENT.exec(assignment)?.[1];
    if (name === undefined) {
      return invalid(`${shown(assignment)} is not of the form name=value. ${COMMAND_FORMS[word]}`);
    }
    if (Object.hasOwn(args, name)) return invalid(`${name} is given twice.`);
    const value = assignment.slice(name.length + 1);
    const problem = valueProblem(name, value);
    if (problem !== undefined) return invalid(problem);
    args[name] = unquote(value);
  }
  return toolCall(tool, args);
}

/** `incidents`, alone or with a period, counts; `incidents search` finds. Anything else after the word is prose. */
function readIncidents(rest: string, typed: boolean): Reading {
  const [, words] = /^search\s+([^]+)$/i.exec(rest) ?? [];
  if (words !== undefined) return toolCall("incident_search", { text: unquote(words) });
  if (/^search$/i.test(rest)) return proseOr(true, "incidents");
  if (rest !== "" && !isPeriod(rest)) {
    return typed ? invalid(`${shown(rest)} is no period. Write ${PERIOD_FORMS}.`) : MESSAGE;
  }
  return toolCall("incident_stats", rest === "" ? {} : { period: rest });
}

const INCIDENT_ID = /^(inc-[a-z0-9-]+)(?=\s|$)/i;

/** `incident` and an id, or what is to be done and to which one. Without either it is prose. */
function readIncident(rest: string, typed: boolean): Reading {
  const shownId = INCIDENT_ID.exec(rest)?.[1];
  if (shownId === rest) return toolCall("incident_get", { id: rest.toLowerCase() });
  const [, verb = "", after = ""] = /^(open|update|resolve)(?:\s+([^]*))?$/i.exec(rest) ?? [];
  if (verb.toLowerCase() === "open") return readOpening(after);
  const id = INCIDENT_ID.exec(after)?.[1];
  if (verb === "" || id === undefined) return proseOr(typed || shownId !== undefined, "incident");
  const said = after.slice(id.length).trim();
  if (verb.toLowerCase() === "resolve") {
    return callOf("incident_resolve", { id: id.toLowerCase() }, said, "incident");
  }
  if (said === "") return proseOr(true, "incident");
  return callOf("incident_update", { id: id.toLowerCase() }, said, "incident");
}

/** A title, in quotes or up to the first name=value, and then nothing but those. */
function readOpening(text: string): Reading {
  const [quoted] = /^(?:'[^']*'|"(?:[^"\\]|\\[^])*")(?=\s|$)/.exec(text) ?? [];
  const plain = /(?:^|\s)[a-z][a-z0-9_-]*=/i.exec(text)?.index ?? text.length;
  const end = quoted?.length ?? plain;
  const title = (quoted === undefined ? text.slice(0, end) : unquote(quoted)).trim();
  if (title === "") return proseOr(true, "incident");
  return callOf("incident_open", { title }, text.slice(end), "incident");
}

function toolCall(tool: string, args: Record<string, string>): Reading {
  return { kind: "command", command: { name: "run", tool, args } };
}

/** The name begins with a letter, so it is never `__proto__`. */
const ASSIGNMENT = /^([a-z][a-z0-9_-]*)=/i;

/** Words as a shell splits them, quotes still on; undefined when a quote is never closed. */
function splitWords(text: string): string[] | undefined {
  const piece = /\s+|(?:'[^']*'|"(?:[^"\\]|\\[^])*"|[^\s'"]+)+/y;
  const words: string[] = [];
  while (piece.lastIndex < text.length) {
    const [found] = piece.exec(text) ?? [];
    if (found === undefined) return undefined;
    if (found.trim() !== "") words.push(found);
  }
  return words;
}

function unquote(word: string): string {
  return word.replaceAll(
    /'([^']*)'|"((?:[^"\\]|\\[^])*)"/g,
    (_, single: string | undefined, double: string = "") =>
      single ?? double.replaceAll(/\\(["\\])/g, "$1"),
  );
}

/** Quotes that would be lost or taken for text without a word. */
function valueProblem(name: string, value: string): string | undefined {
  if (/^[“”„‘’]/.test(value))
    return `${name} begins with a curly quote; type straight ones: ' or ".`;
  if (/^[[{][^]*["']/.test(value))
    return `${name} is JSON; put single quotes around it: ${name}='…'`;
  return undefined;
}

/**
 * `approve`, `deny`, `settle`, `edit`, `cancel` and an action such as `a1` or, in its second revision, `a1.2`. Approving takes
 * nothing else. A deny takes any text as its reason, because a deny that was not meant does no harm.
 * `answer` names the call that asked.
 */
function readClick(word: ClickWord, rest: string, typed: boolean): Reading {
  const ref = REFS[word].exec(rest);
  if (!ref) return proseOr(typed || /^a\d+\b/i.test(rest), word);
  const choice = CHOICES[word](rest.slice(ref[0].length).trim());
  if (!choice) return proseOr(true, word);
  const [, action = "", revision = "1"] = ref;
  return { kind: "click", action: action.toLowerCase(), revision: Number(revision), choice };
}

const ACTION_REF = /^(a\d{1,9})(?:\.([1-9]\d{0,5}))?(?=\s|$)/i;
/** Where policy asked nobody there is no action, and the call itself is settled: `r3.t1`. */
const SETTLED_REF = /^(a\d{1,9}|r\d{1,9}\.t\d{1,9})(?:\.([1-9]\d{0,5}))?(?=\s|$)/i;

/** A question is the call that asked it. */
const CALL_REF = /^(r\d{1,9}\.t\d{1,9})(?=\s|$)/i;

type ClickWord = "approve" | "deny" | "settle" | "edit" | "cancel" | "answer";

const REFS: Record<ClickWord, RegExp> = {
  approve: ACTION_REF,
  deny: ACTION_REF,
  edit: ACTION_REF,
  cancel: ACTION_REF,
  settle: SETTLED_REF,
  answer: CALL_REF,
};

/** What each click makes of the text after the action. */
const CHOICES: Record<ClickWord, (rest: string) => Choice | undefined> = {
  approve: (rest) => (rest === "" ? { kind: "approve" } : undefined),
  deny: (rest) => {
    const reason = rest.replace(/^because(?=\s|$)/i, "").trim();
    return reason === "" ? { kind: "deny" } : { kind: "deny", reason };
  },
  settle: (rest) => {
    const [, what, reason] = /^(happened|not-happened)(?:\s+because\s+([^]+))?$/i.exec(rest) ?? [];
    if (what === undefined) return undefined;
    const happened = what.toLowerCase() === "happened";
    return { kind: "settle", happened, ...(reason === undefined ? {} : { reason }) };
  },
  cancel: (rest) => {
    if (/^for everyone[.!]?$/i.test(rest)) return { kind: "cancel", sure: true };
    return rest === "" ? { kind: "cancel" } : undefined;
  },
  answer: (rest) => (rest === "" ? undefined : { kind: "answer", text: rest }),
  edit: (rest) => {
    const args = tryJson(rest);
    return isJsonObject(args) ? { kind: "edit", args } : undefined;
  },
};

function shown(word: string): string {
  return word.length > 40 ? `${word.slice(0, 40)}…` : word;
}
