import { once } from "node:events";
import http from "node:http";
import net, { type AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { onTestFinished } from "vitest";

/** One request for a connection. */
interface Asked {
  /** `api.example.com:443` */
  target: string;
  credentials: string | undefined;
}

/** An HTTP proxy on loopback that connects (CONNECT) to one port here, whatever host it is asked for. It ends with the test. */
export async function startProxy(to: number, answer?: (asked: Asked) => number | "silence") {
  const asked: Asked[] = [];
  const sockets = new Set<Duplex>();
  const kept = (socket: Duplex) => {
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
  };
  const server = http.createServer();
  server.on("connection", kept);
  server.on("connect", ({ url = "", headers }, client: Duplex) => {
    const header = headers["proxy-authorization"];
    const credentials =
      header === undefined ? undefined : Buffer.from(header.slice(6), "base64").toString();
    const one = { target: url, credentials };
    asked.push(one);
    const status = answer?.(one) ?? 200;
    if (status === "silence") return;
    if (status !== 200) {
      client.end(`HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\n\r\n`);
      return;
    }
    const there = net.connect(to, "127.0.0.1", () => {
      client.write("HTTP/1.1 200 Connection established\r\n\r\n");
      client.pipe(there).pipe(client);
    });
    kept(there);
    there.on("close", () => client.destroy());
    client.on("close", () => there.destroy());
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    host: `127.0.0.1:${port}`,
    url: `http://127.0.0.1:${port}`,
    asked,
    targets: () => asked.map(({ target }) => target),
  };
}
