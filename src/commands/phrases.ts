import { totalTokens } from "../core/block.ts";
import { addMoney, moneyText, NO_MONEY } from "../core/money.ts";
import { counted } from "../core/text.ts";
import { SAVE_EVAL } from "../core/tool-spec.ts";
import { MODEL_EXAMPLE } from "../models/load.ts";
import type { ModelUse, Thread } from "../thread/state.ts";

/** What the bot says about commands, on every surface. */

/** Each command as people type it, one text for each of its forms. A slash before it means the same. */
export const USAGE = {
  run: ["run <tool> name=value …"],
  stop: ["stop"],
  extend: ["extend", "extend r1"],
  help: ["help"],
  status: ["status"],
  whoami: ["whoami"],
  tools: ["tools", "tools kubernetes"],
  cost: ["cost", "cost today", "cost per day"],
  approvals: ["approvals"],
  quiet: ["quiet"],
  listen: ["listen"],
  approve: ["approve a1", "approve a1.2"],
  confirm: ["confirm a1 <what its card asks for>"],
  grant: ["grant a1"],
  grants: ["grants"],
  revoke: ["revoke a1"],
  "break-glass": ["break-glass a1 because <reason>"],
  freeze: ["freeze prod until 14:00 [because <reason>]", "freeze everything for 2h"],
  unfreeze: ["unfreeze prod"],
  freezes: ["freezes"],
  feedback: ["feedback"],
  remember: ["remember that <what later threads should know>"],
  notes: ["notes", "notes about <words>"],
  forget: ["forget m-k3qa7xw2ab", "forget note <its words>"],
  recall: ["recall <words>"],
  mirror: ["mirror to discord:<server>:<channel>", "mirror to slack:<workspace>:<channel>"],
  unmirror: ["unmirror"],
  deny: ["deny a1", "deny a1 because <reason>"],
  settle: ["settle a1 happened", "settle a1 not-happened because <reason>"],
  edit: ['edit a1 {"name": "value"}'],
  cancel: ["cancel a1", "cancel a1 for everyone"],
  ask: ["ask again a1"],
  undo: ["undo a1"],
  answer: ["answer r1.t2 <text>"],
  incidents: ["incidents", "incidents last week", "incidents search <words>"],
  handoff: ["handoff", "handoff last week"],
  incident: [
    "incident <id>",
    "incident open <title> [severity=sev2]",
    "incident list",
    "incident update <id> note='…'",
    "incident resolve <id> [cause='…']",
    "incident postmortem <id>",
    "incident stats [last week]",
  ],
  goal: [
    "goal <what is wanted>",
    "goal status",
    "goal pause",
    "goal resume",
    "goal stop",
    "goal extend [by 30m]",
    "goal extend by 50 steps",
    "goal extend by $2",
  ],
  mcp: ["mcp accept <server> <tool>"],
  model: ["model", `model ${MODEL_EXAMPLE}`],
} as const;

export type CommandWord = keyof typeof USAGE;

/** `Usage: …` with the command's forms, or with the one that begins with `form`. */
export function usage(word: CommandWord, form = ""): string {
  const forms = USAGE[word].filter((one) => one.startsWith(form));
  return `Usage: ${forms.map((one) => `\`${one}\``).join(" or ")}`;
}

export function unknownCommand(word: string, meant: string | undefined): string {
  const hint = meant === undefined ? "`help` shows what you can type." : `Did you mean /${meant}?`;
  return `Unknown command /${word}. ${hint}`;
}

/** After `incident`. */
export function unknownVerb(verb: string, meant: string | undefined): string {
  const hint = meant === undefined ? "" : ` Did you mean \`incident ${meant}\`?`;
  return `I don't know \`incident ${verb}\`.${hint} ${usage("incident")}`;
}

export function meantCommand(word: string, rest: string): string {
  return `Did you mean \`${`${word} ${rest}`.trimEnd()}\`? I did nothing.`;
}

export function unknownTool(tool: string, meant: string | undefined): string {
  if (tool === SAVE_EVAL)
    return "Threads are not kept as cases here. Admins: `evals: { folder: /srv/evals }` in watchkeeper.yaml (docs/evals.md).";
  const hint = meant === undefined ? "`tools` lists them." : `Did you mean \`${meant}\`?`;
  return `There's no tool called ${tool}. ${hint}`;
}

/** To a line of kubectl. */
export function noKubernetes(): string {
  return "I read that line of kubectl, but Kubernetes isn't set up here: I need a kubeconfig (KUBECONFIG). `doctor` says what I found, docs/integrations/kubernetes.md how to set it up.";
}

export const NO_GOALS =
  "Goals are off here, so nothing began. Admins: `goals: { enabled: true }` in watchkeeper.yaml (docs/goals.md).";
export const OPEN_QUOTE = "You opened a quote and didn't close it.";
export const NO_MODEL = "I don't have an AI model yet. Admins: set MODEL and its key.";
export const NEW_CONVERSATION =
  "This is a new conversation: I no longer look at what was said above. What waits or runs there goes on, and its buttons still work.";
export const NO_GRANTS = "Nothing is granted in this thread.";
export const NOTHING_OPEN = "No open approvals in this thread.";

/** Six examples, and the words of all commands. */
export function helpText(hasModel: boolean): string {
  const text = `${hasModel ? "Ask me anything in your own words, or type a command" : "Type a command"}. For example:
  run http_check url=https://example.com – is this site up, and how fast is it?
  tools – what I can check and change
  approvals – what waits for a decision, here and in other threads
  incidents last week – how many there were, how long they took, and why
  incident open Checkout fails severity=sev2 – start a record of an incident
  stop – stop what I'm doing
Reads run at once; I ask before I change anything.`;
  const groups = Object.entries(HELP_GROUPS).map(
    ([about, words]) => `${about}: ${words.join(", ")}`,
  );
  return [text, "All commands:", ...groups, "docs/commands.md says how each is typed."].join("\n");
}

/** The words of all commands, by what they are for; a line each, which fits a terminal. */
export const HELP_GROUPS: Readonly<Record<string, readonly CommandWord[]>> = {
  Ask: ["run", "goal", "tools", "model", "stop", "extend", "quiet", "listen", "mcp"],
  Look: ["status", "whoami", "approvals", "grants", "freezes", "cost", "feedback", "help"],
  Decide: ["approve", "confirm", "deny", "edit", "grant", "revoke", "break-glass"],
  "Your own actions": ["cancel", "ask", "undo", "settle", "answer"],
  Memory: ["remember", "notes", "forget", "recall"],
  Incidents: ["incidents", "incident", "handoff", "freeze", "unfreeze", "mirror", "unmirror"],
};

export const TOOL_GROUPS = {
  read: "Read-only, run at once:",
  own: "Change only my own records, run at once:",
  write: "Need approval:",
  destructive: "Need approval from someone else (in the terminal, from you):",
} as const;

export const SYSTEMS = "By system; `tools <system>` lists its tools:";

export function noSystem(name: string, meant: string | undefined): string {
  const hint =
    meant === undefined ? "`tools` lists the systems." : `Did you mean \`tools ${meant}\`?`;
  return `I have no tools for ${name}. ${hint}`;
}

export const ONLY_READS = "what only reads runs at once";
export const AFTER_TOOLS =
  "Run one with `run <tool> name=value …`; if something is missing, I'll say what. watchkeeper.yaml can change who has to approve.";

/** Tokens and money of the thread, of each model where there are several, and of condensing it. */
export function costText({ counts, helps }: Thread): string {
  const { runs, calls, actions, toolMs, condensed, condensedMoney, condenses } = counts;
  const models = [...counts.models];
  const money = models.reduce((sum, [, each]) => addMoney(sum, each.money), NO_MONEY);
  const [only, another] = models;
  const by = only !== undefined && another === undefined ? ` by ${only[0]}` : "";
  const lines = another === undefined ? [] : models.map(([id, of]) => `- ${id}: ${usedText(of)}`);
  const condensing =
    condenses === 0
      ? ""
      : ` Of these, ${totalTokens(condensed).toLocaleString("en")} (${moneyText(condensedMoney)}) to condense it (${counted(condenses, "time")}).`;
  const work = `${counted(runs, "run")}, ${counted(calls, "tool call")} in ${(toolMs / 1_000).toFixed(1)} s, ${counted(actions, "proposed action")}`;
  const head = `This thread: ${work}. ${usedText({ usage: counts.usage, money }, by)}.${condensing}`;
  return `${[head, ...lines].join("\n")}${gapsText(counts.blind, helps)}`;
}

/** `1,200 tokens (input 200, read from cache 900, output 100), $0.42`. */
function usedText({ usage: used, money }: ModelUse, by = ""): string {
  const { input, cacheRead, cacheWrite, output } = used;
  const parts = Object.entries({
    input,
    "read from cache": cacheRead,
    "written to cache": cacheWrite,
    output,
  }).flatMap(([name, count]) => (count === 0 ? [] : [`${name} ${count.toLocaleString("en")}`]));
  const all = totalTokens(used);
  const tokens = `${all.toLocaleString("en")} ${all === 1 ? "token" : "tokens"}`;
  return parts.length === 0 ? tokens : `${tokens} (${parts.join(", ")})${by}, ${moneyText(money)}`;
}

/** How many calls could not see everything, and what would help, the most first. */
function gapsText(blind: number, helps: Thread["helps"]): string {
  if (blind === 0) return "";
  const most = [...helps].toSorted(([, a], [, b]) => b - a);
  const lines = most.map(([help, calls]) => `- ${help} (${counted(calls, "call")})`);
  const head = `${counted(blind, "call")} couldn't see everything. What would help:`;
  return `\n${[head, ...lines].join("\n")}`;
}
