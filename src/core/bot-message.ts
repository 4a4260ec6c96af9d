/**
 * What another bot's message says, on whatever platform it stands: an adapter translates attachments, blocks and embeds into it.
 * All of it is that bot's words, as plain text: marks and mentions are words, and where something leads is in `links`.
 */
export interface BotMessage {
  /** Who it is shown to be by. */
  readonly author: string;
  /** As they stand in the message, its own text first. */
  readonly parts: readonly MessagePart[];
}

/** The message's own text, or one attachment or embed of it. */
export interface MessagePart {
  /** What it is headed with; of what has no heading, its first line. */
  readonly title: string;
  /** Where the title leads. */
  readonly url?: string | undefined;
  /** What stands below the title. */
  readonly text: string;
  /** As `0xrrggbb`. */
  readonly color?: number | undefined;
  readonly fields: readonly { readonly name: string; readonly value: string }[];
  readonly links: readonly { readonly label: string; readonly url: string }[];
  /** The labels of its buttons. */
  readonly buttons: readonly string[];
  readonly footer: string;
}
