import { ABOUT, INPUT, load, type Peer, QUESTION, type Script, type World } from "./peer.ts";

interface Message {
  content: unknown;
  tool_calls?: unknown[];
  toDict(): object;
}

interface Config {
  configurable: { thread_id: string; script: Script };
  durability: "exit";
  recursionLimit: number;
}

interface Graph {
  addNode(name: string, node: unknown): Graph;
  addEdge(from: string, to: string): Graph;
  addConditionalEdges(from: string, choose: (state: { messages: Message[] }) => string): Graph;
  compile(options: object): {
    invoke(input: object, config: Config): Promise<{ messages: Message[] }>;
  };
}

interface Saver {
  storage: Record<string, Record<string, Record<string, [Uint8Array, Uint8Array, unknown]>>>;
  writes: Record<string, Record<string, [string, string, Uint8Array]>>;
}

interface LangGraph {
  StateGraph: new (state: object) => Graph;
  MessagesAnnotation: object;
  MemorySaver: new () => Saver;
  Command: new (options: { resume: unknown }) => object;
  interrupt(value: unknown): unknown;
}

/**
 * A `StateGraph` of a model's node and a `ToolNode`; `act` calls `interrupt()` before it acts, as their pages on human
 * review show. With a saver it is `MemorySaver`, written once per invocation (`durability: "exit"`).
 */
export async function openLangGraph(world: World, saved: boolean): Promise<Peer> {
  const graphs = await load<LangGraph>("@langchain/langgraph");
  const { ToolNode } = await load<{ ToolNode: new (tools: object[]) => object }>(
    "@langchain/langgraph/prebuilt",
  );
  const { tool } = await load<{ tool(run: object, definition: object): object }>(
    "@langchain/core/tools",
  );
  const { AIMessage } = await load<{ AIMessage: new (message: object) => Message }>(
    "@langchain/core/messages",
  );
  const look = tool((input: { name: string }) => world.look(input), {
    name: "look",
    description: ABOUT.look,
    schema: INPUT,
  });
  const act = tool(
    (input: { name: string }) => {
      if (graphs.interrupt({ tool: "act", input }) !== "approve") return "denied";
      return world.act(input);
    },
    { name: "act", description: ABOUT.act, schema: INPUT },
  );
  const answer = ({ messages }: { messages: Message[] }, config: Config) => {
    const line = config.configurable.script.next(messages);
    if (line.kind === "answer") return { messages: [new AIMessage({ content: line.text })] };
    const call = { type: "tool_call", id: line.id, name: line.tool, args: line.input };
    return { messages: [new AIMessage({ content: "", tool_calls: [call] })] };
  };
  const saver = new graphs.MemorySaver();
  const graph = new graphs.StateGraph(graphs.MessagesAnnotation)
    .addNode("model", answer)
    .addNode("tools", new ToolNode([look, act]))
    .addEdge("__start__", "model")
    .addConditionalEdges("model", ({ messages }) =>
      messages.at(-1)?.tool_calls?.length ? "tools" : "__end__",
    )
    .addEdge("tools", "model")
    .compile(saved ? { checkpointer: saver } : {});

  let threads = 0;
  const configOf = (thread: string, script: Script): Config => ({
    configurable: { thread_id: thread, script },
    durability: "exit",
    recursionLimit: 1_000,
  });
  const question = { messages: [{ role: "user", content: QUESTION }] };
  const textOf = ({ messages }: { messages: Message[] }) => String(messages.at(-1)?.content);
  const run: Peer["run"] = async (script) =>
    textOf(await graph.invoke(question, configOf(`t${++threads}`, script)));
  if (!saved) return { run };
  return {
    run,
    async suspend(script) {
      const thread = `t${++threads}`;
      await graph.invoke(question, configOf(thread, script));
      return {
        bytes: storedBytes(saver, thread),
        async resume(after) {
          const approval = new graphs.Command({ resume: "approve" });
          return textOf(await graph.invoke(approval, configOf(thread, after)));
        },
      };
    },
  };
}

/** Everything that the saver holds of a thread: checkpoints, their metadata, pending writes. */
function storedBytes(saver: Saver, thread: string): number {
  const checkpoints = Object.values(saver.storage[thread] ?? {}).flatMap(Object.values);
  const writes = Object.entries(saver.writes)
    .filter(([key]) => key.includes(JSON.stringify(thread)))
    .flatMap(([, values]) => Object.values(values));
  return [
    ...checkpoints.flatMap(([checkpoint, metadata]) => [checkpoint, metadata]),
    ...writes.map(([, , value]) => value),
  ].reduce((sum, part) => sum + part.length, 0);
}
