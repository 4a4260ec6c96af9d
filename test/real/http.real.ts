import { once } from "node:events";
import net from "node:net";
import { pino } from "pino";
import { afterEach, expect, test } from "vitest";
import { type HttpServer, startHttpServer } from "../../src/app/http.ts";
import type { HttpRequest, HttpRoute } from "../../src/core/http-route.ts";
import { FakeSlack } from "../fakes/slack/slack.ts";
import { collect, Program } from "../fakes/program.ts";

const log = pino({ level: "silent" });
const ends: (() => Promise<unknown> | void)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

async function open(...routes: HttpRoute[]): Promise<{ server: HttpServer; url: string }> {
  const server = await startHttpServer({ routes, port: 0, log });
  ends.push(() => server.stop());
  return { server, url: `http://127.0.0.1:${server.port}` };
}

test("a route gets what is sent to its address, and answers it; other addresses are 404, other methods 405", async () => {
  const got: HttpRequest[] = [];
  const { url } = await open({
    method: "POST",
    path: "/hook",
    async handle(request) {
      got.push(request);
      return { status: 202, json: { taken: request.body } };
    },
  });
  const response = await fetch(`${url}/hook?x=1`, { method: "POST", body: "é" });
  expect([response.status, await response.json()]).toEqual([202, { taken: "é" }]);
  expect(got).toMatchObject([{ body: "é", headers: { "content-length": "2" } }]);
  expect((await fetch(`${url}/hook`)).status).toBe(405);
  expect((await fetch(`${url}/other`, { method: "POST", body: "" })).status).toBe(404);
});

test("what a route refuses by its headers is not read; what it throws is a 500", async () => {
  const { url } = await open({
    method: "POST",
    path: "/hook",
    refuse: (headers) => (headers["x-key"] === "right" ? undefined : { status: 401 }),
    handle: async () => Promise.reject(new Error("broken")),
  });
  const send = async (headers: Record<string, string>) =>
    (await fetch(`${url}/hook`, { method: "POST", headers, body: "a" })).status;
  expect(await send({})).toBe(401);
  expect(await send({ "x-key": "right" })).toBe(500);
});

test("a request without a body in its method is answered at once, and what it sends all the same is not kept", async () => {
  const { server } = await open();
  const socket = net.connect(server.port, "127.0.0.1");
  ends.push(() => void socket.destroy());
  socket.write("GET /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n");
  const [answer] = await once(socket, "data");
  expect(String(answer)).toMatch(/^HTTP\/1\.1 200 /);
});

test("a port that somebody else has is named", async () => {
  const { server } = await open();
  const again = startHttpServer({ routes: [], port: server.port, log });
  await expect(again).rejects.toMatchObject({
    code: "CONFIG_INVALID",
    message: expect.stringMatching(
      new RegExp(`^PORT: ${server.port} cannot be listened on: .*EADDRINUSE`),
    ),
  });
});

async function freePort(): Promise<string> {
  const server = net.createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as net.AddressInfo;
  server.close();
  await once(server, "close");
  return String(port);
}

test("npm start answers at /healthz and /readyz where PORT is set, and agents where they are turned on, also when no platform sends to it", async () => {
  const slack = await FakeSlack.start();
  ends.push(() => slack.stop());
  const port = await freePort();
  const program = new Program({
    SLACK_BOT_TOKEN: slack.botToken,
    SLACK_APP_TOKEN: slack.appToken,
    SLACK_API_URL: slack.apiUrl,
    PORT: port,
    MCP_TOKEN: "x".repeat(32),
  });
  ends.push(() => program.remove());
  const child = program.start();
  const logged = collect(child.stderr);
  await expect.poll(logged).toContain('"serving"');
  const health = await fetch(`http://127.0.0.1:${port}/healthz`);
  expect([health.status, await health.text()]).toEqual([200, "ok\n"]);
  const ready = await fetch(`http://127.0.0.1:${port}/readyz`);
  expect([ready.status, await ready.text()]).toEqual([200, "ready\n"]);
  const agent = await fetch(`http://127.0.0.1:${port}/mcp`, { method: "POST", body: "{}" });
  expect([agent.status, agent.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
});
