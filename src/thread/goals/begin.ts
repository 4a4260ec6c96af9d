import type { AppendKind, Command, Draft } from "../../core/entry.ts";
import { type Author, LIMIT_MINUTES } from "../click-rights.ts";
import { runEndedDraft, startedDraft } from "../drafts-runs.ts";
import { goalAnswers } from "./click-phrases.ts";
import { goalAtWork, goalStartedDraft } from "./goal.ts";
import { modeFor } from "../modes.ts";
import type { PendingPost } from "../state.ts";
import type { Surroundings } from "../surroundings.ts";

/** Whoever wants it: a person, or a schedule. */
export function beginsGoal({ entry, stopped }: PendingPost): boolean {
  return entry.kind === "command" && !stopped && wantedIn(entry.command) !== undefined;
}

/** Somebody wants a goal: who that is has to be known first. */
export function wantsGoal({ entry, stopped }: PendingPost): boolean {
  const wanted = entry.kind === "command" && !stopped ? wantedIn(entry.command) : undefined;
  return wanted !== undefined && wanted.schedule === undefined;
}

/** The configuration wants it: nobody has to be looked up. */
export const SCHEDULED: Author = { eligible: true, basis: "schedule" };

function wantedIn(command: Command) {
  return command.name === "goal" && command.text !== undefined
    ? { text: command.text, schedule: command.schedule }
    : undefined;
}

/** The goal that the command begins, or why it does not. Undefined: it begins none, or goals are off. */
export function goalBegunDrafts(
  { entry, stopped }: PendingPost,
  author: Author | "unknown",
  { thread, run: parts, channels }: Pick<Surroundings, "thread" | "run" | "channels">,
): Draft<AppendKind>[] | undefined {
  const wanted = entry.kind === "command" && !stopped ? wantedIn(entry.command) : undefined;
  if (wanted === undefined || entry.kind !== "command" || parts.goals === undefined)
    return undefined;
  const { text, schedule } = wanted;
  const started = startedDraft(entry, thread);
  const refuse = (why: string) => [started, runEndedDraft({ started }, "failed", why)];
  const { terms, model = thread.model ?? terms?.model } = parts;
  if (terms === undefined || model === undefined) return refuse(goalAnswers.noModel);
  if (modeFor(terms, { isAsked: true, channels }).kind === "chat")
    return refuse(goalAnswers.onlyTalk);
  const others = goalAtWork(thread);
  if (others !== undefined)
    return refuse(goalAnswers.atWork(others.started.goal, others.started.text));
  if (author === "unknown") return refuse(goalAnswers.notLookedUp(LIMIT_MINUTES));
  if (!author.eligible) return refuse(author.why);
  const { account, name } = entry.actor;
  const { budget, replan } = parts.goals;
  const asked =
    schedule === undefined
      ? { principals: [account], by: { account, name }, budget }
      : { principals: [], schedule: schedule.name, budget: schedule.budget };
  const goal = goalStartedDraft(thread, { text, model, replan, post: entry.id, ...asked });
  // Its message says the rest.
  return [started, runEndedDraft({ started }, "silent"), goal];
}
