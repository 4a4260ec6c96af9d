import { type Destination, destinations, whyAsk } from "../../../approvals/egress.ts";
import { hear, type Heard, isOutsideHeard, nothingHeard } from "../../../approvals/heard.ts";
import type { Places } from "../../../approvals/places.ts";
import { type Ask, type Decision, plainAsk } from "../../../approvals/policy.ts";
import type { Effect, JsonObject } from "../../../core/entry.ts";
import { inPages } from "../../../core/pages.ts";
import { argsOf } from "../../../thread/state.ts";
import type { Tool } from "../../../tools/tool.ts";
import { retryUntilStored } from "../../store.ts";
import type { ThreadContext } from "../context.ts";

/** What a model may do once it has read what nobody here wrote. */

/** A call of a run's, with the arguments that were permitted before where these are another step of it. */
interface Step {
  run: string;
  call: string;
  args: JsonObject;
  /** What it does with these arguments. */
  effect: Effect;
  from?: JsonObject | undefined;
}

/**
 * True when the request that the run's newest calls follow from held text from outside: a result of a tool that is not the
 * program's own word, a file, a line by somebody who is no full member. False for what a person typed as a command.
 */
export async function hasReadOutside(ctx: ThreadContext, run: string): Promise<boolean> {
  const seen = ctx.thread.runs.get(run)?.modelRun?.last?.seen;
  if (seen === undefined) return false;
  const heard = await heardOf(ctx);
  const members = await membersAmong(ctx, heard);
  const { dispatcher } = ctx.parts;
  return isOutsideHeard(heard, seen, {
    isOurs: (tool) => dispatcher.find(tool)?.ours === true,
    isMember: (account) => members.has(account),
  });
}

/**
 * What else has to be asked of a call that policy allows: a read that sends something to a place which nobody here and no
 * configuration named, and a write to our own records. Undefined: nothing.
 */
export async function askOutside(
  ctx: ThreadContext,
  step: Step,
  tool: Tool,
  decision: Extract<Decision, { kind: "allow" }>,
): Promise<Ask | undefined> {
  const { run, args, effect, from } = step;
  const places = effect === "read" ? destinations(tool.kinds ?? {}, args) : [];
  const isOwn = tool.own === true && effect !== "read";
  if ((places.length === 0 && !isOwn) || !(await hasReadOutside(ctx, run))) return undefined;
  if (isOwn) return decision.byRule === true ? undefined : asking(OWN_WORDS);
  const written = await writtenByMembers(ctx);
  // Where the same host leads on is its own word, which it was told nothing new for.
  const hosts = new Set(destinations(tool.kinds ?? {}, from ?? {}).map(({ host }) => host));
  const known = {
    written,
    network: ctx.parts.network ?? [],
    named: decision.named === true,
    sent: sentBefore(ctx, step),
  };
  for (const place of places.filter(({ host }) => !hosts.has(host))) {
    const why = whyAsk(place, known);
    if (why !== undefined) return asking(`The bot has read text from outside. ${why}`);
  }
  return undefined;
}

/** Where the run's calls before this one, and what it leads on from, sent what nobody was asked about. */
function sentBefore({ parts, thread }: ThreadContext, { run, call, from }: Step): Destination[] {
  const calls = [...(thread.runs.get(run)?.calls.values() ?? [])];
  const at = calls.findIndex((each) => each.call === call);
  const before = from === undefined ? calls.slice(0, at) : calls.slice(0, at + 1);
  return before.flatMap((each) =>
    each.action === undefined && each.problem === undefined
      ? destinations(parts.dispatcher.find(each.tool)?.kinds ?? {}, argsOf(each))
      : [],
  );
}

const OWN_WORDS =
  "The bot has read text from outside, and what it writes here is read in other threads.";

/** As policy asks of a write: anybody here may approve, whoever asked included. */
const asking = (why: string): Ask => plainAsk({ why, requesterMayApprove: true });

async function writtenByMembers(ctx: ThreadContext): Promise<Places[]> {
  const heard = await heardOf(ctx);
  const members = await membersAmong(ctx, heard);
  return [...heard.places].flatMap(([account, places]) => (members.has(account) ? [places] : []));
}

/** Whom the platform cannot tell of just now is taken for nobody: then more is asked. */
async function membersAmong(
  { adapter, key }: ThreadContext,
  { authors }: Heard,
): Promise<ReadonlySet<string>> {
  const accounts = [...authors.keys()];
  if (adapter.singleOperator) return new Set(accounts);
  const standings = await Promise.all(
    accounts.map((account) => adapter.people.membership(account, key).catch(() => "unknown")),
  );
  return new Set(accounts.filter((_, index) => standings[index] === "member"));
}

/** Read whole once, and then what is new. */
async function heardOf(ctx: ThreadContext): Promise<Heard> {
  const heard = (ctx.heardFrom ??= nothingHeard());
  if (heard.last >= ctx.thread.last) return heard;
  const entries = await retryUntilStored(ctx, () => ctx.parts.journal.read(ctx.key, heard.last));
  for await (const page of inPages(entries))
    for (const entry of page) if (entry.kind !== "newer") hear(heard, entry);
  return heard;
}
