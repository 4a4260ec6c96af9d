import { setTimeout as pause } from "node:timers/promises";
import type { Draft, PostKind } from "../../src/core/entry.ts";
import { digestStart } from "../../src/adapters/render/button-ids.ts";
import { isBotError } from "../../src/core/errors.ts";
import type { JournalKey } from "../../src/core/journal-key.ts";
import { postDurably } from "../../src/journal/durable.ts";
import { errandText } from "./errand.ts";
import type { Bug } from "./faults.ts";
import type { Machine } from "./machine.ts";
import type { Account, Ask, BatchPlan, Reply } from "./plan.ts";
import { between, seededRandom } from "./random.ts";
import { type CardSight, isParking, type Line } from "./witness.ts";

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
 * Of the bugs, two are here: an event that is sent again becomes another post, and one is acknowledged that is not flushed.
 * `acknowledged`: told with each post that is new.
 */
export function createPeople(
  plan: BatchPlan,
  machine: Pick<Machine, "ask">,
  bug: Bug | undefined,
  acknowledged: (count: number) => void,
): People {
  const dedupe = bug !== "dedupe off";
  const random = seededRandom(plan.seed ^ 0x9e3779b9);
  const posted: Posted[] = [];
  const known = new Set<string>();
  const reacted = new Set<string>();
  /** Whose card it is, by thread and action. */
  const carded = new Map<string, Ask>();
  const asks = new Map(plan.threads.flatMap((thread) => thread.asks).map((ask) => [ask.name, ask]));
  const settling = new Map(plan.threads.map(({ key, settles }) => [key, settles]));
  const timers = new Set<NodeJS.Timeout>();
  let owed = 0;
  let again = 0;
  let turn = Promise.resolve();

  async function post({ key, draft }: Posted): Promise<void> {
    for (;;) {
      try {
        await machine.ask<unknown>((journal) =>
          bug === "acknowledged unflushed"
            ? journal.post(key, draft)
            : postDurably(journal, key, draft),
        );
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
    if (first) acknowledged(posted.push(said));
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

  const reply = (ask: Ask, planned: Reply, action: string, sinceMs: number, digest?: string) =>
    say(sinceMs + planned.afterMs, planned.againMs, {
      key: ask.key,
      draft: draftOf(ask, planned, action, digest),
    });

  function react(ask: Ask, from: Reply["from"], action: string, card?: CardSight): void {
    const { revision = 1, digest } = card ?? {};
    const seen = `${from} ${ask.name} ${revision}`;
    if (reacted.has(seen)) return;
    reacted.add(seen);
    for (const each of ask.replies) {
      if (each.from === from && each.revision === revision) reply(ask, each, action, 0, digest);
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
        const ask = asks.get(line.name);
        if (ask !== undefined) {
          carded.set(`${line.key} ${line.action}`, ask);
          react(ask, "card", line.action, line);
        }
      }
      if (line.what !== "said" || line.kind !== "notice") return;
      const questioner = line.asks === undefined ? undefined : asks.get(line.text);
      if (questioner !== undefined) react(questioner, "question", line.asks ?? "");
      for (const action of line.holds) {
        const ask = carded.get(`${line.key} ${action}`);
        if (ask !== undefined) react(ask, "hold", action);
      }
      const actor = actorOf("test:cy");
      if (line.settles !== undefined && settling.get(line.key) === true) {
        const id = `settle:${line.ref}`;
        const choice = { kind: "settle", happened: random() < 0.5 } as const;
        const click = { id, kind: "click", actor, action: line.settles, revision: 1 } as const;
        const draft: Draft<"click"> = { ...click, choice, via: "typed" };
        say(between(random, 0, 250), undefined, { key: line.key, draft });
      }
      if (isParking(line.delivery)) {
        const id = `again:${line.ref}`;
        const text = errandText({ name: id, thread: line.key, rounds: [], ms: 0 });
        const draft: Draft<"message"> = { id, kind: "message", actor, text };
        say(between(random, 0, 20), undefined, { key: line.key, draft });
      }
    },
  };
}

function actorOf(account: Account) {
  return { account, name: account.replace("test:", "") };
}

function requestOf({
  id,
  key,
  name,
  tool,
  rounds,
  by,
  workMs,
  long,
}: Ask): Draft<"command" | "message"> {
  const actor = actorOf(by);
  if (tool === undefined) {
    const text = errandText({ name, thread: key, rounds, ms: workMs });
    return { id, kind: "message", actor, text };
  }
  const args = { thread: key, name, ms: String(workMs), ...(long && { bytes: "20000" }) };
  const text = `run ${tool} name=${name} …`;
  return { id, kind: "command", actor, text, command: { name: "run", tool, args } };
}

function draftOf(
  ask: Ask,
  { id, by, choice, revision }: Reply,
  action: string,
  digest: string | undefined,
): Draft<"click" | "stop" | "message"> {
  const actor = actorOf(by);
  if (choice.kind === "stop") return { id, kind: "stop", actor };
  if (choice.kind === "message") {
    const { rounds } = choice;
    const text = errandText({ name: id, thread: ask.key, rounds, ms: ask.workMs });
    return { id, kind: "message", actor, text };
  }
  const args = { thread: ask.key, name: ask.name, ms: ask.workMs, bytes: 0, note: "edited" };
  const made = choice.kind === "edit" ? { ...choice, args } : choice;
  const click = { id, kind: "click", actor, action, revision, choice: made } as const;
  if (digest === undefined) return { ...click, via: "typed" };
  return { ...click, via: "button", digest: digestStart(digest) };
}
