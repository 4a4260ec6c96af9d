import { capText } from "../core/text.ts";
import type { Choice } from "../core/entry.ts";
import { isPeriod, notAPeriod } from "../incidents/period.ts";
import { isJsonObject, tryJson } from "../core/json.ts";
import { suggest } from "../core/suggest.ts";
import { POLITE, readGoal, readGoalWords } from "./goal-words.ts";
import { gradedTitle } from "./graded-title.ts";
import { readPlainWords } from "./plain-words.ts";
import { isWhole, misspelled, readNearMiss } from "./near-miss.ts";
import { meantCommand, OPEN_QUOTE, unknownCommand, unknownVerb, USAGE, usage } from "./phrases.ts";
import { ASSIGNMENT, splitWords, unquote, valueProblem } from "./shell-words.ts";
import { type Reading, MESSAGE, invalid, proseOr, toolCall } from "./reading.ts";

/** 16 KiB: several times what any command needs. Somebody pasted a longer text. */
export const MAX_TEXT_BYTES = 16 * 1024;

/**
 * Reads what a person typed. Only the exact form of a command counts: prose that mentions an approval, agrees, or begins
 * with a command's word stays a message. A text that was clearly meant as a command but does not have its form becomes the
 * command `invalid`, which says what to type instead. Never throws.
 */
export function readText(text: string): Reading {
  if (Buffer.byteLength(text) > MAX_TEXT_BYTES) {
    // A deny that is too long must not pass for a message: tell its author.
    const isCommand = readText(capText(text, MAX_TEXT_BYTES)).kind !== "message";
    const problem = `That command is longer than ${MAX_TEXT_BYTES / 1024} KiB, so I did nothing. Send a shorter one.`;
    return isCommand ? invalid(problem) : MESSAGE;
  }
  const asked = readPlainWords(text) ?? readGoalWords(text);
  if (asked !== undefined) return asked;
  const [, slash, first = "", rest = ""] = /^(\/?)([a-z-]+)(?:\s+([^]*))?$/i.exec(bare(text)) ?? [];
  const typed = slash === "/";
  const word = first.toLowerCase();
  switch (word) {
    case "stop":
      return rest === "" ? { kind: "stop" } : proseOr(typed, word);
    case "tools":
      return readTools(rest, typed);
    case "help":
    case "status":
    case "approvals":
    case "grants":
    case "quiet":
    case "listen":
      return rest === "" ? { kind: "command", command: { name: word } } : proseOr(typed, word);
    case "cost":
      return readCost(rest, typed);
    case "model":
      return readModel(rest, typed);
    case "run":
      return readRun(rest, typed);
    case "mcp":
      return readMcp(rest, typed);
    case "freeze":
      return readFreeze(rest, typed);
    case "unfreeze":
      return readName(word, rest, typed);
    case "mirror":
      return readMirror(rest, typed);
    case "unmirror":
    case "freezes":
    case "whoami":
    case "feedback":
      return rest === "" ? toolCall(ALONE[word], {}) : proseOr(typed, word);
    case "notes":
      return readNotes(rest, typed);
    case "remember":
      return readRemember(rest, typed);
    case "forget":
      return readForget(rest, typed);
    case "recall":
      return rest !== "" && (typed || isPhrase(rest))
        ? toolCall("recall", { text: rest })
        : proseOr(typed, word);
    case "incidents":
      return readIncidents(rest, typed);
    case "incident":
      return readIncident(rest, typed);
    case "handoff":
      return readHandoff(rest, typed);
    case "ask":
      return readRepeat(rest, typed);
    case "goal":
      return readGoal(rest, typed);
    case "extend":
      return readExtend(rest, typed);
    case "approve":
    case "confirm":
    case "grant":
    case "revoke":
    case "break-glass":
    case "deny":
    case "settle":
    case "edit":
    case "cancel":
    case "answer":
    case "undo":
      return readClick(word, rest, typed);
    default:
      return typed ? readUnknown(word, rest) : readNearMiss(word, rest, readText);
  }
}

/** The tools of words that stand alone. */
const ALONE = {
  unmirror: "unmirror",
  freezes: "freeze_list",
  whoami: "whoami",
  feedback: "feedback_list",
} as const;

/** Without the space around it. `stop!` and `stop now` count as `stop`: people in a hurry type that. A colon is a word of its own. */
function bare(text: string): string {
  const asked = text.trim().replace(/^(\/?goal)\s*\?+$/i, "$1");
  const spaced = asked.replace(/^(\/?(?:remember|goal)):\s*/i, "$1 : ");
  const polite = spaced.replace(POLITE, "");
  return /^\/?stop[.!]*$/i.test(polite) ? polite.replace(/[.!]+$/, "") : spaced;
}

/** A slash and an unknown word: a command if it is close to one or stands alone, else a path or prose. */
function readUnknown(word: string, rest: string): Reading {
  const meant = suggest(word, Object.keys(USAGE));
  return meant === undefined && rest !== "" ? MESSAGE : invalid(unknownCommand(word, meant));
}

function readTools(rest: string, typed: boolean): Reading {
  if (rest === "") return { kind: "command", command: { name: "tools" } };
  if (!/^[a-z][a-z0-9-]*$/i.test(rest)) return proseOr(typed, "tools");
  return { kind: "command", command: { name: "tools", system: rest.toLowerCase() } };
}

/** `cost`: this thread's; `cost today` and `cost per day`: everybody's and one's own. */
function readCost(rest: string, typed: boolean): Reading {
  if (rest === "") return { kind: "command", command: { name: "cost" } };
  if (/^today$/i.test(rest)) return toolCall("cost_per_day", { days: "1" });
  return /^per day$/i.test(rest) ? toolCall("cost_per_day", {}) : proseOr(typed, "cost");
}

function readModel(rest: string, typed: boolean): Reading {
  if (rest === "") return { kind: "command", command: { name: "model" } };
  if (!/^[a-z-]+\/\S+$/.test(rest)) return proseOr(typed, "model");
  return { kind: "command", command: { name: "model", model: rest } };
}

/**
 * `run` and a tool's name, then only name=value. Without a slash it is prose if the next word after the name is not
 * name=value and the name could be an English word ("run the tests"). "run uptime" is a command, and if no tool has that
 * name the answer names a similar one.
 */
function readRun(rest: string, typed: boolean): Reading {
  const [, tool, text = ""] = /^([a-z][a-z0-9_]*)(?:\s+([^]*))?$/.exec(rest) ?? [];
  if (tool === undefined) return rest === "" ? proseOr(true, "run") : proseOr(typed, "run");
  const meant = typed || text === "" || tool.includes("_") || ASSIGNMENT.test(text);
  return meant ? callOf(tool, {}, text, "run") : MESSAGE;
}

/** The call of a tool with `args`, to which `text` adds name=value pairs. `form` begins the usage that a mistake shows. */
function callOf(
  tool: string,
  args: Record<string, string>,
  text: string,
  word: "run" | "incident",
  form?: string,
): Reading {
  const words = splitWords(text);
  if (words === undefined) return invalid(OPEN_QUOTE);
  for (const assignment of words) {
    const name = ASSIGNMENT.exec(assignment)?.[1];
    if (name === undefined) {
      return invalid(`I expected name=value, not ${shown(assignment)}. ${usage(word, form)}`);
    }
    if (Object.hasOwn(args, name)) return invalid(`You gave ${name} twice.`);
    const value = assignment.slice(name.length + 1);
    const problem = valueProblem(name, value);
    if (problem !== undefined) return invalid(problem);
    args[name] = unquote(value);
  }
  return toolCall(tool, args);
}

/** `incidents` counts, alone or with a period; `incidents search` finds. Anything else after the word is prose. */
function readIncidents(rest: string, typed: boolean): Reading {
  const [, words] = /^search\s+([^]+)$/i.exec(rest) ?? [];
  if (words !== undefined) return toolCall("incident_search", { text: unquote(words) });
  const [, verb = "", searched] = /^([a-z]+)\s+([^]+)$/i.exec(rest) ?? [];
  if (searched !== undefined && misspelled(verb.toLowerCase(), ["search"]) !== undefined)
    return invalid(meantCommand("incidents", `search ${searched}`));
  if (/^search$/i.test(rest)) return proseOr(true, "incidents");
  if (rest !== "" && !isPeriod(rest)) {
    return typed ? invalid(notAPeriod(rest)) : MESSAGE;
  }
  return toolCall("incident_stats", rest === "" ? {} : { period: rest });
}

/** `handoff`, alone or with a period. */
function readHandoff(rest: string, typed: boolean): Reading {
  if (rest === "") return toolCall("handoff", {});
  if (isPeriod(rest)) return toolCall("handoff", { period: rest });
  return typed ? invalid(notAPeriod(rest)) : MESSAGE;
}

const INCIDENT_ID = /^(inc-[a-z0-9-]+)(?=\s|$)/i;

const INCIDENT_VERBS = ["open", "update", "resolve", "postmortem", "stats", "list", "search"];

/** `incident` with an id, or with a verb and an id. One word after it, or a word and an id, was meant as a verb. Anything else is prose. */
function readIncident(rest: string, typed: boolean): Reading {
  const shownId = INCIDENT_ID.exec(rest)?.[1];
  if (shownId === rest) return toolCall("incident_get", { id: rest.toLowerCase() });
  const [, written = "", after = ""] = /^([a-z-]+)(?:\s+([^]*))?$/i.exec(rest) ?? [];
  const id = INCIDENT_ID.exec(after)?.[1];
  const verb = written.toLowerCase().replace("post-mortem", "postmortem");
  const form = `incident ${verb}`;
  if (shownId !== undefined) return proseOr(true, "incident");
  if (verb === "open") return readOpening(after);
  if (verb === "stats") return readWrongStats(after, typed);
  if (!["update", "resolve", "postmortem"].includes(verb)) {
    const meant = misspelled(verb, INCIDENT_VERBS);
    const isVerb = verb !== "" && (after === "" || id !== undefined);
    if (isVerb) return invalid(unknownVerb(verb, meant));
    const isMeant = meant !== undefined && isWhole(readIncident(`${meant} ${after}`, false));
    return isMeant
      ? invalid(meantCommand("incident", `${meant} ${after}`))
      : proseOr(typed, "incident");
  }
  if (id === undefined) return proseOr(typed || after === "", "incident", form);
  const said = after.slice(id.length).trim();
  if (verb === "update" && said === "") return proseOr(true, "incident", form);
  return callOf(`incident_${verb}`, { id: id.toLowerCase() }, said, "incident", form);
}

/** `incident stats` and what is no period: a mistake if it is as short as one. */
function readWrongStats(period: string, typed: boolean): Reading {
  const isShort = period.split(/\s+/).length <= 3;
  return typed || isShort ? invalid(notAPeriod(period)) : MESSAGE;
}

/** `notes` lists them; with words it finds those about them, which needs a slash or `about`: "notes are late" is prose. */
function readNotes(rest: string, typed: boolean): Reading {
  const [, about = typed ? rest : ""] = /^about\s+([^]+)$/i.exec(rest) ?? [];
  if (rest !== "" && about === "") return proseOr(typed, "notes");
  return toolCall("notes", about === "" ? {} : { text: about });
}

/** One line that asks nothing: "recall how we fixed that?" is for a model. */
function isPhrase(text: string): boolean {
  return !/[\n?]/.test(text);
}

/** By its name, or after a slash, `note` or `note about` by its words: "forget web-2 for now" is prose. */
function readForget(rest: string, typed: boolean): Reading {
  if (/^m-[a-z2-7]+$/i.test(rest)) return toolCall("forget", { id: rest });
  const [, said] = /^(?:the\s+)?note\s+(?:about\s+)?([^]+)$/i.exec(rest) ?? [];
  const words = said !== undefined && (typed || isPhrase(rest)) ? said : typed ? rest : "";
  return words === "" ? proseOr(typed, "forget") : toolCall("forget", { text: words });
}

/** `remember: …` and `remember that …`; a question is prose: "remember that outage?" */
function readRemember(rest: string, typed: boolean): Reading {
  const [, colon = "", said = ""] = /^(?:that\s+|(:)\s*)?([^]*)$/i.exec(rest) ?? [];
  const isMeant = typed || colon !== "" || (/^that\s/i.test(rest) && !/\?\s*$/.test(rest));
  if (!isMeant || said.trim() === "") return proseOr(typed, "remember");
  return toolCall("remember", { text: said.trim() });
}

/** A title, in quotes or up to the first name=value, and then nothing but those. */
function readOpening(text: string): Reading {
  const [quoted] = /^(?:'[^']*'|"(?:[^"\\]|\\[^])*")(?=\s|$)/.exec(text) ?? [];
  const plain = /(?:^|\s)[a-z][a-z0-9_-]*=/i.exec(text)?.index ?? text.length;
  const end = quoted?.length ?? plain;
  const [said, more] = [text.slice(0, end), text.slice(end)];
  const isGraded = /(?:^|\s)severity=/i.test(more);
  const { title, severity } =
    quoted === undefined && !isGraded
      ? gradedTitle(said.trim())
      : { title: (quoted === undefined ? said : unquote(quoted)).trim() };
  if (title === "") return proseOr(true, "incident", "incident open");
  const args = { title, ...(severity !== undefined && { severity }) };
  return callOf("incident_open", args, more, "incident", "incident open");
}

/** `mcp accept <server> <tool>`; the tool as its server calls it. */
function readMcp(rest: string, typed: boolean): Reading {
  const [, server, tool] = /^accept\s+(\S+)\s+(\S+)$/i.exec(rest) ?? [];
  if (server === undefined || tool === undefined) return proseOr(typed, "mcp");
  return toolCall("mcp_accept", { server, tool });
}

/** `mirror to` and a channel as configurations name it; anything else is prose. */
function readMirror(rest: string, typed: boolean): Reading {
  const [, channel] = /^to\s+([a-z]+:[a-z0-9]+:[a-z0-9]+)$/i.exec(rest) ?? [];
  return channel === undefined
    ? proseOr(typed || /^to\s+(?:slack|discord):/i.test(rest), "mirror")
    : toolCall("mirror", { to: channel });
}

const UNTIL =
  /^(\S+)\s+(?:until\s+((?:\d{4}-\d{2}-\d{2}[ T])?\d{1,2}:\d{2}(?:\s?(?:Z|UTC))?)|for\s+(\d{1,4}\s?(?:m|min|minutes?|h|hours?|d|days?)))(?:\s+because\s+([^]+))?$/i;

/** Only with a time: "freeze everything until we know more" is prose. */
function readFreeze(rest: string, typed: boolean): Reading {
  const [, what, until, length, because] = UNTIL.exec(rest) ?? [];
  const end = until ?? length;
  if (what === undefined || end === undefined) return proseOr(typed, "freeze");
  return toolCall("freeze", { what, until: end, ...(because !== undefined && { because }) });
}

function readName(word: "unfreeze", rest: string, typed: boolean): Reading {
  return /^\S+$/.test(rest) ? toolCall(word, { what: rest }) : proseOr(typed, word);
}

/**
 * `approve`, `deny`, `settle`, `edit`, `cancel` or `undo` with an action such as `a1`, or `a1.2` for its second revision. `approve`
 * takes nothing else; what a card asks to be typed follows `confirm`. `deny` takes any text as its reason, because a deny by mistake does no harm. `answer` names the call
 * that asked.
 */
function readClick(word: ClickWord, rest: string, typed: boolean): Reading {
  const ref = REFS[word].exec(rest);
  if (!ref) return proseOr(typed || /^a\d+\b/i.test(rest), word);
  const choice = CHOICES[word](rest.slice(ref[0].length).trim());
  if (!choice) return proseOr(true, word);
  const [, action = "", revision = "1"] = ref;
  return { kind: "click", action: action.toLowerCase(), revision: Number(revision), choice };
}

/** Only these words: whatever else begins with "ask" is prose. */
function readRepeat(rest: string, typed: boolean): Reading {
  const [, action] = /^again\s+(a\d{1,9})[.!]?$/i.exec(rest) ?? [];
  if (action === undefined) return proseOr(typed, "ask");
  return { kind: "click", action: action.toLowerCase(), revision: 1, choice: { kind: "repeat" } };
}

/** Alone it means what is at work; or with a run's name. */
function readExtend(rest: string, typed: boolean): Reading {
  const [of] = /^(?:r\d{1,9})?$/i.exec(rest) ?? [];
  if (of === undefined) return proseOr(typed, "extend");
  return { kind: "click", action: of.toLowerCase(), revision: 0, choice: { kind: "extend" } };
}

const ACTION_REF = /^(a\d{1,9})(?:\.([1-9]\d{0,5}))?(?=\s|$)/i;
/** If policy asked nobody, there is no action, and people settle the call itself: `r3.t1`. */
const SETTLED_REF = /^(a\d{1,9}|r\d{1,9}\.t\d{1,9})(?:\.([1-9]\d{0,5}))?(?=\s|$)/i;

/** A question has the id of the call that asked it. */
const CALL_REF = /^(r\d{1,9}\.t\d{1,9})(?=\s|$)/i;

/** Of what a card asks to be typed. */
const MAX_TYPED = 100;

type ClickWord =
  | "confirm"
  | "grant"
  | "revoke"
  | "break-glass"
  | "approve"
  | "deny"
  | "settle"
  | "edit"
  | "cancel"
  | "answer"
  | "undo";

const REFS: Record<ClickWord, RegExp> = {
  approve: ACTION_REF,
  confirm: ACTION_REF,
  grant: ACTION_REF,
  revoke: ACTION_REF,
  "break-glass": ACTION_REF,
  deny: ACTION_REF,
  edit: ACTION_REF,
  cancel: ACTION_REF,
  undo: ACTION_REF,
  settle: SETTLED_REF,
  answer: CALL_REF,
};

const CHOICES: Record<ClickWord, (rest: string) => Choice | undefined> = {
  approve: (rest) => (rest === "" ? { kind: "approve" } : undefined),
  confirm: (rest) =>
    rest === "" || rest.length > MAX_TYPED ? undefined : { kind: "approve", typed: rest },
  grant: (rest) => (rest === "" ? { kind: "approve", grants: true } : undefined),
  revoke: (rest) => (rest === "" ? { kind: "revoke" } : undefined),
  "break-glass": (rest) => {
    const [, typed = "", reason] = /^([^]*?)\s*\bbecause\s+([^]+)$/i.exec(rest) ?? [];
    if (reason === undefined) return undefined;
    return { kind: "break", reason: reason.trim(), ...(typed !== "" && { typed }) };
  },
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
  undo: (rest) => (rest === "" ? { kind: "undo" } : undefined),
  answer: (rest) => (rest === "" ? undefined : { kind: "answer", text: rest }),
  edit: (rest) => {
    const args = tryJson(rest);
    return isJsonObject(args) ? { kind: "edit", args } : undefined;
  },
};

function shown(word: string): string {
  return word.length > 40 ? `${word.slice(0, 40)}…` : word;
}
