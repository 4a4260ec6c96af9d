import type { types } from "@slack/bolt";
import type { Logger } from "pino";
import * as z from "zod";
import { shortened } from "../../core/text.ts";
import type { Overview } from "../overview.ts";
import { type LookOut, type Outlook, waitsFor } from "../shared/outlook.ts";
import type { Item, Lines } from "../shared/outlook-lines.ts";
import type { Api } from "./api.ts";
import { accountOf, type Workspace } from "./place.ts";

/** Of each list, so that all stay far below the 100 blocks of a Home tab (Block Kit reference). */
const MAX_ITEMS = 20;
const MAX_TEXT = 300;

const opened = z.object({ user: z.string(), tab: z.string() });

export interface HomeParts {
  workspace: Workspace;
  api: Api;
  overview: Overview;
  lookOut: LookOut;
  lines: Pick<Lines, "items">;
  log: Logger;
}

/** The Home tab: what waits for a person, what burns, what runs, what can be reached, what today costs. */
export function createHome({ workspace, api, overview, lookOut, lines, log }: HomeParts) {
  const { items } = lines;

  async function blocksFor(account: string): Promise<types.KnownBlock[]> {
    const seen = await lookOut(account);
    const mine = seen.cards.filter((card) => waitsFor(card, account));
    const others = seen.cards.filter((card) => !mine.includes(card));
    const of = (cards: Outlook["cards"]) => items.cards({ ...seen, cards });
    return [
      ...listOf("Waiting for you", await of(mine), "Nothing waits for you."),
      ...(others.length === 0 ? [] : listOf("Waiting for others", await of(others), "")),
      ...listOf("Open incidents", await items.incidents(seen), "No incident is open."),
      ...listOf("Running now", await items.running(seen), "Nothing is running."),
      ...(seen.isFull ? await aboutBlocks() : []),
    ];
  }

  async function aboutBlocks(): Promise<types.KnownBlock[]> {
    const { tokens, limit } = await overview.today();
    const systems = overview.systems().map(systemName).join(" · ");
    const today = `Today: ${tokens.toLocaleString("en")} of ${limit.toLocaleString("en")} tokens`;
    return [
      heading("What I can look at and change"),
      ...(systems === "" ? [] : [text(systems)]),
      small([...overview.about(), today].join("\n")),
    ];
  }

  async function publish(user: string): Promise<void> {
    const blocks = await blocksFor(accountOf(workspace.team, user));
    const view = { type: "home" as const, blocks };
    await api.ask("views.publish", (client) => client.views.publish({ user_id: user, view }));
  }

  return {
    /** Takes an `app_home_opened`. Nothing waits for what it shows, and it may be lost. */
    open(event: unknown): void {
      const { user, tab } = opened.parse(event);
      if (tab !== "home") return;
      publish(user).catch((error: unknown) => log.debug({ err: error }, "Home could not be shown"));
    },
  };
}

/** Whose own names say little to people. */
const SYSTEM_NAMES: Readonly<Record<string, string>> = {
  host: "This machine",
  incident: "Incident records",
};

function systemName(system: string): string {
  return SYSTEM_NAMES[system] ?? system.charAt(0).toUpperCase() + system.slice(1);
}

function listOf(title: string, items: readonly Item[], none: string): types.KnownBlock[] {
  if (items.length === 0) return [heading(title), small(none)];
  const more = items.length - MAX_ITEMS;
  return [
    heading(`${title} · ${items.length}`),
    ...items.slice(0, MAX_ITEMS).map(itemBlock),
    ...(more > 0 ? [small(`… and ${more} more`)] : []),
  ];
}

function itemBlock({ text: said, link }: Item, at: number): types.SectionBlock {
  if (link === undefined) return text(said);
  return {
    ...text(said),
    accessory: { type: "button", action_id: `open:${at}`, text: plain("Open"), url: link },
  };
}

function heading(said: string): types.HeaderBlock {
  return { type: "header", text: plain(said) };
}

function text(said: string): types.SectionBlock {
  return { type: "section", text: plain(shortened(said, MAX_TEXT)) };
}

function small(said: string): types.ContextBlock {
  return { type: "context", elements: [plain(said)] };
}

function plain(said: string): types.PlainTextElement {
  return { type: "plain_text", text: said, emoji: false };
}
