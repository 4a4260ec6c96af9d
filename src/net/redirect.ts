import { createServer } from "node:http";
import { BotError, messageOf } from "../core/errors.ts";

/** Where a browser comes back to from signing in elsewhere, on this machine alone. */
export interface RedirectServer {
  url: string;
  /** The address that it came back to. */
  came: Promise<URL>;
  close(): void;
}

const PATH = "/callback";
const PAGE = "You can close this window; the terminal says how the login went.\n";

/**
 * Listens on loopback. `isOurs` tells the answer from what anything else on this machine may ask; only that one is taken.
 * @throws BotError NOT_AVAILABLE when the port is taken
 */
export async function listenForRedirect(
  port: number,
  isOurs: (redirect: URL) => boolean,
): Promise<RedirectServer> {
  const { promise: came, resolve } = Promise.withResolvers<URL>();
  const server = createServer((request, response) => {
    const url = URL.parse(request.url ?? "", base);
    const isTaken = request.method === "GET" && url?.pathname === PATH && isOurs(url);
    response.writeHead(isTaken ? 200 : 404, {
      "content-type": "text/plain; charset=utf-8",
      "cache-control": "no-store",
      connection: "close",
    });
    response.end(isTaken ? PAGE : "Not found.\n");
    if (isTaken) resolve(url);
  });
  server.maxConnections = 10;
  const listening = Promise.withResolvers<void>();
  server.once("error", listening.reject);
  server.listen(port, "127.0.0.1", listening.resolve);
  try {
    await listening.promise;
  } catch (error) {
    const text = `127.0.0.1:${port} cannot be listened on: ${messageOf(error)}`;
    throw new BotError("NOT_AVAILABLE", text, { cause: error });
  }
  const address = server.address();
  const own = typeof address === "object" && address !== null ? address.port : port;
  const base = `http://127.0.0.1:${own}`;
  return {
    url: `${base}${PATH}`,
    came,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
