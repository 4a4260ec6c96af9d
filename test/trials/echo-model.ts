import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { marksIn } from "./chat-log.ts";

/** A model provider on loopback that answers what people wrote with the marks that it bears. */
export interface EchoModel {
  /** The environment of a program that asks it. */
  readonly env: Record<string, string>;
  /** Requests so far. */
  readonly requests: number;
  stop(): Promise<void>;
}

interface ChatMessage {
  role: string;
  content: unknown;
}

/** `beforeMs` is how long it thinks about a request; default not at all. */
export async function startEchoModel(beforeMs: () => number = () => 0): Promise<EchoModel> {
  let requests = 0;
  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { messages } = JSON.parse(await bodyOf(request)) as { messages: ChatMessage[] };
    requests += 1;
    const ms = beforeMs();
    // Who is killed meanwhile gets no answer.
    if (ms > 0) await sleep(ms, undefined, { ref: false });
    answer(response, messages);
  }

  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    env: { MODEL: "openai-compatible/echo", OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1` },
    get requests() {
      return requests;
    },
    async stop() {
      const closed = new Promise((resolve) => {
        server.close(resolve);
      });
      server.closeAllConnections();
      await closed;
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

/** The marks of what people said since its last answer. Each of its turns is shown, so none is answered twice. */
function answerTo(messages: readonly ChatMessage[]): string {
  const last = messages.findLastIndex(({ role }) => role === "assistant");
  const said = messages.slice(last + 1).filter(({ role }) => role === "user");
  const lines = said.flatMap(({ content }) => textsOf(content));
  // What a person ran directly is told to a model too, by the program; what is quoted is for somebody else to answer.
  const people = lines.filter(
    (line) => !line.startsWith("[watchkeeper]") && !/^\[[^\]]*, quoted\]/.test(line),
  );
  const marks = marksIn(people.join("\n"));
  return `Heard ${marks.join(" ")}.`;
}

function textsOf(content: unknown): string[] {
  if (typeof content === "string") return [content];
  return (content as { text?: string }[]).map(({ text = "" }) => text);
}

/** As the Chat Completions interface streams it. */
function answer(response: ServerResponse, messages: readonly ChatMessage[]): void {
  const chunk = (more: object) =>
    `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "echo", ...more })}\n\n`;
  const piece = (delta: object, reason: string | null) =>
    chunk({ choices: [{ index: 0, delta, finish_reason: reason }] });
  const usage = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 };
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.end(
    piece({ role: "assistant", content: answerTo(messages) }, null) +
      piece({}, "stop") +
      chunk({ choices: [], usage }) +
      "data: [DONE]\n\n",
  );
}
