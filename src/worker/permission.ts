import { type Decision, decide as decidePolicy } from "../approvals/policy.ts";
import type { Effect, JsonObject } from "../core/entry.ts";
import type { Drive } from "./drive.ts";
import { askOutside } from "./outside.ts";

/** A call that somebody wants made. */
interface Wanted {
  /** The run that it is of. */
  run: string;
  tool: string;
  /** As they are known so far: asked for, checked, pinned or edited. */
  args: JsonObject;
  /** What it was said to do when it was shown or started; left out: what the tool says of it now. */
  effect?: Effect | undefined;
  /** They are where a call leads that was permitted with these. */
  from?: JsonObject | undefined;
}

/** As policy decides; a denial's `why` is a sentence for people. */
export type Permission = Decision;

/**
 * The one answer to "may this call be made, here and now?". It is asked of the arguments as they were written and again as
 * they were pinned or edited, last thing before dispatch, and when a call is taken up after a crash.
 */
export async function permit(drive: Drive, wanted: Wanted): Promise<Permission> {
  const { parts, adapter } = drive;
  const { dispatcher } = parts;
  const tool = dispatcher.find(wanted.tool);
  // Where a single person sits, they may approve what they asked for.
  const singleOperator = parts.policy.singleOperator || adapter.singleOperator;
  const decision = decidePolicy(
    { ...parts.policy, singleOperator },
    {
      tool: wanted.tool,
      effect: wanted.effect ?? dispatcher.effectOf(wanted.tool, wanted.args),
      args: wanted.args,
      own: tool?.own,
      kinds: tool?.kinds,
      meant: await dispatcher.meant(wanted.tool, wanted.args),
    },
  );
  if (decision.kind === "allow" && tool !== undefined)
    return (await askOutside(drive, wanted, tool, decision)) ?? decision;
  if (decision.kind !== "deny") return decision;
  return { kind: "deny", why: `Policy denies it: ${decision.why}.` };
}

/**
 * Why a call that is under way may not go on with other arguments, such as where a redirect leads, or undefined. What would
 * have to be asked about is refused: nobody was shown it.
 */
export async function permitStep(drive: Drive, wanted: Wanted): Promise<string | undefined> {
  const decision = await permit(drive, wanted);
  if (decision.kind === "allow") return undefined;
  if (decision.kind === "deny") return decision.why;
  return "That needs an approval of its own: it can be asked for in another call.";
}
