import { createServer, connect, type Socket } from "node:net";
import type { RedisAddress } from "../../src/journal/redis/address.ts";

/** A way to a server's unix socket that can be cut in the middle of a reply, hold replies up, or swallow what goes through it. */
export interface CuttingProxy {
  readonly address: RedisAddress;
  /** Lets this many more bytes of replies through and then resets every connection, once. */
  cutAfter(bytes: number): void;
  /** From now on replies take so many ms longer. */
  delay(ms: number): void;
  /** Connections of before stay open and carry nothing any more, as behind a firewall that has forgotten them. */
  swallow(): void;
  /** Leads to this server from the next connection on; those of before stay where they are. */
  leadTo(path: string): void;
  /** How often it was cut. */
  cuts(): number;
  close(): Promise<void>;
}

export async function createCuttingProxy(first: string): Promise<CuttingProxy> {
  let path = first;
  const sockets = new Set<Socket>();
  let left = Infinity;
  let cuts = 0;
  let delayMs = 0;
  const server = createServer((client) => {
    const upstream = connect(path);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket
        .on("error", () => {})
        .on("close", () => {
          sockets.delete(socket);
          client.destroy();
          upstream.destroy();
        });
    }
    client.pipe(upstream);
    upstream.on("data", (data) => {
      if (data.length <= left) {
        left -= data.length;
        if (delayMs === 0) client.write(data);
        else setTimeout(() => client.write(data), delayMs);
        return;
      }
      client.write(data.subarray(0, left));
      left = Infinity;
      cuts += 1;
      for (const socket of sockets) socket.destroySoon();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const listening = server.address();
  const port = typeof listening === "object" && listening !== null ? listening.port : 0;
  return {
    address: {
      at: { kind: "tcp", host: "127.0.0.1", port, tls: false },
      username: undefined,
      password: undefined,
      database: 0,
    },
    cutAfter(bytes) {
      left = bytes;
    },
    delay(ms) {
      delayMs = ms;
    },
    swallow() {
      for (const socket of sockets) socket.unpipe().removeAllListeners("data").resume();
    },
    leadTo(next) {
      path = next;
    },
    cuts: () => cuts,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
