import { type Action, isOpen } from "./action.ts";
import type { AppendKind, Draft, Entry } from "../core/entry.ts";
import { HOST_GONE_MS } from "../core/host-beat.ts";
import type { StepOf } from "./decide.ts";
import { entryId, noticeId } from "./entry-ids.ts";
import { type Call, type DueNotice, refOf } from "./state.ts";
import type { Surroundings } from "./surroundings.ts";
import { questionExpiry, type Waiting } from "./waiting.ts";

/** What the program itself tells people in a thread, in words. */

const OR = new Intl.ListFormat("en", { type: "disjunction" });

/** What the fold found that somebody has to be told. */
export function dueNotice({ id, to, about }: DueNotice): Draft<"notice"> {
  return {
    id: noticeId.told(id),
    kind: "notice",
    answers: id,
    text: textOf(about),
    ...(to !== undefined && { to }),
    ...(about.kind === "held" && { holds: about.actions }),
    ...(about.kind === "late" && !about.isSettled && { settles: about.ref }),
  };
}

function textOf(about: DueNotice["about"]): string {
  switch (about.kind) {
    case "nothing_runs":
      return "Nothing was running.";
    case "stopping":
      return `Stopping: waiting for ${about.tools.join(", ")} to finish (interrupting it could leave things half-done).`;
    case "settled":
      return `${about.call} settled by ${about.by}: ${about.happened ? "it happened" : "it did not happen"}.`;
    case "late":
      return `${about.ref} reported back late: ${about.outcome}. ${about.text}`;
    case "held": {
      const { actions } = about;
      const decided = actions.length === 1 ? "is approved or denied" : "are decided";
      return `I'll answer after ${actions.join(" and ")} ${decided}.`;
    }
    case "pasted": {
      const size = `${Math.round(about.bytes / 1024)} KB`;
      return `Your message is long (${size}), so I keep it as the file ${about.file} and read it there.`;
    }
    case "unread":
      // Who reads the answer has to know what it was not made from.
      return `I couldn't read ${OR.format(about.files.map(({ name, why }) => `${name} (${why})`))}.`;
    case "still_asking":
      return "I'm still waiting for your answer: press a choice or write it here.";
    case "asking_another": {
      const whom = about.asker === undefined ? "an answer" : `${about.asker}'s answer`;
      return `I'm waiting for ${whom} to my question. To answer it yourself, press a choice or type: answer ${about.call} <text>`;
    }
  }
}

/** Something is about to expire, and can still be saved. */
export function warningNotice({ of, expiresAt }: Waiting, now: number): Draft<"notice"> {
  const left = formatMinutes(expiresAt - now);
  if ("proposal" in of) {
    const { quorum, tool } = of.proposal;
    const missing = quorum - of.votes.filter(({ approve }) => approve).length;
    const needs = missing === 1 ? "1 more approval" : `${missing} more approvals`;
    const text = `${of.action} (${tool}) expires in ${left}. It needs ${needs}.`;
    return { id: noticeId.expiring(of.action), kind: "notice", text, warns: of.action };
  }
  const text = `My question “${of.asked?.text ?? ""}” waits ${left} more; then I go on without an answer.`;
  return { id: noticeId.expiring(of.call), kind: "notice", text, warns: of.call };
}

/** Nobody decided in time, and how to ask again. */
export function expiredNotice({ action, proposal, openedAt }: Action): Draft<"notice"> {
  const waited = formatMinutes(proposal.expiresAt - openedAt);
  const text = `${action} (${proposal.tool}) expired after ${waited} without the approval it needs. Nothing was run. If it's still needed, ask for it again here.`;
  return { id: noticeId.expired(action), kind: "notice", text };
}

/** Nobody answered the question in time: the run goes on without. */
export function lapsedDrafts({ run, call, asked }: Call): Draft<AppendKind>[] {
  const waited = asked === undefined ? "" : formatMinutes(questionExpiry(asked) - asked.at);
  const result = `Nobody answered within ${waited}. Go on without the answer, or say what is left open.`;
  const text = `Nobody answered “${asked?.text ?? ""}” within ${waited}, so I go on without. Write the answer here whenever you have it.`;
  return [
    {
      id: entryId.finished(call),
      kind: "tool_finished",
      run,
      call,
      outcome: "expired",
      text: result,
    },
    { id: noticeId.expired(call), kind: "notice", text },
  ];
}

function formatMinutes(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  if (minutes < 1) return "less than a minute";
  return minutes === 1 ? "1 minute" : `${minutes} minutes`;
}

/** A question of the model's. */
export function questionNotice(
  { call }: Call,
  { text, choices, expiresAt }: { text: string; choices: string[]; expiresAt: number },
): Draft<"notice"> {
  const asks = { call, choices, expiresAt };
  return { id: noticeId.asks(call), kind: "notice", text, asks };
}

/** A card takes long, because the platform does not answer. */
export function lookingNotice({ call, tool }: Call): Draft<"notice"> {
  const text = `I can't look up who may approve ${tool} because the platform isn't answering. I'll keep trying for an hour.`;
  return { id: noticeId.looking(call), kind: "notice", text };
}

/** A call's outcome is unknown, and a person has to say what happened. */
export function unknownNotice(call: Call, text: string): Draft<"notice"> {
  const ref = refOf(call);
  const { tool, started } = call;
  const where = started?.host === undefined ? tool : `${tool} on ${started.host}`;
  return {
    id: noticeId.unknown(call.call),
    kind: "notice",
    text: `UNKNOWN outcome of ${ref} (${where}). ${text} Did it happen? Check, then type: settle ${ref} happened, or: settle ${ref} not-happened`,
    settles: ref,
  };
}

/** A call waits for a machine that was not heard of for a while. */
export function awaitingNotice(
  { call, host }: StepOf<"await">,
  { heard, encode }: Surroundings,
): Draft<"notice"> {
  const beatAt = heard?.get(host)?.beatAt ?? 0;
  const what = `${refOf(call)} (${call.tool})`;
  const text = `${what} waits for ${host}, last seen at ${formatTime(beatAt)}. I'll give up if ${host} isn't back by ${formatTime(beatAt + HOST_GONE_MS)}.`;
  return {
    id: noticeId.waits(call.call),
    kind: "notice",
    text: encode(text),
    waitsFor: call.call,
  };
}

/** `12:03 UTC` */
export function formatTime(at: number): string {
  return `${new Date(at).toISOString().slice(11, 16)} UTC`;
}

/** An open action, for somebody who agreed in words. */
export interface Hint {
  action: Action;
  proposal: Entry<"action_proposed">;
  /** What a yes would be to, such as `a1 (restart_service on web-1 name=nginx)`. */
  what: string;
  /** Why they may not approve it. */
  refusal: string | undefined;
}

/** Tells who agreed in words which button approves, if they may. Undefined where an action was edited meanwhile. */
export function hintDrafts(
  message: Entry<"message">,
  hints: readonly Hint[],
  { encode }: Surroundings,
): [Draft<"notice">] | undefined {
  const open = hints.filter(({ action }) => isOpen(action));
  if (open.some(({ action, proposal }) => action.proposal !== proposal)) return undefined;
  const { id, actor } = message;
  const word = {
    id: noticeId.word(id),
    kind: "notice",
    to: actor.account,
    instead: id,
  } as const;
  const approvable = open.filter(({ refusal }) => refusal === undefined);
  if (approvable.length > 0) {
    const what = approvable.map((hint) => hint.what).join(" or ");
    const how = approvable.map(({ action }) => `\`approve ${action.action}\``).join(" or ");
    const text = encode(`That alone doesn't approve ${what}. ${how} does.`);
    return [{ ...word, text, approves: approvable.map(({ action }) => action.action) }];
  }
  const text = open[0] === undefined ? "That was already decided." : (open[0].refusal ?? "");
  return [{ ...word, text }];
}

/** Answers a click or a message, to its author alone. */
export function privateNotice(
  { id, actor }: Entry<"click"> | Entry<"message">,
  text: string,
): Draft<"notice"> {
  return { id: noticeId.word(id), kind: "notice", text, to: actor.account, answers: id };
}
