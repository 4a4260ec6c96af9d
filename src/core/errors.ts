/**
 * Everything that can go wrong and that an operator or user hears about, one line each. `docs/errors.md` has a
 * section per code; a test holds the two equal.
 */
export const ERROR_CODES = {
  CONFIG_INVALID: "The environment or watchkeeper.yaml has mistakes; the message lists them all.",
  USAGE: "The command line or a typed command has a mistake.",
  THREAD_UNKNOWN: "No thread has this id in this store.",
  STORE_UNAVAILABLE: "The store did not answer in time; nothing was written.",
  STORE_FULL: "The disk refused a write; nothing was written.",
  STORE_CORRUPT:
    "The database is damaged, or is not the one that was started there; it was not touched.",
  STORE_FOREIGN: "The database file belongs to another program; it was not touched.",
  STORE_NEWER: "A newer version of this program wrote the database; it was not touched.",
  STORE_UNSAFE: "The store can lose entries by itself where it is; it was not used.",
  JOURNAL_ALTERED: "Somebody changed a journal's entries; the program left the journal alone.",
  JOURNAL_LOST: "The store no longer has what it had acknowledged; the program reads what is left.",
  ENTRY_INVALID:
    "A journal entry does not have the form of its kind; the program left the journal alone.",
  WAKE_INVALID: "Another program put a job into the shared queue; it was dropped.",
  ARTIFACT_TOO_LARGE: "A tool's full output is larger than an artifact may be.",
  ARTIFACT_UNKNOWN: "No artifact has this id in this thread.",
  TOOL_UNKNOWN: "No tool has this name.",
  INPUT_INVALID: "A tool's arguments do not fit its schema.",
  PRECHECK_FAILED:
    "Something that must hold before the tool acts does not hold, or no longer holds.",
  ADDRESS_REFUSED: "The network rules do not allow a connection to this address.",
  ADDRESS_UNKNOWN: "The host name does not resolve.",
  CONNECTION_FAILED: "The connection was refused, cut or timed out.",
  PATH_REFUSED: "The path is outside the folders that may be read, or is not a regular file.",
  COMMAND_UNKNOWN: "No executable with this name is on the search path.",
  TIMEOUT: "It took longer than allowed.",
  ABORTED: "It was stopped before it finished.",
  NOT_AVAILABLE: "This machine lacks what the tool needs.",
  CIRCUIT_OPEN:
    "The tool failed several times in a row, so the program leaves it alone for a while.",
  MODEL_AUTH: "The model provider refused the key, or the key may not use this model.",
  MODEL_UNKNOWN:
    "The model provider has no model with this name, or the address is not the provider's.",
  MODEL_RATE_LIMITED: "The model provider asked to wait before the next request.",
  MODEL_SPEND_CAP: "The account's quota or spending limit at the model provider is used up.",
  MODEL_OVERLOADED: "The model provider is overloaded or has an error of its own.",
  MODEL_CONTEXT_TOO_LONG: "The conversation is longer than the model can take.",
  MODEL_FILTERED: "The model provider's filter withheld the request or the response.",
  MODEL_REQUEST_INVALID: "The model provider did not accept the request.",
  MODEL_CONTENT_UNSUPPORTED: "The model cannot take this kind of file.",
  MODEL_UNREACHABLE: "The model provider did not answer, or not in time.",
  MODEL_OUTPUT_INVALID:
    "The model did not give the value that was asked for, also when told what was wrong.",
  MODEL_CUT: "The model's response ended before it was complete.",
  PLATFORM_REFUSED: "The chat platform refused the token, its rights or a request for good.",
  PLATFORM_RATE_LIMITED: "The chat platform asked to wait before the next request.",
  PLATFORM_UNREACHABLE: "The chat platform did not answer, or not in time.",
  PEOPLE_UNAVAILABLE: "The platform could not say who somebody is; nothing was decided.",
  BUDGET_EXHAUSTED: "The day's budget of model tokens is used up.",
} as const;

export type ErrorCode = keyof typeof ERROR_CODES;

/** What a platform refuses for good: this message wherever it is put, or every message in this place. */
export type Refused = "content" | "place";

/**
 * The one kind of error that people read: what the program tried, what it found, what to do next. It
 * holds no secret; the low-level error is in `cause`.
 */
export class BotError extends Error {
  readonly code: ErrorCode;
  /** How long the other side asked to wait, in ms. */
  readonly retryAfterMs: number | undefined;
  readonly refused: Refused | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    options?: ErrorOptions & { retryAfterMs?: number | undefined; refused?: Refused | undefined },
  ) {
    super(message, options);
    this.name = "BotError";
    this.code = code;
    this.retryAfterMs = options?.retryAfterMs;
    this.refused = options?.refused;
  }
}

/** True for a BotError, with one of `codes` when any are given. */
export function isBotError(error: unknown, ...codes: ErrorCode[]): error is BotError {
  return error instanceof BotError && (codes.length === 0 || codes.includes(error.code));
}

/** The sentence to show for anything thrown, without a stack. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The code of a system's or a library's error, such as `ENOENT`. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error ? String(error.code) : undefined;
}
