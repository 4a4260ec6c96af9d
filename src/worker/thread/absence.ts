import { entryId, noticeId } from "../../thread/entry-ids.ts";
import { type Action, isOpen } from "../../thread/action.ts";
import type { AppendKind, Draft } from "../../core/entry.ts";
import { HOST_GONE_MS } from "../../core/host-beat.ts";
import { runInBackground } from "../background.ts";
import { retryUntilStored } from "../store.ts";
import type { ThreadContext } from "./context.ts";
import type { Absence } from "../../thread/machines.ts";
import type { Step } from "../../thread/decide.ts";
import { finishedDraft, recoveredDraft, recovered } from "./tool-call.ts";

/** Asks the store which machines are there. */
export function lookForHosts(ctx: ThreadContext, key: string): void {
  runInBackground(ctx, { key }, async () => {
    const at = performance.now();
    const beats = await retryUntilStored(ctx, () => ctx.parts.journal.hosts());
    return async () => {
      ctx.hosts = { at, heard: new Map(beats.map((beat) => [beat.host, beat])) };
    };
  });
}

/** What people are told of a call whose machine is away, or what becomes of it. */
export function absenceDrafts(
  ctx: ThreadContext,
  step: Extract<Step, { do: "abandon" | "await" }>,
): Draft<AppendKind>[] {
  return step.do === "await" ? [awaitingDraft(ctx, step)] : abandonedDrafts(ctx, step);
}

/** What becomes of a call that its machine will not take up: a card is void, a started write unknown, the rest is blocked. */
function abandonedDrafts(
  ctx: ThreadContext,
  { call, host, absence }: Extract<Step, { do: "abandon" }>,
): Draft<AppendKind>[] {
  const why = whyAway(ctx, host, absence);
  const { action, started } = call;
  if (started !== undefined) {
    if (started.effect !== "read" || action !== undefined)
      return recovered(call, "unknown", `not possible: ${why}.`);
    return [recoveredDraft(call, "error", `Interrupted, and not run again: ${why}.`)];
  }
  const blocked = finishedDraft(call, "blocked", `Nothing was run: ${why}.`);
  if (action === undefined || !isOpen(action)) return [blocked];
  const reason = `${why}; nothing was run`;
  return [voidDraft(action, reason), blocked];
}

export function voidDraft({ action }: Action, reason: string): Draft<"action_closed"> {
  return { id: entryId.closed(action), kind: "action_closed", action, outcome: "void", reason };
}

/** Ends what an older version asked for; its call is then asked about again, with a machine. */
export function namelessDraft(action: Action): Draft<"action_closed"> {
  return voidDraft(action, "an older version asked for it and named no machine; it is asked again");
}

/** Tells people once what a call waits for. */
function awaitingDraft(
  { parts, hosts }: ThreadContext,
  { call, host }: Extract<Step, { do: "await" }>,
): Draft<"notice"> {
  const beatAt = hosts?.heard.get(host)?.beatAt ?? 0;
  const what = `${call.action?.action ?? call.call} (${call.tool})`;
  const text = `${what} waits for ${host}, last heard of at ${timeOf(beatAt)}. I'll give up if ${host} isn't back by ${timeOf(beatAt + HOST_GONE_MS)}.`;
  return {
    id: noticeId.waits(call.call),
    kind: "notice",
    text: parts.encoder.encode(text),
    waitsFor: call.call,
  };
}

function whyAway({ parts, hosts }: ThreadContext, host: string, absence: Absence): string {
  const beats = [...(hosts?.heard.values() ?? [])];
  const there = beats.filter(({ gone }) => !gone).map((beat) => beat.host);
  const serving = there.length === 0 ? "" : ` (serving: ${there.join(", ")})`;
  const beatAt = hosts?.heard.get(host)?.beatAt ?? 0;
  return parts.encoder.encode(
    {
      alone: `it is for ${host}, and this conversation is served on ${parts.dispatcher.host} alone`,
      unknown: `no machine called ${host} serves here${serving}`,
      gone: `${host} is gone, last heard of at ${timeOf(beatAt)}${serving}`,
      late: `${host} did not take it up`,
    }[absence],
  );
}

/** `12:03 UTC` */
function timeOf(at: number): string {
  return `${new Date(at).toISOString().slice(11, 16)} UTC`;
}
