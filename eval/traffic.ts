import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text as textOf } from "node:stream/consumers";
import * as z from "zod";
import { messageOf } from "../src/core/errors.ts";

/**
 * What a provider answered, a line of JSON for each request in order, as it came over the wire: so it is the same for every provider, and
 * a model's conversation can be had again without it. Neither keys nor what was asked is kept: of a request only its address and how many
 * turns it had, which a replay holds it to.
 */
const exchange = z.strictObject({
  path: z.string(),
  turns: z.int(),
  status: z.int(),
  type: z.string(),
  body: z.string(),
});
type Exchange = z.infer<typeof exchange>;

export interface Traffic {
  /** In place of the provider's address. */
  readonly url: string;
  /** Why a replay could not go on, if it could not. */
  readonly problems: readonly string[];
  stop(): Promise<void>;
}

/** What is the provider's to know, or the connection's own. */
const NOT_PASSED = new Set(["host", "connection", "content-length", "accept-encoding"]);

/** Passes each request on to `target` and keeps what comes back in `file`, which is begun anew. */
export async function startRecorder(target: string, file: string): Promise<Traffic> {
  writeFileSync(file, "", { mode: 0o600 });
  return serve(async (request, response) => {
    const asked = await textOf(request);
    const headers = Object.entries(request.headers).flatMap(([name, value]): [string, string][] =>
      value === undefined || NOT_PASSED.has(name) ? [] : [[name, String(value)]],
    );
    const path = request.url ?? "/";
    const method = request.method ?? "POST";
    const reply = await fetch(`${target.replace(/\/$/, "")}${path}`, {
      method,
      headers,
      ...(asked !== "" && { body: asked }),
    });
    const type = reply.headers.get("content-type") ?? "application/json";
    response.writeHead(reply.status, { "content-type": type });
    let body = "";
    const decoder = new TextDecoder();
    for await (const piece of reply.body ?? []) {
      body += decoder.decode(piece, { stream: true });
      response.write(piece);
    }
    const kept: Exchange = { path, turns: turnsIn(asked), status: reply.status, type, body };
    appendFileSync(file, `${JSON.stringify(kept)}\n`);
    response.end();
  });
}

/** Answers as it was recorded, in the same order. A request that was not made then gets 400, and stands in `problems`. */
export async function startReplay(file: string): Promise<Traffic> {
  const lines = readFileSync(file, "utf8").split("\n");
  const rest = lines.filter((line) => line !== "").map((line) => exchange.parse(JSON.parse(line)));
  return serve(async (request, response, problems) => {
    const turns = turnsIn(await textOf(request));
    const next = rest.shift();
    if (next === undefined || next.path !== request.url || next.turns !== turns) {
      const recorded =
        next === undefined ? "nothing more" : `${next.path} with ${next.turns} turns`;
      const message = `The conversation left the record: ${request.url} with ${turns} turns, where ${recorded} was recorded.`;
      problems.push(message);
      response.writeHead(400, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { type: "invalid_request_error", message } }));
      return;
    }
    response.writeHead(next.status, { "content-type": next.type });
    response.end(next.body);
  });
}

const asked = z.object({
  messages: z.array(z.unknown()).optional(),
  input: z.array(z.unknown()).optional(),
});

function turnsIn(body: string): number {
  if (body === "") return 0;
  const { messages, input } = asked.parse(JSON.parse(body));
  return (messages ?? input ?? []).length;
}

async function serve(
  answer: (request: IncomingMessage, response: ServerResponse, problems: string[]) => Promise<void>,
): Promise<Traffic> {
  const problems: string[] = [];
  const server = createServer((request, response) => {
    answer(request, response, problems).catch((error: unknown) => {
      problems.push(messageOf(error));
      response.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    problems,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
