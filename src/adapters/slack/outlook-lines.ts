import { showDuration } from "../../core/instant.ts";
import { channelOf as channelIn } from "./place.ts";
import type { ActionCard } from "../adapter.ts";
import type { JournalKey } from "../../core/journal-key.ts";
import type { OpenIncident } from "../overview.ts";
import type { Outlook } from "../shared/outlook.ts";
import type { SlackPeople } from "./people.ts";
import { linkOf, tryPlace, type Workspace } from "./place.ts";

/** Items of one list; the others are counted. */
const MAX_ITEMS = 15;

export interface Item {
  text: string;
  /** Its thread's address. */
  link: string | undefined;
}

/** What somebody may see, as lines of text and as items to be shown one by one. */
export function linesOf(workspace: Workspace, people: Pick<SlackPeople, "channelName">) {
  const linkTo = (key: JournalKey) => {
    const place = tryPlace(key, workspace.team);
    return place && linkOf(workspace, place);
  };

  /** ` · #ops`; nothing for a direct message. */
  async function placeOf(key: JournalKey): Promise<string> {
    const [, , channel = ""] = channelIn(key).split(":");
    const name = await people.channelName(channel).catch(() => undefined);
    return name === undefined ? "" : ` · ${name}`;
  }

  async function cardItem(card: ActionCard): Promise<Item> {
    const { key, action, preview, tool, host, expiresAt } = card;
    const what = `${preview.title ?? tool}${host === undefined ? "" : ` on ${host}`}`;
    const left = showDuration(Math.max(0, expiresAt - Date.now()));
    return {
      text: `${what}${await placeOf(key)} · ${left} left (${action})`,
      link: linkTo(key),
    };
  }

  function incidentItem({ id, title, severity, startedAt, link }: OpenIncident): Item {
    const since = showDuration(Math.max(0, Date.now() - startedAt));
    return { text: `${[severity, title, since].filter(Boolean).join(" · ")} (${id})`, link };
  }

  const items = {
    cards: ({ cards }: Outlook) => Promise.all(cards.map(cardItem)),
    incidents: async ({ incidents }: Outlook) => incidents.map(incidentItem),
    running: ({ running }: Outlook) =>
      Promise.all(
        running.map(async ({ key, title }) => ({
          text: `${title || "A thread"}${await placeOf(key)}`,
          link: linkTo(key),
        })),
      ),
  };
  return {
    items,
    cards: async (seen: Outlook) =>
      list("Waiting for approval", await items.cards(seen), "Nothing waits for approval."),
    incidents: async (seen: Outlook) =>
      list("Open incidents", await items.incidents(seen), "No incident is open."),
    running: async (seen: Outlook) =>
      list("Running", await items.running(seen), "Nothing is running."),
  };
}

function list(heading: string, items: readonly Item[], none: string): string {
  if (items.length === 0) return none;
  const lines = items
    .slice(0, MAX_ITEMS)
    .map(({ text, link }) => `• ${text}${link === undefined ? "" : ` ${link}`}`);
  const more = items.length - lines.length;
  return [`${heading}:`, ...lines, ...(more > 0 ? [`… and ${more} more`] : [])].join("\n");
}
