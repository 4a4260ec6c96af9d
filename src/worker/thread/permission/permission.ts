import { decideAccess } from "../../../approvals/access.ts";
import { type Decision, decidePolicy } from "../../../approvals/policy.ts";
import type { ThreadContext, Wanted } from "../parts.ts";
import { channelOf, NEVER_ABORTED } from "./look-up.ts";
import { askOutside } from "./outside.ts";
import { requestersOf } from "./requesters.ts";

/**
 * The one answer to "may this call be made, by these people, here and now?": access, which may refuse whoever asks, then
 * approvals. It is asked of the arguments as they were written and again as they were pinned or edited, last thing before
 * dispatch, and when a call is taken up after a crash. A denial's `why` is a sentence for people. Where it asks, approvals
 * that were given before count if they carry it as it asks now.
 * @throws BotError PEOPLE_UNAVAILABLE when nobody can say who asks: that is neither yes nor no
 */
export async function permit(
  ctx: ThreadContext,
  wanted: Wanted,
  signal: AbortSignal = NEVER_ABORTED,
): Promise<Decision> {
  const { parts, adapter } = ctx;
  const { dispatcher } = parts;
  const tool = dispatcher.find(wanted.tool);
  const effect = wanted.effect ?? dispatcher.effectOf(wanted.tool, wanted.args);
  const call = { tool: wanted.tool, effect, own: tool?.own };
  const { run, action, editor } = wanted;
  const editors = [...(action?.editors ?? []), ...(editor === undefined ? [] : [editor])];
  const requesters = await requestersOf(ctx, { run, editors }, signal);
  const channel = await channelOf(ctx, signal);
  const access = decideAccess(parts.access, { ...call, open: tool?.open, channel }, requesters);
  if (access.kind === "deny") return access;
  // Where a single person sits, they may approve what they asked for.
  const singleOperator = parts.policy.singleOperator || adapter.singleOperator;
  const decision = decidePolicy(
    { ...parts.policy, singleOperator },
    {
      ...call,
      held: access.kind === "ask",
      args: wanted.args,
      kinds: tool?.kinds,
      meant: await dispatcher.meant(wanted.tool, wanted.args),
      requesters,
    },
  );
  if (decision.kind === "deny") return { kind: "deny", why: `Policy denies it: ${decision.why}.` };
  if (decision.kind === "ask") return decision;
  return (tool && (await askOutside(ctx, { ...wanted, effect }, tool, decision))) ?? decision;
}

/**
 * Why a call that is under way may not go on with other arguments, such as where a redirect leads, or undefined. What would
 * have to be asked about is refused: nobody was shown it.
 */
export async function permitStep(ctx: ThreadContext, wanted: Wanted): Promise<string | undefined> {
  const decision = await permit(ctx, wanted);
  if (decision.kind === "allow") return undefined;
  if (decision.kind === "deny") return decision.why;
  return "That needs an approval of its own: it can be asked for in another call.";
}
