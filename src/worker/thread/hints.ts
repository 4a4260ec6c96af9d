import { noticeId } from "../../thread/entry-ids.ts";
import { type Action, isOpen } from "../../thread/action.ts";
import { checkEligible } from "../../approvals/eligibility.ts";
import { refusalToApprove } from "../../approvals/refusal.ts";
import { briefArgs } from "../../adapters/render/phrases.ts";
import { capText } from "../../core/text.ts";
import type { AppendKind, Draft, Entry } from "../../core/entry.ts";
import type { Call } from "../../thread/state.ts";
import { questionExpiry, type Waiting } from "../../thread/waiting.ts";
import { storeNow } from "../context.ts";
import type { ThreadContext } from "./context.ts";
import { placeOf } from "./permission/look-up.ts";
import { finishedDraft } from "./tool-call.ts";

/** Tells people that something is about to expire, while it can still be saved. */
export function warningDraft(ctx: ThreadContext, { of, expiresAt }: Waiting): Draft<"notice"> {
  const left = inMinutes(expiresAt - storeNow(ctx));
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

/** Says that nobody decided in time, and how to ask again. */
export function expiredDraft({ action, proposal, openedAt }: Action): Draft<"notice"> {
  const waited = inMinutes(proposal.expiresAt - openedAt);
  const text = `${action} (${proposal.tool}) expired after ${waited} without the approval it needs. Nothing was run. If it's still needed, ask for it again here.`;
  return { id: noticeId.expired(action), kind: "notice", text };
}

/** Nobody answered the question in time: the run goes on without. */
export function lapsedDrafts(call: Call): Draft<AppendKind>[] {
  const { asked } = call;
  const waited = asked === undefined ? "" : inMinutes(questionExpiry(asked) - asked.at);
  const text = `Nobody answered “${asked?.text ?? ""}” within ${waited}, so I go on without. Write the answer here whenever you have it.`;
  return [
    finishedDraft(
      call,
      "expired",
      `Nobody answered within ${waited}. Go on without the answer, or say what is left open.`,
    ),
    { id: noticeId.expired(call.call), kind: "notice", text },
  ];
}

function inMinutes(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  if (minutes < 1) return "less than a minute";
  return minutes === 1 ? "1 minute" : `${minutes} minutes`;
}

/** `a1 (restart_service on web-1 name=nginx)`: what a yes would be to, though not every byte of it. */
function briefly({ action, proposal }: Action): string {
  const { tool, host, args } = proposal;
  const { host: _, pinned: __, ...rest } = args;
  const told = capText(briefArgs(rest), MAX_ARGS_BYTES);
  return `${action} (${tool}${host === undefined ? "" : ` on ${host}`}${told === "" ? "" : ` ${told}`})`;
}

const MAX_ARGS_BYTES = 300;

/** How long it may take to learn whether somebody may approve; a hint without a button is as good then. */
const HINT_MS = 5_000;

/**
 * What somebody is told alone who agreed in words: which button approves, if they may. Returns what to write, made from
 * the fold as it is when written.
 */
export async function hint(
  ctx: ThreadContext,
  { id, actor }: Entry<"message">,
  signal: AbortSignal,
): Promise<() => Draft<"notice">> {
  const { thread } = ctx;
  const asked = [...thread.live].filter(isOpen);
  const may = new Map<Action, string | undefined>();
  for (const action of asked) {
    const place = placeOf(ctx, AbortSignal.any([signal, AbortSignal.timeout(HINT_MS)]));
    const look = checkEligible(actor.account, action.proposal, place);
    const found = await look.catch(() => undefined);
    const why =
      found?.eligible === false ? refusalToApprove(action, actor.account, found) : undefined;
    may.set(action, why);
  }
  return () => {
    const word = { id: noticeId.word(id), kind: "notice", to: actor.account, instead: id } as const;
    const open = asked.filter(isOpen);
    const approvable = open.filter((each) => may.get(each) === undefined);
    if (approvable.length > 0) {
      const what = approvable.map(briefly).join(" or ");
      const how = approvable.map(({ action }) => `\`approve ${action}\``).join(" or ");
      const text = ctx.parts.encoder.encode(`That alone doesn't approve ${what}. ${how} does.`);
      return { ...word, text, approves: approvable.map(({ action }) => action) };
    }
    const [first] = open;
    const text = first === undefined ? "That was already decided." : (may.get(first) ?? "");
    return { ...word, text };
  };
}
