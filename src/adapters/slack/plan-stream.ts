import { LRUCache } from "lru-cache";
import type { Logger } from "pino";
import type { types, webApi } from "@slack/bolt";
import { BotError, isBotError } from "../../core/errors.ts";
import type { Delivery, MessageRef } from "../view.ts";
import { type Button, stopButton } from "../render/buttons.ts";
import { planOf } from "../render/plan.ts";
import { progressButtons, type RunProgress } from "../render/progress.ts";
import type { Api } from "./api.ts";
import { pageBlocks } from "./encode.ts";
import { refusalCode } from "./errors.ts";
import { type Place, tryAccount } from "./place.ts";

/** Slack closes a stream 5 min after its start, whatever comes, and shows it as broken (python-slack-sdk issue 1859). */
const MAX_STREAM_MS = 220_000;
/** Some were closed after half a minute without a word. */
const RENEW_MS = 20_000;
/** How long Slack asks to wait, where it does not say. */
const PAUSE_MS = 60_000;
/** Streams that are open, or were; each is small. */
const MAX_STREAMS = 1_000;
/** Before a reference's timestamp: the message began as a stream, and may still be one. */
const MARK = "~";

/** Refusals of `chat.startStream` that are about the whole workspace or app; any other is about one thread or person. */
const ABSENT: ReadonlySet<string> = new Set([
  "unknown_method",
  "missing_scope",
  "not_allowed",
  "no_permission",
  "not_allowed_token_type",
  "method_deprecated",
  "deprecated_endpoint",
]);
/** Refusals after which there is nothing to stop. */
const OVER: ReadonlySet<string> = new Set(["message_not_in_streaming_state", "stopped_by_user"]);

/** One that this process began. */
interface Stream {
  readonly id: string;
  readonly channel: string;
  readonly at: number;
  /** What Slack has of each task and of the title. */
  readonly sent: Map<string, string>;
  readonly timer: NodeJS.Timeout;
}

export interface StreamParts {
  api: Api;
  /** What the thread's session is to be afterwards: the end of a stream changes it. */
  sessionOf(place: Place): string | undefined;
  /** The message is to be shown again. */
  renew(place: Place, ref: MessageRef): void;
  maxStreamMs?: number | undefined;
  log: Logger;
}

/**
 * Progress as Slack's own plan, a message that is open until `end`. An ornament: where it cannot be had or breaks, an
 * ordinary message is edited instead. A stream belongs to the process that began it; others only end it.
 */
export function createPlanStreams(parts: StreamParts) {
  const { api, sessionOf, renew, maxStreamMs = MAX_STREAM_MS, log } = parts;
  const open = new LRUCache<MessageRef, Stream>({
    max: MAX_STREAMS,
    dispose: ({ timer }) => clearInterval(timer),
  });
  const ended = new LRUCache<MessageRef, true>({ max: MAX_STREAMS });
  const ask = createAsk(api);
  const start = createStart(ask, log);

  /** @throws BotError PLATFORM_RATE_LIMITED, PLATFORM_UNREACHABLE */
  async function end(place: Place, part: MessageRef): Promise<void> {
    open.delete(part);
    if (ended.has(part)) return;
    const status = sessionOf(place);
    const session = status === undefined ? {} : { session_status: status };
    const stream = { channel: place.channel, ts: timestampOf(part), ...session };
    try {
      await ask("chat.stopStream", (client) => client.chat.stopStream(stream));
    } catch (error) {
      if (!isBotError(error, "PLATFORM_REFUSED")) throw error;
      log.debug({ err: error }, "a stream was over already");
    }
    ended.set(part, true);
  }

  return {
    end,

    /**
     * Undefined where there is none to be had.
     * @throws BotError PLATFORM_UNREACHABLE when Slack may have begun one all the same
     */
    async begin(
      place: Place,
      progress: RunProgress,
      delivery: Delivery,
    ): Promise<MessageRef | undefined> {
      const { id, isRetry } = delivery;
      const recipient = recipientOf(place, delivery);
      // What an earlier attempt left is found and edited.
      if (isRetry || recipient === undefined) return undefined;
      const chunks = chunksOf(id, progress);
      const stop = buttonsOf([stopButton(progress.run)]);
      const ts = await start(place, { ...recipient, chunks: [...chunks, stop] });
      if (ts === undefined) return undefined;
      const ref = MARK + ts;
      const timer = setInterval(() => renew(place, ref), Math.min(RENEW_MS, maxStreamMs));
      timer.unref();
      const { channel } = place;
      const stream = { id, channel, at: performance.now(), sent: new Map<string, string>(), timer };
      note(stream, chunks);
      open.set(ref, stream);
      return ref;
    },

    /**
     * `plain`: it is no open stream of ours, or no longer, and its message is to be edited. `gone`: it shows nothing more.
     * @throws BotError PLATFORM_RATE_LIMITED, PLATFORM_UNREACHABLE
     */
    async append(ref: MessageRef, progress: RunProgress): Promise<"shown" | "plain" | "gone"> {
      const stream = open.get(ref);
      if (stream === undefined || performance.now() - stream.at >= maxStreamMs) return "plain";
      const chunks = newsFor(stream, chunksOf(stream.id, progress));
      const message = { channel: stream.channel, ts: timestampOf(ref) };
      try {
        await ask("chat.appendStream", (client) =>
          client.chat.appendStream({ ...message, chunks }),
        );
        note(stream, chunks);
        return "shown";
      } catch (error) {
        if (!isBotError(error, "PLATFORM_REFUSED")) throw error;
        log.debug({ err: error }, "a stream broke off");
        open.delete(ref);
        const code = refusalCode(error) ?? "";
        if (OVER.has(code)) ended.set(ref, true);
        return code === "stopped_by_user" ? "gone" : "plain";
      }
    },

    stop(): void {
      open.clear();
    },
  };
}

/** Asks nothing while Slack asks to wait: unlike a message, no part of a stream is worth waiting for. */
function createAsk(api: Api): Api["ask"] {
  const pausedUntil = new Map<string, number>();

  return async (method, request) => {
    const leftMs = (pausedUntil.get(method) ?? 0) - performance.now();
    if (leftMs > 0) {
      throw new BotError("PLATFORM_RATE_LIMITED", `Slack asks to wait before ${method}.`, {
        retryAfterMs: leftMs,
      });
    }
    try {
      return await api.ask(method, request);
    } catch (error) {
      if (isBotError(error, "PLATFORM_RATE_LIMITED"))
        pausedUntil.set(method, performance.now() + (error.retryAfterMs ?? PAUSE_MS));
      throw error;
    }
  };
}

/** Begins a stream; undefined where there are none. */
function createStart(ask: Api["ask"], log: Logger) {
  let isAbsent = false;

  return async (
    { channel, root }: Place,
    content: Partial<webApi.ChatStartStreamArguments>,
  ): Promise<string | undefined> => {
    if (isAbsent) return undefined;
    const args = { ...content, channel, thread_ts: root, task_display_mode: "plan" };
    try {
      return (await ask("chat.startStream", (client) => client.chat.startStream(args))).ts;
    } catch (error) {
      if (isBotError(error, "PLATFORM_UNREACHABLE")) throw error;
      isAbsent = ABSENT.has(refusalCode(error) ?? "");
      log.debug({ err: error }, "a stream could not be begun");
      return undefined;
    }
  };
}

/** Undefined where Slack would have to be told who reads it, and nobody is known. */
function recipientOf({ channel }: Place, { asker }: Delivery) {
  // Of direct messages Slack knows, and refuses to be told.
  if (channel.startsWith("D")) return {};
  const account = asker === undefined ? undefined : tryAccount(asker);
  return account && { recipient_user_id: account.user, recipient_team_id: account.team };
}

function chunksOf(id: string, progress: RunProgress): types.AnyChunk[] {
  const { title, tasks } = planOf(progress);
  const more = progressButtons(progress).slice(0, -1);
  return [
    { type: "plan_update", title },
    ...tasks.map((task) => ({ type: "task_update" as const, ...task, id: `${id}/${task.id}` })),
    ...more.map((button) => buttonsOf([button])),
  ];
}

/** They stay where they came, so there is a block for each. */
function buttonsOf(buttons: readonly Button[]) {
  return { type: "blocks" as const, blocks: pageBlocks([], buttons) };
}

/** Those that Slack does not have; at least the title, so that it is not closed for want of news. */
function newsFor({ sent }: Stream, chunks: readonly types.AnyChunk[]): types.AnyChunk[] {
  const news = chunks.filter((chunk) => sent.get(nameOf(chunk)) !== JSON.stringify(chunk));
  return news.length > 0 ? news : chunks.slice(0, 1);
}

export type PlanStreams = ReturnType<typeof createPlanStreams>;

/** The message may be open as a stream. */
export function isStream(part: string): boolean {
  return part.startsWith(MARK);
}

export function timestampOf(part: string): string {
  return isStream(part) ? part.slice(MARK.length) : part;
}

function nameOf(chunk: types.AnyChunk): string {
  return chunk.type === "task_update" ? chunk.id : chunk.type;
}

function note({ sent }: Stream, chunks: readonly types.AnyChunk[]): void {
  for (const chunk of chunks) sent.set(nameOf(chunk), JSON.stringify(chunk));
}

/** The reference of a stream that this delivery began, by the names of its tasks: a stream takes no other mark. */
export function streamOf(
  ts: string,
  blocks: readonly unknown[],
  id: string,
): MessageRef | undefined {
  const isOf = (value: unknown): boolean =>
    typeof value === "object" &&
    value !== null &&
    (("task_id" in value && String(value.task_id).startsWith(`${id}/`)) ||
      ("tasks" in value && Array.isArray(value.tasks) && value.tasks.some(isOf)));
  return blocks.some(isOf) ? MARK + ts : undefined;
}
