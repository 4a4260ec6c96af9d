import { isBody, stringOf } from "./components.ts";
import { invalidForm, Refusal, refusal } from "./refusals.ts";
import type { Answer, Asked, Route } from "./route.ts";
import type { Body } from "./world.ts";

/** Limits of https://discord.com/developers/docs/interactions/application-commands */
const CHAT_INPUT = 1;
const MESSAGE = 3;
const MOST: Record<number, number> = { [CHAT_INPUT]: 100, 2: 15, [MESSAGE]: 15 };
const MOST_CREATED = 200;
const MOST_OPTIONS = 25;
const MOST_CHARACTERS = 8_000;
const NAME = /^[-_'\p{L}\p{N}\p{sc=Deva}\p{sc=Thai}]{1,32}$/u;
const SUBCOMMAND = 1;
const GROUP = 2;
const STRING = 3;

export interface Commands {
  readonly all: readonly Body[];
  /** Made today, those that were replaced not counted. */
  created: number;
  readonly routes: readonly Route[];
}

function wrong(path: string, said: string, code = "BASE_TYPE_BAD_LENGTH"): Refusal {
  return invalidForm(path, code, said);
}

function listIn(body: Body, key: string): Body[] {
  const value = body[key];
  return Array.isArray(value) ? value.filter(isBody) : [];
}

function readName(body: Body, path: string): string {
  const name = stringOf(body, "name", path, [1, 32]);
  if (!NAME.test(name) || name !== name.toLowerCase()) {
    throw wrong(`${path}.name`, "Command name is invalid", "APPLICATION_COMMAND_INVALID_NAME");
  }
  return name;
}

function readChoices(option: Body, path: string): void {
  const choices = listIn(option, "choices");
  if (choices.length > MOST_OPTIONS)
    throw wrong(`${path}.choices`, "Must be 25 or fewer in length.");
  for (const [index, choice] of choices.entries()) {
    stringOf(choice, "name", `${path}.choices.${index}`, [1, 100]);
    stringOf(choice, "value", `${path}.choices.${index}`, [1, 100]);
  }
  if (choices.length > 0 && option["autocomplete"] === true) {
    const said = "Cannot have both autocomplete and choices";
    throw wrong(`${path}.autocomplete`, said, "APPLICATION_COMMAND_OPTIONS_AUTOCOMPLETE");
  }
}

function readOptions(body: Body, path: string, depth: number): Body[] {
  const options = listIn(body, "options");
  if (options.length > MOST_OPTIONS) throw wrong(`${path}.options`, "Must be 25 or fewer.");
  const names = new Set<string>();
  let optional = false;
  const kinds = new Set(options.map(({ type }) => Number(type) <= GROUP));
  if (kinds.size > 1) {
    const said =
      "Sub-command and sub-command group option types are mutually exclusive to all other types";
    throw wrong(`${path}.options`, said, "APPLICATION_COMMAND_OPTIONS_TYPE_INVALID");
  }
  return options.map((option, index) => {
    const at = `${path}.options.${index}`;
    const type = Number(option["type"]);
    const name = readName(option, at);
    const description = stringOf(option, "description", at, [1, 100]);
    if (names.has(name))
      throw wrong(
        `${at}.name`,
        "Option names must be unique",
        "APPLICATION_COMMAND_OPTIONS_NAME_ALREADY_EXISTS",
      );
    names.add(name);
    if (type === GROUP && depth > 0)
      throw wrong(
        `${at}.type`,
        "Groups cannot be nested",
        "APPLICATION_COMMAND_OPTIONS_TYPE_INVALID",
      );
    if (type === SUBCOMMAND && depth > 1)
      throw wrong(
        `${at}.type`,
        "Sub-commands cannot be nested",
        "APPLICATION_COMMAND_OPTIONS_TYPE_INVALID",
      );
    const base = {
      type,
      name,
      name_localizations: null,
      description,
      description_localizations: null,
    };
    if (type <= GROUP) return { ...base, options: readOptions(option, at, type === GROUP ? 1 : 2) };
    if (type !== STRING) throw wrong(`${at}.type`, "The fake knows strings only", "UNSUPPORTED");
    if (option["required"] === true && optional) {
      const said = "Required options must be placed before non-required options";
      throw wrong(`${at}.required`, said, "APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID");
    }
    if (option["required"] !== true) optional = true;
    readChoices(option, at);
    const most = option["max_length"] ?? 6_000;
    if (typeof most !== "number" || most < 1 || most > 6_000)
      throw wrong(`${at}.max_length`, "int value should be between 1 and 6000.", "NUMBER_TYPE_MAX");
    // What is as by default is not given back.
    const { required, autocomplete, max_length, choices } = option;
    return {
      ...base,
      ...(required === true && { required }),
      ...(autocomplete === true && { autocomplete }),
      ...(max_length !== undefined && { max_length }),
      ...(choices !== undefined && { choices }),
    };
  });
}

/** All names, descriptions and values of a command together. */
function charactersOf(value: unknown): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, each) => sum + charactersOf(each), 0);
  if (!isBody(value)) return 0;
  return Object.entries(value).reduce((sum, [key, each]) => {
    const counts = ["name", "description", "value"].includes(key) && typeof each === "string";
    return sum + (counts ? each.length : charactersOf(each));
  }, 0);
}

/** As Discord keeps it. @throws Refusal 50035 */
function readCommand(body: Body): Body {
  const type = Number(body["type"] ?? CHAT_INPUT);
  if (!(type in MOST))
    throw wrong("type", "Value must be one of {1, 2, 3, 4}.", "BASE_TYPE_CHOICES");
  const isMenu = type !== CHAT_INPUT;
  const name = isMenu ? stringOf(body, "name", "name", [1, 32]) : readName(body, "name");
  if (isMenu && (textOf(body["description"]) !== "" || listIn(body, "options").length > 0)) {
    const said = "Context menu commands cannot have description";
    throw wrong("description", said, "APPLICATION_COMMAND_CONTEXT_MENU_DESCRIPTION_INVALID");
  }
  const description = isMenu ? "" : stringOf(body, "description", "description", [1, 100]);
  const options = isMenu ? [] : readOptions(body, "options", 0);
  if (charactersOf({ name, description, options }) > MOST_CHARACTERS)
    throw wrong("", "Command exceeds maximum size (8000)", "APPLICATION_COMMAND_TOO_LARGE");
  return {
    type,
    name,
    name_localizations: null,
    description,
    description_localizations: null,
    ...(options.length > 0 && { options }),
    default_member_permissions: null,
    dm_permission: true,
    nsfw: false,
    contexts: body["contexts"] ?? null,
    integration_types: body["integration_types"] ?? [0],
  };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** The application's own commands, in every guild. */
export function createCommandStore(): Commands {
  const known = new Map<string, Body>();
  const commands = { created: 0 };

  function checkOwn({ platform, param }: Asked): void {
    if (param("application") !== platform.world.applicationId) throw refusal("notYourApplication");
  }

  /** One of the same name and type is replaced, which costs nothing of the day's creations. */
  function upsert(asked: Asked): Answer {
    checkOwn(asked);
    const { world } = asked.platform;
    const command = readCommand(asked.body);
    const key = `${String(command["type"])} ${String(command["name"])}`;
    const before = known.get(key);
    if (before === undefined) {
      const same = [...known.values()].filter(({ type }) => type === command["type"]);
      if (same.length >= (MOST[Number(command["type"])] ?? 0)) throw refusal("tooManyCommands");
      if (commands.created >= MOST_CREATED) throw refusal("tooManyCommandsToday");
      commands.created += 1;
    }
    const kept = {
      id: before?.["id"] ?? world.newId(),
      application_id: world.applicationId,
      version: world.newId(),
      ...command,
    };
    known.set(key, kept);
    return kept;
  }

  const pattern = "/applications/:application/commands";
  return {
    get all() {
      return [...known.values()];
    },
    get created() {
      return commands.created;
    },
    set created(count) {
      commands.created = count;
    },
    routes: [
      {
        method: "GET",
        pattern,
        run(asked) {
          checkOwn(asked);
          return [...known.values()];
        },
      },
      { method: "POST", pattern, status: 201, run: upsert },
    ],
  };
}

/** What somebody gives in the client: the words of a subcommand, and values. Such as `incident open`, `{ title: "…" }`. */
export interface Typed {
  words: string;
  values?: Record<string, string>;
  /** The option that they are typing. */
  focused?: string;
}

/**
 * The options as an interaction has them. @throws Error for what the client would not let go: no such command, a required
 * option that is missing, one that is too long, a choice that there is none of
 */
export function typedOptions(
  commands: Commands,
  name: string,
  { words, values = {}, focused }: Typed,
): Body[] {
  const command = commands.all.find((each) => each["name"] === name && each["type"] === CHAT_INPUT);
  if (command === undefined) throw new Error(`There is no /${name}`);
  const descend = (level: Body, [word, ...rest]: readonly string[]): Body[] => {
    if (word === undefined) return leaf(level);
    const next = listIn(level, "options").find((each) => each["name"] === word);
    if (next === undefined || Number(next["type"]) > GROUP)
      throw new Error(`/${name} has no ${word}`);
    return [{ name: word, type: next["type"], options: descend(next, rest) }];
  };
  const leaf = (level: Body): Body[] => {
    const options = listIn(level, "options");
    if (options.some(({ type }) => Number(type) <= GROUP))
      throw new Error(`/${name} ${words} is not a whole command`);
    const isTyping = focused !== undefined;
    const missing = options.find(
      (each) => each["required"] === true && values[String(each["name"])] === undefined,
    );
    if (missing !== undefined && !isTyping)
      throw new Error(`${String(missing["name"])} is required`);
    return Object.entries({
      ...values,
      ...(focused !== undefined && { [focused]: values[focused] ?? "" }),
    }).map(([option, value]) => {
      const found = options.find((each) => each["name"] === option);
      if (found === undefined) throw new Error(`/${name} ${words} has no ${option}`);
      const choices = listIn(found, "choices").map((each) => each["value"]);
      if (choices.length > 0 && !choices.includes(value))
        throw new Error(`${option} offers ${choices.join(", ")}`);
      if (value.length > Number(found["max_length"] ?? 6_000))
        throw new Error(`${option} is too long`);
      if (option === focused && found["autocomplete"] !== true)
        throw new Error(`${option} has no autocomplete`);
      return { name: option, type: STRING, value, ...(option === focused && { focused: true }) };
    });
  };
  return descend(
    command,
    words.split(" ").filter((word) => word !== ""),
  );
}
