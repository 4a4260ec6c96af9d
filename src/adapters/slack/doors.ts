import { renderText } from "../render/message.ts";
import type { AllowLink } from "../render/rich-text.ts";
import { createOutlook } from "../shared/outlook.ts";
import { linesOf } from "../shared/outlook-lines.ts";
import { type CommandParts, createCommands } from "./commands.ts";
import { slackMessages } from "./encode.ts";
import { createHello } from "./hello.ts";
import { createHome } from "./home.ts";
import { linkOf, tryPlace } from "./place.ts";
import type { Posting } from "./posting.ts";
import { createShortcuts, type ShortcutParts } from "./shortcuts.ts";
import type { Queries } from "../queries.ts";

type DoorParts = Omit<
  CommandParts & ShortcutParts,
  "lookOut" | "lines" | "begin" | "remove" | "render"
> & {
  queries: Queries;
  posting: Posting;
  allowLink: AllowLink;
};

/** The ways to the bot besides messages and what stands in them. */
export function createDoors(parts: DoorParts) {
  const { workspace, people, queries, overview, posting } = parts;
  const render = async (text: string) => {
    const [message = { text, blocks: [] }] = slackMessages(await renderText(text, parts.allowLink));
    return message;
  };
  const begin = async (channel: string, text: string) => posting.begin(channel, await render(text));
  const lookOut = createOutlook({
    prefixes: [`slack:${workspace.team}:`],
    async tenants(account) {
      // In no thread a full member is an outsider.
      const standing = await people.membership(account, `slack:${workspace.team}:`);
      return standing === "outsider" || standing === "member" ? [`slack:${workspace.team}`] : [];
    },
    people,
    async isPublic(key) {
      const place = tryPlace(key, workspace.team);
      return place !== undefined && people.isPublic(place.channel);
    },
    queries,
    overview,
  });
  const lines = linesOf({
    link(key) {
      const place = tryPlace(key, workspace.team);
      return place && linkOf(workspace, place);
    },
    async placeName(key) {
      const place = tryPlace(key, workspace.team);
      return place && people.channelName(place.channel);
    },
  });
  const shared = { ...parts, lookOut, lines, render, begin, remove: posting.remove };
  return {
    /** Begins a thread with this text; returns its first message. */
    begin,
    commands: createCommands(shared),
    shortcuts: createShortcuts(shared),
    home: createHome(shared),
    hello: createHello(shared),
  };
}

export type Doors = ReturnType<typeof createDoors>;
