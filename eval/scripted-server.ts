import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text as textOf } from "node:stream/consumers";
import * as z from "zod";
import type { Reaction, ScriptedTurn } from "../src/evals/case.ts";

/** The part of a Chat Completions request that says what to answer to. */
const request = z.object({
  messages: z.array(z.object({ role: z.string(), content: z.unknown() })),
  tool_choice: z.unknown(),
});

export interface ScriptedServer {
  /** For OPENAI_BASE_URL. */
  readonly url: string;
  /** Requests beyond the script: it said its last turn again. */
  readonly beyond: number;
  stop(): Promise<void>;
}

/** About how many characters a token has. It only has to grow as a real count does. */
const CHARS_PER_TOKEN = 4;

interface Options {
  /** A request that does not fit is refused as providers do. */
  contextWindow?: number | undefined;
  /** What its model does otherwise once it is told something. */
  reactions?: readonly Reaction[] | undefined;
}

/**
 * Serves a script as Chat Completions on loopback: each request gets the next turn, whatever it says. What may call no tools gets
 * words: where it asks for a summary one of what it holds, else the script's last words.
 */
export async function startScriptedServer(
  script: readonly ScriptedTurn[],
  { contextWindow = Number.POSITIVE_INFINITY, reactions = [] }: Options = {},
): Promise<ScriptedServer> {
  let [next, beyond] = [0, 0];
  let turns = script;
  const open = [...reactions];

  /** Only what came since the model last spoke. */
  function react(messages: z.infer<typeof request>["messages"]): void {
    const since = messages.slice(messages.findLastIndex(({ role }) => role === "assistant") + 1);
    const words = since.map(({ content }) => wordsOf(content)).join("\n");
    const at = open.findIndex(({ word }) => words.includes(word));
    const [reaction] = at < 0 ? [] : open.splice(at, 1);
    if (reaction !== undefined) [turns, next] = [reaction.turns, 0];
  }

  function turnFor({ messages, tool_choice: choice }: z.infer<typeof request>): ScriptedTurn {
    react(messages);
    if (choice === "none") {
      const last = wordsOf(messages.at(-1)?.content);
      if (last.includes("Key findings")) return { say: summaryOf(messages), calls: [] };
      return { say: turns.findLast(({ say }) => say !== "")?.say ?? "", calls: [] };
    }
    const turn = turns[next];
    if (turn === undefined) beyond += 1;
    else next += 1;
    return turn ?? turns.at(-1) ?? { say: "", calls: [] };
  }

  async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await textOf(incoming);
    const tokens = Math.ceil(body.length / CHARS_PER_TOKEN);
    if (tokens > contextWindow) {
      response.writeHead(400, { "content-type": "application/json" });
      const message = `This model's maximum context length is ${contextWindow} tokens. However, your messages resulted in ${tokens} tokens.`;
      response.end(JSON.stringify({ error: { message, code: "context_length_exceeded" } }));
      return;
    }
    const { say, calls } = turnFor(request.parse(JSON.parse(body)));
    response.writeHead(200, { "content-type": "text/event-stream" });
    const send = (value: object) =>
      response.write(
        `data: ${JSON.stringify({ id: "scripted", object: "chat.completion.chunk", ...value })}\n\n`,
      );
    const delta = (value: object, finish: string | null = null) =>
      send({ choices: [{ index: 0, delta: value, finish_reason: finish }] });
    delta({ role: "assistant", content: say });
    for (const [index, { tool, args }] of calls.entries()) {
      const called = { name: tool, arguments: JSON.stringify(args) };
      const id = `call_${next}_${index}`;
      delta({ tool_calls: [{ index, id, type: "function", function: called }] });
    }
    delta({}, calls.length > 0 ? "tool_calls" : "stop");
    const output = Math.ceil(JSON.stringify({ say, calls }).length / CHARS_PER_TOKEN);
    const usage = {
      prompt_tokens: tokens,
      completion_tokens: output,
      total_tokens: tokens + output,
    };
    send({ choices: [], usage });
    response.end("data: [DONE]\n\n");
  }

  const server = createServer((incoming, response) => {
    answer(incoming, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on a port
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    get beyond() {
      return beyond;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function wordsOf(content: unknown): string {
  return typeof content === "string" ? content : JSON.stringify(content ?? "");
}

const SUMMARY_CHARS = 80;

/** The first words of each result: enough for what is asked later to rest on. */
function summaryOf(messages: z.infer<typeof request>["messages"]): string {
  const found = messages
    .filter(({ role }) => role === "tool")
    .map(({ content }) => `- ${wordsOf(content).slice(0, SUMMARY_CHARS)}`);
  return `## Goal\nAs asked.\n## Key findings\n${found.join("\n")}\n## Next steps\nGo on.`;
}
