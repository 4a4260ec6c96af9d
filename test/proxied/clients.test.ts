import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import http from "node:http";
import https from "node:https";
import net, { type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import tls from "node:tls";
import { fileURLToPath } from "node:url";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { WebSocketServer } from "ws";
import { createSocket } from "../../src/adapters/shared/sockets.ts";
import { createApi as createSlackApi } from "../../src/adapters/slack/api.ts";
import { createSocketSource } from "../../src/adapters/slack/socket-source.ts";
import { openTraces } from "../../src/app/events.ts";
import { loadModel } from "../../src/models/load.ts";
import { readAuthorities, trustAuthorities } from "../../src/net/authorities.ts";
import { createNetwork } from "../../src/net/dial.ts";
import { requestHttp } from "../../src/tools/http.ts";
import { bedrockEvent } from "../fakes/amazon-events.ts";
import { startProxy } from "../fakes/connect-proxy.ts";
import { nothingHeld } from "../fakes/encoder.ts";
import { startModelServer } from "../fakes/model-server.ts";
import { anthropic, compatible, openai } from "../models/dialects.ts";
import { failureOf, requestOf, said } from "../models/harness.ts";

/*
 * Every client that the program uses, each by its own SDK and at its service's real name, over TLS: through a proxy, past it, and
 * without one. Behind the proxy stands one server for all of these names, with a certificate of an authority of its own.
 */

const CERTIFICATES = new URL("../net/certificates/", import.meta.url);
const AUTHORITY = fileURLToPath(new URL("authority.pem", CERTIFICATES));
const IDENTITY = {
  cert: readFileSync(new URL("hosts.pem", CERTIFICATES)),
  key: readFileSync(new URL("key.pem", CERTIFICATES)),
};
const { signal } = new AbortController();
const ANSWER = { text: ["It is."], usage: { input: 12, output: 3, cacheRead: 4 } };
const KEY = "key-of-a-test-0123456789";
const silentLog = pino({ level: "silent" });

let usual: string[];
beforeAll(async () => {
  usual = tls.getCACertificates("default");
  await trustAuthorities(readAuthorities(AUTHORITY));
});
afterAll(() => tls.setDefaultCACertificates(usual));

/** TLS for all of those names, with what a server on this machine answers by plain HTTP. */
async function behindTls(port: number): Promise<number> {
  const server = tls.createServer(IDENTITY, (client) => {
    const there = net.connect(port, "127.0.0.1");
    client.pipe(there).pipe(client);
    for (const each of [client, there]) each.on("error", () => {});
    client.on("close", () => there.destroy());
    there.on("close", () => client.destroy());
  });
  return listening(server);
}

async function listening(server: net.Server): Promise<number> {
  const sockets = new Set<net.Socket>();
  server.on("connection", (socket: net.Socket) => sockets.add(socket.on("error", () => {})));
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** The environment as an operator sets it, for this test. */
function setEnvironment(env: Record<string, string>): void {
  const none = { HTTPS_PROXY: "", HTTP_PROXY: "", NO_PROXY: "", https_proxy: "", no_proxy: "" };
  for (const [name, value] of Object.entries({ ...none, ...env })) vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
}

async function googleKey(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "proxied-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });
  const private_key = privateKey.export({ type: "pkcs8", format: "pem" });
  const path = join(folder, "key.json");
  await writeFile(path, JSON.stringify({ client_email: "bot@shop-1.test", private_key }));
  return path;
}

const streamed = { "content-type": "application/vnd.amazon.eventstream" };
const MODELS = {
  "anthropic/claude-x": { values: { ANTHROPIC_API_KEY: KEY }, hosts: ["api.anthropic.com"] },
  "openai/gpt-x": { values: { OPENAI_API_KEY: KEY }, hosts: ["api.openai.com"] },
  "azure/on-call": {
    values: {
      AZURE_OPENAI_API_KEY: KEY,
      AZURE_OPENAI_ENDPOINT: "https://shop.openai.azure.com",
      AZURE_OPENAI_API_VERSION: "2025-04-01-preview",
    },
    hosts: ["shop.openai.azure.com"],
  },
  "bedrock/anthropic.claude-x": {
    values: { AWS_REGION: "us-east-1", AWS_BEARER_TOKEN_BEDROCK: KEY },
    hosts: ["bedrock-runtime.us-east-1.amazonaws.com"],
  },
  "vertex/claude-x": {
    values: { CLOUD_ML_REGION: "us-east5", ANTHROPIC_VERTEX_PROJECT_ID: "shop-1" },
    hosts: ["oauth2.googleapis.com", "us-east5-aiplatform.googleapis.com"],
  },
  "gemini/gemini-x": {
    values: { GEMINI_API_KEY: KEY },
    hosts: ["generativelanguage.googleapis.com"],
  },
} as const;

async function modelWorld() {
  const server = await startModelServer();
  onTestFinished(() => server.close());
  server.answerAll(({ path, headers: { host = "" } }) => {
    if (path === "/token") return { pieces: ['{"access_token":"ya29.test","expires_in":3599}'] };
    if (host.startsWith("bedrock")) {
      const data = anthropic.events(ANSWER).map((event) => /data: (.*)/.exec(event)?.[1] ?? "");
      return { pieces: data.map(bedrockEvent), headers: streamed };
    }
    if (host.startsWith("generative")) return { pieces: compatible.events(ANSWER) };
    return { pieces: (/openai/.test(host) ? openai : anthropic).events(ANSWER) };
  });
  return { server, port: await behindTls(Number(new URL(server.url).port)) };
}

async function modelOf(id: keyof typeof MODELS) {
  const own = id.startsWith("vertex") ? { GOOGLE_APPLICATION_CREDENTIALS: await googleKey() } : {};
  return loadModel(id, { values: { ...MODELS[id].values, ...own } }, { attempts: 1 });
}

describe("models", () => {
  test.each(Object.keys(MODELS) as (keyof typeof MODELS)[])(
    "%s is asked through the proxy at its own name",
    async (id) => {
      const { port } = await modelWorld();
      const proxy = await startProxy(port);
      setEnvironment({ HTTPS_PROXY: proxy.url.replace("//", "//ana:word@") });
      const model = await modelOf(id);
      const answer = await model.generate(requestOf([said("Is it up?")]), { signal });
      expect(answer.content).toMatchObject([{ kind: "text", text: "It is." }]);
      expect(proxy.targets()).toEqual(MODELS[id].hosts.map((host) => `${host}:443`));
      expect(new Set(proxy.asked.map(({ credentials }) => credentials))).toEqual(
        new Set(["ana:word"]),
      );
    },
  );

  test("one that NO_PROXY names, or without a variable, is not; http has its own variable, and this machine needs none", async () => {
    const { server, port } = await modelWorld();
    const proxy = await startProxy(port);
    const ask = async (values: Record<string, string>) => {
      const settings = { values: { ANTHROPIC_API_KEY: KEY, ...values } };
      const model = await loadModel("anthropic/claude-x", settings, { attempts: 1 });
      return model.generate(requestOf([said("Is it up?")]), { signal });
    };
    // Nobody resolves these names: only the proxy leads anywhere.
    const far = { ANTHROPIC_BASE_URL: "https://models.shop.test" };
    setEnvironment({ HTTPS_PROXY: proxy.url, NO_PROXY: ".test" });
    await expect(ask(far)).rejects.toMatchObject({ code: "MODEL_UNREACHABLE" });
    setEnvironment({ HTTP_PROXY: proxy.url });
    await expect(ask(far)).rejects.toMatchObject({ code: "MODEL_UNREACHABLE" });
    setEnvironment({ HTTP_PROXY: proxy.url, HTTPS_PROXY: proxy.url });
    expect((await ask({ ANTHROPIC_BASE_URL: server.url })).stop).toBe("end_turn");
    expect(proxy.targets()).toEqual([]);
    const plain = await startProxy(Number(new URL(server.url).port));
    setEnvironment({ HTTP_PROXY: plain.url });
    expect((await ask({ ANTHROPIC_BASE_URL: "http://models.shop.test:8080" })).stop).toBe(
      "end_turn",
    );
    expect(plain.targets()).toEqual(["models.shop.test:8080"]);
  });

  test("what the proxy answers instead is what people read", async () => {
    const proxy = await startProxy(1, () => 407);
    setEnvironment({ HTTPS_PROXY: proxy.url });
    const model = await modelOf("anthropic/claude-x");
    const { code, message } = await failureOf(
      model.generate(requestOf([said("Is it up?")]), { signal }),
    );
    expect(code).toBe("MODEL_UNREACHABLE");
    expect(message).toContain(`the proxy ${proxy.host} asks for a name and a password (407)`);
  });
});

/** What Slack and Discord answer to the first requests, and their sockets. */
async function chatWorld(onSocket: (send: (frame: object) => void, frame: unknown) => void) {
  const server = http.createServer(({ url = "" }, response) => {
    response.setHeader("content-type", "application/json");
    const answers: Record<string, object> = {
      "/api/apps.connections.open": { ok: true, url: "wss://wss-primary.slack.com/link/?ticket=1" },
      "/api/auth.test": { ok: true, team: "Shop" },
      "/api/v10/gateway/bot": {
        url: "wss://gateway.discord.gg",
        shards: 1,
        session_start_limit: { total: 9, remaining: 9, reset_after: 1, max_concurrency: 1 },
      },
    };
    response.end(JSON.stringify(answers[url] ?? {}));
  });
  const sockets = new WebSocketServer({ server });
  sockets.on("connection", (socket) => {
    const send = (frame: object) => socket.send(JSON.stringify(frame));
    socket.on("message", (data: Buffer) => onSocket(send, JSON.parse(data.toString())));
    onSocket(send, undefined);
  });
  const port = await listening(server);
  return startProxy(await behindTls(port));
}

test("Slack's Web API and socket, Discord's API and gateway, and doctor's connection to it go through the proxy", async () => {
  const identified = Promise.withResolvers<void>();
  const proxy = await chatWorld((send, frame) => {
    if (frame === undefined) {
      send({ type: "hello", num_connections: 1 });
      send({ op: 10, d: { heartbeat_interval: 60_000 } });
    }
    if ((frame as { op?: number } | undefined)?.op !== 2) return;
    identified.resolve();
    const user = { id: "1", username: "bot", discriminator: "0", bot: true };
    const url = "wss://gateway.discord.gg";
    const own = { session_id: "s", resume_gateway_url: url, application: { id: "1", flags: 0 } };
    send({ op: 0, t: "READY", s: 1, d: { v: 10, user, guilds: [], ...own } });
  });
  setEnvironment({ HTTPS_PROXY: proxy.url });
  const options = { apiUrl: undefined, log: silentLog };
  const api = createSlackApi({ token: "xoxb-1", variable: "SLACK_BOT_TOKEN", ...options });
  expect(await api.ask("auth.test", (client) => client.auth.test())).toMatchObject({ ok: true });
  const source = createSocketSource({ appToken: "xapp-1", ...options });
  await source.start(async () => undefined);
  await source.stop();
  expect(new Set(proxy.targets())).toEqual(new Set(["slack.com:443", "wss-primary.slack.com:443"]));

  const { useProxiedGateway } = await import("../../src/adapters/discord/gateway-socket.ts");
  useProxiedGateway();
  const { createConnection } = await import("../../src/adapters/discord/connection.ts");
  const connection = createConnection({
    token: "token-of-a-test",
    bot: "1",
    ...options,
  });
  const nothing = () => {};
  await connection.open({
    onMessage: nothing,
    onChanged: nothing,
    onReaction: nothing,
    onInteraction: nothing,
    onJoined: nothing,
    onSession: nothing,
  });
  await identified.promise;
  await connection.close();
  expect(new Set(proxy.targets().slice(-2))).toEqual(
    new Set(["discord.com:443", "gateway.discord.gg:443"]),
  );
  const before = proxy.targets().length;
  const socket = createSocket("wss://gateway.discord.gg/?v=10");
  await new Promise((resolve) => socket.addEventListener("open", resolve));
  socket.close();
  expect(proxy.targets().slice(before)).toEqual(["gateway.discord.gg:443"]);
});

test("traces go to their collector through the proxy", async () => {
  const arrived = Promise.withResolvers<string>();
  const server = https.createServer(IDENTITY, ({ url = "" }, response) => {
    response.end("{}");
    arrived.resolve(url);
  });
  const proxy = await startProxy(await listening(server));
  setEnvironment({ HTTPS_PROXY: proxy.url });
  const url = "https://collector.shop.test:4318";
  const { subscriber, stop } = await openTraces({ host: "here" }, { url, headers: undefined });
  const [key, at] = ["slack:T1:C1:1.5", 1_780_000_000_000] as const;
  const run = { run: "r1", principals: ["slack:T1:U1"], answers: ["m1"], calls: [] };
  const began = { seq: 1, id: "e1", at, kind: "run_started", ...run } as const;
  const over = {
    seq: 2,
    id: "e2",
    at: at + 9,
    kind: "run_ended",
    run: "r1",
    status: "completed",
  } as const;
  for (const entry of [began, over]) subscriber({ kind: "written", key, entry });
  await stop();
  expect(await arrived.promise).toBe("/v1/traces");
  expect(proxy.targets()).toEqual(["collector.shop.test:4318"]);
});

describe("what tools request", () => {
  const tool = { name: "look", endpoints: { shop: { url: "https://status.shop.test/" } } };
  const limits = { allow: [], local: false };
  async function world(addresses: readonly string[]) {
    const server = https.createServer(IDENTITY, (_, response) => response.end("ok"));
    const proxy = await startProxy(await listening(server));
    setEnvironment({ HTTPS_PROXY: proxy.url, NO_PROXY: "10.0.0.0/8" });
    const asked: string[] = [];
    const lookup = async (name: string) => {
      asked.push(name);
      return addresses;
    };
    const network = createNetwork(limits, { lookup, connectTimeoutMs: 50 });
    const parts = {
      tool,
      signal,
      dial: network.dial,
      network,
      encoder: nothingHeld,
      permit: async () => "no",
    };
    return { proxy, asked, request: (call: object) => requestHttp(parts, { url: "", ...call }) };
  }

  test("a server that the configuration names is connected to by its name, which only the proxy looks up", async () => {
    const { proxy, asked, request } = await world([]);
    expect(await request({ endpoint: "shop" })).toMatchObject({ status: 200, text: "ok" });
    expect([proxy.targets(), asked]).toEqual([["status.shop.test:443"], []]);
  });

  test("any other host is looked up and checked here, and the proxy is told the very address that was allowed", async () => {
    const { proxy, request } = await world(["169.254.169.254", "93.184.216.34"]);
    expect(await request({ url: "https://www.shop.test/" })).toMatchObject({
      status: 200,
      text: "ok",
    });
    expect(proxy.targets()).toEqual(["93.184.216.34:443"]);
  });

  test.each([["169.254.169.254"], ["127.0.0.1"], ["192.168.1.1"], ["fd00:ec2::254"]])(
    "a host that is found to be %s is refused before the proxy hears of it",
    async (address) => {
      const { proxy, request } = await world([address]);
      await expect(request({ url: "https://www.shop.test/" })).rejects.toMatchObject({
        code: "ADDRESS_REFUSED",
      });
      await expect(
        request({ url: `https://${address.includes(":") ? `[${address}]` : address}/` }),
      ).rejects.toMatchObject({ code: "ADDRESS_REFUSED" });
      expect(proxy.targets()).toEqual([]);
    },
  );

  test("what the proxy answers instead is the tool's error", async () => {
    const proxy = await startProxy(1, () => 403);
    setEnvironment({ HTTPS_PROXY: proxy.url });
    const network = createNetwork(limits);
    const parts = { tool, signal, dial: network.dial, network, encoder: nothingHeld };
    await expect(
      requestHttp({ ...parts, permit: async () => "no" }, { url: "", endpoint: "shop" }),
    ).rejects.toThrow(
      `the proxy ${proxy.host} does not connect to status.shop.test:443 (403 Forbidden)`,
    );
  });
});
