import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import {
  CallToolRequestSchema,
  type CallToolResult,
  ListToolsRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { pino } from "pino";
import { loadAgents } from "../../src/app/mcp-agents.ts";
import { assemble } from "../../src/app/assemble.ts";
import { startHttpServer } from "../../src/app/http.ts";
import { loadConfig } from "../../src/config/config.ts";

/**
 * Runs the protocol's own conformance suite against the MCP server over HTTP: `npm run conformance`, with `-- --scenario <name>`
 * for one. It needs `npx` to bring the runner. Exits with the runner's code: 0 when nothing failed but what `mcp-conformance.yaml` names.
 */

const SERVE_TOOLS = "serve-tools";
const RUNNER = "@modelcontextprotocol/conformance@0.1.16";
const TOKEN = "a token for this one run only!!!".replaceAll(" ", "-");

/**
 * The runner calls tools by names of its own. They come from a small MCP server behind the product's client, so that they pass
 * through policy, thread and record as every tool does.
 */
const TOOLS: Readonly<Record<string, CallToolResult>> = {
  simple_text: { content: [{ type: "text", text: "This is a simple text response for testing." }] },
  image_content: {
    content: [
      {
        type: "image",
        data: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
        mimeType: "image/png",
      },
    ],
  },
  error_handling: {
    content: [{ type: "text", text: "This tool intentionally returns an error for testing" }],
    isError: true,
  },
};

async function serveTools(): Promise<void> {
  const tools = new Server({ name: "fixture", version: "1" }, { capabilities: { tools: {} } });
  tools.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: Object.keys(TOOLS).map((name) => ({
      name,
      description: `The runner's ${name}.`,
      inputSchema: { type: "object" as const, properties: {} },
    })),
  }));
  tools.setRequestHandler(CallToolRequestSchema, ({ params }) => TOOLS[params.name] ?? {});
  await tools.connect(new StdioServerTransport());
  await once(process.stdin, "end");
}

/** The runner sends no token: whoever stands between adds it. All else goes through as it comes. */
async function startProxy(port: number): Promise<http.Server> {
  const server = http.createServer((request, response) => {
    const headers = { ...request.headers, authorization: `Bearer ${TOKEN}` };
    const { method, url } = request;
    const outgoing = http.request({ host: "127.0.0.1", port, method, path: url, headers });
    outgoing.on("response", (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    outgoing.on("error", () => response.destroy());
    response.on("close", () => outgoing.destroy());
    request.pipe(outgoing);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

async function main(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "watchkeeper-conformance-"));
  const file = join(folder, "watchkeeper.yaml");
  const command = [process.execPath, import.meta.filename, SERVE_TOOLS];
  const tools = Object.fromEntries(Object.keys(TOOLS).map((name) => [name, "read"]));
  await writeFile(file, JSON.stringify({ integrations: { mcp: { test: { command, tools } } } }));
  const env = { DATA_DIR: folder, MCP_TOKEN: TOKEN };
  const config = await loadConfig(env, { cwd: folder });
  const log = pino({ level: "warn" });
  const bot = await assemble(config, log, { local: false });
  const agents = await loadAgents(config, bot, [], log);
  if (agents === undefined) throw new Error("MCP_TOKEN was not read");
  const server = await startHttpServer({ routes: agents.routes, port: 0, host: "127.0.0.1", log });
  bot.start(agents.adapter);
  const proxy = await startProxy(server.port);
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/mcp`;
  const expected = join(import.meta.dirname, "mcp-conformance.yaml");
  const runner = ["-y", RUNNER, "server", "--url", url, "--expected-failures", expected];
  const which = process.argv.length > 2 ? process.argv.slice(2) : ["--suite", "all"];
  const child = spawn("npx", [...runner, ...which], { stdio: "inherit" });
  const [code] = await once(child, "exit");
  proxy.close();
  proxy.closeAllConnections();
  await bot.stop();
  await agents.stop();
  await server.stop();
  await rm(folder, { recursive: true });
  process.exitCode = typeof code === "number" ? code : 1;
}

await (process.argv[2] === SERVE_TOOLS ? serveTools() : main());
