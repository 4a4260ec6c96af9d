import type { Api } from "./api.ts";
import { streamOf } from "./plan-stream.ts";
import { NO_THREAD, type Place, type Workspace } from "./place.ts";
import * as z from "zod";

/** Marks our messages, so that one whose response was lost is found again. */
export const EVENT_TYPE = "watchkeeper";

/** An earlier attempt's messages are looked for among those of this age first, then in the whole thread. */
const RECENTLY_MS = 3_600_000;
const PAGE = 200;
const MAX_PAGES = 5;

/** The `metadata` of a message that is one part of a delivery. */
export function markOf(id: string, part: number) {
  return { event_type: EVENT_TYPE, event_payload: { id, part } };
}

const marked = z.object({
  ts: z.string(),
  user: z.string().optional(),
  bot_id: z.string().optional(),
  metadata: z
    .object({
      event_type: z.literal(EVENT_TYPE),
      event_payload: z.object({ id: z.string(), part: z.number() }),
    })
    .optional()
    .catch(undefined),
  blocks: z.array(z.unknown()).catch([]),
});

/**
 * Our messages in the thread that are parts of this delivery, by part, as they are referred to. Of a thread with more than 1 000
 * messages only the newest hour and the first 1 000 are looked at.
 * @throws what `Api.ask` throws
 */
export async function findDelivery(
  api: Api,
  { botUser, botId }: Workspace,
  place: Place,
  id: string,
): Promise<Map<number, string>> {
  const found = new Map<number, string>();
  for (const oldest of [(Date.now() - RECENTLY_MS) / 1_000, 0]) {
    for await (const message of messagesOf(api, place, oldest.toFixed(6))) {
      const { data } = marked.safeParse(message);
      if (data === undefined || (data.user !== botUser && data.bot_id !== botId)) continue;
      const payload = data.metadata?.event_payload;
      if (payload?.id === id) found.set(payload.part, data.ts);
      const stream = streamOf(data.ts, data.blocks, id);
      if (stream !== undefined) found.set(0, stream);
    }
    if (found.size > 0) break;
  }
  return found;
}

/** Whether a message is the first part of that delivery. */
export function markedAs(message: unknown, delivery: string): boolean {
  const { data } = marked.safeParse(message);
  const { id, part } = data?.metadata?.event_payload ?? {};
  return id === delivery && part === 0;
}

async function* messagesOf(api: Api, { channel, root }: Place, oldest: string) {
  const args = { channel, oldest, limit: PAGE, include_all_metadata: true };
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const next = { ...args, ...(cursor !== undefined && { cursor }) };
    const answer = await (root === NO_THREAD
      ? api.ask("conversations.history", ({ conversations }) => conversations.history(next))
      : api.ask("conversations.replies", ({ conversations }) =>
          conversations.replies({ ...next, ts: root }),
        ));
    yield* answer.messages ?? [];
    cursor = answer.response_metadata?.next_cursor || undefined;
    if (cursor === undefined) return;
  }
}
