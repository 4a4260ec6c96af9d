import type { AppendKind, Draft } from "../core/entry.ts";
import type { PreparedCall, ToolResult } from "../core/tool-call.ts";
import {
  abandonedDrafts,
  cancelledDraft,
  closedDrafts,
  dispatchedDrafts,
  finishedDrafts,
  hushDrafts,
  lapsedDrafts,
  lateCheckDraft,
  namelessDraft,
  preparedDrafts,
  type Proposal,
  readDrafts,
  type Rechecked,
  type Recovery,
  recoveryDrafts,
  withLook,
} from "./drafts-calls.ts";
import type { Author } from "./click-rights.ts";
import { clickDrafts, type ClickFacts } from "./drafts-clicks.ts";
import { replyDrafts } from "./drafts-answers.ts";
import {
  awaitingNotice,
  escalationNotice,
  type Hint,
  hintDrafts,
  type Seen,
  untoldNotice,
  verifiedNotice,
  warningNotice,
} from "./drafts-notices.ts";
import { pageDrafts, type PageFacts } from "./drafts-pages.ts";
import { helperDrafts, reportDraft, type Wanted } from "./drafts-helpers.ts";
import {
  goalJudgeDrafts,
  type GoalJudgeFacts,
  goalMoveDrafts,
  goalPlanDrafts,
  type GoalPlanFacts,
} from "./goals/drafts.ts";
import { planDraft, type PlanFacts } from "./plan.ts";
import type { KnownStep, StepOf } from "./steps.ts";
import { REPORT_VIEW, reportId } from "./goals/message.ts";
import { RECORD_VIEW } from "./record.ts";
import { MEMORY_VIEW } from "./task.ts";
import type { Undelivered } from "./undelivered.ts";
import { againDrafts, firstLookDraft, insteadDrafts, triageDrafts } from "./drafts-checks.ts";
import { isOpen } from "./action.ts";
import { cardState, entryId, pastState, quoteState } from "./entry-ids.ts";
import {
  type Above,
  aboveDraft,
  beginDrafts,
  type CondenseFacts,
  condensedDrafts,
  endDrafts,
  type ModelFacts,
  modelDrafts,
} from "./drafts-runs.ts";
import { goalBegunDrafts, SCHEDULED } from "./goals/begin.ts";
import { livingName } from "./fold-living.ts";
import type { Call } from "./call.ts";
import type { Surroundings } from "./surroundings.ts";

/** What has to be learned before anything follows from these steps: from people's platform, a tool, a model. */
interface Facts {
  judge: ClickFacts;
  reply: Author | "unknown";
  hint: Hint[];
  prepare: Proposal | Wanted;
  dispatch: Rechecked;
  /** What is frozen, a sentence each. */
  survey: readonly string[];
  admit: Author | "unknown";
  look: Above;
  think: ModelFacts;
  condense: CondenseFacts;
  plan: PlanFacts;
  planGoal: GoalPlanFacts;
  judgeTask: GoalJudgeFacts;
  recover: Recovery;
  verify: Seen;
  mark: "marked";
  alarm: "told";
  remember: "told";
  record: "told";
  writeReport: "written";
  page: PageFacts;
  deliver: Shown;
  point: Shown;
  show: Shown;
  sum: Shown;
  root: Shown;
}

/** A view shows it, in that message. */
export interface Shown {
  entry: string;
  ref: string;
  /** It is not shown there, but to somebody else or to nobody. */
  instead?: Draft<"delivered">["instead"] | undefined;
}

type Known = { [D in keyof Facts]: StepOf<D> & { facts: Facts[D] } } & {
  [D in KnownStep["do"]]: StepOf<D>;
} & {
  /** No step: it follows at once from the call's `tool_started`. */
  run: { do: "run"; call: Call; facts: ToolResult };
  /** Nor this: from the call itself. `facts`: undefined while it goes on. */
  read: { do: "read"; call: Call; prepared: PreparedCall; facts: ToolResult | undefined };
};

export type Learned = Known[keyof Known];

/** Entries to write, all or none; undefined: none now. */
export type Drafts = Draft<AppendKind>[] | undefined;

/** Which entries follow from a step and what was learned for it, as the thread is now. */
export function draftsOf<D extends keyof Known>(
  learned: Known[D] & { do: D },
  around: Surroundings,
): Drafts {
  return DRAFTS[learned.do](learned, around);
}

/** Undefined also where something that came since the step was decided has done it or called it off. */
const DRAFTS: { readonly [D in keyof Known]: (learned: Known[D], around: Surroundings) => Drafts } =
  {
    begin: ({ pending }, around) =>
      goalBegunDrafts(pending, SCHEDULED, around) ?? beginDrafts(pending, around),
    survey({ pending: { entry }, facts }, around) {
      const pending = around.thread.pending.get(entry.id);
      return pending && beginDrafts(pending, around, facts);
    },
    admit({ pending: { entry }, facts }, around) {
      const pending = around.thread.pending.get(entry.id);
      return pending && (goalBegunDrafts(pending, facts, around) ?? beginDrafts(pending, around));
    },
    prepare: ({ call, facts }, around) =>
      !isNew(call, around)
        ? undefined
        : facts.kind === "delegate"
          ? helperDrafts(call, facts, around)
          : preparedDrafts(call, facts, around),
    // A click that is not judged yet may be a deny: it comes first, and then this is looked at again.
    dispatch: (step, around) =>
      isOpen(step.action) && around.thread.clicks.size === 0
        ? dispatchedDrafts(step, step.facts, around)
        : undefined,
    run: ({ call, facts }, around) =>
      call.finished === undefined ? withLook(finishedDrafts(call, facts), call, around) : undefined,
    read: ({ call, prepared, facts }) => readDrafts(call, prepared, facts),
    recover: ({ call, facts }, around) =>
      call.finished === undefined ? withLook(recoveryDrafts(call, facts), call, around) : undefined,
    verify: ({ check, facts }, around) =>
      around.thread.checks.has(check.of.call) ? [verifiedNotice(check, facts, around)] : undefined,
    mark: ({ done }, { thread }) => {
      const entry = entryId.finished(done.call);
      const isOwed = thread.marks.has(entry);
      return isOwed ? [deliveredDraft(MARKS, { entry, ref: "" }, "final")] : undefined;
    },
    alarm: ({ entry }, { thread }) =>
      thread.alarms.has(entry) ? [deliveredDraft(OPS, { entry, ref: "" }, "final")] : undefined,
    remember: ({ entry }, { thread }) =>
      thread.task.owed === entry
        ? [deliveredDraft(MEMORY_VIEW, { entry, ref: "" }, "final")]
        : undefined,
    writeReport: ({ goal }) => [
      deliveredDraft(REPORT_VIEW, { entry: reportId(goal), ref: "" }, "final"),
    ],
    record: ({ owed: { entry } }, { thread }) =>
      thread.record.owed.has(entry)
        ? [deliveredDraft(RECORD_VIEW, { entry, ref: "" }, "final")]
        : undefined,
    page: pageDrafts,
    cancel: ({ call }) => [cancelledDraft(call)],
    abandon: abandonedDrafts,
    await: (step, around) => [awaitingNotice(step, around)],
    judge: ({ click, facts }, around) =>
      around.thread.clicks.has(click.id) ? clickDrafts(click, facts, around) : undefined,
    reply: ({ call, reply, facts }) =>
      call.finished === undefined ? replyDrafts(call, reply, facts) : undefined,
    hint: ({ message, facts }, around) =>
      around.thread.assents.has(message.id) ? hintDrafts(message, facts, around) : undefined,
    tell: ({ untold }, around) => [untoldNotice(untold, around)],
    warn: ({ waiting }, { now }) => [warningNotice(waiting, now)],
    escalate: ({ action }) => [escalationNotice(action)],
    lapse: ({ call }) => lapsedDrafts(call),
    close: ({ action }, around) => closedDrafts(action, around),
    renew: ({ action }) => [namelessDraft(action)],
    look: ({ run, facts }) => [aboveDraft(run, facts)],
    think: ({ run, facts }, around) => modelDrafts(run, facts, around),
    plan: ({ run, modelRun, facts }) =>
      run.ended === undefined && modelRun.plan === undefined
        ? [planDraft(run.started.run, modelRun, facts)]
        : undefined,
    planGoal: ({ goal, facts }, around) => goalPlanDrafts(goal.started.goal, facts, around),
    judgeTask: ({ goal, task, work, facts }, around) =>
      goalJudgeDrafts({ goal: goal.started.goal, task: task.task, run: work.run }, facts, around),
    moveGoal: (_, around) => goalMoveDrafts(around),
    condense: ({ run, modelRun, facts }, around) => condensedDrafts(run, modelRun, facts, around),
    write: ({ drafts, silent }, around) =>
      (silent && insteadDrafts(silent.run, { why: silent.why, code: undefined }, around)) ?? [
        ...drafts,
      ],
    hush: ({ run }) => hushDrafts(run),
    note: ({ run }, around) => firstLookDraft(run, around),
    triage: ({ alerts }, around) => triageDrafts(alerts, around),
    again: ({ look }, around) => againDrafts(look, around),
    cut: ({ call, limitMs }) =>
      call.finished === undefined ? [lateCheckDraft(call, limitMs)] : undefined,
    end: ({ run }, around) => endDrafts(run, around),
    report: ({ call, helper }) =>
      call.finished === undefined ? [reportDraft(call, helper)] : undefined,
    deliver: ({ view, facts }) => [deliveredDraft(view, facts, "final")],
    point: ({ view, facts }) => [deliveredDraft(view, facts, "final")],
    show: ({ view, facts }) => [deliveredDraft(view, facts, "started")],
    sum: ({ view, facts }) => [deliveredDraft(view, facts, "final")],
    root: ({ view, facts }) => [deliveredDraft(view, facts, "final")],
  };

/** As a view's name: what a call did is shown there once. */
const MARKS = "marks";
/** Likewise: the operations channel has been told. */
const OPS = "ops";

function isNew(call: Call, { thread }: Surroundings): boolean {
  const { run, finished, action, asked, helper } = call;
  const isUntouched = (finished ?? action ?? asked ?? helper) === undefined;
  return isUntouched && thread.runs.get(run)?.stopped === false;
}

/** The id of what a view shows once it shows this. */
export function shownId(undelivered: Undelivered): string {
  switch (undelivered.kind) {
    case "card":
      return cardState(undelivered.action.action, undelivered.action.touched);
    case "living":
      return cardState(livingName(undelivered.living), undelivered.living.touched);
    case "quote":
      return quoteState(undelivered.quote.id, undelivered.quote.touched);
    case "past":
      return pastState(undelivered.live.notice.id);
    case "item":
      return undelivered.item.id;
  }
}

function deliveredDraft(
  view: string,
  { entry, ref, instead }: Shown,
  stage: "started" | "final",
): Draft<"delivered"> {
  const id = entryId.delivered(view, entry, stage);
  return {
    id,
    kind: "delivered",
    view,
    entry,
    stage,
    ref,
    ...(instead !== undefined && { instead }),
  };
}
