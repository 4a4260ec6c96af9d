import { showDuration } from "../../core/instant.ts";
import type { ActionCard } from "../shown.ts";
import type { JournalKey } from "../../core/journal-key.ts";
import type { OpenIncident } from "../overview.ts";
import type { Outlook } from "./outlook.ts";

/** Items of one list; the others are counted. */
const MAX_ITEMS = 15;

export interface Item {
  text: string;
  /** Its thread's address. */
  link: string | undefined;
}

export interface LineParts {
  /** A thread's address. */
  link(key: JournalKey): string | undefined;
  /** Such as `#ops`; undefined: it has no name, or none that can be looked up now. */
  placeName(key: JournalKey): Promise<string | undefined>;
}

/** What somebody may see, as lines of text and as items to be shown one by one. */
export function linesOf({ link, placeName }: LineParts) {
  /** ` · #ops`; nothing for a direct message. */
  async function placeOf(key: JournalKey): Promise<string> {
    const name = await placeName(key).catch(() => undefined);
    return name === undefined ? "" : ` · ${name}`;
  }

  async function cardItem(card: ActionCard): Promise<Item> {
    const { key, action, preview, tool, host, expiresAt } = card;
    const what = `${preview.title ?? tool}${host === undefined ? "" : ` on ${host}`}`;
    const left = showDuration(Math.max(0, expiresAt - Date.now()));
    return {
      text: `${what}${await placeOf(key)} · ${left} left (${action})`,
      link: link(key),
    };
  }

  function incidentItem({ id, title, severity, startedAt, link: at }: OpenIncident): Item {
    const since = showDuration(Math.max(0, Date.now() - startedAt));
    return { text: `${[severity, title, since].filter(Boolean).join(" · ")} (${id})`, link: at };
  }

  const items = {
    cards: ({ cards }: Pick<Outlook, "cards">) => Promise.all(cards.map(cardItem)),
    incidents: async ({ incidents }: Outlook) => incidents.map(incidentItem),
    running: ({ running }: Outlook) =>
      Promise.all(
        running.map(async ({ key, title }) => ({
          text: `${title || "A thread"}${await placeOf(key)}`,
          link: link(key),
        })),
      ),
  };
  const cards = async (seen: Outlook) =>
    list("Waiting for approval", await items.cards(seen), "Nothing waits for approval.");
  return {
    items,
    cards,
    incidents: async (seen: Outlook) =>
      list("Open incidents", await items.incidents(seen), "No incident is open."),
    /** What answers, what waits and what runs. */
    async status(about: readonly string[], seen: Outlook) {
      const running = list("Running", await items.running(seen), "Nothing is running.");
      return [about.join("\n"), await cards(seen), running].join("\n\n");
    },
  };
}

export type Lines = ReturnType<typeof linesOf>;

export function list(heading: string, items: readonly Item[], none: string): string {
  if (items.length === 0) return none;
  const lines = items
    .slice(0, MAX_ITEMS)
    .map(({ text, link }) => `• ${text}${link === undefined ? "" : ` ${link}`}`);
  const more = items.length - lines.length;
  return [`${heading}:`, ...lines, ...(more > 0 ? [`… and ${more} more`] : [])].join("\n");
}
