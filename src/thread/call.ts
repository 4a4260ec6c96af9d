import type { CallProblem } from "./model-run.ts";
import type { Action, Warned } from "./action.ts";
import type { Entry, JsonObject } from "../core/entry.ts";

/** A call of a tool, as its thread knows it. */

/** How a call began, as its own entry or that of its end says. */
export type Start = Pick<
  Entry<"tool_started">,
  "seq" | "at" | "effect" | "digest" | "host" | "args" | "doing"
>;

/** How it ended. `isShortened`: its text is only the beginning; the whole is in the journal. */
export type Finished = Entry<"tool_finished"> & { readonly isShortened?: true };

export interface Call {
  readonly run: string;
  readonly call: string;
  readonly tool: string;
  /** As asked for; what is executed is the action's or `tool_started`'s. */
  readonly args: JsonObject;
  /** When it was asked for, ms since 1970. */
  readonly askedAt: number;
  readonly problem: CallProblem | undefined;
  /** A question: it was put to the thread, and what was written next is its answer. */
  asked: Entry<"notice"> | undefined;
  reply: Entry<"message"> | undefined;
  /** Accounts that were told that what they write waits for the answer. */
  told: Set<string>;
  warned: Warned;
  waits: boolean;
  /** People were told that its card takes long. */
  isDelayTold: boolean;
  action: Action | undefined;
  /** The run of the helper that it asked for. */
  helper: string | undefined;
  /** What it takes back: an action that is done. Undefined also where that was forgotten. */
  undoes: Action | undefined;
  started: Start | undefined;
  finished: Finished | undefined;
  /** What a worker that had lost its lease said of the outcome. */
  word: Entry<"signal"> | undefined;
  settled: Entry<"settled"> | undefined;
}

/** The arguments a call has: the ones its action shows, else those written down at its start, else those asked for. */
export function argsOf({ action, started, args }: Call): JsonObject {
  return action?.proposal.args ?? started?.args ?? args;
}

/** Those of them that somebody gave: without defaults and what the program filled in. What people edited has its defaults. */
export function givenArgs(call: Call, args = argsOf(call)): JsonObject {
  const { revision = 1, preview } = call.action?.proposal ?? {};
  const isGiven = (name: string) =>
    (revision > 1 || Object.hasOwn(call.args, name)) && preview?.filled?.includes(name) !== true;
  return Object.fromEntries(Object.entries(args).filter(([name]) => isGiven(name)));
}

/** What it does, as people say it; undefined: its tool has no words for it. */
export function doingOf({ action, started }: Call): string | undefined {
  return action?.proposal.preview.title ?? started?.doing;
}

/** What people call it: its action, where it has one. */
export function refOf({ action, call }: Call): string {
  return action?.action ?? call;
}
