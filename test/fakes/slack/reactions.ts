import type { Args, Methods } from "./method.ts";
import type { Data } from "./types.ts";
import { findMessage, Refusal, visibleChannel, type World } from "./world.ts";

/** Of one app on one message, and kinds on a message (errors of https://docs.slack.dev/reference/methods/reactions.add). */
const MAX_EMOJI = 23;
/** Those that this fake's workspace has. */
const EMOJI: ReadonlySet<string> = new Set(["eyes", "white_check_mark", "+1"]);

export function reactionMethods(world: World): Methods {
  const scopes = ["reactions:write"];
  /** The bot's reactions on the message, and the one that is meant. */
  function standing(args: Args): { there: Set<string>; name: string } {
    const name = args.need("name");
    const channel = visibleChannel(world, args.need("channel"));
    const message = findMessage(world, channel.id, args.need("timestamp"));
    if (message === undefined) throw new Refusal("message_not_found");
    if (channel.archived) throw new Refusal("is_archived");
    if (!channel.members.has(world.bot.id)) throw new Refusal("not_in_channel");
    if (!EMOJI.has(name)) throw new Refusal("invalid_name");
    const key = `${channel.id} ${message.ts}`;
    const there = world.reactions.get(key) ?? new Set<string>();
    world.reactions.set(key, there);
    return { there, name };
  }
  return {
    "reactions.add": {
      scopes,
      run(args): Data {
        const { there, name } = standing(args);
        if (there.has(name)) throw new Refusal("already_reacted");
        if (there.size >= MAX_EMOJI) throw new Refusal("too_many_emoji");
        there.add(name);
        return {};
      },
    },
    "reactions.remove": {
      scopes,
      run(args): Data {
        const { there, name } = standing(args);
        if (!there.delete(name)) throw new Refusal("no_reaction");
        return {};
      },
    },
  };
}
