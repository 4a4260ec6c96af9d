import { LRUCache } from "lru-cache";
import * as z from "zod";
import type { View } from "../view.ts";
import { rootMessage } from "../render/alerts.ts";
import { type FirstMessage, type RootSign, showRoot } from "../shared/root.ts";
import type { Api } from "./api.ts";
import { slackMessages } from "./encode.ts";
import { refusalCode } from "./errors.ts";
import { markedAs } from "./find-delivery.ts";
import type { Place, Workspace } from "./place.ts";
import type { Posting } from "./posting.ts";

/** Threads whose first message is known; each is small. */
const MAX_KNOWN = 2_000;

const NAMES: Readonly<Record<RootSign, string>> = {
  "✅": "white_check_mark",
  "🔕": "no_bell",
  "🔁": "repeat",
};

/** It is so already. */
const ALREADY: ReadonlySet<string> = new Set(["already_reacted", "no_reaction"]);

const message = z.object({ ts: z.string(), bot_id: z.string().optional() });

/** Who wrote the message that a thread begins with. @throws what `Api.ask` throws */
export type LookAtRoot = (place: Place) => Promise<FirstMessage>;

export function createRootLook(api: Api, { botId }: Workspace): LookAtRoot {
  const known = new LRUCache<string, FirstMessage>({ max: MAX_KNOWN });
  return async ({ channel, root }) => {
    const key = `${channel} ${root}`;
    const before = known.get(key);
    if (before !== undefined) return before;
    const { messages = [] } = await api.ask("conversations.replies", ({ conversations }) =>
      conversations.replies({ channel, ts: root, limit: 1, include_all_metadata: true }),
    );
    const found = firstOf(
      messages.find(({ ts }) => ts === root),
      botId,
    );
    known.set(key, found);
    return found;
  };
}

function firstOf(found: unknown, botId: string): FirstMessage {
  const { data } = message.safeParse(found);
  if (data === undefined) return { kind: "gone" };
  if (data.bot_id === botId) return { kind: "ours", isOf: (delivery) => markedAs(found, delivery) };
  return { kind: data.bot_id === undefined ? "person" : "bot" };
}

/** A thread's `View.showRoot`. */
export function createShowRoot(
  place: Place,
  { api, look, posting }: { api: Api; look: LookAtRoot; posting: Pick<Posting, "edit"> },
): NonNullable<View["showRoot"]> {
  return (root, shown) =>
    showRoot(root, shown, {
      look: () => look(place),
      async edit(card) {
        const [said] = slackMessages(rootMessage(card));
        if (said !== undefined) await posting.edit(place, place.root, said);
      },
      async react(sign, isOn) {
        const at = { channel: place.channel, timestamp: place.root, name: NAMES[sign] };
        const method = isOn ? "add" : "remove";
        try {
          await api.ask(`reactions.${method}`, ({ reactions }) => reactions[method](at));
        } catch (error) {
          if (!ALREADY.has(refusalCode(error) ?? "")) throw error;
        }
      },
    });
}
