import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text as textOf } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { messageOf } from "../src/core/errors.ts";
import { OffRecord, type Recording, type Situation } from "./recording.ts";

/** The part of a Chat Completions request that says what to answer to. */
const request = z.object({
  messages: z.array(z.object({ role: z.string(), content: z.unknown() })),
  tools: z.array(z.object({ function: z.object({ name: z.string() }) })).default([]),
});

interface RecordedModel {
  /** For OPENAI_BASE_URL. */
  readonly url: string;
  /** Why conversations left the record, if any did. */
  readonly problems: readonly string[];
  stop(): Promise<void>;
}

const IS_OVER =
  "This demo's model is a recording, and nothing was recorded for that. Set ANTHROPIC_API_KEY and run `npm start` to talk to a real one.";

/** Serves a recording as Chat Completions on loopback; `wordMs`: between words, for people who watch. */
export async function startRecordedModel(
  recording: Recording,
  { wordMs }: { wordMs: number },
): Promise<RecordedModel> {
  const problems: string[] = [];

  async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const situation = situationOf(request.parse(JSON.parse(await textOf(incoming))));
    let turn: ReturnType<Recording["answer"]>;
    try {
      turn = recording.answer(situation);
    } catch (error) {
      if (!(error instanceof OffRecord)) throw error;
      problems.push(error.message);
      response.writeHead(400, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { message: `${IS_OVER} ${error.message}` } }));
      return;
    }
    const { say, calls } = turn;
    response.writeHead(200, { "content-type": "text/event-stream" });
    const send = (value: object) =>
      response.write(
        `data: ${JSON.stringify({ id: "recorded", object: "chat.completion.chunk", ...value })}\n\n`,
      );
    const delta = (value: object, finish: string | null = null) =>
      send({ choices: [{ index: 0, delta: value, finish_reason: finish }] });
    delta({ role: "assistant" });
    for (const word of say.match(/\S+\s*/g) ?? []) {
      delta({ content: word });
      if (wordMs > 0) await sleep(wordMs);
    }
    for (const [index, { tool, args }] of calls.entries()) {
      const id = `call_${situation.step}_${index}`;
      const called = { name: tool, arguments: JSON.stringify(args) };
      delta({ tool_calls: [{ index, id, type: "function", function: called }] });
    }
    delta({}, calls.length > 0 ? "tool_calls" : "stop");
    send({ choices: [], usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 } });
    response.end("data: [DONE]\n\n");
  }

  const server = createServer((incoming, response) => {
    answer(incoming, response).catch((error: unknown) => {
      problems.push(messageOf(error));
      response.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on a port
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    problems,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function situationOf({ messages, tools }: z.infer<typeof request>): Situation {
  const last = messages.findLastIndex(({ role }) => role === "assistant");
  const since = messages.slice(last + 1).filter(({ role }) => role !== "system");
  return {
    step: messages.filter(({ role }) => role === "assistant").length,
    from: since.at(-1)?.role === "tool" ? "tool" : "user",
    text: since.map(({ content }) => wordsOf(content)).join("\n"),
    tools: tools.map((tool) => tool.function.name),
  };
}

function wordsOf(content: unknown): string {
  return typeof content === "string" ? content : JSON.stringify(content ?? "");
}
