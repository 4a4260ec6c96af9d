import { userJson } from "./payloads.ts";
import type { Platform } from "./platform.ts";
import type { Route } from "./route.ts";
import type { Body } from "./world.ts";

/** The flags of an application in fewer than 100 guilds. */
const FLAG = { presence: 1 << 13, members: 1 << 15, content: 1 << 19 } as const;

export function applicationFlags(privileged: readonly string[]): number {
  return (
    (privileged.includes("GuildPresences") ? FLAG.presence : 0) |
    (privileged.includes("GuildMembers") ? FLAG.members : 0) |
    (privileged.includes("MessageContent") ? FLAG.content : 0)
  );
}

function applicationJson(platform: Platform, flags: number): Body {
  const { world } = platform;
  return {
    id: world.applicationId,
    name: world.bot.name,
    icon: null,
    description: "",
    summary: "",
    type: null,
    bot_public: platform.isPublic,
    bot_require_code_grant: false,
    verify_key: "0".repeat(64),
    flags,
    hook: true,
    is_monetized: false,
    integration_types_config: { "0": {} },
    approximate_guild_count: world.guilds.size,
    redirect_uris: [],
    interactions_endpoint_url: null,
    team: null,
    bot: userJson(world.bot),
  };
}

/** `gatewayUrl` and what is left of today's identifies are the server's to say. */
export function applicationRoutes(host: {
  flags: number;
  identifies: number;
  minShards: number;
  concurrency: number;
  gatewayUrl: () => string;
}): readonly Route[] {
  const self: Route["run"] = ({ platform }) => applicationJson(platform, host.flags);
  return [
    { method: "GET", pattern: "/gateway", open: true, run: () => ({ url: host.gatewayUrl() }) },
    {
      method: "GET",
      pattern: "/gateway/bot",
      run: ({ platform }) => ({
        url: host.gatewayUrl(),
        shards: host.minShards,
        session_start_limit: {
          total: host.identifies,
          remaining: platform.gateway.identifiesLeft,
          reset_after: 86_400_000,
          max_concurrency: host.concurrency,
        },
      }),
    },
    { method: "GET", pattern: "/applications/@me", run: self },
    { method: "GET", pattern: "/oauth2/applications/@me", run: self },
  ];
}
