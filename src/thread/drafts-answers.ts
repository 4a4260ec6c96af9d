import type { AppendKind, Draft, Entry } from "../core/entry.ts";
import { finishedDraft } from "./drafts-calls.ts";
import { results } from "./phrases.ts";
import { privateNotice } from "./drafts-notices.ts";
import { type Author, LIMIT_MINUTES } from "./click-rights.ts";
import * as phrases from "./click-phrases.ts";
import type { Thread } from "./state.ts";
import type { Call } from "./call.ts";

/** Answers to questions of a model, by a button or by a message. */

export function answeredDrafts(
  click: Entry<"click">,
  text: string,
  author: Author | undefined,
  thread: Thread,
): Draft<AppendKind>[] | undefined {
  const call = openQuestion(thread, click.action);
  if (call === undefined) {
    const end = thread.answered.get(click.action);
    const why =
      end === undefined ? phrases.clickAnswers.noQuestion(click.action) : phrases.questionOver(end);
    return [privateNotice(click, why)];
  }
  if (author === undefined) return undefined;
  return [author.eligible ? answerDraft(call, click, text) : privateNotice(click, author.why)];
}

/** The message of who was asked is the answer, if they may give one. */
export function replyDrafts(
  call: Call,
  reply: Entry<"message">,
  author: Author | "unknown",
): Draft<AppendKind>[] {
  if (author === "unknown") {
    return [privateNotice(reply, phrases.clickAnswers.replyNotLookedUp(LIMIT_MINUTES))];
  }
  return [
    author.eligible ? answerDraft(call, reply, reply.text) : privateNotice(reply, author.why),
  ];
}

function answerDraft(
  call: Call,
  { id, actor }: Entry<"click"> | Entry<"message">,
  text: string,
): Draft<"tool_finished"> {
  return { ...finishedDraft(call, "ok", results.answered(actor.name, text)), answers: id };
}

function openQuestion({ runs }: Thread, ref: string): Call | undefined {
  for (const run of runs.values()) {
    const call = run.open.get(ref);
    if (call?.asked !== undefined) return call;
  }
  return undefined;
}
