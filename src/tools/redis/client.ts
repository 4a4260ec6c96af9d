import type { Duplex } from "node:stream";
import { BotError } from "../../core/errors.ts";
import { secure } from "../../net/tls.ts";
import type { ToolContext } from "../tool.ts";
import { encodeCommands, readReplies, RedisError, type Reply } from "./resp.ts";

/** A Redis that tools look at. */
export interface Target {
  /** Its name among the tool's endpoints. */
  endpoint: string;
  /** `127.0.0.1:6379`, for people. */
  name: string;
  host: string;
  tls: boolean;
  user: string | undefined;
  password: string | undefined;
  /** The numbered database whose keys are sampled. */
  database: string;
}

export interface Session {
  /** The replies to commands that are sent together, with refusals among them. */
  ask(...commands: readonly (readonly string[])[]): Promise<Reply[]>;
}

/**
 * Works on a connection of its own. `answerMs`: how long a server may take for an answer.
 * @throws BotError CONNECTION_FAILED, TIMEOUT, NOT_AVAILABLE for a login that is refused; RedisError
 */
export async function inSession<T>(
  ctx: ToolContext,
  target: Target,
  answerMs: number,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const { socket: plain } = await ctx.connect(target.endpoint);
  try {
    const socket = target.tls ? await secured(plain, target.host, ctx) : plain;
    // One that breaks between two commands would end the process.
    socket.on("error", () => {});
    const session: Session = {
      async ask(...commands) {
        const replies = readReplies(socket, commands.length, answerMs);
        socket.write(encodeCommands(commands));
        return replies;
      },
    };
    await login(session, target);
    return await work(session);
  } finally {
    plain.destroy();
  }
}

async function secured(plain: Duplex, host: string, { signal }: ToolContext): Promise<Duplex> {
  const { socket, distrust } = await secure(plain, host, { signal });
  if (distrust === undefined) return socket;
  throw new BotError(
    "CONNECTION_FAILED",
    `${host} has a certificate that is not trusted: ${distrust}.`,
  );
}

async function login({ ask }: Session, { user, password, database }: Target): Promise<void> {
  const auth =
    password === undefined ? [] : [["AUTH", ...(user === undefined ? [] : [user]), password]];
  const select = database === "0" ? [] : [["SELECT", database]];
  const replies = await ask(...auth, ...select, ["PING"]);
  const refused = replies.find((reply) => reply instanceof RedisError);
  if (refused === undefined) return;
  if (!/^(?:NOAUTH|WRONGPASS|NOPERM)$/.test(refused.kind) && !/ AUTH /.test(refused.message))
    throw refused;
  throw new BotError("NOT_AVAILABLE", `Redis refused the login: ${refused.message}`);
}
