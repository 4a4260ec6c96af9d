import type { Args } from "./method.ts";
import type { FakeChannel, FakeMessage } from "./types.ts";
import { findMessage, invalid, Refusal, type World } from "./world.ts";

const TS = /^\d{10}\.\d{6}$/;

/**
 * The thread a post goes to. Slack refuses what is no ts; of a message that is not there (any more) it says nothing and
 * posts into the channel (https://github.com/slackapi/python-slack-events-api/issues/87). A reply's ts is not its
 * thread's: such a post is in no thread that anyone sees.
 */
export function threadFor(world: World, channel: FakeChannel, args: Args): string | undefined {
  const thread = args.text("thread_ts");
  if (thread === undefined) return undefined;
  if (!TS.test(thread)) {
    const messages = [`[ERROR] ${thread} is not a valid thread_ts`];
    throw new Refusal("invalid_thread_ts", { response_metadata: { messages } });
  }
  return findMessage(world, channel.id, thread) === undefined ? undefined : thread;
}

/** The thread's root for a session or a stream. @throws Refusal */
export function rootOf(
  world: World,
  channel: FakeChannel,
  ts: string,
  refusal: string,
): FakeMessage {
  if (!TS.test(ts)) throw invalid(`${ts} is not a valid thread_ts`);
  const root = findMessage(world, channel.id, ts);
  if (root === undefined) throw new Refusal(refusal);
  return root;
}
