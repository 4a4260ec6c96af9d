import { type Destination, destinations, whyAsk } from "../../../approvals/egress.ts";
import { type Heard, isOutsideHeard } from "../../../approvals/heard.ts";
import type { Places } from "../../../approvals/places.ts";
import { type Ask, type Decision, plainAsk } from "../../../approvals/policy.ts";
import type { Effect } from "../../../core/entry.ts";
import { isAgent } from "../../../core/people.ts";
import { argsOf } from "../../../thread/call.ts";
import type { Tool } from "../../../tools/tool.ts";
import type { ThreadContext, Wanted } from "../parts.ts";
import { peopleAround } from "../places.ts";
import { isAmongMembers } from "./requesters.ts";

/**
 * True when the model request behind the run's newest calls held text from outside: a result of a tool that does not only
 * speak for this program, a file, a line by somebody who is not a full member. False for a typed command. What is asked for
 * again holds what a model wrote before: all that came until then counts.
 */
export async function hasReadOutside(ctx: ThreadContext, run: string): Promise<boolean> {
  const { modelRun, started } = ctx.thread.runs.get(run) ?? {};
  // Words led to these calls, and not only members': an alert's, a guest's, or what was read before.
  const isLooking = started?.checks !== undefined && modelRun?.last === undefined;
  if (isLooking && !(await isAmongMembers(ctx, run))) return true;
  const seen = started?.repeats === undefined ? modelRun?.last?.seen : started.seq;
  if (seen === undefined) return false;
  const { heard } = ctx.state;
  const members = await membersAmong(ctx, heard);
  const { dispatcher } = ctx.parts;
  return isOutsideHeard(heard, seen, {
    isOurs: (tool) => dispatcher.find(tool)?.ours === true,
    isMember: (account) => members.has(account),
  });
}

/**
 * Asks people about calls that policy allows, once the model has read text from outside: reads that send something to a
 * place that no member and no configuration named, and writes to our own records. Undefined: nobody has to be asked.
 */
export async function askOutside(
  ctx: ThreadContext,
  wanted: Wanted & { effect: Effect },
  tool: Tool,
  decision: Extract<Decision, { kind: "allow" }>,
): Promise<Ask | undefined> {
  const { run, args, effect, from } = wanted;
  const places = effect === "read" ? destinations(tool.kinds ?? {}, args) : [];
  const isOwn = tool.own === true && effect !== "read";
  if ((places.length === 0 && !isOwn) || !(await hasReadOutside(ctx, run))) return undefined;
  if (isOwn) return decision.byRule === true ? undefined : asking(OWN_WORDS);
  const written = await writtenByMembers(ctx);
  // A host that redirects to itself learns nothing new.
  const hosts = new Set(destinations(tool.kinds ?? {}, from ?? {}).map(({ host }) => host));
  const known = {
    written,
    network: ctx.parts.network ?? [],
    named: decision.named === true,
    sent: sentBefore(ctx, wanted),
  };
  for (const place of places.filter(({ host }) => !hosts.has(host))) {
    const why = whyAsk(place, known);
    if (why !== undefined) return asking(`I've read text from outside. ${why}`);
  }
  return undefined;
}

/** Where the run's earlier calls, and the arguments that led here, already sent something without asking. */
function sentBefore({ parts, thread }: ThreadContext, { run, call, from }: Wanted): Destination[] {
  const calls = [...(thread.runs.get(run)?.calls.values() ?? [])];
  const at = calls.findIndex((each) => each.call === call);
  const before = from === undefined ? calls.slice(0, at) : calls.slice(0, at + 1);
  return before.flatMap((each) =>
    each.action === undefined && each.problem === undefined
      ? destinations(parts.dispatcher.find(each.tool)?.kinds ?? {}, argsOf(each))
      : [],
  );
}

const OWN_WORDS = "I've read text from outside, and other threads read what I write here.";

/** As for a plain write: anybody here may approve, the requester included. */
const asking = (why: string): Ask => plainAsk({ why, requesterMayApprove: true });

async function writtenByMembers(ctx: ThreadContext): Promise<Places[]> {
  const { heard } = ctx.state;
  const members = await membersAmong(ctx, heard);
  return [...heard.places].flatMap(([account, places]) => (members.has(account) ? [places] : []));
}

/** Accounts that the platform cannot look up now do not count as members: people are asked more often then. */
async function membersAmong(ctx: ThreadContext, { authors }: Heard): Promise<ReadonlySet<string>> {
  const { adapter, key } = ctx;
  const { membership } = peopleAround(ctx);
  // An agent names no place as a person does, whatever it may ask for.
  const accounts = [...authors.keys()].filter((account) => !isAgent(account));
  if (adapter.singleOperator) return new Set(accounts);
  const memberships = await Promise.all(
    accounts.map((account) => membership(account, key).catch(() => "unknown")),
  );
  return new Set(accounts.filter((_, index) => memberships[index] === "member"));
}
