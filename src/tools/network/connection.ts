import { addAbortListener, once } from "node:events";
import { isIP } from "node:net";
import type { Duplex } from "node:stream";
import type { TLSSocket } from "node:tls";
import { BotError, messageOf } from "../../core/errors.ts";
import type { ToolContext } from "../tool.ts";
import type { Dialed } from "../../net/dial.ts";
import { describeCertificate, type CertificateReport } from "./certificate.ts";
import { printable } from "./format.ts";

/** TLS on a connection, whatever its certificate. */
export interface Secured {
  socket: TLSSocket;
  /** Milliseconds of the handshake. */
  tlsMs: number;
  /** `TLSv1.3` */
  protocol: string;
  certificate: CertificateReport;
}

/** How long one check may take. */
export interface TimeLimit {
  /** Aborts when the time is up, and with the call. */
  signal: AbortSignal;
  seconds: number;
}

/** Starts the clock of one check. */
export function limitTime(ctx: ToolContext, seconds: number): TimeLimit {
  return { signal: AbortSignal.any([ctx.signal, AbortSignal.timeout(seconds * 1_000)]), seconds };
}

/**
 * `ctx.dial`, given up when the time is up; the connection that it may still make is closed as soon as it is there.
 * @throws whatever `ctx.dial` throws, or the signal's reason
 */
export async function dialWithin(
  ctx: ToolContext,
  host: string,
  port: number,
  limit: TimeLimit,
): Promise<Dialed> {
  limit.signal.throwIfAborted();
  const late = Promise.withResolvers<never>();
  const listener = addAbortListener(limit.signal, () => late.reject(limit.signal.reason));
  const dialing = ctx.dial(host, port);
  try {
    return await Promise.race([dialing, late.promise]);
  } catch (error) {
    void dialing.then(
      (dialed) => dialed.socket.destroy(),
      () => {},
    );
    throw error;
  } finally {
    listener[Symbol.dispose]();
  }
}

/**
 * Speaks TLS for `host` over a connection, and reports the certificate instead of refusing it: an expired one is what an
 * operator wants to hear about. Destroying the socket it returns destroys the connection.
 * @throws BotError CONNECTION_FAILED when the handshake fails, with a message to follow "accepts connections, but"; or the
 * signal's reason. The connection is destroyed.
 */
export async function secure(
  connection: Duplex,
  host: string,
  limit: TimeLimit,
  protocols: string[] = [],
): Promise<Secured> {
  // node:tls takes milliseconds to load, and few programs' starts are followed by a check.
  // oxlint-disable-next-line no-restricted-imports -- It speaks over the connection that ctx.dial opened.
  const tls = await import("node:tls");
  const started = performance.now();
  const name = host.replace(/\.$/, "");
  const socket = tls.connect({
    socket: connection,
    host: name,
    // An address may not be sent as a server name (RFC 6066, 3).
    servername: isIP(name) === 0 ? name : "",
    ALPNProtocols: protocols,
    rejectUnauthorized: false,
  });
  socket.on("error", () => {});
  try {
    await once(socket, "secureConnect", { signal: limit.signal });
  } catch (error) {
    socket.destroy();
    limit.signal.throwIfAborted();
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
    certificate: describeCertificate(certificate, name, chainError(socket), Date.now()),
  };
}

/** The code of what TLS holds against the certificate. The type says Error, Node sets the code itself. */
function chainError(socket: TLSSocket): string | undefined {
  return socket.authorized ? undefined : String(socket.authorizationError);
}

/** To follow `accepts connections, but`. */
function describeTlsFailure(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  switch (code) {
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
