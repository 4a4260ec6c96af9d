import { appendFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import * as z from "zod";

/** What the checkout needs; a deploy has just left it with one. */
const WORKERS_NEEDED = 4;
/** Until somebody sets them again. */
const WORKERS_LEFT = 1;

const settings = z.object({ workers: z.int() });

export interface Shop {
  /** Its address, without a slash at the end. */
  readonly url: string;
  readonly isHealthy: boolean;
  stop(): Promise<void>;
}

/** A small shop over real HTTP whose checkout has too few workers since its last deploy, as its log says. */
export async function startShop(logFile: string): Promise<Shop> {
  let workers = WORKERS_LEFT;
  let orders = 4_200;
  const log = (level: string, line: string) =>
    appendFileSync(logFile, `${new Date().toISOString()} ${level} ${line}\n`);
  writeFileSync(logFile, history());

  function checkout(): { status: number; body: object } {
    if (workers < WORKERS_NEEDED) {
      log("ERROR", `checkout: 503, no free worker (${workers} of ${workers} busy)`);
      return { status: 503, body: { error: "no free worker", workers } };
    }
    orders += 1;
    return { status: 200, body: { order: orders, status: "paid" } };
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const route = `${request.method === "HEAD" ? "GET" : request.method} ${request.url}`;
    let reply: { status: number; body: object } = { status: 404, body: { error: "not found" } };
    if (route === "GET /checkout") reply = checkout();
    if (route === "GET /admin/settings") reply = { status: 200, body: { workers } };
    if (route === "PUT /admin/settings") {
      const { workers: wanted } = settings.parse(JSON.parse(await text(request)));
      log("INFO", `settings: workers ${workers} -> ${wanted}`);
      workers = wanted;
      reply = { status: 200, body: { workers } };
    }
    response.writeHead(reply.status, { "content-type": "application/json" });
    response.end(JSON.stringify(reply.body));
  }

  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on a port
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    get isHealthy() {
      return workers >= WORKERS_NEEDED;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** What the log had before anybody looked: a quiet quarter of an hour, a deploy, and then errors. */
function history(): string {
  const now = Date.now();
  const line = (secondsAgo: number, words: string) =>
    `${new Date(now - secondsAgo * 1_000).toISOString()} ${words}\n`;
  const quiet = Array.from({ length: 12 }, (_, index) =>
    line(900 - index * 50, `INFO checkout: order ${4_188 + index} paid in ${80 + index} ms`),
  );
  const deploy = [
    line(300, "INFO deploy 4711: config reloaded, workers 4 -> 1"),
    line(299, "INFO deploy 4711: finished"),
  ];
  const errors = Array.from({ length: 9 }, (_, index) =>
    line(280 - index * 30, "ERROR checkout: 503, no free worker (1 of 1 busy)"),
  );
  return [...quiet, ...deploy, ...errors].join("");
}
