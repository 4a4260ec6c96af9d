import type { Logger } from "pino";
import { memoize } from "../../core/memoize.ts";
import { shortened } from "../../core/text.ts";
import type { ActionCard } from "../shown.ts";
import type { Overview } from "../overview.ts";
import type { Outlook } from "../shared/outlook.ts";
import type { Lines } from "../shared/outlook-lines.ts";
import type { Choice, InteractionReplies } from "./interaction-replies.ts";
import type { Given } from "./payloads.ts";
import { accountOf, type Place } from "./place.ts";

/** Discord takes so many choices, each of so many characters (reference, "Autocomplete"). */
const MAX_CHOICES = 25;
const MAX_CHOICE = 100;
/** Discord asks for choices at every key; what is open is looked at again after this. */
const CHOICES_MS = 5_000;
const MAX_TYPING = 200;

/** What an account may see, asked from a place. */
export type LookOutIn = (account: string, place: Place) => Promise<Outlook>;

export interface CompletionParts {
  replies: InteractionReplies;
  overview: Overview;
  lines: Lines;
  lookOut: LookOutIn;
  log: Logger;
}

type Values = Readonly<Record<string, string | undefined>>;

/** What can be chosen while `/wk` is typed. */
export function createCompletion({ replies, overview, lines, lookOut, log }: CompletionParts) {
  /** For a short time, by account and place. */
  const lookedOut = memoize(
    (id) => {
      const [account = "", channel = "", guild] = id.split(" ");
      return lookOut(account, { guild, channel });
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

/** The subcommand's words, the values of its options by name, and the option that is being typed. */
export function readOptions({ data }: Given): {
  words: string[];
  values: Values;
  focused?: string;
} {
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
export function idOf({ key, action }: ActionCard): string {
  return `${key} ${action}`;
}
