import type { Adapter, ChatParts } from "../../src/adapters/adapter.ts";
import type { Entry } from "../../src/core/entry.ts";
import type { JournalKey } from "../../src/core/journal-key.ts";
import type { Journal } from "../../src/journal/journal.ts";
import type { Host, HostOptions } from "../fakes/host.ts";
import type { Saying, ScriptedModel } from "../fakes/scripted-model.ts";
import type { fakeTool } from "../fakes/stage.ts";

/** What people can do on any surface, and what can be seen there: for all that `transportContract` tries. */

/** Ana, Bob and Cy are full members of the channel, Gus is a guest in it. */
export type Who = "ana" | "bob" | "cy" | "gus";

/** A platform with its people, and what can be seen there. */
export interface Platform extends PlatformOfBots, PlatformOfDoors {
  /** A process's connection to it, that nothing comes through yet. */
  connect(): Connection;
  /**
   * Somebody asks the bot something in a new place, mentioning it where that is needed. Files only where people send them,
   * as in a crowd.
   */
  begin(who: Who, text: string, files?: readonly SentFile[]): Promise<JournalKey>;
  /** Somebody writes in the thread, without a mention. */
  write(key: JournalKey, who: Who, text: string): Promise<void>;
  /** Somebody puts 📌 on the thread's newest message with this text, or takes it away. Left out where people can't. */
  mark?(key: JournalKey, who: Who, text: string, isOn: boolean): Promise<void>;
  /** Somebody presses the button with this label, on the newest message of the thread that has it and shows `on`. */
  press(key: JournalKey, who: Who, label: string, on: string): Promise<void>;
  /** Somebody denies the action, with this reason, in whichever way the card offers. */
  denyBecause(key: JournalKey, who: Who, action: string, reason: string): Promise<void>;
  /** Somebody presses the button, on the action's newest card, and fills in the form that it opens. */
  fill(
    key: JournalKey,
    who: Who,
    { label, action }: { label: string; action: string },
    written: Record<string, string>,
  ): Promise<void>;
  stop(key: JournalKey, who: Who): Promise<void>;
  /** All that stands in the thread now, as text, in order; what people wrote as well. */
  shown(key: JournalKey): string;
  /** All that this person reads behind a button, page after page, and its code's languages. Undefined: all stands in the thread. */
  read?(key: JournalKey, who: Who, label: RegExp): Promise<{ text: string; languages: string[] }>;
  /** What only this person was told. */
  told(who: Who): string;
  /** Whoever something of ours would have notified. */
  pings(): readonly unknown[];
  /** From now on every event comes several times, out of order. Left out where events cannot. */
  scramble?(): void;
  end(): Promise<void>;
}

interface SentFile {
  name: string;
  type: string;
  bytes: Uint8Array;
}

interface Connection {
  adapter: Adapter;
  start(parts: ChatParts): Promise<void>;
  stop(): Promise<void>;
}

interface PlatformOfBots {
  /**
   * Another bot posts an alert in the words of its platform's attachments, Bob comments on it, and then this person asks the
   * bot there. Left out where nobody else writes.
   */
  beginUnder?(alert: string, comment: string, who: "ana", text: string): Promise<JournalKey>;
  /**
   * A bot posts an alert, mentioning ours or not; the thread in which it would be answered. `listed`: the configuration names
   * the bot. Left out where nobody else writes.
   */
  alert?(
    text: string,
    options: { listed: boolean; mention?: boolean; thread?: JournalKey },
  ): Promise<JournalKey>;
}

interface PlatformOfDoors {
  /** Somebody gives a command that only reads; what it says to them. */
  look(who: Who, what: "status" | "approvals" | "incidents"): Promise<string>;
  /** Left out where one person sits at the one place. */
  doors?: Doors;
}

/** The ways to the bot besides messages and what stands in them. */
export interface Doors {
  /** Somebody asks by the platform's command in the channel. `said`: what stands there for everybody. */
  ask(who: Who, question: string): Promise<{ key: JournalKey; said: string }>;
  /** Bob writes this in the channel; the thread that it would have. */
  post(text: string): JournalKey;
  /** Somebody picks it in the menu of the message that the thread begins with. */
  pick(key: JournalKey, who: Who, item: "Investigate" | "Add to incident"): Promise<void>;
  /** Somebody chooses an incident in the form that came up before them. */
  choose(who: Who, incident: string): Promise<void>;
  /** What is offered to somebody who types this for an open incident. Left out where nothing is. */
  offered?(who: Who, typed: string): Promise<readonly string[]>;
}

/** A conversation on a surface, as `transportContract` sets it up. */
export interface Surface {
  at(): Platform;
  journal(): Journal;
  run(options: HostOptions): Promise<{ host: Host; end(): Promise<void> }>;
  shows(key: JournalKey, text: string | RegExp): Promise<void>;
  talk(script: readonly Saying[]): {
    model: ScriptedModel;
    look: ReturnType<typeof fakeTool>;
    act: ReturnType<typeof fakeTool>;
    options: HostOptions;
  };
  /** So many runs have ended. */
  ended(key: JournalKey, runs: number): Promise<void>;
  kindsOf(key: JournalKey): Promise<string[]>;
  entriesOf(key: JournalKey): Promise<Entry[]>;
  /** Time passes. */
  pass(ms: number): void;
  /** Several people are there; else one sits at the one place. */
  crowd: boolean;
}
