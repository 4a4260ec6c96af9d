import type { JournalKey } from "../core/journal-key.ts";
import type { Queries, ThreadGaps, ThreadSummary } from "../adapters/queries.ts";
import { isOpen } from "../thread/action.ts";
import { pastAction } from "../thread/fold.ts";
import type { Journal, JournalSummary } from "../journal/journal.ts";
import type { Quote, Thread } from "../thread/state.ts";
import type { Tool } from "../tools/tool.ts";
import { checkEditOf, editFormFor, type WhyNot } from "./edits.ts";
import { decide } from "../thread/decide.ts";
import { cardOf, type Encode } from "./cards.ts";
import { createKnownThreads, type KnownThread } from "./known-threads.ts";
import { createOpenCards } from "./open-cards.ts";
import { answerOf, outputOf } from "./answers.ts";
import { findIncident, incidentOf } from "./incidents.ts";
import type { LinkRule } from "../core/links.ts";
import { SAVE_EVAL } from "../core/tool-spec.ts";
import { SILENCE } from "../thread/silences.ts";
import { findAlerts } from "./alerts.ts";
import { historyOf, questionsOf } from "./history.ts";

interface LookedUp {
  /** Looks at edits before they are sent. */
  whyNot?: WhyNot;
  /** Addresses that the configuration lets people click, and those of alerts. */
  mayLink?: LinkRule;
  mayLinkAlert?: LinkRule;
}

/** What adapters may look up: folds of the journals, read on at every question. */
export function createQueries(
  journal: Journal,
  tools: readonly Tool[],
  encode: Encode,
  { whyNot, mayLink, mayLinkAlert = mayLink }: LookedUp = {},
): Queries {
  const canSilence = tools.some(({ name }) => name === SILENCE);
  const canSave = tools.some(({ name }) => name === SAVE_EVAL);
  const shown = { encode, mayLink, mayLinkAlert, canSilence, canSave };
  const threads = createKnownThreads(journal, encode);
  const openCards = createOpenCards(threads, encode);

  /** Each once. */
  async function* listed(listing: "list" | "owed", prefix: string): AsyncIterable<JournalSummary> {
    const seen = new Set<JournalKey>();
    for await (const summary of journal[listing]({ prefix })) {
      if (seen.has(summary.key)) continue;
      seen.add(summary.key);
      yield summary;
    }
  }

  return {
    async *threads(prefix, only) {
      for await (const summary of listed(only === undefined ? "list" : "owed", prefix)) {
        yield summaryOf(summary, await threads.read(summary.key), encode);
      }
    },

    async thread(key) {
      const summary = await journal.summary(key);
      return summary && summaryOf(summary, await threads.read(key), encode);
    },

    isKnown: (key) => threads.isKnown(key),
    async recent(prefix, since) {
      const found = new Set<JournalKey>();
      for await (const { key } of journal.list({ prefix, since })) found.add(key);
      return [...found];
    },
    isSaid: async (key, post) =>
      (await threads.isKnown(key)) && (await threads.read(key)).said.has(post),
    beginnings: async (key) =>
      (await threads.isKnown(key)) ? (await threads.read(key)).beginnings : [],
    async isPosted(key, post) {
      if (!(await threads.isKnown(key))) return false;
      const { said, typed } = await threads.read(key);
      return said.has(post) || typed.has(post);
    },

    async quoted(key, ref) {
      const { quotes } = (await threads.read(key)).thread;
      const isIn = (quote: Quote) => [...quote.shown.values()].some((each) => each.ref === ref);
      return [...quotes.values()].find(isIn)?.actor.account;
    },

    async incident(key, id) {
      const state = findIncident((await threads.read(key)).thread, id);
      return state && incidentOf(state, encode);
    },

    alerts: async (key, id) => findAlerts((await threads.read(key)).thread, id, shown),

    async action(key, id) {
      const { actions } = (await threads.read(key)).thread;
      const action = actions.get(id) ?? pastAction(await journal.read(key), id);
      return action && cardOf(key, action, encode);
    },

    answer: (key, run) => answerOf(journal, key, run, shown),

    output: (key, call) => outputOf(journal, key, call, shown),

    async editForm(key, id) {
      const action = (await threads.read(key)).thread.actions.get(id);
      return action && editFormFor(tools, action);
    },

    async checkEdit(key, edit) {
      const action = (await threads.read(key)).thread.actions.get(edit.action);
      return checkEditOf(tools, action, edit, whyNot);
    },

    async history(key, limit) {
      return historyOf(key, await journal.read(key), limit, shown);
    },

    async *openActions(transport) {
      // An open action expires at some time, so its thread owes something.
      for await (const summary of listed("owed", `${transport}:`)) yield* await openCards(summary);
    },

    tools: () => tools.map(({ name, description, effect }) => ({ name, description, effect })),
  };
}

function summaryOf(
  { key, lastAt, leased, now }: JournalSummary,
  { thread, title }: KnownThread,
  encode: Encode,
): ThreadSummary {
  const idle = { busy: new Set<string>(), draining: false, showAfterMs: undefined };
  const step = decide(thread, { now, ...idle });
  return {
    key,
    lastAt,
    title,
    openActions: [...thread.live].filter(isOpen).map((action) => action.action),
    questions: questionsOf(thread),
    open: step.do !== "wait" && thread.newer === undefined,
    unsettled: [...thread.unknown.values()].some((call) => call.settled === undefined),
    leased,
    gaps: gapsOf(thread, encode),
  };
}

function gapsOf({ counts, helps }: Thread, encode: Encode): ThreadGaps {
  const most = [...helps].map(([help, calls]) => ({ help: encode(help), calls }));
  return { calls: counts.blind, helps: most.toSorted((a, b) => b.calls - a.calls) };
}
