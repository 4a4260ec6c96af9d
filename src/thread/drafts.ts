import type { AppendKind, Draft } from "../core/entry.ts";
import {
  abandonedDrafts,
  cancelledDraft,
  closedDrafts,
  dispatchedDrafts,
  finishedDrafts,
  namelessDraft,
  preparedDrafts,
  type Proposal,
  type Rechecked,
  type Recovery,
  recoveryDrafts,
  type ToolResult,
} from "./drafts-calls.ts";
import { type Author, clickDrafts, type ClickFacts, replyDrafts } from "./drafts-clicks.ts";
import {
  awaitingNotice,
  dueNotice,
  type Hint,
  hintDrafts,
  lapsedDrafts,
  warningNotice,
} from "./drafts-notices.ts";
import type { Step, StepOf, Undelivered } from "./decide.ts";
import { isOpen } from "./action.ts";
import { cardState, entryId, pastState } from "./entry-ids.ts";
import { type ModelFacts, modelDrafts } from "./drafts-model.ts";
import { beginRun, endRun } from "./run.ts";
import type { Call, Thread } from "./state.ts";
import type { Surroundings } from "./surroundings.ts";

/** What has to be learnt before anything follows from these steps: from people's platform, a tool, a model. */
interface Facts {
  judge: ClickFacts;
  reply: Author | "unknown";
  hint: Hint[];
  prepare: Proposal;
  dispatch: Rechecked;
  think: ModelFacts;
  recover: Recovery;
  deliver: Shown;
  show: Shown;
}

/** A view shows it, in that message. */
export interface Shown {
  entry: string;
  ref: string;
}

/** A step, with what was learnt for it; most need nothing. */
export type Learnt =
  | Exclude<Step, { do: keyof Facts | "wait" | "hosts" | "expire" }>
  | { [D in keyof Facts]: StepOf<D> & { facts: Facts[D] } }[keyof Facts]
  /** No step: it follows at once from the call's `tool_started`. */
  | { do: "run"; call: Call; facts: ToolResult };

/** Entries to write, all or none; undefined: none now. */
export type Drafts = Draft<AppendKind>[] | undefined;

/** Which entries follow from a step and what was learnt for it, as the thread is now. */
export function draftsOf(learnt: Learnt, around: Surroundings): Drafts {
  const { thread } = around;
  if (!isOwed(learnt, thread)) return undefined;
  switch (learnt.do) {
    case "begin":
      return beginRun(learnt.pending, thread, around.run);
    case "prepare":
      return preparedDrafts(learnt.call, learnt.facts, around);
    case "dispatch":
      return dispatchedDrafts(learnt, learnt.facts);
    case "run":
      return finishedDrafts(learnt.call, learnt.facts);
    case "recover":
      return recoveryDrafts(learnt.call, learnt.facts);
    case "cancel":
      return [cancelledDraft(learnt.call)];
    case "abandon":
      return abandonedDrafts(learnt, around);
    case "await":
      return [awaitingNotice(learnt, around)];
    case "judge":
      return clickDrafts(learnt.click, learnt.facts, around);
    case "reply":
      return replyDrafts(learnt.call, learnt.reply, learnt.facts);
    case "hint":
      return hintDrafts(learnt.message, learnt.facts, around);
    case "tell":
      return [dueNotice(learnt.notice)];
    case "warn":
      return [warningNotice(learnt.waiting, around.now)];
    case "lapse":
      return lapsedDrafts(learnt.call);
    case "close":
      return closedDrafts(learnt.action);
    case "renew":
      return [namelessDraft(learnt.action)];
    case "think":
      return modelDrafts(learnt, learnt.facts);
    case "write":
      return [learnt.draft];
    case "end":
      return [endRun(learnt.run)];
    case "deliver":
    case "show":
      return [deliveredDraft(learnt)];
  }
}

/** Nothing that came since the step was decided has done it or called it off. */
function isOwed(learnt: Learnt, thread: Thread): boolean {
  switch (learnt.do) {
    case "judge":
      return thread.clicks.has(learnt.click.id);
    case "hint":
      return thread.assents.has(learnt.message.id);
    case "prepare": {
      const { run, finished, action, asked } = learnt.call;
      const isNew = finished === undefined && action === undefined && asked === undefined;
      return isNew && thread.runs.get(run)?.stopped === false;
    }
    case "dispatch":
      // A click that is not judged yet may be a deny: it comes first, and then this is looked at again.
      return isOpen(learnt.action) && thread.clicks.size === 0;
    case "reply":
    case "run":
    case "recover":
      return learnt.call.finished === undefined;
    case "tell":
    case "warn":
    case "lapse":
    case "close":
    case "renew":
    case "begin":
    case "cancel":
    case "abandon":
    case "await":
    case "write":
    case "end":
    case "think":
    case "deliver":
    case "show":
      return true;
  }
}

/** The id of what a view shows once it shows this. */
export function shownId(undelivered: Undelivered): string {
  switch (undelivered.kind) {
    case "card":
      return cardState(undelivered.action.action, undelivered.action.touched);
    case "past":
      return pastState(undelivered.offer.notice.id);
    case "item":
      return undelivered.item.id;
  }
}

function deliveredDraft(shown: Extract<Learnt, { do: "deliver" | "show" }>): Draft<"delivered"> {
  const { view, facts } = shown;
  const { entry, ref } = facts;
  const stage = shown.do === "deliver" ? "final" : "started";
  return {
    id: entryId.delivered(view, entry, stage),
    kind: "delivered",
    view,
    entry,
    stage,
    ref,
  };
}
