import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import type { ActionCard, Outgoing } from "../../src/adapters/shown.ts";
import type { ChatParts } from "../../src/adapters/adapter.ts";
import type { Inbox } from "../../src/adapters/inbox.ts";
import type { OpenIncident } from "../../src/adapters/overview.ts";
import { readText } from "../../src/commands/grammar.ts";
import { BotError } from "../../src/core/errors.ts";
import type { JournalKey } from "../../src/core/journal-key.ts";
import type { Journal } from "../../src/journal/journal.ts";
import type { Edit } from "../../src/core/edit.ts";
import { editFields, readEdit } from "../../src/tools/edit-form.ts";
import { defineTool, type Tool } from "../../src/tools/tool.ts";
import { isThanks } from "../../src/thread/tone.ts";
import { createInbox } from "../../src/worker/thread/inbox.ts";
import { createQueries } from "../../src/queries/queries.ts";
import { createTenants } from "../../src/app/tenants.ts";
import { nothingHeld } from "../fakes/encoder.ts";

/** What the cards are of. */
const RESTART = defineTool({
  name: "restart_service",
  description: "Restarts a service.",
  input: z.strictObject({ name: z.string().regex(/^[a-z-]+$/, "expected a service's name") }),
  effect: "write",
  timeoutMs: 1_000,
  run: async () => ({ text: "" }),
}) as Tool;

/** A real inbox, which can be made to fail, and real queries, which also know `cards`, by action. */
export function openParts(journal: Journal) {
  const cards = new Map<string, ActionCard>();
  let broken = 0;
  let breakage: BotError;
  let breakingMs = 0;
  const inbox = createInbox({ journal, read: readText, encoder: nothingHeld, wake: () => {} });
  const queries = createQueries(journal, [], (text) => text);
  const incidents: OpenIncident[] = [];
  const parts: ChatParts = {
    overview: {
      about: () => ["Model: none", "Tools: 1 tool", "Host: web-1"],
      systems: () => ["kubernetes", "prometheus"],
      today: async () => ({ tokens: 120_000, limit: 5_000_000 }),
      incidents: async ({ tenants }) => (tenants.length === 0 ? [] : incidents),
    },
    tenants: createTenants(journal),
    isThanks,
    encode: (text) => text.replaceAll("hunter2-held", "[secret]"),
    inbox: {
      async post(...args: Parameters<Inbox["post"]>) {
        if (broken > 0) {
          broken -= 1;
          await sleep(breakingMs);
          throw breakage;
        }
        await inbox.post(...args);
      },
    },
    queries: {
      ...queries,
      action: async (key: JournalKey, action: string) =>
        cards.get(action) ?? queries.action(key, action),
      editForm: async (key: JournalKey, action: string) => {
        const card = cards.get(action);
        if (card === undefined) return queries.editForm(key, action);
        return { action, revision: card.revision, fields: editFields(RESTART, card.args) };
      },
      checkEdit: async (key: JournalKey, edit: Edit) => {
        const card = cards.get(edit.action);
        if (card === undefined) return queries.checkEdit(key, edit);
        return readEdit(RESTART, editFields(RESTART, card.args), edit.written);
      },
    },
  };
  return {
    parts,
    cards,
    incidents,
    breakStore(
      times: number,
      error = new BotError("STORE_UNAVAILABLE", "The store did not answer."),
      delayMs = 0,
    ) {
      broken = times;
      breakage = error;
      breakingMs = delayMs;
    },
  };
}

export function answer(run: string, text: string): Outgoing {
  return { kind: "answer", run, status: "completed", text, results: [], isModelRun: false };
}

export function cardOf(key: JournalKey, changes: Partial<ActionCard> = {}): ActionCard {
  const args = { name: "web" };
  return {
    key,
    action: "a1",
    revision: 1,
    tool: "restart_service",
    effect: "write",
    host: undefined,
    args,
    canonical: JSON.stringify(args),
    digest: "ab".repeat(32),
    reason: undefined,
    preview: {
      lines: [{ label: "Unit", value: "web" }],
      blastRadius: "Web is away.",
      undo: "None.",
    },
    phase: "open",
    approvers: "anyone in this thread",
    quorum: 1,
    votes: [],
    expiresAt: Date.now() + 3_600_000,
    ending: undefined,
    ...changes,
  };
}
