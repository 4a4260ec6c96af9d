import type { ServerResponse } from "node:http";
import { listening } from "../http-parts.ts";

type Answer = (response: ServerResponse, id: unknown) => void;

const RESULTS: Readonly<Record<string, unknown>> = {
  initialize: {
    protocolVersion: "2025-06-18",
    capabilities: {},
    serverInfo: { name: "web", version: "2" },
  },
  "tools/list": { tools: [{ name: "go", inputSchema: { type: "object" } }] },
  "tools/call": { content: [{ type: "text", text: "went" }] },
};

/** A server over HTTP that answers each message as the test says, else as one that works. `methods`: what it was asked. */
export async function serveWeb(answers: Readonly<Record<string, Answer>> = {}) {
  const methods: string[] = [];
  const { origin, asked } = await listening(({ method: verb, headers }, response) => {
    if (verb !== "POST") return void response.writeHead(405).end();
    if (headers.authorization !== "Bearer value-of-TOKEN")
      return void response.writeHead(401).end();
    const { id, method } = JSON.parse(asked.at(-1)?.body ?? "") as { id?: number; method: string };
    methods.push(method);
    const result = RESULTS[method];
    const message = JSON.stringify({ jsonrpc: "2.0", id, result });
    if (answers[method] !== undefined) return answers[method](response, id);
    if (result === undefined) return void response.writeHead(202).end();
    const isCall = method === "tools/call";
    const type = isCall ? "text/event-stream" : "application/json";
    response
      .writeHead(200, { "content-type": type })
      .end(isCall ? `data: ${message}\n\n` : message);
  });
  return { methods, url: `${origin}/mcp` };
}
