import * as z from "zod";
import { baseUrl, fromEnv, fromYaml, secretText } from "../../core/settings.ts";
import { definePlatform } from "../platform.ts";
import { readShards } from "./shards.ts";

/** A Discord id as people copy it from the client. */
const ID = /^\d{1,20}$/;

const idList = z
  .string()
  .transform((text) => [...new Set(text.split(",").map((id) => id.trim()))])
  .refine(
    (ids) => ids.every((id) => ID.test(id)),
    "expected the ids of servers with commas between, such as 1122,3344",
  );

const shards = z.string().transform((text, ctx) => {
  const read = readShards(text);
  if (typeof read !== "string") return read;
  ctx.addIssue(read);
  return z.NEVER;
});

/** Discord: turned on by its bot's token. */
export const discord = definePlatform({
  name: "discord",
  title: "Discord",
  settings: z.object({
    token: fromEnv(
      "DISCORD_TOKEN",
      secretText(/^[\w.-]{20,}$/, "the bot's token alone, without Bot before it").optional(),
      "The bot's token; turns Discord on. See [Discord](discord.md).",
    ),
    guildList: fromEnv(
      "DISCORD_GUILDS",
      idList.optional(),
      "Ids of the Discord servers to serve, separated by commas. Not set: `discord.guilds`, else the one server that the bot is in at its first start.",
    ),
    guilds: fromYaml(
      "discord.guilds",
      z
        .array(
          z
            .string()
            .regex(ID, 'expected the id of a server in quotes, such as "1122", not its name'),
        )
        .min(1, "is empty; name the servers that are served, or leave it out")
        .optional(),
      'Ids of the Discord servers to serve, in quotes: `["1122"]`. Setting `DISCORD_GUILDS` too is a mistake.',
      { unset: "see [Discord](discord.md)" },
    ),
    bots: fromYaml(
      "discord.bots",
      z
        .array(
          z.string().regex(ID, 'expected the id of a bot or webhook in quotes, such as "1122"'),
        )
        .optional(),
      "Ids of Discord bots and webhooks, in quotes, whose alerts are looked into in their own threads, and whose other messages start an investigation that only reads. See [Alert bots](discord.md#alert-bots).",
      { unset: "none" },
    ),
    shards: fromEnv(
      "DISCORD_SHARDS",
      shards.optional(),
      "The shards that this process connects, and how many there are: `0-3/8`. Not set: all. See [Several processes](discord.md#several-processes).",
    ),
    apiUrl: fromEnv(
      "DISCORD_API_URL",
      baseUrl.transform((url) => url.replace(/\/+$/, "")).optional(),
      "The API's address without the version, if not Discord's own.",
    ),
  }),
  check: (isSet): Record<string, string> =>
    isSet("discord.guilds") && isSet("DISCORD_GUILDS")
      ? { "discord.guilds": "DISCORD_GUILDS is set too; set one of the two" }
      : {},
  names: {
    account: { shown: "discord:<user>", pattern: /^discord:\d+$/ },
    group: { shown: "discord:role:<id>", pattern: /^discord:role:\d+$/ },
    channels: [
      { shown: "discord:<server>:<channel>", pattern: /^discord:\d+:\d+$/ },
      { shown: "discord:<server>", pattern: /^discord:\d+$/ },
      { shown: "discord:dm", pattern: /^discord:dm(?::\d+)?$/ },
    ],
  },
  serves: ({ token }) => token !== undefined,
  async create({ token = "", guildList, guilds, ...more }, log) {
    const { useProxiedGateway } = await import("./gateway-socket.ts");
    useProxiedGateway();
    const { createDiscord } = await import("./adapter.ts");
    return createDiscord({ ...more, token, guilds: guildList ?? guilds, log });
  },
});
