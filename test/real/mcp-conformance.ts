import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { loadAgents } from "../../src/app/agents.ts";
import { assemble } from "../../src/app/assemble.ts";
import { startHttpServer } from "../../src/app/http.ts";
import { loadConfig } from "../../src/config/config.ts";

/**
 * Runs the protocol's own conformance suite against the MCP server over HTTP: `npm run conformance`, with `-- --scenario <name>`
 * for one. It needs `npx` to bring the runner. Exits with the runner's code: 0 when nothing failed but `expected.yaml` names it.
 */

const RUNNER = "@modelcontextprotocol/conformance@0.1.16";
const TOKEN = "a token for this one run only!!!".replaceAll(" ", "-");

/** The runner's fixture tools, as far as a tool of ours can be one: text results, and errors. */
const PACK = `
tools:
  test_simple_text:
    description: Says one sentence.
    effect: read
    run: [echo, This is a simple text response for testing.]
  test_error_handling:
    description: Fails.
    effect: read
    run: [ls, /nowhere]
`;

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

const folder = await mkdtemp(join(tmpdir(), "watchkeeper-conformance-"));
await writeFile(join(folder, "conformance.yaml"), PACK);
const env = { DATA_DIR: folder, PACKS_DIR: folder, MCP_TOKEN: TOKEN };
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
const child = spawn("npx", [...runner, ...process.argv.slice(2)], { stdio: "inherit" });
const [code] = await once(child, "exit");
proxy.close();
proxy.closeAllConnections();
await bot.stop();
await agents.stop();
await server.stop();
await rm(folder, { recursive: true });
process.exitCode = typeof code === "number" ? code : 1;
