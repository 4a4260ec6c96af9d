import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { type Backoff, createBackoff } from "../../core/backoff.ts";
import { BotError, codeOf, isBotError, messageOf } from "../../core/errors.ts";
import { atMost, untilAborted, within } from "../../core/time-limit.ts";

/** A connection to a server, made when it is first needed. */

/** A program may first have to be downloaded. */
const CONNECT_MS = 30_000;
/** A connection that nobody used for so long is given back. */
const IDLE_MS = 5 * 60_000;

/** How long a server may take to hear that its session is over. */
const END_MS = 2_000;

/** What servers answer to a session that they ended. */
const SESSION_GONE = "404";

/** Something that carries messages, and `ended`, which is told why it ended by itself. */
export type OpenTransport = (
  signal: AbortSignal,
  ended: (why: BotError) => void,
) => Promise<SessionTransport>;

/** Over HTTP a session is something that a server keeps until it is told. */
type SessionTransport = Transport & { terminateSession?(): Promise<void> };

export interface Live {
  client: Client;
  /** What the server calls itself. */
  title: string;
  /** Why it ended. */
  ended: BotError | undefined;
  /** Tells the server that its session is over. */
  tell(): Promise<void>;
}

export interface ConnectionOptions {
  /** What the configuration calls the server. */
  name: string;
  open: OpenTransport;
  /** Ends the connection for good. */
  stopped: AbortSignal;
  waits?: Backoff | undefined;
}

/**
 * One connection to a server for all calls, made anew when it ended. A server whose connection fails is left alone for a while,
 * longer each time, until it answers something.
 */
export function createConnection(options: ConnectionOptions) {
  const { name, stopped, waits = createBackoff(500, 60_000, 0.25) } = options;
  let current: Promise<Live> | undefined;
  let idle: NodeJS.Timeout | undefined;
  let openCalls = 0;
  let failed: { error: unknown; until: number } | undefined;

  /** @throws BotError CONNECTION_FAILED: nothing was asked of it */
  async function take(signal: AbortSignal): Promise<Live> {
    const waitMs = (failed?.until ?? 0) - performance.now();
    if (failed !== undefined && waitMs > 0) {
      const text = `${messageOf(failed.error)} It is left alone for ${Math.ceil(waitMs / 1000)} s.`;
      throw new BotError("CONNECTION_FAILED", text, { cause: failed.error });
    }
    const isNew = current === undefined;
    const mine = (current ??= connect(options));
    try {
      const live = await untilAborted(mine, signal);
      if (live.ended === undefined) return live;
      // One that ends as soon as it is made would be made for ever.
      if (isNew) throw live.ended;
      if (current === mine) current = undefined;
      return await take(signal);
    } catch (error) {
      if (signal.aborted) throw error;
      if (current === mine) {
        current = undefined;
        fail(error);
      }
      if (error instanceof BotError && error.code === "NOT_AVAILABLE") throw error;
      const code = codeOf(error);
      const status = code === undefined ? "" : ` (${code})`;
      const text = `The MCP server ${name} could not be reached${status}: ${messageOf(error)}`;
      throw new BotError("CONNECTION_FAILED", text, { cause: error });
    }
  }

  function fail(error: unknown): void {
    failed = { error, until: performance.now() + waits.next() };
  }

  function rest(): void {
    clearTimeout(idle);
    if (openCalls > 0) return;
    idle = setTimeout(() => void drop(), IDLE_MS);
    idle.unref();
  }

  async function drop(): Promise<void> {
    clearTimeout(idle);
    const mine = current;
    current = undefined;
    const live = await mine?.catch(() => undefined);
    if (live?.ended === undefined) await live?.tell();
    await live?.client.close().catch(() => {});
  }

  /** One request at work: while there is one the connection is kept. */
  async function use<T>(signal: AbortSignal, work: (live: Live) => Promise<T>): Promise<T> {
    const live = await take(signal);
    openCalls += 1;
    clearTimeout(idle);
    let isGone = false;
    try {
      const answer = await work(live);
      waits.reset();
      failed = undefined;
      return answer;
    } catch (error) {
      isGone = codeOf(error) === SESSION_GONE;
      // A server that dies at every call is not started again at once.
      if (live.ended !== undefined) fail(live.ended);
      if (isGone) live.ended ??= new BotError("CONNECTION_FAILED", "it ended the session");
      throw error;
    } finally {
      openCalls -= 1;
      // What hangs is ended, also at the other end.
      if (openCalls === 0 && (isGone || isBotError(signal.reason, "TIMEOUT"))) void drop();
      else rest();
    }
  }

  stopped.addEventListener("abort", () => void drop(), { once: true });

  return {
    use,
    /** Ends the connection; the next request makes another. */
    drop,
  };
}

/** A server may ask for what it is not offered so often after each request of ours; one that goes on only keeps us busy. */
const MAX_REPLIES = 100;

function limitReplies(transport: Transport, over: (why: BotError) => void): Transport {
  const send = transport.send.bind(transport);
  let replies = 0;
  transport.send = async (message, options) => {
    replies = "method" in message ? 0 : replies + 1;
    if (replies <= MAX_REPLIES) return send(message, options);
    over(new BotError("CONNECTION_FAILED", `it asked for more than ${MAX_REPLIES} things unasked`));
    await transport.close();
  };
  return transport;
}

async function quiet(work: Promise<void> | undefined): Promise<void> {
  await work?.catch(() => {});
}

async function connect({ name, open, stopped }: ConnectionOptions): Promise<Live> {
  const [{ Client }, { noValidator }] = await Promise.all([
    import("@modelcontextprotocol/sdk/client/index.js"),
    import("./no-validator.ts"),
  ]);
  // It offers nothing: a server that asks for a model, for answers or for folders is told that there is none.
  const client = new Client(
    { name: "watchkeeper", version: "1" },
    { capabilities: {}, jsonSchemaValidator: noValidator },
  );
  const live: Live = { client, title: name, ended: undefined, tell: async () => {} };
  const over = (why: BotError) => {
    live.ended ??= why;
  };
  return within(CONNECT_MS, stopped, async (signal) => {
    const opened = await open(signal, over);
    const transport = limitReplies(opened, over);
    live.tell = async () => atMost(END_MS, quiet(opened.terminateSession?.()), () => {});
    try {
      await untilAborted(client.connect(transport, { signal, timeout: CONNECT_MS }), signal);
    } catch (error) {
      await transport.close().catch(() => {});
      throw live.ended ?? error;
    }
    const { name: called = name, version = "" } = client.getServerVersion() ?? {};
    live.title = `${called} ${version}`.trim().slice(0, 100);
    return live;
  });
}
