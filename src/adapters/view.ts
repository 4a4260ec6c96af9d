import type {
  ActionCard,
  LivingCard,
  Notice,
  Offer,
  Outgoing,
  Progress,
  Quoted,
  RootCard,
} from "./shown.ts";

/** Names a message on its platform for as long as it exists; the view that made it can change it or take it back. */
export type MessageRef = string;

/** A delivery. Which message it is, and whether it may be there already. */
export interface Delivery {
  /** The same in every attempt, also by another process, and of no other message of the thread. At most 200 characters. */
  id: string;
  /** An earlier attempt may have come through: look for its message first, and return that one. */
  isRetry: boolean;
  /** Nobody is notified of it, where the platform has that. */
  isQuiet?: true;
  /** The thread's channel shows it too, where the platform has that; only for what the program says by itself. */
  isBroadcast?: true;
  /** What an image of the message's results holds. May throw: then it is told in words. */
  readArtifact?(id: string): Promise<Uint8Array>;
  /** Of a run's progress: its Stop button stops that run. */
  run?: string;
  /** Of a run's progress: the account that asked. */
  asker?: string;
  /**
   * The delivery that may have opened progress for this answer, in a message that nobody recorded: look for that one too,
   * and delete it.
   */
  orphan?: string;
  /** Called when the platform shows it in no form. */
  unshown?(told: Unshown): void;
}

/** Nobody can read it where it belongs. `file`: a message there says so, and a file has it. */
export interface Unshown {
  to: "file" | "nobody";
  why: string;
}

/** A message of other people, bots or apps as the platform shows it; as it came, nothing is encoded. */
export interface EarlierMessage {
  /** The id that a post of it has. */
  id: string;
  at: number;
  name: string;
  /** The person who wrote it; undefined: a bot or an app. */
  account: string | undefined;
  text: string;
  /** What a person's message carries of others' words: a forwarded message, a link's preview. */
  attached?: string | undefined;
  files?: string[];
  /** It stands in the channel, not in the thread, and the question does not reply to it: its author had no part in this. */
  around?: true;
}

export interface Earlier {
  /** Oldest first, without the bot's own. */
  messages: EarlierMessage[];
  /** There are more before them. */
  older?: boolean;
  /** Why not everything could be read, in words for people: what came is used. */
  why?: string;
}

/** How many messages are read at once: in a thread, with the one that it begins with; and in a channel. */
export const MAX_EARLIER = { thread: 50, channel: 15 } as const;

/**
 * One place a thread is shown. Texts come encoded for display (`encodeText`): control characters are gone, secrets are
 * removed. Each call returns once the platform has it, or throws; the outbox repeats it later.
 */
export interface View {
  /**
   * Posts the message in which people see a run's progress, until its answer comes and this goes. Left out where progress
   * needs no message. `soFar`: the calls of the run until now.
   */
  openProgress?(delivery: Delivery, soFar: readonly Progress[]): Promise<MessageRef>;
  /** `opened`: the run's message by `openProgress`, perhaps of another process; without one the update may be dropped. */
  progress(update: Progress, opened?: MessageRef): void;
  /** Always a new message, below what stands there: people are notified of nothing else. */
  post(message: Outgoing, delivery: Delivery): Promise<MessageRef>;
  /** To one person only, with what they can press. */
  postPrivately(account: string, text: string, offer?: Offer): Promise<MessageRef>;
  /** Edits a notice, also one to a single person. Undefined: nothing of it holds any more, so it is deleted where it can be. */
  updateNotice(ref: MessageRef, notice: Notice | undefined): Promise<void>;
  postCard(card: ActionCard, delivery: Delivery): Promise<MessageRef>;
  updateCard(ref: MessageRef, card: ActionCard, said?: Pick<Delivery, "unshown">): Promise<void>;
  /** An incident's card or a group of alerts, in one message for as long as the thread lives. Left out where nobody looks. */
  postLiving?(living: LivingCard, delivery: Delivery): Promise<MessageRef>;
  /** Notifies nobody. */
  updateLiving?(ref: MessageRef, living: LivingCard): Promise<void>;
  /**
   * Has the message that the thread of alerts began with say how they stand, in its channel: ours is edited, another bot's gets
   * reactions, a person's stays as it is. `shown`: what an earlier call returned. Returns what stands there now, for the next
   * call. Notifies nobody. Left out where a thread stands in no channel.
   */
  showRoot?(root: RootCard, shown: MessageRef | undefined): Promise<MessageRef>;
  /**
   * Reads what stands above the message that was posted as `before` and, if given, below the one posted as `after`: of its
   * thread, or of the channel where it begins one. Of `before` itself only what it carries of others' words. The newest
   * `MAX_EARLIER` are kept. Takes a few seconds at most and never throws. Left out where nothing can stand above.
   */
  earlier?(before: string, after?: string): Promise<Earlier>;
  /** The message's address for people. Left out where messages have none: then no thread is summed up either. */
  linkTo?(ref: MessageRef): string | undefined;
  /**
   * Shows what somebody wrote in another place of the thread, as theirs and not as the bot's; nothing in it pings or links.
   * `shown`: it stands there in that message, which is edited. Left out where a thread has no other place.
   */
  quote?(said: Quoted, delivery: Delivery, shown?: MessageRef): Promise<MessageRef>;
  /** Deletes a message that another worker delivered as well. */
  delete(ref: MessageRef): Promise<void>;
}
