import type { FileType } from "../core/block.ts";
import type { Address, Actor, Choice, UnreadFile } from "../core/entry.ts";
import type { BotMessage } from "../core/bot-message.ts";
import type { JournalKey } from "../core/journal-key.ts";

/** What an adapter saw: a typed text, a click on a card, a Stop. The inbox reads typed commands out of texts. */
export type Inbound =
  /** `pasted`: some of it was not typed by the actor, so it may be a message or a command and never decides anything. */
  | {
      kind: "text";
      actor: Actor;
      text: string;
      files?: InboundFile[];
      /** Files that came with it and cannot be shown to the model: the thread is told. */
      unread?: UnreadFile[];
      pasted?: boolean;
      /** It only asks that what follows be a conversation of its own (`Queries.beginnings`). */
      begins?: true;
      /** Whom it is to; without it, the bot. */
      address?: Address;
      /** A bot, app or webhook that the configuration lists wrote it: it is read as plain words and instructs nobody. */
      app?: true;
    }
  | {
      kind: "click";
      actor: Actor;
      action: string;
      revision: number;
      choice: Choice;
      via: "button" | "typed";
      /** How the digest on the card begins, `digestStart`; without it a pressed Approve does not count. */
      digest?: string;
    }
  /** `run`, `goal`: that one alone; without either everything. */
  | { kind: "stop"; actor: Actor; run?: string; goal?: string }
  /** The author changed a message that was posted as `of`: its text now. */
  | { kind: "edited"; actor: Actor; of: string; text: string; address?: Address }
  | { kind: "removed"; of: string }
  /** The actor put 📌 on a message for the incident's timeline, or, `off`, took it away. `of`: as a post of the message is named. */
  | { kind: "pin"; actor: Actor; incident: string; of: string; off?: true }
  | (Feedback & { actor: Actor });

/** Whether the answer of a run helped somebody, and why not. */
export interface Feedback {
  kind: "feedback";
  run: string;
  helpful: boolean;
  reason?: string;
}

/** A click, without who made it. */
export type Click = Omit<Extract<Inbound, { kind: "click" }>, "actor">;

/** A file that came with a text, for the model to see. */
export interface InboundFile {
  name: string;
  mediaType: FileType;
  bytes: Uint8Array;
}

/** All that an adapter may write. Durable when it returns, so acknowledge the platform's event only then. */
export interface Inbox {
  /** `id` is the event's own: the same event again writes nothing. @throws BotError STORE_UNAVAILABLE, STORE_FULL */
  post(key: JournalKey, id: string, inbound: Inbound): Promise<void>;
}

/** What a bot that the configuration lists posted, or changed a message of its own into. */
export interface BotPost {
  /** The channel that it stands in, such as `slack:T1:C1`. */
  channel: string;
  /** The thread that the message begins, or stands in. */
  thread: JournalKey;
  /** As a post of the message is named: `msg:<id>`, and behind that `:edit:<time>` for what it was changed into. */
  post: string;
  /** When it said that, ms since 1970. */
  at: number;
  /** The bot. */
  actor: Actor;
  message: BotMessage;
}

/** Where alerts among other bots' messages go. */
export interface AlertInbox {
  /**
   * True for a message that tells of an alert: it is durable in its channel's journal of alerts, and is nothing else. The same post
   * again writes nothing. @throws BotError STORE_UNAVAILABLE, STORE_FULL
   */
  take(said: BotPost): Promise<boolean>;
  /** The alerts that the message tells of, each by a name of its own; none for one that tells of none. */
  read(said: Pick<BotPost, "actor" | "message">): readonly { alert: string; isOver: boolean }[];
}
