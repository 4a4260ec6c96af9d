import type { ModelRun } from "../../../thread/model-run.ts";
import type { Telling } from "../../../agent/transcript.ts";
import { groupsIn } from "../../../approvals/access.ts";
import type { ThreadPeople } from "../../../approvals/eligibility.ts";
import { transportOf } from "../../../core/journal-key.ts";
import { isAgent } from "../../../core/people.ts";
import type { Requester } from "../../../approvals/requester.ts";
import { rootOf } from "../../../thread/family.ts";
import type { Run } from "../../../thread/state.ts";
import type { ThreadContext } from "../parts.ts";
import { NEVER_ABORTED, peopleOf } from "./look-up.ts";

/**
 * Those who instruct the run, and the call's `editors`.
 * @throws BotError PEOPLE_UNAVAILABLE when the platform cannot say who they are
 */
export async function requestersOf(
  ctx: ThreadContext,
  { run, editors = [] }: { run: string; editors?: readonly string[] },
  signal: AbortSignal = NEVER_ABORTED,
): Promise<Requester[]> {
  const { parts, thread } = ctx;
  const { principals = [], started } = thread.runs.get(run) ?? {};
  const accounts = new Set([...principals, ...editors]);
  const groups = new Set(groupsIn(parts.access, parts.policy));
  const there = peopleOf(ctx, signal);
  const people = await Promise.all(
    [...accounts].map(async (account) => ({
      account,
      membership: await membershipOf(ctx, account, there),
      groups: await groupsOf(
        account,
        thread.views.length > 1 ? groupsFor(account, groups) : groups,
        there,
      ),
    })),
  );
  if (started?.app !== undefined) return [listedBot(started.app), ...people];
  const asking = thread.runs.get(run);
  const goal = asking && rootOf(asking).started.goal;
  const schedule = thread.goals.get(goal?.goal ?? "")?.started.schedule;
  if (schedule !== undefined && people.length === 0) return [listedBot(`goal:${schedule}`)];
  // The configuration has alerts looked into, and actions looked at again.
  const { why } = started?.checks ?? {};
  return why !== undefined && people.length === 0 ? [listedBot(`checks:${why}`)] : people;
}

/** Whom the platform's configuration lists is not looked up: it is a bot, whatever the platform says. */
function listedBot(account: string): Requester {
  return { account, membership: "bot", groups: [], isListed: true };
}

/**
 * False where somebody who is not a full member instructs the run; its answer may then hold only what everybody may know.
 * @throws BotError PEOPLE_UNAVAILABLE
 */
export async function isAmongMembers(ctx: ThreadContext, run: string): Promise<boolean> {
  const requesters = await requestersOf(ctx, { run });
  return requesters.length > 0 && requesters.every(({ membership }) => membership === "member");
}

/** Accounts whose words, quoted ones too, led to the run's calls: none of them may approve a call as a second person. */
export function voicesIn({ thread }: ThreadContext, run: string): string[] {
  const { principals = [], modelRun } = thread.runs.get(run) ?? {};
  const seen = modelRun?.last?.seen ?? 0;
  const told = [...thread.voices].flatMap(([account, since]) => (since <= seen ? [account] : []));
  return [...new Set([...principals, ...told])];
}

/**
 * Whose lines the run's next request presents as instructions: those of full members of the thread. Where no author is one,
 * those of whoever asked, with the thread in brief. A line that was an instruction earlier in the run stays one.
 * @throws BotError PEOPLE_UNAVAILABLE
 */
export async function tellingFor(
  ctx: ThreadContext,
  run: Run,
  modelRun: ModelRun,
  signal: AbortSignal,
): Promise<Telling> {
  const first = modelRun.last === undefined;
  const there = peopleOf(ctx, signal);
  const memberships = new Map<string, Requester["membership"]>();
  const unknown = () =>
    [
      ...(first ? run.started.principals : []),
      ...modelRun.unseen.filter(({ app }) => app !== true).map(({ actor }) => actor.account),
    ].filter((account) => !memberships.has(account));
  // Others may write during the look-up: go on until every author in the request is known.
  for (let accounts = unknown(); accounts.length > 0; accounts = unknown()) {
    for (const account of new Set(accounts)) {
      memberships.set(account, await membershipOf(ctx, account, there));
    }
  }
  const authors = [...memberships.keys()];
  const members = authors.filter((account) => memberships.get(account) === "member");
  if (!first)
    return { instructs: [...new Set([...run.principals, ...members])], first, brief: false };
  const brief = members.length === 0;
  return { instructs: brief ? authors : members, first, brief };
}

/** Whoever reaches a place with a single operator is that operator. Platforms know nothing of agents. */
async function membershipOf(
  { adapter }: ThreadContext,
  account: string,
  { people, key }: ThreadPeople,
): Promise<Requester["membership"]> {
  return adapter.singleOperator || isAgent(account) ? "member" : people.membership(account, key);
}

async function groupsOf(
  account: string,
  groups: ReadonlySet<string>,
  { people }: ThreadPeople,
): Promise<string[]> {
  const found = await Promise.all(
    [...groups].map(async (group) =>
      (await people.members(group))?.includes(account) ? group : [],
    ),
  );
  return found.flat();
}

/** Nobody is in another platform's groups, and that one may be away. */
function groupsFor(account: string, groups: ReadonlySet<string>): ReadonlySet<string> {
  return new Set([...groups].filter((group) => transportOf(group) === transportOf(account)));
}
