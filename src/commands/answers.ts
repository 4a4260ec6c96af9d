import type { DirectAnswer } from "../thread/surroundings.ts";
import { isOpen } from "../thread/action.ts";
import type { Command } from "../core/entry.ts";
import { formatUtc } from "../core/instant.ts";
import { signed } from "../core/people.ts";
import { turned, whatOf } from "../thread/phrases.ts";
import { grantWords } from "../thread/click-phrases.ts";
import { grantsIn, type Thread } from "../thread/state.ts";
import { refOf } from "../thread/call.ts";
import { readArguments } from "../tools/arguments.ts";
import { systemOf } from "../tools/find-tools.ts";
import { goalStatusText } from "./goal-status.ts";
import { suggest } from "../core/suggest.ts";
import { APPROVAL_LIST } from "../core/tool-spec.ts";
import type { Tool } from "../tools/tool.ts";
import {
  AFTER_TOOLS,
  costText,
  helpText,
  NEW_CONVERSATION,
  NO_GOALS,
  NO_GRANTS,
  NO_MODEL,
  noSystem,
  NOTHING_OPEN,
  ONLY_READS,
  SYSTEMS,
  TOOL_GROUPS,
  unknownTool,
} from "./phrases.ts";
import { type StatusParts, statusText, toolCounts } from "./status.ts";

export interface CommandParts extends StatusParts {
  /** Why no run could use this model, or undefined. */
  modelProblem(id: string): string | undefined;
  /** What a model costs, in words. */
  priceOf?(id: string): string;
  /** What is frozen now, a sentence each, as far as it may be seen in the thread. */
  frozen?: readonly string[] | undefined;
}

/** Answers a typed command with a checked tool call, or with a text about the thread, the tools or the model. */
export function answerCommand(command: Command, thread: Thread, parts: CommandParts): DirectAnswer {
  const { tools } = parts;
  const say = (text: string): DirectAnswer => ({ kind: "text", text, failed: false });
  switch (command.name) {
    case "run":
      return readRun(command, tools);
    case "help":
      return say(helpText(parts.terms !== undefined));
    case "status":
      return say([statusText(thread, parts), ...(parts.frozen ?? [])].join("\n"));
    case "tools":
      return toolsOf(command.system, tools);
    case "cost":
      return say(costText(thread));
    case "approvals":
      // The tool looks at other threads too.
      return tools.some(({ name }) => name === APPROVAL_LIST)
        ? { kind: "call", tool: APPROVAL_LIST, args: {} }
        : say(approvalsText(thread, parts.frozen));
    case "grants":
      return say(grantsText(thread));
    case "new":
      return say(NEW_CONVERSATION);
    case "quiet":
    case "listen":
      return say(turned(thread.room));
    case "model":
      return modelText(command.model, thread, parts);
    case "pin": {
      const { incident: id, message, off } = command;
      const args = { id, [off === true ? "unpin" : "pin"]: message };
      return readRun({ name: "run", tool: "incident_update", args }, tools);
    }
    case "goal":
      // One that begins is taken up before, where goals are on.
      return command.text === undefined
        ? say(goalStatusText(thread))
        : { kind: "text", text: NO_GOALS, failed: true };
    case "invalid":
      return { kind: "text", text: command.problem, failed: true };
  }
}

function readRun(command: Extract<Command, { name: "run" }>, tools: readonly Tool[]): DirectAnswer {
  const tool = tools.find(({ name }) => name === command.tool);
  if (tool === undefined) {
    const names = tools.map(({ name }) => name);
    const text = unknownTool(command.tool, suggest(command.tool, names));
    return { kind: "text", text, failed: true };
  }
  const read = readArguments(tool, command.args);
  if (!read.ok) return { kind: "text", text: read.problem, failed: true };
  return { kind: "call", tool: tool.name, args: read.args };
}

/** With more tools than fit a screen those of a system are one line, until they are asked for. */
const MANY_TOOLS = 40;
/** Fewer whose names begin alike, such as read_log and read_artifact, may have nothing else in common. */
const LARGE_SYSTEM = 4;

function toolsOf(system: string | undefined, tools: readonly Tool[]): DirectAnswer {
  const systems = Map.groupBy(tools, systemOf);
  if (system !== undefined) {
    const own = systems.get(system);
    if (own !== undefined) return { kind: "text", text: toolsText(own), failed: false };
    const text = noSystem(system, suggest(system, [...systems.keys()]));
    return { kind: "text", text, failed: true };
  }
  const large = [...systems].filter(
    ([, own]) => tools.length > MANY_TOOLS && own.length >= LARGE_SYSTEM,
  );
  const lines = large.map(([name, own]) => `  ${name} – ${toolCounts(own)}`);
  const others = tools.filter((tool) => !large.some(([, own]) => own.includes(tool)));
  const text = [...(lines.length === 0 ? [] : [[SYSTEMS, ...lines].join("\n")]), toolsText(others)];
  return { kind: "text", text: text.join("\n\n"), failed: false };
}

/** The tools by what a call of each needs, one line each. */
function toolsText(tools: readonly Tool[]): string {
  const groups = Object.entries(TOOL_GROUPS).flatMap(([group, heading]) => {
    const lines = tools.filter((tool) => groupOf(tool) === group).map(toolLine);
    return lines.length === 0 ? [] : [[heading, ...lines].join("\n")];
  });
  return [...groups, AFTER_TOOLS].join("\n\n");
}

function groupOf({ own, effect }: Tool): keyof typeof TOOL_GROUPS {
  return own === true ? "own" : effect;
}

function toolLine(tool: Tool): string {
  const { name, summary, description, effectOf, say = [], setTimeoutSeconds: seconds } = tool;
  const set = seconds === undefined ? "" : `; at most ${seconds} s`;
  const does = (summary ?? description).replace(/\.$/, "");
  const sentences = say.map((phrase) => `\`${phrase.replaceAll(/\{\{\s*(\w+)\s*\}\}/g, "<$1>")}\``);
  const said = sentences.length === 0 ? "" : `; or say ${sentences.join(", ")}`;
  return `  ${name} – ${does}${effectOf === undefined ? "" : `; ${ONLY_READS}`}${set}${said}`;
}

/** The model of this thread's next runs; a choice that could not work is refused and changes nothing. */
function modelText(
  chosen: string | undefined,
  { model }: Thread,
  { terms, modelProblem, priceOf }: CommandParts,
): DirectAnswer {
  const id = chosen ?? model ?? terms?.model;
  if (terms === undefined || id === undefined) {
    return { kind: "text", text: NO_MODEL, failed: true };
  }
  const problem = modelProblem(id);
  if (problem !== undefined) return { kind: "text", text: problem, failed: true };
  const { steps, tokens, minutes } = terms.budget;
  const limits = `One answer may take ${steps} steps, ${tokens.toLocaleString("en")} tokens and ${minutes} minutes of work; one day ${terms.tokensPerDay.toLocaleString("en")} tokens.`;
  const from = chosen === undefined ? "" : " from its next run on";
  const price = priceOf === undefined ? "" : ` (${priceOf(id)})`;
  return { kind: "text", text: `This thread uses ${id}${from}${price}. ${limits}`, failed: false };
}

function grantsText(thread: Thread): string {
  const lines = grantsIn(thread).map((grant) => {
    const { of, vote } = grant;
    const { title = of.proposal.tool } = of.proposal.preview;
    return `${of.action}: ${title}, granted by ${signed(vote)}, ${grantWords(grant)}. \`revoke ${of.action}\``;
  });
  return lines.length === 0 ? NO_GRANTS : lines.join("\n");
}

/** What waits for a decision in the thread, a line each. `frozen`: what is frozen now, a sentence each. */
export function approvalsText({ live, unknown }: Thread, frozen: readonly string[] = []): string {
  const open = [...live].filter(isOpen).map(({ proposal, undoes }) => {
    const until = formatUtc(proposal.expiresAt);
    const { title = proposal.tool } = proposal.preview;
    const host = proposal.host === undefined ? "" : ` on ${proposal.host}`;
    const ref =
      proposal.revision === 1 ? proposal.action : `${proposal.action}.${proposal.revision}`;
    const back = undoes === undefined ? "" : `, undo of ${undoes}`;
    return `${ref}: ${title}${host} (${proposal.effect}${back}), expires ${until}. \`approve ${ref}\` or \`deny ${ref} because …\``;
  });
  const unsettled = [...unknown.values()].filter((call) => call.settled === undefined);
  const lost = unsettled.map((call) => {
    const ref = refOf(call);
    return `${ref}: ${whatOf(call)}, outcome unknown. Did it happen? \`settle ${ref} happened\` or \`settle ${ref} not-happened because …\``;
  });
  const lines = [...open, ...lost];
  return [...frozen, ...(lines.length === 0 ? [NOTHING_OPEN] : lines)].join("\n");
}
