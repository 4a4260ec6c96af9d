import type { Adapter, ChatAdapter } from "../adapters/adapter.ts";
import type { Inbox } from "../adapters/inbox.ts";
import type { Queries } from "../adapters/queries.ts";
import { createHash } from "node:crypto";
import { BotError, isBotError } from "../core/errors.ts";
import { type JournalKey, platformName, transportOf, tryJournalKey } from "../core/journal-key.ts";
import type { KnownPerson } from "../core/people.ts";
import type { Journal } from "../journal/journal.ts";
import type { Config } from "../config/config.ts";
import { createMirrors, type Mirrors } from "../team/mirrors.ts";
import type { Mirroring } from "../tools/integration.ts";
import { refused } from "../tools/refusal.ts";
import { viewsOf } from "./thread-places.ts";

/** What is said in any of a thread's places reaches its one journal, and is answered from it. */
export function routed(
  { inbox, queries }: { inbox: Inbox; queries: Queries },
  { platforms }: Pick<Config, "platforms">,
  journal: Journal,
) {
  // There is no second place: nothing is looked up.
  if (platforms.length < 2) return { inbox, queries };
  const mirrors = createMirrors(journal);
  return { inbox: routedInbox(inbox, mirrors), queries: routedQueries(queries, mirrors) };
}

function routedInbox(inbox: Inbox, { homeOf }: Mirrors): Inbox {
  return {
    async post(place, id, inbound) {
      const key = await homeOf(place);
      await inbox.post(key, id, inbound);
      // Became another thread's view in between: the place's own journal does nothing with it any more.
      const now = await homeOf(place);
      if (now !== key && key === place) await inbox.post(now, id, inbound);
    },
  };
}

function routedQueries(queries: Queries, { homeOf, among }: Mirrors): Queries {
  const atHome =
    <A extends unknown[], R>(ask: (key: JournalKey, ...rest: A) => Promise<R>) =>
    async (place: JournalKey, ...rest: A): Promise<R> =>
      ask(await homeOf(place), ...rest);
  // Each by its name, so that none is forgotten here.
  return {
    threads: queries.threads,
    openActions: queries.openActions,
    tools: queries.tools,
    // A view's place has a journal of its own, which says so.
    isKnown: queries.isKnown,
    thread: atHome(queries.thread),
    isSaid: atHome(queries.isSaid),
    isPosted: atHome(queries.isPosted),
    quoted: atHome(queries.quoted),
    beginnings: atHome(queries.beginnings),
    incident: atHome(queries.incident),
    alerts: atHome(queries.alerts),
    action: atHome(queries.action),
    answer: atHome(queries.answer),
    output: atHome(queries.output),
    editForm: atHome(queries.editForm),
    checkEdit: atHome(queries.checkEdit),
    history: atHome(queries.history),
    async recent(prefix, since) {
      const views = await among(prefix);
      const lively = await Promise.all(
        views.map(async ({ place, home }) => {
          const { lastAt = 0 } = (await queries.thread(home)) ?? {};
          return lastAt >= since ? [place] : [];
        }),
      );
      return [...new Set([...lively.flat(), ...(await queries.recent(prefix, since))])];
    },
  };
}

/** What the tools that show a thread in a second place use of the program. */
export function createMirroring(
  journal: Pick<Journal, "read">,
  adapters: ReadonlyMap<string, Adapter>,
  people: readonly KnownPerson[],
): Mirroring {
  /** @throws BotError PRECHECK_FAILED where no connected platform has it */
  function adapterFor(channel: string): ChatAdapter {
    const key = tryJournalKey(channel);
    const adapter = key && adapters.get(transportOf(key));
    if (isChat(adapter)) return adapter;
    const name = key === undefined ? channel : platformName(key);
    throw new BotError("PRECHECK_FAILED", `${name} isn't served here.`);
  }

  return {
    viewsOf: (key) => viewsOf(journal, key),
    async describe(channel) {
      const found = await adapterFor(channel)
        .channelAt(channel)
        .catch((error: unknown) => {
          if (!isBotError(error, "PLATFORM_REFUSED")) throw error;
          throw refused(error.message);
        });
      return {
        ...found,
        async hasAny(accounts) {
          for (const account of accountsOf(accounts, people))
            if (transportOf(channel) === transportOf(account) && (await found.has(account)))
              return true;
          return false;
        },
      };
    },
    async open(key, channel, text) {
      const places = (await journal.read(key)).filter(({ kind }) => kind === "view_added").length;
      // Of the thread's own place nobody there learns by it. A crash may have left its message there: the same again finds it.
      const own = createHash("sha256").update(key).digest("hex").slice(0, 16);
      const delivery = { id: `mirror:${own}:${places}`, isRetry: true };
      return adapterFor(channel).open(channel, text, delivery);
    },
    isChat: (key) => isChat(adapters.get(transportOf(key))),
    link: (key) => adapters.get(transportOf(key))?.link(key),
    nameOf: async (key) => adapters.get(transportOf(key))?.placeName?.(key),
  };
}

/** Those, and the others of the same people. */
function accountsOf(accounts: readonly string[], people: readonly KnownPerson[]): Set<string> {
  const theirs = people.filter((each) => each.accounts.some((one) => accounts.includes(one)));
  return new Set([...accounts, ...theirs.flatMap((each) => each.accounts)]);
}

/** A platform in whose channels threads can be begun. */
function isChat(adapter: Adapter | undefined): adapter is ChatAdapter {
  return adapter !== undefined && "open" in adapter && "examine" in adapter;
}
