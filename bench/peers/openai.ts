import {
  ABOUT,
  bytesOf,
  INPUT,
  type Line,
  load,
  type Peer,
  QUESTION,
  type Script,
  type World,
} from "./peer.ts";

interface State {
  toString(): string;
  getInterruptions(): object[];
  approve(interruption: object): void;
}

interface Agents {
  Agent: new (options: object) => object;
  Runner: new (options: object) => {
    run(agent: object, input: string | State, options: object): Promise<Result>;
  };
  RunState: { fromString(agent: object, stored: string): Promise<State> };
  Usage: new (usage: object) => object;
  tool(definition: object): object;
  setTracingDisabled(disabled: boolean): void;
}

interface Result {
  finalOutput?: unknown;
  state: State;
}

/** `Runner.run` without streaming, sessions or tracing; `RunState` as a string is the state, and the caller keeps it. */
export async function openOpenAiAgents(world: World): Promise<Peer> {
  const agents = await load<Agents>("@openai/agents");
  agents.setTracingDisabled(true);
  const tools = [
    agents.tool({
      name: "look",
      description: ABOUT.look,
      parameters: INPUT,
      execute: (input: { name: string }) => world.look(input),
    }),
    agents.tool({
      name: "act",
      description: ABOUT.act,
      parameters: INPUT,
      needsApproval: true,
      execute: (input: { name: string }) => world.act(input),
    }),
  ];
  const runner = new agents.Runner({ tracingDisabled: true });
  const agentOf = (script: Script) => {
    const model = {
      async getResponse({ input }: { input: string | unknown[] }) {
        const line = script.next(typeof input === "string" ? [input] : input);
        const usage = new agents.Usage({ requests: 1, inputTokens: 1, outputTokens: 1 });
        return { usage, output: [outputOf(line)] };
      },
    };
    return new agents.Agent({ name: "bench", instructions: "Help.", model, tools });
  };
  const go = (agent: object, input: string | State) =>
    runner.run(agent, input, { maxTurns: 1_000 });
  return {
    run: async (script) => String((await go(agentOf(script), QUESTION)).finalOutput),
    async suspend(script) {
      const stored = (await go(agentOf(script), QUESTION)).state.toString();
      return {
        bytes: bytesOf(stored),
        async resume(after) {
          const agent = agentOf(after);
          const state = await agents.RunState.fromString(agent, stored);
          for (const interruption of state.getInterruptions()) state.approve(interruption);
          return String((await go(agent, state)).finalOutput);
        },
      };
    },
  };
}

function outputOf(line: Line) {
  if (line.kind === "call") {
    return {
      type: "function_call",
      callId: line.id,
      name: line.tool,
      status: "completed",
      arguments: JSON.stringify(line.input),
    };
  }
  return {
    type: "message",
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text: line.text }],
  };
}
