import type { Logger } from "pino";
import { isBotError, messageOf } from "../../core/errors.ts";
import { memoize } from "../../core/memoize.ts";
import { suggest } from "../../core/suggest.ts";
import { shortened } from "../../core/text.ts";
import { renderDetails } from "../render/card.ts";
import type { RenderedMessage } from "../render/rich-text.ts";
import type { ActionCard } from "../adapter.ts";
import type { Overview } from "../overview.ts";
import { quoted, updateOf } from "../shared/about-message.ts";
import type { Outlook } from "../shared/outlook.ts";
import type { Lines } from "../shared/outlook-lines.ts";
import { notDone, unknownWord } from "../shared/phrases.ts";
import type { Choice, InteractionReplies } from "./interaction-replies.ts";
import type { Acted, Given } from "./payloads.ts";
import * as phrases from "./phrases.ts";
import { accountOf, type Place } from "./place.ts";

/** Discord takes so many choices, each of so many characters (reference, "Autocomplete"). */
const MAX_CHOICES = 25;
const MAX_CHOICE = 100;
/** Discord asks for choices at every key; what is open is looked at again after this. */
const CHOICES_MS = 5_000;
const MAX_TYPING = 200;

export interface CommandParts {
  replies: InteractionReplies;
  overview: Overview;
  lines: Lines;
  lookOut: LookOutIn;
  /** Begins a thread with what somebody asks, or goes on where they are; returns what they are told. */
  ask(given: Acted, text: string): Promise<string>;
  render(text: string): Promise<RenderedMessage>;
  log: Logger;
}

/** What an account may see, asked from a place. */
export type LookOutIn = (account: string, place: Place) => Promise<Outlook>;

type Values = Readonly<Record<string, string | undefined>>;

/**
 * Takes `/wk`. What only reads is answered to that person alone; what asks or changes is written in a thread, for everybody to
 * see, and acknowledged once the journal has it.
 */
export function createCommands(parts: CommandParts) {
  const { replies, overview, lines, ask, render, log } = parts;
  const lookOut = ({ user, place }: Given) => parts.lookOut(accountOf(user.id), place);

  async function card(given: Given, wanted: string): Promise<RenderedMessage | string> {
    const { cards } = await lookOut(given);
    const [found, another] = cards.filter(
      (each) => idOf(each) === wanted || each.action === wanted.trim().toLowerCase(),
    );
    if (another !== undefined) return phrases.severalActions(another.action);
    if (found !== undefined) return renderDetails(found);
    return phrases.noSuchAction(
      wanted,
      suggest(
        wanted,
        cards.map(({ action }) => action),
      ),
    );
  }

  /** Asks it about the incident, if it is one that they may see. */
  async function aboutIncident(given: Given, id: string, command: string): Promise<string> {
    const ids = (await lookOut(given)).incidents.map((each) => each.id);
    if (ids.includes(id)) return ask(given, command);
    return notDone(phrases.noSuchIncident(id, suggest(id, ids)));
  }

  async function answer(given: Given): Promise<RenderedMessage | string> {
    const { words, values } = readOptions(given);
    const { question = "", about, action, title = "", severity, incident = "", note = "" } = values;
    const { cause } = values;
    switch (words.join(" ")) {
      case "ask":
        return ask(given, about === undefined ? question : `${question} (about ${about})`);
      case "status":
        return lines.status(overview.about(), await lookOut(given));
      case "approvals":
        return action === undefined ? lines.cards(await lookOut(given)) : card(given, action);
      case "incidents":
        return lines.incidents(await lookOut(given));
      case "incident open": {
        const graded = severity === undefined ? "" : ` severity=${quoted(severity)}`;
        return ask(given, `incident open ${quoted(title)}${graded}`);
      }
      case "incident update":
        return aboutIncident(given, incident, updateOf(incident, note));
      case "incident resolve": {
        const why = cause === undefined ? "" : ` cause=${quoted(cause)}`;
        return aboutIncident(given, incident, `incident resolve ${incident}${why}`);
      }
      case "help":
        return phrases.WK_HELP;
      default: {
        const written = words.join(" ");
        return unknownWord("/wk", written, suggest(written, WORDS));
      }
    }
  }

  async function shown(given: Given): Promise<RenderedMessage> {
    try {
      const said = await answer(given);
      return typeof said === "string" ? await render(said) : said;
    } catch (error) {
      if (!isBotError(error)) log.error({ err: error }, "a command could not be answered");
      return render(notDone(isBotError(error) ? messageOf(error) : "Something went wrong."));
    }
  }

  /** For a short time, by account and place. */
  const lookedOut = memoize(
    (id) => {
      const [account = "", channel = "", guild] = id.split(" ");
      return parts.lookOut(account, { guild, channel });
    },
    { ttlMs: CHOICES_MS, max: MAX_TYPING },
  );

  async function choicesFor(given: Given): Promise<Choice[]> {
    const { focused = "" } = readOptions(given);
    if (focused === "about") return overview.systems().map((name) => ({ name, value: name }));
    const { guild, channel } = given.place;
    const asking = [accountOf(given.user.id), channel, ...(guild === undefined ? [] : [guild])];
    const seen = await lookedOut(asking.join(" "));
    if (focused === "incident") {
      const items = await lines.items.incidents(seen);
      return seen.incidents.map(({ id }, i) => ({ name: items[i]?.text ?? id, value: id }));
    }
    if (focused !== "action") return [];
    const items = await lines.items.cards(seen);
    return seen.cards.map((each, i) => ({
      name: items[i]?.text ?? each.action,
      value: idOf(each),
    }));
  }

  return {
    /** Answers what was typed. Never fails. */
    take: (given: Given): Promise<void> => replies.showWhenDone(given, shown(given)),

    /** Offers what fits to what is being typed; nothing where that cannot be found out. Never fails. */
    async complete(given: Given): Promise<void> {
      const { focused = "", values } = readOptions(given);
      const typed = (values[focused] ?? "").toLowerCase();
      const all = await choicesFor(given).catch((error: unknown) => {
        log.debug({ err: error }, "what can be chosen could not be looked up");
        return [];
      });
      const fitting = all
        .filter(({ name, value }) => `${name} ${value}`.toLowerCase().includes(typed))
        .filter(({ value }) => value.length <= MAX_CHOICE)
        .slice(0, MAX_CHOICES);
      const choices = fitting.map(({ name, value }) => ({
        name: shortened(name, MAX_CHOICE - 1),
        value,
      }));
      await replies.choices(given, choices);
    },
  };
}

const WORDS = ["ask", "status", "approvals", "incidents", "help"];

/** The subcommand's words, the values of its options by name, and the option that is being typed. */
function readOptions({ data }: Given): { words: string[]; values: Values; focused?: string } {
  const words: string[] = [];
  let { options } = data;
  for (let [first] = options; first !== undefined && first.value === undefined; [first] = options) {
    words.push(first.name);
    ({ options } = first);
  }
  const focused = options.find((each) => each.focused)?.name;
  const values = Object.fromEntries(options.map(({ name, value }) => [name, String(value ?? "")]));
  return { words, values, ...(focused !== undefined && { focused }) };
}

/** Which action of which thread. */
function idOf({ key, action }: ActionCard): string {
  return `${key} ${action}`;
}
