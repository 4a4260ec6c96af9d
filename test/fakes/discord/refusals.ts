import { may, PERMISSIONS } from "./permissions.ts";
import type { FakeChannel, World } from "./world.ts";

/** What Discord answers instead of doing as it was asked. */
export class Refusal extends Error {
  readonly status: number;
  readonly body: Record<string, unknown>;
  readonly headers: Record<string, string>;

  constructor(
    status: number,
    code: number,
    message: string,
    more: { body?: Record<string, unknown>; headers?: Record<string, string> } = {},
  ) {
    super(`${status} ${code} ${message}`);
    this.status = status;
    this.body = { message, code, ...more.body };
    this.headers = more.headers ?? {};
  }
}

/** 50035 with Discord's tree of errors; `path` such as `components.0.label`. */
export function invalidForm(path: string, code: string, message: string): Refusal {
  let errors: Record<string, unknown> = { _errors: [{ code, message }] };
  for (const step of path.split(".").toReversed()) errors = { [step]: errors };
  return new Refusal(400, 50035, "Invalid Form Body", { body: { errors } });
}

/** Codes of https://discord.com/developers/docs/topics/opcodes-and-status-codes#json, with the status each comes with. */
export const REFUSALS = {
  unknownChannel: [404, 10003, "Unknown Channel"],
  unknownGuild: [404, 10004, "Unknown Guild"],
  unknownMember: [404, 10007, "Unknown Member"],
  unknownEmoji: [400, 10014, "Unknown Emoji"],
  unknownMessage: [404, 10008, "Unknown Message"],
  unknownUser: [404, 10013, "Unknown User"],
  unknownWebhook: [404, 10015, "Unknown Webhook"],
  unknownInteraction: [404, 10062, "Unknown interaction"],
  notYourApplication: [
    403,
    20012,
    "You are not authorized to perform this action on this application",
  ],
  tooManyCommands: [400, 30032, "Maximum number of application commands reached (100)."],
  tooManyCommandsToday: [
    400,
    30034,
    "Maximum number of daily application command creates has been reached (200)",
  ],
  tooLarge: [413, 40005, "Request entity too large"],
  alreadyAcknowledged: [400, 40060, "Interaction has already been acknowledged."],
  forumChannel: [400, 40058, "Cannot send a message in a forum channel"],
  missingAccess: [403, 50001, "Missing Access"],
  directMessage: [403, 50003, "Cannot execute action on a DM channel"],
  othersMessage: [403, 50005, "Cannot edit a message authored by another user"],
  emptyMessage: [400, 50006, "Cannot send an empty message"],
  cannotMessageUser: [403, 50007, "Cannot send messages to this user"],
  missingPermissions: [403, 50013, "Missing Permissions"],
  systemMessage: [403, 50021, "Cannot execute action on a system message"],
  wrongChannelType: [400, 50024, "Cannot execute action on this channel type"],
  invalidWebhookToken: [401, 50027, "Invalid Webhook Token"],
  threadArchived: [400, 50083, "Thread is archived"],
  invalidJson: [400, 50109, "The request body contains invalid JSON."],
  noMutualGuilds: [
    403,
    50278,
    "Cannot send messages to this user due to having no mutual guilds with them",
  ],
  threadExists: [400, 160004, "A thread has already been created for this message"],
  threadLocked: [400, 160005, "Thread is locked"],
} as const;

export function refusal(name: keyof typeof REFUSALS): Refusal {
  const [status, code, message] = REFUSALS[name];
  return new Refusal(status, code, message);
}

/** The channel, if the bot may see it and has these permissions. @throws Refusal 10003, 50001, 50013 */
export function channelFor(world: World, id: string, bits = 0n): FakeChannel {
  const channel = world.channels.get(id);
  if (channel === undefined) throw refusal("unknownChannel");
  if (!may(world, channel, world.bot.id, PERMISSIONS.viewChannel)) throw refusal("missingAccess");
  if (!may(world, channel, world.bot.id, bits)) throw refusal("missingPermissions");
  return channel;
}
