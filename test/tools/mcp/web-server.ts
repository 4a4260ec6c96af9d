import type { IncomingMessage, ServerResponse } from "node:http";
import { listening } from "../http-parts.ts";

type Answer = (response: ServerResponse, id: unknown) => void;

/** Answers what it does not take, and says that it did. */
type Guard = (request: IncomingMessage, response: ServerResponse, method: string) => boolean;

const RESULTS: Readonly<Record<string, unknown>> = {
  initialize: {
    protocolVersion: "2025-06-18",
    capabilities: {},
    serverInfo: { name: "web", version: "2" },
  },
  "tools/list": { tools: [{ name: "go", inputSchema: { type: "object" } }] },
  "tools/call": { content: [{ type: "text", text: "went" }] },
};

const ownToken: Guard = ({ headers }, response) => {
  if (headers.authorization === "Bearer value-of-TOKEN") return false;
  response.writeHead(401).end();
  return true;
};

/**
 * A server over HTTP that answers each message as the test says, else as one that works. `methods`: what it was asked; `ended`: the
 * sessions that were given back.
 */
export async function serveWeb(answers: Readonly<Record<string, Answer>> = {}, guard = ownToken) {
  const methods: string[] = [];
  const ended: unknown[] = [];
  const { origin, asked } = await listening((request, response) => {
    const { method: verb } = request;
    const { id, method = "" } = JSON.parse(asked.at(-1)?.body || "{}") as {
      id?: number;
      method?: string;
    };
    if (guard(request, response, method)) return;
    if (verb === "DELETE") {
      ended.push(request.headers["mcp-session-id"]);
      return void response.writeHead(200).end();
    }
    if (verb !== "POST") return void response.writeHead(405).end();
    methods.push(method);
    const result = RESULTS[method];
    const message = JSON.stringify({ jsonrpc: "2.0", id, result });
    if (answers[method] !== undefined) return answers[method](response, id);
    if (result === undefined) return void response.writeHead(202).end();
    const isCall = method === "tools/call";
    const type = isCall ? "text/event-stream" : "application/json";
    response
      .writeHead(200, { "content-type": type, "mcp-session-id": "s1" })
      .end(isCall ? `data: ${message}\n\n` : message);
  });
  return { methods, ended, origin, asked, url: `${origin}/mcp` };
}
