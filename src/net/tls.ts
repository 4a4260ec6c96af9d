import type { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { isIP } from "node:net";
import type { Duplex } from "node:stream";
import type { ConnectionOptions, TLSSocket } from "node:tls";
import { BotError, codeOf, messageOf } from "../core/errors.ts";
import { printable } from "./format.ts";

/** TLS on a connection, whatever its certificate. */
export interface Secured {
  /** Destroying it destroys the connection. */
  socket: TLSSocket;
  /** Milliseconds of the handshake. */
  tlsMs: number;
  /** `TLSv1.3` */
  protocol: string;
  certificate: X509Certificate;
  /** Why this machine does not trust the certificate, a code such as `DEPTH_ZERO_SELF_SIGNED_CERT`; undefined: it does. */
  distrust: string | undefined;
}

/** What a server that the configuration names takes in place of this machine's own terms. Texts are PEM. */
export interface TlsTerms {
  /** Authorities that its certificate may be signed by, in place of the machine's. */
  ca?: string;
  /** Who we are there. */
  cert?: string;
  key?: string;
  /** The name on its certificate, where it is reached by another. */
  serverName?: string;
  /** Its certificate is not looked at: whoever stands in between reads and changes everything. */
  insecure?: boolean;
}

/**
 * Speaks TLS for `host` over a connection, and tells of a bad certificate instead of refusing it: whoever sends something
 * looks at `distrust` first.
 * @throws BotError CONNECTION_FAILED when the handshake fails, with a message to follow "accepts connections, but"; or the
 * signal's reason. The connection is destroyed.
 */
export async function secure(
  connection: Duplex,
  host: string,
  {
    signal,
    protocols = [],
    terms = {},
  }: { signal: AbortSignal; protocols?: string[]; terms?: TlsTerms | undefined },
): Promise<Secured> {
  // node:tls takes milliseconds to load, and few programs' starts are followed by a connection.
  const tls = await import("node:tls");
  const started = performance.now();
  const { serverName = host, ca, cert, key } = terms;
  const name = serverName.replace(/\.$/, "");
  const own: ConnectionOptions = {
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
  };
  const socket = tls.connect({
    socket: connection,
    host: name,
    // An address may not be sent as a server name (RFC 6066, 3).
    servername: isIP(name) === 0 ? name : "",
    ALPNProtocols: protocols,
    rejectUnauthorized: false,
    ...own,
  });
  socket.on("error", () => {});
  try {
    await once(socket, "secureConnect", { signal });
  } catch (error) {
    socket.destroy();
    signal.throwIfAborted();
    throw new BotError("CONNECTION_FAILED", describeTlsFailure(error), { cause: error });
  }
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) {
    socket.destroy();
    throw new BotError("CONNECTION_FAILED", "sends no certificate");
  }
  return {
    socket,
    tlsMs: performance.now() - started,
    protocol: socket.getProtocol() ?? "TLS",
    certificate,
    // The type says Error, Node sets the code itself.
    distrust:
      socket.authorized || terms.insecure === true ? undefined : String(socket.authorizationError),
  };
}

function describeTlsFailure(error: unknown): string {
  switch (codeOf(error) ?? "") {
    case "ERR_SSL_WRONG_VERSION_NUMBER":
    case "ERR_SSL_PACKET_LENGTH_TOO_LONG":
      return "does not speak TLS";
    case "ECONNRESET":
    case "EPIPE":
      return "closes them during the TLS handshake";
    default: {
      const reason = error instanceof Error && "reason" in error ? error.reason : messageOf(error);
      return `fails the TLS handshake: ${printable(String(reason), 200)}`;
    }
  }
}
