import http from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** What the server does with one request. */
export interface Reply {
  /** 200. */
  status?: number;
  headers?: Record<string, string>;
  /** The body, written piece by piece. */
  pieces?: readonly (string | Uint8Array)[];
  /** Milliseconds between pieces; 0. */
  everyMs?: number;
  /** `end` is an honest end, `cut` a connection that breaks off, `hang` one that stays silent. Default: `end`. */
  after?: "end" | "cut" | "hang";
  /** The server says nothing at all, not even a status. */
  mute?: boolean;
}

/** A request as it came over the wire. */
interface Seen {
  path: string;
  headers: http.IncomingHttpHeaders;
  body: string;
  /** Resolves when the connection or the response is over. */
  closed: Promise<void>;
}

/** A provider that answers with exactly the bytes a test wants, and remembers exactly those it was sent. */
export interface ModelServer {
  url: string;
  seen: Seen[];
  /** The answers to the next requests, in order. A request too many gets status 599. */
  answer(...replies: Reply[]): void;
  /** The answer to all requests from now on, by the request. */
  answerAll(reply: (seen: Seen) => Reply): void;
  close(): Promise<void>;
}

async function send(response: http.ServerResponse, reply: Reply): Promise<void> {
  if (reply.mute === true) return;
  response.writeHead(reply.status ?? 200, {
    "content-type": "text/event-stream",
    ...reply.headers,
  });
  for (const piece of reply.pieces ?? []) {
    await new Promise<void>((resolve) => {
      response.write(piece, () => resolve());
    });
    if (reply.everyMs !== undefined) await sleep(reply.everyMs);
  }
  if (reply.after === "cut") response.socket?.destroy();
  else if (reply.after === "hang") response.flushHeaders();
  else response.end();
}

export async function startModelServer(): Promise<ModelServer> {
  const seen: Seen[] = [];
  let queue: Reply[] = [];
  let always: ((seen: Seen) => Reply) | undefined;
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    const closed = new Promise<void>((resolve) => {
      response.on("close", () => resolve());
    });
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString();
      const entry = { path: request.url ?? "", headers: request.headers, body, closed };
      seen.push(entry);
      void send(response, queue.shift() ?? always?.(entry) ?? { status: 599 });
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    answer(...replies) {
      queue = replies;
    },
    answerAll(reply) {
      always = reply;
    },
    async close() {
      const closed = new Promise((resolve) => {
        server.close(resolve);
      });
      server.closeAllConnections();
      await closed;
    },
  };
}
