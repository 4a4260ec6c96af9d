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

interface Message {
  role: string;
  content: string | { type: string; approvalId?: string | undefined }[];
}

interface Ai {
  generateText(options: object): Promise<{ text: string; responseMessages: Message[] }>;
  tool(definition: object): object;
  isStepCount(count: number): object;
}

/** `generateText`; the messages are the state, and the caller keeps them. */
export async function openAi(world: World): Promise<Peer> {
  const { generateText, tool, isStepCount } = await load<Ai>("ai");
  const tools = {
    look: tool({
      description: ABOUT.look,
      inputSchema: INPUT,
      execute: (input: { name: string }) => world.look(input),
    }),
    act: tool({
      description: ABOUT.act,
      inputSchema: INPUT,
      execute: (input: { name: string }) => world.act(input),
    }),
  };
  const generate = (script: Script, messages: Message[]) =>
    generateText({
      model: languageModel(script),
      messages,
      tools,
      toolApproval: { act: "user-approval" },
      stopWhen: isStepCount(1_000),
      telemetry: { isEnabled: false },
    });
  const question: Message = { role: "user", content: QUESTION };
  return {
    run: async (script) => (await generate(script, [question])).text,
    async suspend(script) {
      const { responseMessages } = await generate(script, [question]);
      const stored = JSON.stringify([question, ...responseMessages]);
      return {
        bytes: bytesOf(stored),
        async resume(after) {
          const messages = JSON.parse(stored) as Message[];
          const approvalId = messages
            .flatMap(({ content }) => (typeof content === "string" ? [] : content))
            .findLast(({ type }) => type === "tool-approval-request")?.approvalId;
          const approval = { type: "tool-approval-response", approvalId, approved: true };
          return (await generate(after, [...messages, { role: "tool", content: [approval] }])).text;
        },
      };
    },
  };
}
