import type { Duplex } from "node:stream";
import { BotError } from "../../core/errors.ts";

/** As much of RESP 2, the protocol of Redis, as reading takes: the npm client makes its connections by itself, past our rules. */

export type Reply = string | number | null | RedisError | Reply[];

/** A reply that refuses a command, such as `NOPERM this user has no permissions …`. */
export class RedisError extends Error {
  /** Its first word. */
  get kind(): string {
    return this.message.split(" ", 1)[0] ?? "";
  }
}

/** More than any answer to what is asked here. */
const MAX_BYTES = 1024 * 1024;
const MAX_DEPTH = 4;

export function encodeCommands(commands: readonly (readonly string[])[]): string {
  return commands
    .map((words) => {
      const parts = words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`);
      return `*${words.length}\r\n${parts.join("")}`;
    })
    .join("");
}

/** `undefined`: the reply is not all there yet. @throws BotError CONNECTION_FAILED for what is no reply */
function decode(
  bytes: Buffer,
  from: number,
  depth = 0,
): { reply: Reply; next: number } | undefined {
  const end = bytes.indexOf("\r\n", from);
  if (end === -1) return undefined;
  const head = bytes.toString("utf8", from + 1, end);
  const next = end + 2;
  const size = Number(head);
  switch (String.fromCharCode(bytes[from] ?? 0)) {
    case "+":
      return { reply: head, next };
    case "-":
      return { reply: new RedisError(head), next };
    case ":":
      if (Number.isFinite(size)) return { reply: size, next };
      throw noReply();
    case "$":
      if (size === -1) return { reply: null, next };
      if (!Number.isInteger(size) || size < 0 || size > MAX_BYTES) throw noReply();
      if (bytes.length < next + size + 2) return undefined;
      return { reply: bytes.toString("utf8", next, next + size), next: next + size + 2 };
    case "*":
      if (size === -1) return { reply: null, next };
      if (!Number.isInteger(size) || size < 0 || size > MAX_BYTES || depth === MAX_DEPTH)
        throw noReply();
      return decodeList(bytes, next, size, depth);
    default:
      throw noReply();
  }
}

function decodeList(bytes: Buffer, from: number, size: number, depth: number) {
  const reply: Reply[] = [];
  let at = from;
  for (let index = 0; index < size; index++) {
    const item = decode(bytes, at, depth + 1);
    if (item === undefined) return undefined;
    reply.push(item.reply);
    at = item.next;
  }
  return { reply, next: at };
}

function noReply(): BotError {
  return new BotError("CONNECTION_FAILED", "What answers there does not speak Redis's protocol.");
}

/**
 * The replies to so many commands.
 * @throws BotError CONNECTION_FAILED when the server ends the connection, sends too much or something else; TIMEOUT
 */
export function readReplies(socket: Duplex, wanted: number, limitMs: number): Promise<Reply[]> {
  return new Promise((resolve, reject) => {
    let bytes = Buffer.alloc(0);
    const replies: Reply[] = [];
    const settle = (end: () => void) => {
      clearTimeout(timer);
      socket.off("data", onData).off("error", onEnd).off("close", onEnd).pause();
      end();
    };
    const onEnd = () =>
      settle(() => reject(new BotError("CONNECTION_FAILED", "Redis ended the connection.")));
    const onData = (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk]);
      try {
        let at = 0;
        for (let item = decode(bytes, at); item !== undefined; item = decode(bytes, at)) {
          replies.push(item.reply);
          at = item.next;
          if (replies.length === wanted) return settle(() => resolve(replies));
        }
        bytes = bytes.subarray(at);
        if (bytes.length > MAX_BYTES)
          throw new BotError("CONNECTION_FAILED", "Redis's answer is larger than 1 MiB.");
      } catch (error) {
        settle(() => reject(error));
      }
    };
    const timer = setTimeout(
      () =>
        settle(() =>
          reject(new BotError("TIMEOUT", `Redis did not answer within ${limitMs / 1_000} s.`)),
        ),
      limitMs,
    );
    socket.on("data", onData).on("error", onEnd).on("close", onEnd).resume();
  });
}
