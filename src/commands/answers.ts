import type { Direct } from "../agent/run.ts";
import { isOpen } from "../approvals/action.ts";
import type { Command } from "../core/entry.ts";
import type { Thread } from "../journal/fold.ts";
import { describeInput, readArguments, suggest } from "../tools/arguments.ts";
import type { Tool } from "../tools/tool.ts";
import { COMMAND_FORMS } from "./grammar.ts";

/** What a typed command comes to: a checked tool call, or a text computed from the thread and the tools. */
export function answerCommand(command: Command, thread: Thread, tools: readonly Tool[]): Direct {
  const say = (text: string): Direct => ({ kind: "text", text, failed: false });
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
    case "invalid":
      return { kind: "text", text: command.problem, failed: true };
  }
}

function readRun(command: Extract<Command, { name: "run" }>, tools: readonly Tool[]): Direct {
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
  return `Commands, with or without a leading slash:\n${forms.join("\n")}\nReads run at once; what changes something asks first.`;
}

const EFFECT_WORDS = {
  read: "runs at once",
  write: "asks first",
  destructive: "asks first, destructive",
};

function toolsText(tools: readonly Tool[]): string {
  return tools
    .map(
      (tool) =>
        `${describeInput(tool)}\n    ${EFFECT_WORDS[tool.effect]} unless policy says otherwise. ${tool.description}`,
    )
    .join("\n");
}

function costText({ counts }: Thread): string {
  const seconds = (counts.toolMs / 1_000).toFixed(1);
  return `This thread: ${counts.runs} runs, ${counts.calls} tool calls taking ${seconds} s, ${counts.actions} actions proposed. No model: 0 tokens.`;
}

function approvalsText({ live, unknown }: Thread): string {
  const open = [...live].filter(isOpen).map(({ proposal }) => {
    const until = new Date(proposal.expiresAt).toISOString();
    const ref =
      proposal.revision === 1 ? proposal.action : `${proposal.action}.${proposal.revision}`;
    return `${ref}: ${proposal.tool} (${proposal.effect}), expires ${until}. \`approve ${ref}\` or \`deny ${ref} because …\``;
  });
  const unsettled = [...unknown.values()].filter((call) => call.settled === undefined);
  const lost = unsettled.map((call) => {
    const ref = call.action?.action ?? call.call;
    return `${ref}: ${call.tool}, outcome unknown. \`settle ${ref} happened\` or \`settle ${ref} not-happened because …\``;
  });
  const lines = [...open, ...lost];
  return lines.length === 0 ? "Nothing waits for anyone in this thread." : lines.join("\n");
}
