import http from "node:http";
import https from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { type ApiOptions, type Asked, createFakeApi } from "./api.ts";
import type { Answer } from "./status.ts";

export type FakeKubernetes = Awaited<ReturnType<typeof startKubernetes>>;

/** The fake API server on a socket of loopback. */
export async function startKubernetes(options: ApiOptions & { tls?: https.ServerOptions } = {}) {
  const { answer, ...api } = createFakeApi(options);
  const asked: Asked[] = [];
  /** Answers in its place, or does something to the connection. */
  let interfere: ((request: Asked, response: http.ServerResponse) => boolean) | undefined;
  const sockets = new Set<Socket>();
  const listener: http.RequestListener = (incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => {
      const { method = "", url = "", headers } = incoming;
      const request = { method, url, headers, body: Buffer.concat(chunks).toString() };
      asked.push(request);
      if (interfere?.(request, response) === true) return;
      send(answer(request), headers, response);
    });
  };
  const server =
    options.tls === undefined
      ? http.createServer(listener)
      : https.createServer(options.tls, listener);
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;

  return {
    ...api,
    origin: `${options.tls === undefined ? "http" : "https"}://127.0.0.1:${port}`,
    /** What it was asked, in order. */
    asked,
    interfere(work: typeof interfere) {
      interfere = work;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function send(
  { status, body, type }: Answer,
  headers: http.IncomingHttpHeaders,
  response: http.ServerResponse,
): void {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const isZipped = text.length > 128 * 1024 && (headers["accept-encoding"] ?? "").includes("gzip");
  response.writeHead(status, {
    "content-type": type ?? "application/json",
    ...(isZipped && { "content-encoding": "gzip" }),
  });
  response.end(isZipped ? gzipSync(text) : text);
}
