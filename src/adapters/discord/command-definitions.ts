import { isDeepStrictEqual } from "node:util";
import {
  ApplicationCommandOptionType as Option,
  ApplicationCommandType as Type,
  ApplicationIntegrationType,
  type APIApplication,
  type APIApplicationCommandBasicOption,
  InteractionContextType as Context,
  type RESTPostAPIApplicationCommandsJSONBody as Definition,
  Routes,
} from "discord.js";
import type { Logger } from "pino";
import { isRecord } from "../../core/json.ts";
import { severity } from "../../core/incident-fields.ts";
import type { Api } from "./api.ts";

/** In the menu of a message. */
export const INVESTIGATE = "Investigate";
const ADD_TO_INCIDENT = "Add to incident";

/** Of a question; the thread's first message shows it. */
const MAX_QUESTION = 1_500;
const MAX_TITLE = 200;
const MAX_NOTE = 1_000;

const IN_SERVERS = {
  contexts: [Context.Guild],
  integration_types: [ApplicationIntegrationType.GuildInstall],
};

const INCIDENT: APIApplicationCommandBasicOption = {
  type: Option.String,
  name: "incident",
  description: "One that is open",
  required: true,
  autocomplete: true,
};

const SEVERITY: APIApplicationCommandBasicOption = {
  type: Option.String,
  name: "severity",
  description: "How bad it is",
  choices: severity.options.map((value) => ({ name: value, value })),
};

function text(name: string, description: string, max_length: number) {
  return { type: Option.String, name, description, required: true, max_length } as const;
}

function subcommand(
  name: string,
  description: string,
  options: APIApplicationCommandBasicOption[] = [],
) {
  return { type: Option.Subcommand, name, description, options } as const;
}

/** What people can type and choose, in every server that the bot is in. */
export const COMMANDS: readonly Definition[] = [
  {
    name: "wk",
    type: Type.ChatInput,
    description: "Ask Watchkeeper, or see what it is doing",
    contexts: [Context.Guild, Context.BotDM],
    integration_types: [ApplicationIntegrationType.GuildInstall],
    options: [
      subcommand("ask", "Ask in a thread that everybody here sees", [
        text("question", "What you want to know, or what is to be done", MAX_QUESTION),
        {
          type: Option.String,
          name: "about",
          description: "The system that it is about",
          autocomplete: true,
        },
      ]),
      subcommand("status", "Model, tools, host, what waits and what runs; only you see it"),
      subcommand("approvals", "What waits for approval; only you see it", [
        {
          type: Option.String,
          name: "action",
          description: "One of them, with all its details",
          autocomplete: true,
        },
      ]),
      subcommand("incidents", "Open incidents; only you see it"),
      {
        type: Option.SubcommandGroup,
        name: "incident",
        description: "Open, update or resolve an incident",
        options: [
          subcommand("open", "Open an incident, in a thread", [
            text("title", "What is wrong, in a few words", MAX_TITLE),
            SEVERITY,
          ]),
          subcommand("update", "Add a note to an incident", [
            INCIDENT,
            text("note", "What happened", MAX_NOTE),
          ]),
          subcommand("resolve", "Resolve an incident", [
            INCIDENT,
            { ...text("cause", "Why it happened, if that is known", MAX_NOTE), required: false },
          ]),
        ],
      },
      subcommand("help", "What these commands do; only you see it"),
    ],
  },
  { name: INVESTIGATE, type: Type.Message, ...IN_SERVERS },
  { name: ADD_TO_INCIDENT, type: Type.Message, ...IN_SERVERS },
];

export function isKnown(name: string, type: number): boolean {
  return COMMANDS.some((each) => each.name === name && Number(each.type) === type);
}

/** Commands that Discord does not have as they are now. @throws BotError what `Api.ask` throws */
export async function outdatedCommands(api: Api, application: string): Promise<Definition[]> {
  const there = await api.ask<unknown[]>("get", Routes.applicationCommands(application));
  const known = there.map(plain);
  return COMMANDS.filter((wanted) => !known.some((each) => isDeepStrictEqual(each, plain(wanted))));
}

/**
 * Tells Discord of the commands that it does not have as they are: 200 may be made a day, and others of the same application are
 * left alone. Never fails: people can still mention the bot.
 */
export async function registerCommands(api: Api, log: Logger): Promise<void> {
  try {
    const { id } = await api.ask<APIApplication>("get", Routes.currentApplication());
    const outdated = await outdatedCommands(api, id);
    // One of the same name and type is replaced.
    for (const body of outdated) await api.ask("post", Routes.applicationCommands(id), { body });
    if (outdated.length > 0)
      log.info({ commands: outdated.map(({ name }) => name) }, "commands registered");
  } catch (error) {
    log.warn({ err: error }, "the commands could not be registered; mentions work all the same");
  }
}

/** What a command is made of; Discord adds ids, times and languages. */
const COMPARED = new Set([
  "name",
  "type",
  "description",
  "options",
  "contexts",
  "integration_types",
  "default_member_permissions",
  "required",
  "autocomplete",
  "choices",
  "value",
  "min_length",
  "max_length",
]);

/** Without what is as it is by default. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (!isRecord(value)) return value;
  const said = Object.entries(value).filter(
    ([name, each]) =>
      COMPARED.has(name) &&
      each !== undefined &&
      each !== null &&
      each !== false &&
      // The description of a message command comes back empty.
      each !== "" &&
      !(Array.isArray(each) && each.length === 0),
  );
  return Object.fromEntries(said.map(([name, each]) => [name, plain(each)]));
}
