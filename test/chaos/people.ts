import { setTimeout as pause } from "node:timers/promises";
import type { Draft, PostKind } from "../../src/core/entry.ts";
import { isBotError } from "../../src/core/errors.ts";
import type { JournalKey } from "../../src/core/journal-key.ts";
import type { Journal } from "../../src/journal/journal.ts";
import {
  type Account,
  type Ask,
  between,
  type BatchPlan,
  type Reply,
  seededRandom,
} from "./plan.ts";
import type { Line } from "./witness.ts";

/** A post that the store has acknowledged. */
export interface Posted {
  key: JournalKey;
  draft: Draft<PostKind>;
}

export interface People {
  /** Begins to say what the plan has them say. */
  start(): void;
  /** They see what the chat shows, and react. */
  see(line: Line): void;
  /** Nothing is about to be said. */
  isQuiet(): boolean;
  /** They fall silent; what is being said is said to the end. */
  end(): Promise<void>;
  readonly posted: Posted[];
}

/** A store that fails is asked again, as a platform sends an event again that was not acknowledged. */
const RETRY_MS = 30;

/**
 * The people of a batch, in the parent process. They click on cards that they see, and never look into the journal.
 * `dedupe: false` breaks the store: an event that is sent again becomes another post.
 */
export function createPeople(plan: BatchPlan, journal: Journal, dedupe: boolean): People {
  const random = seededRandom(plan.seed ^ 0x9e3779b9);
  const posted: Posted[] = [];
  const known = new Set<string>();
  const cards = new Set<string>();
  const asks = new Map(plan.threads.flatMap((thread) => thread.asks).map((ask) => [ask.name, ask]));
  const settling = new Map(plan.threads.map(({ key, settles }) => [key, settles]));
  const timers = new Set<NodeJS.Timeout>();
  let owed = 0;
  let again = 0;
  let turn = Promise.resolve();

  async function post({ key, draft }: Posted): Promise<void> {
    for (;;) {
      try {
        await journal.post(key, draft);
        return;
      } catch (error) {
        if (!isBotError(error, "STORE_UNAVAILABLE")) throw error;
        await pause(RETRY_MS);
      }
    }
  }

  async function speak(said: Posted): Promise<void> {
    const name = `${said.key} ${said.draft.id}`;
    const first = !known.has(name);
    known.add(name);
    again += 1;
    const id = first || dedupe ? said.draft.id : `${said.draft.id}~${again}`;
    await post({ ...said, draft: { ...said.draft, id } });
    if (first) posted.push(said);
    owed -= 1;
  }

  function later(ms: number, said: Posted): void {
    owed += 1;
    const timer = setTimeout(() => {
      timers.delete(timer);
      const before = turn;
      turn = (async () => {
        await before;
        await speak(said);
      })();
    }, ms);
    timers.add(timer);
  }

  function say(ms: number, againMs: number | undefined, said: Posted): void {
    later(ms, said);
    if (againMs !== undefined) later(ms + againMs, said);
  }

  const reply = (ask: Ask, planned: Reply, action: string, sinceMs: number) =>
    say(sinceMs + planned.afterMs, planned.againMs, {
      key: ask.key,
      draft: draftOf(ask, planned, action),
    });

  function react(ask: Ask, action: string, revision: number): void {
    for (const each of ask.replies) {
      if (each.from === "card" && each.revision === revision) reply(ask, each, action, 0);
    }
  }

  return {
    posted,
    isQuiet: () => owed === 0,

    async end() {
      for (const timer of timers) clearTimeout(timer);
      await turn;
    },

    start() {
      for (const ask of asks.values()) {
        say(ask.atMs, ask.againMs, { key: ask.key, draft: requestOf(ask) });
        for (const each of ask.replies) if (each.from === "ask") reply(ask, each, "", ask.atMs);
      }
    },

    see(line) {
      if (line.what === "carded" || line.what === "settled") {
        const card = `${line.name} ${line.revision}`;
        const ask = asks.get(line.name);
        if (ask !== undefined && !cards.has(card)) react(ask, line.action, line.revision);
        cards.add(card);
      }
      if (line.what !== "said" || line.kind !== "notice") return;
      const actor = actorOf("test:cy");
      if (line.settles !== undefined && settling.get(line.key) === true) {
        const id = `settle:${line.ref}`;
        const choice = { kind: "settle", happened: random() < 0.5 } as const;
        const click = { id, kind: "click", actor, action: line.settles, revision: 1 } as const;
        const draft: Draft<"click"> = { ...click, choice, via: "typed" };
        say(between(random, 0, 250), undefined, { key: line.key, draft });
      }
      if (line.text.includes("put aside")) {
        const draft: Draft<"message"> = {
          id: `again:${line.ref}`,
          kind: "message",
          actor,
          text: "Try again",
        };
        say(between(random, 0, 20), undefined, { key: line.key, draft });
      }
    },
  };
}

function actorOf(account: Account) {
  return { account, name: account.replace("test:", "") };
}

function requestOf({ id, key, name, tool, by, workMs, long }: Ask): Draft<"command" | "message"> {
  const actor = actorOf(by);
  if (tool === undefined) return { id, kind: "message", actor, text: name };
  const args = { thread: key, name, ms: String(workMs), ...(long && { bytes: "20000" }) };
  const text = `run ${tool} name=${name} …`;
  return { id, kind: "command", actor, text, command: { name: "run", tool, args } };
}

function draftOf(
  ask: Ask,
  { id, by, choice, revision }: Reply,
  action: string,
): Draft<"click" | "stop"> {
  const actor = actorOf(by);
  if (choice.kind === "stop") return { id, kind: "stop", actor };
  const args = { thread: ask.key, name: ask.name, ms: ask.workMs, bytes: 0, note: "edited" };
  const made = choice.kind === "edit" ? { ...choice, args } : choice;
  return { id, kind: "click", actor, action, revision, choice: made, via: "button" };
}
