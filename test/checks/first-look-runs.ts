import { createChecking } from "../../src/app/checks-parts.ts";
import { estimateTokens, NO_USAGE } from "../../src/core/block.ts";
import type { JsonObject } from "../../src/core/entry.ts";
import type { Model, ModelRequest } from "../../src/models/model.ts";
import type { Skill } from "../../src/skills/skill.ts";
import type { Checking } from "../../src/thread/checking.ts";
import { readArguments } from "../../src/tools/arguments.ts";
import type { Tool } from "../../src/tools/tool.ts";
import { createChat } from "../fakes/chat.ts";
import { openMemoryJournal } from "../fakes/memory-journal.ts";
import { createStage } from "../fakes/stage.ts";
import { FROZEN_RESULTS } from "./frozen-results.ts";
import type { Asked } from "./plain-questions.ts";

/** A read that the scripted model wants; it has it once a call was made with at least the arguments `given`. */
interface Read {
  tool: string;
  args: JsonObject;
  given: JsonObject;
}

/** How it asks for them: all in one turn, or one a turn. */
export type Way = "all at once" | "one by one";

/** What a run took. */
export interface Spent {
  requests: number;
  /** Of the requests, as the program estimates them. */
  input: number;
  /** What of `input` is the system's text and the tools, which a provider may cache. */
  prefix: number;
  output: number;
  /** Each call that was made, as its tool and arguments. */
  calls: string[];
}

export interface FirstLookRuns {
  /** The reads of the checks of the skill that fits best. */
  ofSkill(question: string): Read[];
  /** Those without which no answer is one, as people wrote them down. */
  needed(asked: Asked): Read[];
  /** One question in a new thread, with a model that wants these reads. */
  ask(question: string, reads: readonly Read[], way: Way, firstLook: boolean): Promise<Spent>;
}

/** Whole runs with the real tools' names and schemas and frozen results. `tools`: the real ones; none of them is run. */
export function createFirstLookRuns(parts: {
  skills: readonly Skill[];
  tools: readonly Tool[];
}): FirstLookRuns {
  const checkingWith = (firstLook: boolean): Checking =>
    createChecking({ skills: () => parts.skills, tools: () => parts.tools, firstLook });
  const planning = checkingWith(false);
  return {
    ofSkill(question) {
      const { skills, calls } = planning.plan({ text: question });
      return calls
        .filter(({ askedBy }) => askedBy.some(({ skill }) => skill === skills[0]))
        .map(({ tool, args }) => ({ tool, args, given: args }));
    },
    needed: ([, ...calls]) => calls.map((call) => readOf(call, parts.tools)),
    async ask(question, reads, way, firstLook) {
      const spent: Spent = { requests: 0, input: 0, prefix: 0, output: 0, calls: [] };
      const tools = parts.tools.map((tool) => frozen(tool, spent));
      const chat = createChat();
      const model = askingModel(reads, way, spent);
      const checking = checkingWith(firstLook);
      const journal = openMemoryJournal();
      try {
        const stage = await createStage({ journal, chat, tools, model, checking });
        await stage.say(question);
        await stage.settle();
        for (const entry of await stage.entries()) {
          if (entry.kind !== "assistant") continue;
          spent.input += entry.usage.input;
          spent.output += entry.usage.output;
        }
        const [answer] = chat.answers();
        if (answer?.status !== "completed" || answer.byChecks === true) {
          throw new Error(`${question}: ${answer?.text}`);
        }
        return spent;
      } finally {
        await journal.close();
      }
    },
  };
}

/** It connects to nothing, so it needs no endpoints. */
function frozen({ endpoints: _endpoints, ...tool }: Tool, { calls }: Spent): Tool {
  return {
    ...tool,
    async run(input) {
      const output = FROZEN_RESULTS[tool.name];
      if (output === undefined) throw new Error(`there is no frozen result of ${tool.name}`);
      calls.push(`${tool.name} ${JSON.stringify(input)}`);
      return output;
    },
  };
}

/** As in `plain-questions.ts`: a tool, and each argument that it must have. */
function readOf(call: string, tools: readonly Tool[]): Read {
  const [name, ...values] = call.split(" ");
  const tool = tools.find((each) => each.name === name);
  if (tool === undefined) throw new Error(`there is no tool ${name}`);
  const typed = Object.fromEntries(values.map((each) => each.split("=") as [string, string]));
  const read = readArguments(tool, typed);
  if (!read.ok) throw new Error(`these are no arguments: ${call}`);
  const given = Object.fromEntries(Object.keys(typed).map((key) => [key, read.args[key] ?? null]));
  return { tool: tool.name, args: read.args, given };
}

/** A check's result, as a run is told of it. */
const CHECKED = /^\[watchkeeper\] \[T\d+\] (\S+) (\{.*\}): ok\./;

/** The calls that the turns tell of, the model's own and the checks'. */
function callsIn({ turns }: ModelRequest): Pick<Read, "tool" | "args">[] {
  return turns.flatMap((turn): Pick<Read, "tool" | "args">[] => {
    if (turn.role === "tool") return [];
    return turn.content.flatMap((block) => {
      if (block.kind === "tool_use") {
        return [{ tool: block.name, args: JSON.parse(block.input) as JsonObject }];
      }
      const [, tool, args] = (block.kind === "text" && CHECKED.exec(block.text)) || [];
      if (tool === undefined || args === undefined) return [];
      return [{ tool, args: JSON.parse(args) as JsonObject }];
    });
  });
}

/**
 * A model that asks for those of its reads that are not before it, and answers once all are. It counts nothing, so that the program
 * estimates its tokens.
 */
function askingModel(reads: readonly Read[], way: Way, spent: Spent): Model {
  return {
    id: "test/asking",
    contextWindow: 1_000_000,
    async generate(request) {
      const { turns, ...prefix } = request;
      spent.requests += 1;
      spent.prefix += estimateTokens(JSON.stringify(prefix));
      const made = callsIn(request);
      const left = reads.filter(
        ({ tool, given }) =>
          !made.some(
            (call) =>
              call.tool === tool &&
              Object.entries(given).every(
                ([key, value]) => JSON.stringify(call.args[key]) === JSON.stringify(value),
              ),
          ),
      );
      if (left.length === 0) {
        const text = "LIKELY: it is as the first result shows [T1].";
        return { content: [{ kind: "text", text }], stop: "end_turn", usage: NO_USAGE };
      }
      const content = left.slice(0, way === "one by one" ? 1 : left.length).map((read, at) => ({
        kind: "tool_use" as const,
        id: `toolu_${turns.length}_${at}`,
        name: read.tool,
        input: JSON.stringify(read.args),
      }));
      return { content, stop: "tool_use", usage: NO_USAGE };
    },
  };
}
