import type { Entry } from "../core/entry.ts";
import type { Action } from "./action.ts";
import * as phrases from "./click-phrases.ts";
import { isGoal } from "../core/goal.ts";
import type { Thread } from "./state.ts";
import type { Call } from "./call.ts";

/** Whether somebody may do what they pressed or wrote; `why` is a sentence to them. */
export type Author = { eligible: true; basis: string } | { eligible: false; why: string };

/** A click, or a reply, whose author cannot be looked up is not waited for any longer than this. */
export const JUDGE_LIMIT_MS = 5 * 60_000;
export const LIMIT_MINUTES = JUDGE_LIMIT_MS / 60_000;

/** A right that a click needs, and by which of an action's rules its author has it. */
export interface Right {
  verb:
    | "approve"
    | "deny"
    | "edit"
    | "withdraw"
    | "answer"
    | "settle"
    | "revoke"
    | "pause"
    | "resume"
    | "extend"
    | "continue"
    | "begin"
    | typeof phrases.BREAK_GLASS;
  what: string;
  place?: string | undefined;
  rule: Pick<Entry<"action_proposed">, "approvers" | "quorum" | "barred">;
}

/** Any full member of the thread. */
const ANYONE = { approvers: { kind: "anyone" as const }, quorum: 1, barred: [] };

/** The right that a reply needs: an answer permits nothing. */
export const RIGHT_TO_ANSWER: Right = { verb: "answer", what: phrases.THIS_QUESTION, rule: ANYONE };

/** The right to begin a goal. */
export const RIGHT_TO_BEGIN: Right = { verb: "begin", what: phrases.GOALS, rule: ANYONE };

/**
 * The right that the click needs. Only the newest approval is held against who asked: they may think better of it. Undefined:
 * policy says who may.
 */
export function rightFor(
  { choice, action: ref }: Entry<"click">,
  action: Action | undefined,
  thread: Thread,
): Right | undefined {
  if (choice.kind === "answer" || choice.kind === "incident") return RIGHT_TO_ANSWER;
  if (choice.kind === "settle") {
    // Settling says what happened in the world; it permits nothing, so who asked for the action may do it.
    const rule = unknownCall(thread, ref)?.action?.proposal ?? ANYONE;
    return { verb: "settle", what: ref, rule: { ...rule, barred: [] } };
  }
  const rule = action?.proposal ?? ANYONE;
  const open = { ...rule, barred: [] };
  switch (choice.kind) {
    case "approve":
      return { verb: "approve", what: ref, rule };
    case "deny":
      return { verb: "deny", what: ref, place: action?.proposal.place, rule: open };
    case "edit":
      return { verb: "edit", what: ref, rule: open };
    case "cancel":
      return { verb: "withdraw", what: ref, rule };
    case "revoke":
      return { verb: "revoke", what: phrases.grantName(ref), rule: open };
    case "goal":
      return { verb: choice.do, what: phrases.ITS_GOAL, rule: ANYONE };
    case "extend":
      return { verb: "extend", what: isGoal(ref) ? phrases.ITS_GOAL : ref || "this", rule: ANYONE };
    case "continue":
      return { verb: "continue", what: ref, rule: ANYONE };
    case "undo":
    case "repeat":
    case "break":
    case "open":
    case "editing":
    case "quiet":
    case "listen":
      return undefined;
  }
}

/** Finds it by its action's id or, where policy asked nobody, by its own. */
export function unknownCall({ unknown }: Thread, ref: string): Call | undefined {
  for (const call of unknown.values()) {
    if (call.call === ref || call.action?.action === ref) return call;
  }
  return undefined;
}
