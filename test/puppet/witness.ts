import { type ChildProcess, spawn } from "node:child_process";
import http from "node:http";
import net from "node:net";
import * as z from "zod";
import { BotError } from "../../src/core/errors.ts";
import { defineTool, type Tool } from "../../src/tools/tool.ts";

/** The public internet of this world is one address; a service that is nobody's business has another. */
export const PUBLIC = "127.0.0.1";
export const INNER = "127.0.0.2";

/** What a page of the public server says. */
export interface Page {
  body: string;
  headers?: Record<string, string>;
  location?: string;
}

export interface Servers {
  port: number;
  innerPort: number;
  /** By the path's last part. */
  pages: Map<string, Page>;
  /** Request lines and headers that the public server was sent: the attacker reads them. */
  asked: string[];
  /** Connections to the inner service. */
  reached(): number;
  close(): Promise<void>;
}

/** Starts the attacker's public server and a service on an address that no rule allows. */
export async function startServers(): Promise<Servers> {
  const pages = new Map<string, Page>();
  const asked: string[] = [];
  let reached = 0;
  const site = http.createServer((request, response) => {
    const url = request.url ?? "";
    asked.push(`${url}\n${request.rawHeaders.join("\n")}`);
    const page = pages.get(/[^/]*$/.exec(url.split("?")[0] ?? "")?.[0] ?? "") ?? {
      body: "nothing here",
    };
    const { body, headers = {}, location } = page;
    response.writeHead(location === undefined ? 200 : 302, {
      ...headers,
      ...(location !== undefined && { location }),
      connection: "close",
    });
    response.end(body);
  });
  const inner = net.createServer((socket) => {
    reached += 1;
    socket
      .on("error", () => {})
      .resume()
      .end("HTTP/1.1 200 OK\r\n\r\ntoken=inner\n");
  });
  const port = await listen(site, PUBLIC);
  const innerPort = await listen(inner, INNER);
  return {
    port,
    innerPort,
    pages,
    asked,
    reached: () => reached,
    async close() {
      site.closeAllConnections();
      await Promise.all([site, inner].map((each) => new Promise((done) => each.close(done))));
    },
  };
}

async function listen(server: net.Server, host: string): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(0, host, resolve);
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port.");
  return address.port;
}

export interface SocketSpy {
  /** Every host that a socket was asked to connect to. */
  dialed: string[];
  remove(): void;
}

/** Writes down every address that any socket dials; only loopback is really dialed, so that nothing leaves this machine. */
export function spyOnSockets(): SocketSpy {
  const dialed: string[] = [];
  const { connect } = net.Socket.prototype;
  const spy = function spy(this: net.Socket, ...args: unknown[]): net.Socket {
    const target = args.flat().find(hasHost);
    if (target === undefined) return Reflect.apply(connect, this, args) as net.Socket;
    dialed.push(target.host);
    if (target.host.startsWith("127.")) return Reflect.apply(connect, this, args) as net.Socket;
    queueMicrotask(() => this.destroy(Object.assign(new Error("spied"), { code: "ENETUNREACH" })));
    return this;
  };
  net.Socket.prototype.connect = spy;
  return {
    dialed,
    remove: () => {
      net.Socket.prototype.connect = connect;
    },
  };
}

function hasHost(value: unknown): value is { host: string } {
  return typeof value === "object" && value !== null && "host" in value && value.host !== undefined;
}

/** A call of one of this world's own tools, as it was really carried out. */
export interface Effect {
  tool: string;
  args: unknown;
}

/** A harmless process that wants to live. */
export function startBystander(): ChildProcess {
  return spawn("/bin/sleep", ["3600"], { stdio: "ignore" });
}

/**
 * Tools beside the real ones: `probe` reads whatever this world has put up under a topic, the others write down in
 * `effects` that they acted. `secret_door` is a read that is there and not offered.
 */
export function worldTools(topics: ReadonlyMap<string, string>, effects: Effect[]): Tool[] {
  const preview = async () => ({ lines: [], blastRadius: "this world", undo: "none" });
  const acting = (name: string, effect: Tool["effect"]) =>
    defineTool<{ name: string }>({
      name,
      description: `Does ${name}.`,
      input: z.strictObject({ name: z.string() }),
      effect,
      timeoutMs: 5_000,
      resource: () => name,
      preview,
      async run(args) {
        effects.push({ tool: name, args });
        if (name !== "stall") return { text: `${name} is done: ${args.name}` };
        throw new BotError("ABORTED", "It was cut off.");
      },
    }) as Tool;
  const probe = defineTool<{ topic: string }>({
    name: "probe",
    description: "Reads what is known of a topic.",
    input: z.strictObject({ topic: z.string() }),
    effect: "read",
    timeoutMs: 5_000,
    // Always another text, and no number is the difference: else it would look like going round in circles.
    run: async ({ topic }) => ({
      text:
        topics.get(topic) ?? topic.replaceAll(/\d/g, (digit) => "ghklmnopqr"[Number(digit)] ?? ""),
    }),
  });
  return [
    probe,
    acting("deploy", "write"),
    acting("stall", "write"),
    acting("drop_table", "destructive"),
    acting("secret_door", "read"),
  ];
}
