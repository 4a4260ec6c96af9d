import { languageModel } from "./language-model.ts";
import {
  ABOUT,
  bytesOf,
  INPUT,
  load,
  type Peer,
  QUESTION,
  type Script,
  type World,
} from "./peer.ts";

interface Output {
  text: string;
  runId: string;
  finishReason: string;
}

interface Agent {
  generate(question: string, options: object): Promise<Output>;
  approveToolCallGenerate(options: object): Promise<Output>;
}

interface Store {
  getStore(domain: "workflows"): Promise<{
    listWorkflowRuns(query: object): Promise<{ runs: { runId: string }[] }>;
  }>;
}

/** `agent.generate`; snapshots of suspended runs in `InMemoryStore`, nothing observed or logged. */
export async function openMastra(world: World): Promise<Peer> {
  const { Mastra } = await load<{
    Mastra: new (options: object) => { getAgent(name: string): Agent };
  }>("@mastra/core");
  const { Agent } = await load<{ Agent: new (options: object) => object }>("@mastra/core/agent");
  const { createTool } = await load<{ createTool(definition: object): object }>(
    "@mastra/core/tools",
  );
  const { InMemoryStore } = await load<{ InMemoryStore: new () => Store }>("@mastra/core/storage");
  const tools = {
    look: createTool({
      id: "look",
      description: ABOUT.look,
      inputSchema: INPUT,
      execute: (input: { name: string }) => world.look(input),
    }),
    act: createTool({
      id: "act",
      description: ABOUT.act,
      inputSchema: INPUT,
      requireApproval: true,
      execute: (input: { name: string }) => world.act(input),
    }),
  };
  const storage = new InMemoryStore();
  const settings = { id: "bench", name: "bench", instructions: "Help.", tools };
  const idle = languageModel({
    next: () => ({ kind: "answer", text: "" }),
    marks: [],
    prompts: [],
  });
  const mastra = new Mastra({
    agents: { bench: new Agent({ ...settings, model: idle }) },
    storage,
    logger: false,
  });
  const agent = mastra.getAgent("bench");
  const options = (script: Script) => ({ model: languageModel(script), maxSteps: 1_000 });
  return {
    run: async (script) => (await agent.generate(QUESTION, options(script))).text,
    async suspend(script) {
      const { runId } = await agent.generate(QUESTION, options(script));
      const workflows = await storage.getStore("workflows");
      const { runs } = await workflows.listWorkflowRuns({});
      const stored = runs.filter((run) => run.runId === runId);
      return {
        bytes: bytesOf(JSON.stringify(stored)),
        resume: async (after) =>
          (await agent.approveToolCallGenerate({ runId, ...options(after) })).text,
      };
    },
  };
}
