import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocket, WebSocketServer } from "ws";
import { afterOwnTime } from "../own-time.ts";
import type { Attempt, Transport } from "./delivery.ts";
import type { World } from "./world.ts";

export interface Sockets extends Transport {
  /** The address for one connection, as `apps.connections.open` gives it: good once, for 30 s. */
  ticket(): string;
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Connections that are open. */
  count(): number;
  disconnect(reason: string): void;
  dropAll(): void;
  /** Sends a frame as it stands over every connection. */
  sendFrame(frame: unknown): void;
}

/** What Socket Mode calls them. */
const TYPES = { event: "events_api", interaction: "interactive", command: "slash_commands" };

interface Connection {
  readonly socket: WebSocket;
  /** What was sent and not acknowledged, by envelope. */
  readonly inFlight: Map<string, (attempt: Attempt) => void>;
}

/** https://docs.slack.dev/apis/events-api/using-socket-mode: "up to 10 open WebSocket connections". */
const MAX_CONNECTIONS = 10;
const TICKET_LIFE_MS = 30_000;
/** Well within the 30 s after which socket-mode takes a silent server for dead. */
const PING_MS = 5_000;

/** An envelope's id and payload; undefined for anything that acknowledges nothing. */
function readAck(data: unknown): { id: string; payload: unknown } | undefined {
  try {
    const ack: unknown = JSON.parse(String(data));
    if (typeof ack !== "object" || ack === null || !("envelope_id" in ack)) return undefined;
    const payload = "payload" in ack ? ack.payload : undefined;
    return { id: String(ack.envelope_id), payload };
  } catch {
    return undefined;
  }
}

export function createSockets(world: World): Sockets {
  const server = new WebSocketServer({ noServer: true });
  const tickets = new Map<string, number>();
  const connections = new Set<Connection>();
  const open = () => [...connections].filter(({ socket }) => socket.readyState === WebSocket.OPEN);

  function welcome(socket: WebSocket): void {
    const send = (message: unknown) => socket.send(JSON.stringify(message));
    if (connections.size >= MAX_CONNECTIONS) {
      send({ type: "disconnect", reason: "too_many_websockets", debug_info: { host: "fake" } });
      socket.close(1000);
      return;
    }
    const connection: Connection = { socket, inFlight: new Map() };
    connections.add(connection);
    const ping = setInterval(() => socket.ping(), PING_MS);
    socket.on("error", () => {});
    socket.on("message", (data) => {
      const ack = readAck(data);
      if (ack !== undefined) connection.inFlight.get(ack.id)?.({ ok: true, payload: ack.payload });
    });
    socket.on("close", () => {
      clearInterval(ping);
      connections.delete(connection);
      for (const settle of connection.inFlight.values()) {
        settle({ ok: false, reason: "connection_failed" });
      }
    });
    send({
      type: "hello",
      num_connections: connections.size,
      debug_info: { host: "fake", build_number: 1, approximate_connection_time: 3_600 },
      connection_info: { app_id: world.app.id },
    });
  }

  return {
    ticket() {
      const ticket = world.nextId("ticket-");
      tickets.set(ticket, Date.now() + TICKET_LIFE_MS);
      return `${world.origin.replace("http", "ws")}/link/?ticket=${ticket}&app_id=${world.app.id}`;
    },
    upgrade(request, socket, head) {
      const ticket = new URL(request.url ?? "", world.origin).searchParams.get("ticket") ?? "";
      const until = tickets.get(ticket) ?? 0;
      tickets.delete(ticket);
      if (until < Date.now()) {
        socket.end("HTTP/1.1 403 Forbidden\r\nconnection: close\r\n\r\n");
        return;
      }
      server.handleUpgrade(request, socket, head, welcome);
    },
    count: () => open().length,
    disconnect(reason) {
      for (const { socket } of open()) {
        socket.send(JSON.stringify({ type: "disconnect", reason, debug_info: { host: "fake" } }));
        // A warning comes some 10 s before the connection's end.
        if (reason !== "warning") socket.close(1000);
      }
    },
    sendFrame(frame) {
      for (const { socket } of open()) socket.send(JSON.stringify(frame));
    },
    dropAll() {
      for (const { socket } of connections) socket.terminate();
    },
    carry(parcel, retry, signal) {
      const candidates = open();
      if (candidates.length === 0) {
        return Promise.resolve({ ok: false, reason: "connection_failed" });
      }
      const { socket, inFlight } = world.random.pick(candidates);
      const id = world.nextId("envelope-");
      const isEvent = parcel.kind === "event";
      const { promise, resolve } = Promise.withResolvers<Attempt>();
      const giveUp = () => resolve({ ok: false, reason: "stopped" });
      const late = () => resolve({ ok: false, reason: "timeout" });
      const callOff = afterOwnTime(world.settings.ackWithinMs, late);
      signal.addEventListener("abort", giveUp);
      inFlight.set(id, resolve);
      socket.send(
        JSON.stringify({
          envelope_id: id,
          payload: parcel.body,
          type: TYPES[parcel.kind],
          accepts_response_payload: !isEvent,
          ...(isEvent && { retry_attempt: retry?.num ?? 0, retry_reason: retry?.reason ?? "" }),
        }),
      );
      return promise.finally(() => {
        callOff();
        signal.removeEventListener("abort", giveUp);
        inFlight.delete(id);
      });
    },
  };
}
