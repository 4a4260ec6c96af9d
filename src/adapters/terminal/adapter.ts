import type { Readable } from "node:stream";
import type { JournalKey } from "../../core/journal-key.ts";
import type { Adapter } from "../adapter.ts";
import type { Inbox } from "../inbox.ts";
import type { Queries } from "../queries.ts";
import { createPaint } from "./style.ts";
import { createPlace } from "./people.ts";
import { type Output, Screen } from "./screen.ts";
import { Session } from "./session.ts";
import type { TerminalView } from "./view.ts";

export interface TerminalOptions {
  input: Readable;
  output: Output;
  /** With colours Markdown is rendered too; else it is printed as it was written. */
  color: boolean;
  /** True when both ends are a terminal; else lines are read and printed plainly. */
  interactive: boolean;
  /** `terminal:<operating system user>` */
  account: string;
  name: string;
  /** The folder that relative paths of files are taken from; absolute. */
  folder: string;
  /** For whoever begins a thread, such as which model answers. */
  note?: string;
  /** Ms since 1970. */
  now: () => number;
}

export interface Terminal extends Adapter {
  view(key: JournalKey): TerminalView | undefined;
  /**
   * Shows the thread and talks until the person goes on: resolves with the key of the thread to open next (`/new`,
   * `/resume`), or undefined when they left, the input ended and all is quiet, or the terminal is gone. From the call on
   * until it resolves `view(key)` is the thread's view. Lines typed meanwhile are kept for the next thread opened.
   * @throws BotError what the inbox's or the queries' store throws while the thread is being opened
   */
  open(key: JournalKey, parts: { inbox: Inbox; queries: Queries }): Promise<JournalKey | undefined>;
}

/** Nothing is read or printed before the first `open`. */
export function createTerminal(options: TerminalOptions): Terminal {
  const paint = createPaint(options.color);
  let screen: Screen | undefined;
  let open: { key: JournalKey; session: Session } | undefined;

  return {
    ...createPlace(options.account),
    view: (key) => (open?.key === key ? open.session.view : undefined),
    async open(key, { inbox, queries }) {
      screen ??= new Screen(options);
      const actor = { account: options.account, name: options.name };
      const { interactive, folder, now } = options;
      const session = new Session({
        key,
        screen,
        paint,
        // Without colours there is little to render with, and the source is as readable.
        rich: options.color,
        interactive,
        actor,
        inbox,
        queries,
        folder,
        note: options.note,
        now,
      });
      open = { key, session };
      let next: JournalKey | undefined;
      try {
        next = await session.run();
        return next;
      } finally {
        open = undefined;
        if (next === undefined) screen.close();
      }
    },
  };
}
