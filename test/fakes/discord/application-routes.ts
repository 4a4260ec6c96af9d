import { userJson } from "./payloads.ts";
import type { Platform } from "./platform.ts";
import { invalidForm, refusal } from "./refusals.ts";
import type { Answer, Asked, Route } from "./route.ts";
import { textIn, type Body } from "./world.ts";

/** The flags of an application in fewer than 100 guilds. */
const FLAG = { presence: 1 << 13, members: 1 << 15, content: 1 << 19 } as const;

const MAX_COMMANDS = 100;

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

function readCommands(platform: Platform, value: unknown): Body[] {
  if (!Array.isArray(value) || value.length > MAX_COMMANDS) {
    throw invalidForm("_", "BASE_TYPE_BAD_LENGTH", `Must be ${MAX_COMMANDS} or fewer in length.`);
  }
  return (value as Body[]).map((command, index) => {
    const kind = command["type"] ?? 1;
    const name = textIn(command, "name");
    if (!(kind === 1 ? /^[-_\p{Ll}\p{Lo}\p{N}]{1,32}$/u : /^.{1,32}$/u).test(name)) {
      throw invalidForm(
        `${index}.name`,
        "APPLICATION_COMMAND_INVALID_NAME",
        "Command name is invalid",
      );
    }
    const description = textIn(command, "description");
    if (kind === 1 && (description.length < 1 || description.length > 100)) {
      const said = "Must be between 1 and 100 in length.";
      throw invalidForm(`${index}.description`, "BASE_TYPE_BAD_LENGTH", said);
    }
    const id = platform.world.newId();
    const application_id = platform.world.applicationId;
    return {
      ...command,
      type: kind,
      id,
      application_id,
      version: id,
      default_member_permissions: null,
    };
  });
}

function ownOnly({ platform, param }: Asked): void {
  if (param("application") !== platform.world.applicationId) throw refusal("otherApplication");
}

function setCommands(asked: Asked): Answer {
  ownOnly(asked);
  // A body that is a list arrives under this name.
  const commands = readCommands(asked.platform, asked.body["list"]);
  asked.platform.commands.set(asked.param("guild"), commands);
  return commands;
}

function getCommands(asked: Asked): Answer {
  ownOnly(asked);
  return asked.platform.commands.get(asked.param("guild")) ?? [];
}

/** `gatewayUrl` and what is left of today's identifies are the server's to say. */
export function applicationRoutes(host: {
  flags: number;
  identifies: number;
  gatewayUrl: () => string;
}): readonly Route[] {
  const self: Route["run"] = ({ platform }) => applicationJson(platform, host.flags);
  const commands = [
    "/applications/:application/commands",
    "/applications/:application/guilds/:guild/commands",
  ];
  return [
    { method: "GET", pattern: "/gateway", open: true, run: () => ({ url: host.gatewayUrl() }) },
    {
      method: "GET",
      pattern: "/gateway/bot",
      run: ({ platform }) => ({
        url: host.gatewayUrl(),
        shards: 1,
        session_start_limit: {
          total: host.identifies,
          remaining: platform.gateway.identifiesLeft,
          reset_after: 86_400_000,
          max_concurrency: 1,
        },
      }),
    },
    { method: "GET", pattern: "/applications/@me", run: self },
    { method: "GET", pattern: "/oauth2/applications/@me", run: self },
    ...commands.flatMap((pattern): Route[] => [
      { method: "PUT", pattern, run: setCommands },
      { method: "GET", pattern, run: getCommands },
    ]),
  ];
}
