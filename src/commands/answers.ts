import type { DirectAnswer, RunTerms } from "../thread/run.ts";
import { isOpen } from "../thread/action.ts";
import { totalTokens } from "../core/block.ts";
import type { Command } from "../core/entry.ts";
import type { Thread } from "../thread/state.ts";
import { describeInput, readArguments } from "../tools/arguments.ts";
import { suggest } from "../core/suggest.ts";
import type { Tool } from "../tools/tool.ts";
import { COMMAND_FORMS } from "./grammar.ts";

export interface CommandParts {
  tools: readonly Tool[];
  talk: RunTerms | undefined;
  /** Why no run could use this model, or undefined. */
  modelProblem(id: string): string | undefined;
}

/** What a typed command comes to: a checked tool call, or a text computed from the thread, the tools and the model. */
export function answerCommand(command: Command, thread: Thread, parts: CommandParts): DirectAnswer {
  const { tools } = parts;
  const say = (text: string): DirectAnswer => ({ kind: "text", text, failed: false });
  switch (command.name) {
    case "run":
      return readRun(command, tools);
    case "help":
      return say(helpText());
    case "tools":
      return say(toolsText(tools));
    case "cost":
      return say(costText(thread));
    case "approvals":
      return say(approvalsText(thread));
    case "model":
      return modelText(command.model, thread, parts);
    case "invalid":
      return { kind: "text", text: command.problem, failed: true };
  }
}

function readRun(command: Extract<Command, { name: "run" }>, tools: readonly Tool[]): DirectAnswer {
  const tool = tools.find(({ name }) => name === command.tool);
  if (tool === undefined) {
    const near = suggest(
      command.tool,
      tools.map(({ name }) => name),
    );
    const hint = near === undefined ? "" : ` Did you mean ${near}?`;
    const text = `There is no tool ${command.tool}.${hint} \`tools\` lists them.`;
    return { kind: "text", text, failed: true };
  }
  const read = readArguments(tool, command.args);
  if (!read.ok) return { kind: "text", text: read.problem, failed: true };
  return { kind: "call", tool: tool.name, args: read.args };
}

function helpText(): string {
  const forms = Object.values(COMMAND_FORMS).map((form) => `  ${form}`);
  return `Commands, with or without a leading slash:\n${forms.join("\n")}\nMost reads run at once; what changes something asks first.`;
}

const EFFECT_WORDS = {
  read: "runs at once",
  write: "asks first",
  destructive: "asks first, destructive",
};

function effectWords({ own, effect, effectOf }: Tool): string {
  if (own === true) return EFFECT_WORDS.read;
  return effectOf === undefined
    ? EFFECT_WORDS[effect]
    : `${EFFECT_WORDS[effect]}, but for what only reads,`;
}

function toolsText(tools: readonly Tool[]): string {
  return tools
    .map(
      (tool) =>
        `${describeInput(tool)}\n    ${effectWords(tool)} unless policy says otherwise. ${tool.description}`,
    )
    .join("\n");
}

function costText({ counts }: Thread): string {
  const seconds = (counts.toolMs / 1_000).toFixed(1);
  const { input, output, cacheRead, cacheWrite } = counts.usage;
  const tokens = `${totalTokens(counts.usage)} tokens (input ${input}, from cache ${cacheRead}, written to cache ${cacheWrite}, output ${output})`;
  return `This thread: ${counts.runs} runs, ${counts.calls} tool calls taking ${seconds} s, ${counts.actions} actions proposed. ${tokens}.`;
}

/** The model of this thread's next runs; a choice that could not work is refused and changes nothing. */
function modelText(
  chosen: string | undefined,
  { model }: Thread,
  { talk, modelProblem }: CommandParts,
): DirectAnswer {
  const id = chosen ?? model ?? talk?.model;
  if (talk === undefined || id === undefined) {
    return { kind: "text", text: "No model is configured; set MODEL and its key.", failed: true };
  }
  const problem = modelProblem(id);
  if (problem !== undefined) return { kind: "text", text: problem, failed: true };
  const { steps, tokens, minutes } = talk.budget;
  const limits = `A run may take ${steps} steps, ${tokens} tokens and ${minutes} minutes of work; all runs of a day ${talk.tokensPerDay} tokens.`;
  const which =
    chosen === undefined
      ? `This thread's model is ${id}.`
      : `From its next run on this thread uses ${id}.`;
  return { kind: "text", text: `${which} ${limits}`, failed: false };
}

function approvalsText({ live, unknown }: Thread): string {
  const open = [...live].filter(isOpen).map(({ proposal }) => {
    const until = `${new Date(proposal.expiresAt).toISOString().slice(0, 16).replace("T", " ")} UTC`;
    const host = proposal.host === undefined ? "" : ` on ${proposal.host}`;
    const ref =
      proposal.revision === 1 ? proposal.action : `${proposal.action}.${proposal.revision}`;
    return `${ref}: ${proposal.tool}${host} (${proposal.effect}), expires ${until}. \`approve ${ref}\` or \`deny ${ref} because …\``;
  });
  const unsettled = [...unknown.values()].filter((call) => call.settled === undefined);
  const lost = unsettled.map((call) => {
    const ref = call.action?.action ?? call.call;
    return `${ref}: ${call.tool}, outcome unknown. \`settle ${ref} happened\` or \`settle ${ref} not-happened because …\``;
  });
  const lines = [...open, ...lost];
  return lines.length === 0 ? "Nothing waits for anyone in this thread." : lines.join("\n");
}
