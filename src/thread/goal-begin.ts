import type { AppendKind, Draft } from "../core/entry.ts";
import type { Author } from "./click-rights.ts";
import { LIMIT_MINUTES } from "./click-rights.ts";
import { runEndedDraft, startedDraft } from "./drafts-runs.ts";
import { goalAnswers } from "./goal-answers.ts";
import { goalAtWork, goalStartedDraft } from "./goal.ts";
import type { PendingPost } from "./state.ts";
import type { Surroundings } from "./surroundings.ts";

/** Somebody wants a goal: who that is has to be known first. */
export function wantsGoal({ entry, stopped }: PendingPost): boolean {
  return !stopped && entry.kind === "command" && wantedIn(entry.command) !== undefined;
}

function wantedIn(command: { name: string; text?: string | undefined }): string | undefined {
  return command.name === "goal" ? command.text : undefined;
}

/** The goal that the command begins, or why it does not. Undefined: it begins none, or goals are off. */
export function goalBegunDrafts(
  { entry, stopped }: PendingPost,
  author: Author | "unknown",
  { thread, run: parts }: Pick<Surroundings, "thread" | "run">,
): Draft<AppendKind>[] | undefined {
  const text = entry.kind === "command" && !stopped ? wantedIn(entry.command) : undefined;
  if (text === undefined || entry.kind !== "command" || parts.goals === undefined) return undefined;
  const started = startedDraft(entry, thread);
  const refuse = (why: string) => [started, runEndedDraft({ started }, "failed", why)];
  const { terms, model = thread.model ?? terms?.model } = parts;
  if (terms === undefined || model === undefined) return refuse(goalAnswers.noModel);
  const others = goalAtWork(thread);
  if (others !== undefined)
    return refuse(goalAnswers.atWork(others.started.goal, others.started.text));
  if (author === "unknown") return refuse(goalAnswers.notLookedUp(LIMIT_MINUTES));
  if (!author.eligible) return refuse(author.why);
  const { account, name } = entry.actor;
  const { budget, replan } = parts.goals;
  const goal = goalStartedDraft(thread, {
    text,
    principals: [account],
    model,
    budget,
    replan,
    post: entry.id,
    by: { account, name },
  });
  // Its message says the rest.
  return [started, runEndedDraft({ started }, "silent"), goal];
}
