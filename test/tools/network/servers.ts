import { readFileSync } from "node:fs";
import http from "node:http";
import https from "node:https";
import net from "node:net";
import { expect, onTestFinished } from "vitest";
import { createNetwork } from "../../../src/net/dial.ts";
import type { Tool, ToolContext } from "../../../src/tools/tool.ts";
import type { Encoder } from "../../../src/security/encoder.ts";
import { idleContext } from "../../fakes/tool-context.ts";

type Rules = Parameters<typeof createNetwork>[0];
type Dialing = Parameters<typeof createNetwork>[1];
export type Certificate = "valid" | "self-signed" | "expired" | "not-yet-valid" | "other-name";

/** What a tool gets: the real connector, by default with the terminal's rules. */
export function toolContext(
  options: {
    rules?: Rules;
    dialing?: Dialing;
    signal?: AbortSignal;
    permit?: ToolContext["permit"];
    encoder?: Encoder;
  } = {},
): ToolContext {
  const { rules = { allow: [], local: true }, signal = new AbortController().signal } = options;
  const { dial } = createNetwork(rules, options.dialing);
  return idleContext({
    signal,
    ...(options.encoder && { encoder: options.encoder }),
    ...(options.permit && { permit: options.permit }),
    dial: (host, port, call) =>
      dial(host, port, { signal: AbortSignal.any([signal, call?.signal ?? signal]) }),
  });
}

/** What the dispatcher does: arguments through the schema, then the tool; what it found stands before its text. */
export async function runTool<I>(tool: Tool<I>, args: unknown, ctx: ToolContext): Promise<string> {
  const { text, findings = [] } = await tool.run(tool.input.parse(args), ctx);
  const found = findings.map(({ cause }) => cause).join("\n");
  return [found, text].filter((part) => part !== "").join("\n\n");
}

/** A report's first line. */
export function conclusion(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}

/**
 * Starts a server on a free loopback port for one test. When the test is over every connection to it must be closed by
 * the other side; one that stays open fails the test.
 */
export async function listen(server: net.Server): Promise<number> {
  const sockets = new Set<net.Socket>();
  server.on("connection", (socket: net.Socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
    // A server that reads nothing would not notice that the other side has gone.
    socket.resume();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  onTestFinished(async () => {
    try {
      await expect.poll(() => sockets.size, { message: "connections left open" }).toBe(0);
    } finally {
      for (const socket of sockets) socket.destroy();
      server.close();
    }
  });
  return portOf(server);
}

export function listenHttp(handler: http.RequestListener): Promise<number> {
  return listen(http.createServer(handler));
}

export function listenHttps(
  certificate: Certificate,
  handler: http.RequestListener,
): Promise<number> {
  return listen(https.createServer(identity(certificate), handler));
}

/** A server that does as `answer` says with each connection, once its client has spoken. */
export function listenRaw(answer: (socket: net.Socket) => void): Promise<number> {
  return listen(
    net.createServer((socket) => {
      socket.once("data", () => answer(socket));
    }),
  );
}

/** A loopback port on which nothing listens. */
export async function closedPort(): Promise<number> {
  const server = net.createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const port = portOf(server);
  await new Promise((resolve) => {
    server.close(resolve);
  });
  return port;
}

export function identity(certificate: Certificate): { key: string; cert: string } {
  return { key: pem("key"), cert: pem(certificate) };
}

/** Of the files that certificates/make.sh made. */
export function pem(name: Certificate | "authority" | "key"): string {
  return readFileSync(new URL(`certificates/${name}.pem`, import.meta.url), "utf8");
}

function portOf(server: net.Server): number {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port.");
  return address.port;
}
