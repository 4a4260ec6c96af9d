import type { Call, FakeMessage, FakeSlack } from "../fakes/slack/slack.ts";
import { buttonsOf, textOf } from "../fakes/slack/visible.ts";

/** A message of the app's in one of its states: as posted, after an edit, or taken back. */
export interface Sight {
  /** When the platform had it, ms since 1970. */
  at: number;
  what: "posted" | "edited" | "deleted";
  /** The root's ts; a root's own when it is one. */
  thread: string;
  ts: string;
  /** The delivery that first posted it (`ended:r1`, `begun:r1`, `a1`); undefined for an app that says none. */
  delivery: string | undefined;
  text: string;
  /** Action ids. */
  buttons: readonly string[];
}

/** What the app did in the chat, from its calls as they were carried out. */
export interface ChatLog {
  /** All so far, in order; reads what is new. */
  read(): readonly Sight[];
}

/** Mentions are marked `m12`, direct commands `c12`: unlike any word of the program's. */
const MARK = /\b[mc]\d+\b/g;

/** Every mark in a text, each once. */
export function marksIn(text: string): string[] {
  return [...new Set(text.match(MARK))];
}

/** The message in which a run shows its progress. */
export function isProgress({ buttons }: Pick<Sight, "buttons">): boolean {
  return buttons.includes("wk:stop");
}

/** What a run came to, and not its progress, a card or a notice. */
export function isAnswer(sight: Pick<Sight, "buttons" | "delivery">): boolean {
  const { delivery = "ended:" } = sight;
  return delivery.startsWith("ended:") && !isProgress(sight);
}

/** The delivery that a message of the app's says it is of. */
export function deliveryOf(metadata: unknown): string | undefined {
  const { event_payload: payload } = (metadata ?? {}) as { event_payload?: { id?: string } };
  return payload?.id;
}

export function openChatLog(slack: FakeSlack): ChatLog {
  const sights: Sight[] = [];
  const newest = new Map<string, Sight>();
  let pending: Call[] = [];
  let seen = 0;

  function take({ method, args, at, ms, result }: Call): void {
    if (result?.["ok"] !== true) return;
    const ts = String(result["ts"]);
    const before = newest.get(ts);
    const when = at + ms;
    if (method === "chat.delete") {
      if (before !== undefined) keep({ ...before, at: when, what: "deleted" });
    } else if (method === "chat.postMessage" || method === "chat.update") {
      const { blocks = [], text = "", thread_ts = ts } = args as Partial<FakeMessage>;
      const shown = { blocks, text } as FakeMessage;
      keep({
        at: when,
        what: method === "chat.update" ? "edited" : "posted",
        thread: before?.thread ?? thread_ts,
        ts,
        delivery: before?.delivery ?? deliveryOf(args["metadata"]),
        text: textOf(shown),
        buttons: buttonsOf(shown).map(({ actionId }) => actionId),
      });
    }
  }

  function keep(sight: Sight): void {
    sights.push(sight);
    newest.set(sight.ts, sight);
  }

  return {
    read() {
      const open = [...pending, ...slack.calls.slice(seen)];
      seen = slack.calls.length;
      // A call that waits for its answer is not carried out yet.
      pending = open.filter(({ status, result }) => status === 0 && result === undefined);
      const done = open.filter((call) => !pending.includes(call));
      for (const call of done.toSorted((a, b) => a.at + a.ms - b.at - b.ms)) take(call);
      return sights;
    },
  };
}
