import type { Effect } from "../core/entry.ts";
import type { CheckedEdit, Edit, EditForm } from "../core/edit.ts";
import type { JournalKey } from "../core/journal-key.ts";
import type {
  ActionCard,
  AlertCard,
  IncidentCard,
  LivingCard,
  Outgoing,
  Answer,
  CallOutput,
} from "./shown.ts";
import type { MessageRef } from "./view.ts";

export interface ThreadSummary {
  key: JournalKey;
  lastAt: number;
  /** What it began with, shortened. */
  title: string;
  openActions: string[];
  /** Questions that wait for a person, by their calls. */
  questions: string[];
  /** Something is owed that needs no person: to be judged, run, written down or shown. */
  open: boolean;
  /** An outcome is unknown, and nobody has said yet what became of it. */
  unsettled: boolean;
  /** Another process may be working on it right now. */
  leased: boolean;
  gaps: ThreadGaps;
}

/** How many of a thread's calls could not see everything, and which permissions and settings would help, the most first. */
export interface ThreadGaps {
  calls: number;
  helps: { help: string; calls: number }[];
}

/** One line of a thread as it is printed when opened again. */
export type HistoryItem =
  | { kind: "said"; name: string; text: string; at: number }
  | { kind: "card"; card: ActionCard; at: number }
  | { kind: "living"; living: LivingCard; at: number }
  | { kind: "out"; message: Outgoing; at: number };

/** Read-only views of the journals. */
export interface Queries {
  /**
   * Those whose keys begin so, newest first; with `owed` only those that something is due in at some time, the first to be due
   * first. Each is read as it is asked for, however many there are.
   */
  threads(prefix: string, only?: "owed"): AsyncIterable<ThreadSummary>;
  /** Undefined for a thread in which nothing was ever said. */
  thread(key: JournalKey): Promise<ThreadSummary | undefined>;
  /** Something was said in the thread. Cheap: asked of every message of a channel. */
  isKnown(key: JournalKey): Promise<boolean>;
  /** Threads whose keys begin so and that have entries since then, the newest first. Reads none of them. */
  recent(prefix: string, since: number): Promise<JournalKey[]>;
  /** This message, or typed command, is in the thread's journal. */
  isSaid(key: JournalKey, post: string): Promise<boolean>;
  /** The posts in it that began another conversation (`Inbound.begins`), in order. */
  beginnings(key: JournalKey): Promise<readonly string[]>;
  /** As `isSaid`, or it was read as a click or a Stop. */
  isPosted(key: JournalKey, post: string): Promise<boolean>;
  /** The account whose words this message of ours quotes from another place of the thread; undefined where it quotes nobody. */
  quoted(key: JournalKey, ref: MessageRef): Promise<string | undefined>;
  /** The card of an incident that was opened in the thread; the newest open one where none is named. */
  incident(key: JournalKey, id?: string): Promise<IncidentCard | undefined>;
  /** A group of alerts that the thread tells of, as its buttons name it. Undefined as `action`. */
  alerts(key: JournalKey, id: string): Promise<AlertCard | undefined>;
  /** Undefined when the thread has no such action, or no longer knows it. */
  action(key: JournalKey, action: string): Promise<ActionCard | undefined>;
  /** What a run answered; undefined when the thread has no such run, or it has not ended. */
  answer(key: JournalKey, run: string): Promise<Answer | undefined>;
  /** All that a call returned, where its result is cut too: `r1.t3`, or `t3` for the newest that ends so. Undefined as `answer`. */
  output(key: JournalKey, call: string): Promise<CallOutput | undefined>;
  /** The form in which an action's arguments are edited. Undefined as `action`, and when its tool is gone. */
  editForm(key: JournalKey, action: string): Promise<EditForm | undefined>;
  /** Holds against the tool what was written in the form, before anything is sent. Takes at most about a second. */
  checkEdit(key: JournalKey, edit: Edit): Promise<CheckedEdit>;
  /** The last `limit` things said, every open incident, alerts that are not over, and every open card. Empty for an unknown thread. */
  history(key: JournalKey, limit: number): Promise<HistoryItem[]>;
  /** Of all threads of a transport, those of the threads first that are due first; read as they are asked for. */
  openActions(transport: string): AsyncIterable<ActionCard>;
  tools(): { name: string; description: string; effect: Effect }[];
}
