import type { ErrorCode } from "../../core/errors.ts";
import type { File, VERBS } from "./verbs.ts";

/** What the store's thread is asked, and what it says. */

type Changes = {
  readonly [V in keyof typeof VERBS]: (typeof VERBS)[V] extends (
    file: File,
    ...args: infer Args
  ) => infer Reply
    ? { readonly args: Args; readonly reply: Reply }
    : never;
};

export interface Verbs extends Changes {
  /** What is damaged. Others wait until all of the file was read. */
  readonly check: { readonly args: []; readonly reply: string | undefined };
}

export interface ThreadData {
  /** A file that was opened before. */
  readonly path: string;
  /** The store's clock in tests when the thread began, ms since 1970. */
  readonly time: number | undefined;
}

export interface Request {
  readonly id: number;
  readonly verb: keyof Verbs;
  readonly args: readonly unknown[];
  /** The store's clock in tests, ms since 1970. */
  readonly time: number | undefined;
}

/** Together what was asked in one turn of the event loop. */
export type Asked = readonly Request[] | "close";

/** An error without what does not pass between threads. */
export interface Refusal {
  readonly code: ErrorCode | undefined;
  readonly message: string;
}

export interface Answers {
  readonly answers: readonly Said[];
  /** Another process holds the file: what is answered, if anything, was refused for that. */
  readonly isLocked: boolean;
}

export type Said =
  | { readonly id: number; readonly refusal: Refusal }
  | { readonly id: number; readonly reply: unknown };
