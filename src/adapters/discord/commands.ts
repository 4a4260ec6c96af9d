import { isBotError } from "../../core/errors.ts";
import { suggest } from "../../core/suggest.ts";
import type { OpenIncident } from "../overview.ts";
import { renderDetails } from "../render/card-details.ts";
import type { RenderedMessage } from "../render/rich-text.ts";
import { quoted, updateOf } from "../shared/about-message.ts";
import { failed, notDone, unknownWord } from "../shared/phrases.ts";
import { type CompletionParts, idOf, readOptions } from "./completion.ts";
import type { Acted, Given } from "./payloads.ts";
import * as phrases from "./phrases.ts";
import { accountOf } from "./place.ts";

export interface CommandParts extends CompletionParts {
  /** Begins a thread with what somebody asks, named so, or goes on where they are; returns what they are told. */
  ask(given: Acted, text: string, name?: string): Promise<string>;
  /** Writes it in the incident's own thread, and returns what they are told; undefined: they don't belong there. */
  write: WriteInto;
  render(text: string): Promise<RenderedMessage>;
}

export type WriteInto = (
  acted: Acted,
  about: { incident: string; seen: readonly OpenIncident[] },
  text: string,
) => Promise<string | undefined>;

/**
 * Takes `/wk`. What only reads is answered to that person alone; what asks or changes is written in a thread, for everybody to
 * see, and acknowledged once the journal has it.
 */
export function createCommands(parts: CommandParts) {
  const { replies, overview, lines, ask, render, log } = parts;
  const lookOut = ({ user, place }: Given) => parts.lookOut(accountOf(user.id), place);

  async function card(given: Given, wanted: string): Promise<RenderedMessage | string> {
    const seen = await lookOut(given);
    const { cards } = seen;
    const [found, another] = cards.filter(
      (each) => idOf(each) === wanted || each.action === wanted.trim().toLowerCase(),
    );
    if (another !== undefined) return phrases.severalActions(another.action);
    if (found !== undefined) {
      const [item] = await lines.items.cards({ ...seen, cards: [found] });
      return withLink(renderDetails(found), item?.link);
    }
    return phrases.noSuchAction(
      wanted,
      suggest(
        wanted,
        cards.map(({ action }) => action),
      ),
    );
  }

  /** Writes it into the incident's own thread, or asks it here, if it is one that they may see. */
  async function aboutIncident(given: Given, id: string, command: string): Promise<string> {
    const { incidents: seen } = await lookOut(given);
    const ids = seen.map((each) => each.id);
    if (ids.includes(id)) {
      const told = await parts.write(given, { incident: id, seen }, command);
      return told ?? ask(given, command);
    }
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
        return ask(given, `incident open ${quoted(title)}${graded}`, title);
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
      return render(failed(error));
    }
  }

  return {
    /** Answers what was typed. Never fails. */
    take: (given: Given): Promise<void> => replies.showWhenDone(given, shown(given)),
  };
}

const WORDS = ["ask", "status", "approvals", "incidents", "help"];

/** With the address of the thread in which it is decided. */
function withLink(told: RenderedMessage, url: string | undefined): RenderedMessage {
  if (url === undefined) return told;
  return { ...told, blocks: [...told.blocks, { kind: "small", inlines: [{ text: url, url }] }] };
}
