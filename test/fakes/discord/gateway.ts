import type http from "node:http";
import type { Duplex } from "node:stream";
import { WebSocket, WebSocketServer } from "ws";
import type { Body } from "./world.ts";

const OP = {
  dispatch: 0,
  heartbeat: 1,
  identify: 2,
  presence: 3,
  voice: 4,
  resume: 6,
  members: 8,
  invalid: 9,
  hello: 10,
  ack: 11,
} as const;

/** Of https://discord.com/developers/docs/topics/opcodes-and-status-codes#gateway. */
const CLOSE = {
  unknownOp: 4001,
  decode: 4002,
  notAuthenticated: 4003,
  wrongToken: 4004,
  alreadyAuthenticated: 4005,
  wrongSequence: 4007,
  rateLimited: 4008,
  timedOut: 4009,
  wrongShard: 4010,
  shardingRequired: 4011,
  wrongVersion: 4012,
  invalidIntents: 4013,
  disallowedIntents: 4014,
} as const;

export const INTENTS = {
  guilds: 1 << 0,
  guildMembers: 1 << 1,
  presences: 1 << 8,
  guildMessages: 1 << 9,
  guildReactions: 1 << 10,
  guildTyping: 1 << 11,
  directMessages: 1 << 12,
  directReactions: 1 << 13,
  directTyping: 1 << 14,
  messageContent: 1 << 15,
} as const;

/** Bits 0 to 16, 20, 21, 24 and 25 are all that exist. */
const ALL_INTENTS = 0x1_ffff | (0b11 << 20) | (0b11 << 24);
const PRIVILEGED = INTENTS.guildMembers | INTENTS.presences | INTENTS.messageContent;

const COMMANDS_A_MINUTE = 120;
const MAX_COMMAND_BYTES = 4_096;
const MAX_KEPT = 5_000;
const IDENTIFY_EVERY_MS = 5_000;

/** A client's session: it outlives its connections. */
export interface Session {
  readonly id: string;
  readonly intents: number;
  /** Its number, and how many there are. */
  readonly shard: readonly [number, number];
  sequence: number;
  /** What a resume may ask for again. */
  kept: { s: number; t: string; d: unknown }[];
  socket: WebSocket | undefined;
  /** Until then nothing more is sent, so that what is delayed stays in order. */
  busyUntil: number;
}

export interface GatewayHost {
  readonly token: string;
  /** Bits of the privileged intents that are switched on. */
  readonly allowedIntents: number;
  readonly heartbeatMs: number;
  readonly resumeUrl: () => string;
  /** Every identify ends with this code of a close. */
  readonly refuseWith: number | undefined;
  readonly limits: boolean;
  /** With fewer a connection is refused: each would have too many guilds. */
  readonly minShards: number;
  /** Sessions that may begin at once, each of another remainder. */
  readonly concurrency: number;
  readonly copies: number;
  readonly delayMs: readonly [number, number];
  /** From 0 to 1. */
  readonly random: () => number;
  newId(): string;
  ready(): { user: Body; application: Body; guilds: { id: string }[] };
  guildCreate(id: string): Body | undefined;
}

/** The WebSocket side: any number of clients, each with every event it may see. */
export class Gateway {
  readonly #host: GatewayHost;
  readonly #server = new WebSocketServer({ noServer: true, maxPayload: MAX_COMMAND_BYTES });
  readonly #sessions = new Map<string, Session>();
  readonly #sockets = new Set<WebSocket>();
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #waiting = new Set<() => void>();
  /** By the remainder of the shard. */
  readonly #lastIdentify = new Map<number, number>();
  identifiesLeft: number;

  constructor(host: GatewayHost, identifies: number) {
    this.#host = host;
    this.identifiesLeft = identifies;
  }

  /** Sessions that have a connection. */
  get connected(): number {
    return [...this.#sessions.values()].filter((each) => each.socket !== undefined).length;
  }

  upgrade(request: http.IncomingMessage, socket: Duplex, head: Buffer): void {
    this.#server.handleUpgrade(request, socket, head, (client) =>
      this.#welcome(client, request.url ?? ""),
    );
  }

  /** Resolves once so many sessions have a connection. */
  async whenConnected(count: number): Promise<void> {
    while (this.connected < count) {
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    }
  }

  /** Sends an event to every session for which `make` gives one. */
  dispatch(event: string, make: (session: Session) => unknown): void {
    for (const session of this.#sessions.values()) {
      const data = make(session);
      if (data === undefined || !hears(session.shard, guildIn(event, data))) continue;
      const [min, max] = this.#host.delayMs;
      const drawn = min + this.#host.random() * (max - min);
      const at = Math.max(session.busyUntil, Date.now() + drawn);
      session.busyUntil = at;
      this.#later(at - Date.now(), () => this.#send(session, event, data));
      for (let copy = 1; copy < this.#host.copies; copy += 1) {
        const after = at - Date.now() + this.#host.random() * Math.max(20, max);
        this.#later(Math.max(1, after), () => this.#send(session, event, data));
      }
    }
  }

  /** Sends a frame as it stands to every connection. */
  sendFrame(frame: unknown): void {
    for (const { socket } of this.#sessions.values()) socket?.send(JSON.stringify(frame));
  }

  drop(forget: boolean): void {
    if (forget) this.#sessions.clear();
    for (const socket of this.#sockets) socket.terminate();
    for (const session of this.#sessions.values()) session.socket = undefined;
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    for (const socket of this.#sockets) socket.terminate();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #later(ms: number, run: () => void): void {
    if (ms <= 0) return run();
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      run();
    }, ms);
    this.#timers.add(timer);
  }

  #write(socket: WebSocket, payload: Body): void {
    if (socket.readyState === WebSocket.OPEN) {
      socket.send(JSON.stringify({ s: null, t: null, d: null, ...payload }));
    }
  }

  #send(session: Session, t: string, d: unknown): void {
    session.sequence += 1;
    session.kept.push({ s: session.sequence, t, d });
    if (session.kept.length > MAX_KEPT) session.kept.shift();
    if (session.socket !== undefined) {
      this.#write(session.socket, { op: OP.dispatch, s: session.sequence, t, d });
    }
  }

  #welcome(socket: WebSocket, url: string): void {
    this.#sockets.add(socket);
    const query = new URL(url, "ws://localhost").searchParams;
    const sent: number[] = [];
    let session: Session | undefined;
    let beatAt = Date.now();
    const watch = setInterval(() => {
      if (Date.now() - beatAt > 2 * this.#host.heartbeatMs)
        socket.close(CLOSE.timedOut, "Session timed out.");
    }, this.#host.heartbeatMs);
    socket.on("error", () => {});
    socket.on("close", (code) => {
      clearInterval(watch);
      this.#sockets.delete(socket);
      if (session?.socket !== socket) return;
      session.socket = undefined;
      // A client that closes with one of these has done with its session.
      if (code === 1000 || code === 1001) this.#sessions.delete(session.id);
    });
    if (query.get("v") !== "10" || query.get("encoding") !== "json") {
      socket.close(CLOSE.wrongVersion, "Invalid API version.");
      return;
    }
    this.#write(socket, {
      op: OP.hello,
      d: { heartbeat_interval: this.#host.heartbeatMs, _trace: [] },
    });
    socket.on("message", (data: Buffer) => {
      const now = Date.now();
      while ((sent[0] ?? now) < now - 60_000) sent.shift();
      sent.push(now);
      if (sent.length > COMMANDS_A_MINUTE) return socket.close(CLOSE.rateLimited, "Rate limited.");
      let command: Body;
      try {
        command = JSON.parse(data.toString()) as Body;
      } catch {
        return socket.close(CLOSE.decode, "Error while decoding payload.");
      }
      if (command["op"] === OP.heartbeat) {
        beatAt = now;
        const seen = Number(command["d"] ?? 0);
        if (session !== undefined) session.kept = session.kept.filter((each) => each.s > seen);
        return this.#write(socket, { op: OP.ack });
      }
      session = this.#obey(socket, session, command);
    });
  }

  #obey(socket: WebSocket, session: Session | undefined, command: Body): Session | undefined {
    const { op } = command;
    const d = (command["d"] ?? {}) as Body;
    if (op === OP.identify || op === OP.resume) {
      if (session !== undefined) socket.close(CLOSE.alreadyAuthenticated, "Already authenticated.");
      else return op === OP.identify ? this.#identify(socket, d) : this.#resume(socket, d);
    } else if (session === undefined) socket.close(CLOSE.notAuthenticated, "Not authenticated.");
    else if (op !== OP.presence && op !== OP.voice && op !== OP.members)
      socket.close(CLOSE.unknownOp, "Unknown opcode.");
    return session;
  }

  #identify(socket: WebSocket, d: Body): Session | undefined {
    const { intents } = d;
    const refuse = (code: number, reason: string): undefined => {
      socket.close(code, reason);
      return undefined;
    };
    if (d["token"] !== this.#host.token) return refuse(CLOSE.wrongToken, "Authentication failed.");
    if (this.#host.refuseWith !== undefined) return refuse(this.#host.refuseWith, "Refused.");
    const shard = readShard(d["shard"]);
    if (shard === undefined) return refuse(CLOSE.wrongShard, "Invalid shard.");
    if (shard[1] < this.#host.minShards)
      return refuse(CLOSE.shardingRequired, "Sharding required.");
    if (typeof intents !== "number" || (intents & ~ALL_INTENTS) !== 0) {
      return refuse(CLOSE.invalidIntents, "Invalid intent(s).");
    }
    if ((intents & PRIVILEGED & ~this.#host.allowedIntents) !== 0) {
      return refuse(CLOSE.disallowedIntents, "Disallowed intent(s).");
    }
    const bucket = shard[0] % this.#host.concurrency;
    const last = this.#lastIdentify.get(bucket) ?? -Infinity;
    const tooSoon = this.#host.limits && Date.now() - last < IDENTIFY_EVERY_MS;
    if (tooSoon || this.identifiesLeft === 0) {
      this.#write(socket, { op: OP.invalid, d: false });
      return undefined;
    }
    this.#lastIdentify.set(bucket, Date.now());
    this.identifiesLeft -= 1;
    const session: Session = {
      id: this.#host.newId(),
      intents,
      shard,
      sequence: 0,
      kept: [],
      socket,
      busyUntil: 0,
    };
    this.#sessions.set(session.id, session);
    const { user, application, guilds: all } = this.#host.ready();
    const guilds = all.filter(({ id }) => hears(shard, id));
    this.#send(session, "READY", {
      v: 10,
      user,
      application,
      guilds: guilds.map(({ id }) => ({ id, unavailable: true })),
      session_id: session.id,
      session_type: "normal",
      resume_gateway_url: this.#host.resumeUrl(),
      shard,
      private_channels: [],
      relationships: [],
      user_settings: {},
    });
    if ((intents & INTENTS.guilds) !== 0) {
      for (const { id } of guilds) {
        const guild = this.#host.guildCreate(id);
        if (guild !== undefined) this.#send(session, "GUILD_CREATE", guild);
      }
    }
    this.#arrived();
    return session;
  }

  #resume(socket: WebSocket, d: Body): Session | undefined {
    if (d["token"] !== this.#host.token) {
      socket.close(CLOSE.wrongToken, "Authentication failed.");
      return undefined;
    }
    const session = this.#sessions.get(String(d["session_id"]));
    const after = Number(d["seq"]);
    if (session !== undefined && after > session.sequence) {
      socket.close(CLOSE.wrongSequence, "Invalid seq.");
      return undefined;
    }
    const oldest = session?.kept[0]?.s ?? (session?.sequence ?? 0) + 1;
    if (session === undefined || after < oldest - 1) {
      this.#write(socket, { op: OP.invalid, d: false });
      return undefined;
    }
    session.socket?.terminate();
    session.socket = socket;
    for (const { s, t, d: data } of session.kept) {
      if (s > after) this.#write(socket, { op: OP.dispatch, s, t, d: data });
    }
    this.#send(session, "RESUMED", { _trace: [] });
    this.#arrived();
    return session;
  }

  #arrived(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}

/** Undefined for what is no shard. */
function readShard(said: unknown = [0, 1]): [number, number] | undefined {
  const [shard, shards] = Array.isArray(said) ? (said as unknown[]) : [];
  const isNumber = Number.isInteger(shard) && Number.isInteger(shards);
  const pair: [number, number] = [Number(shard), Number(shards)];
  return isNumber && pair[0] >= 0 && pair[0] < pair[1] ? pair : undefined;
}

/** The guild that an event is of; undefined for direct messages. */
function guildIn(event: string, data: unknown): string | undefined {
  const { guild_id: guild, id } = (data ?? {}) as { guild_id?: unknown; id?: unknown };
  const found = /^GUILD_(CREATE|UPDATE|DELETE)$/.test(event) ? id : guild;
  return typeof found === "string" && /^\d+$/.test(found) ? found : undefined;
}

/** A guild's events come over one shard, all others over the first. */
function hears([shard, shards]: readonly [number, number], guild: string | undefined): boolean {
  return shard === (guild === undefined ? 0 : Number((BigInt(guild) >> 22n) % BigInt(shards)));
}
