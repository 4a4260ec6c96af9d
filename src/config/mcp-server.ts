import * as z from "zod";
import { PLATFORMS } from "../adapters/platforms.ts";
import { defineSettings, fromEnv, secretText } from "../core/settings.ts";

/** A platform's first form of channels is the one for a single channel. */
const CHANNELS = PLATFORMS.flatMap(({ names }) => names.channels.slice(0, 1));

const hostNames = z
  .string()
  .transform((text) => text.split(",").map((name) => name.trim().toLowerCase()))
  .refine(
    (names) => names.every((name) => /^[a-z0-9.-]+$/.test(name)),
    "expected names with commas between, such as wk.example.com, without scheme and port",
  );

/** The server for other agents, over HTTP. */
export const mcpServerPart = defineSettings({
  name: "mcp server",
  settings: z.object({
    token: fromEnv(
      "MCP_TOKEN",
      secretText(
        /^[!-~]{32,}$/,
        "at least 32 characters without spaces, such as what `openssl rand -hex 32` prints",
      ).optional(),
      "What agents send as their bearer token; turns the MCP server at `/mcp` on. At least 32 characters. See [MCP](integrations/mcp.md).",
    ),
    channel: fromEnv(
      "MCP_CHANNEL",
      z
        .string()
        .trim()
        .refine(
          (text) => CHANNELS.some(({ pattern }) => pattern.test(text)),
          `expected ${CHANNELS.map(({ shown }) => shown).join(" or ")}, with ids, not names`,
        )
        .optional(),
      "The channel in which agents' changes, and their calls that need approval, take place: a thread for each. Not set: they wait in a thread of the terminal.",
    ),
    hosts: fromEnv(
      "MCP_HOSTS",
      hostNames.optional(),
      "Names by which agents reach `/mcp`, separated by commas, such as that of a proxy before it. Addresses and `localhost` are always accepted.",
    ),
  }),
  check(isSet): Record<string, string> {
    if (isSet("MCP_TOKEN")) return {};
    const needing = ["MCP_CHANNEL", "MCP_HOSTS"].find((name) => isSet(name));
    return needing === undefined ? {} : { MCP_TOKEN: `missing; with ${needing} it is needed` };
  },
});
