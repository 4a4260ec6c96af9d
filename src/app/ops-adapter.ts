import type { Adapter } from "../adapters/adapter.ts";
import type { View } from "../adapters/view.ts";
import { plainNotice } from "../adapters/render/phrases.ts";
import { transportOf, tryJournalKey } from "../core/journal-key.ts";
import { channelOfOps, OPS } from "../team/ops.ts";
import { UNSEEN } from "./unseen.ts";

/** Shows the journals of operations channels, each in its channel on whichever chat that is. Nobody is heard there. */
export function createOpsAdapter(adapterOf: (transport: string) => Adapter | undefined): Adapter {
  return {
    transport: OPS,
    singleOperator: false,
    people: {
      membership: async () => "unknown",
      members: async () => undefined,
      everyone: async () => [],
      timezone: async () => undefined,
    },
    view(key) {
      const channel = tryJournalKey(channelOfOps(key));
      const chat = channel && adapterOf(transportOf(channel));
      if (channel === undefined || chat?.announce === undefined) return undefined;
      return viewOf(channel, chat.announce.bind(chat));
    },
    audience: async (key) => key,
    tenants: async () => [],
    channel: async (key) => channelOfOps(key),
    link: () => undefined,
  };
}

/** Only sentences are shown there. */
function viewOf(channel: string, announce: NonNullable<Adapter["announce"]>): View {
  const say: View["post"] = async (message, delivery) => {
    const notice = message.kind === "notice" ? message : plainNotice(message.text ?? "");
    return announce(channel, notice, delivery);
  };
  return { ...UNSEEN, post: say };
}
