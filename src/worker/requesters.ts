import type { Talk } from "../thread/model-run.ts";
import type { Telling } from "../agent/transcript.ts";
import { groupsIn } from "../approvals/access.ts";
import type { Place } from "../approvals/eligibility.ts";
import { requesterGroupsIn } from "../approvals/policy.ts";
import type { Requester } from "../approvals/requester.ts";
import type { Run } from "../thread/state.ts";
import type { Drive } from "./context.ts";
import { NEVER, placeOf } from "./look-up.ts";

/** Whose words a run's calls follow from, and what the platform says of them. */

/**
 * Those who instruct the run, and `editors` of the call. @throws BotError PEOPLE_UNAVAILABLE when nobody can say who they
 * are
 */
export async function requestersOf(
  drive: Drive,
  { run, editors = [] }: { run: string; editors?: readonly string[] },
  signal: AbortSignal = NEVER,
): Promise<Requester[]> {
  const { parts, thread } = drive;
  const accounts = new Set([...(thread.runs.get(run)?.principals ?? []), ...editors]);
  const groups = new Set([...groupsIn(parts.access), ...requesterGroupsIn(parts.policy)]);
  const place = placeOf(drive, signal);
  return Promise.all(
    [...accounts].map(async (account) => ({
      account,
      standing: await standingOf(drive, account, place),
      groups: await groupsOf(account, groups, place),
    })),
  );
}

/**
 * False where somebody who is no full member of the thread instructs the run: what is answered then is what everybody may
 * know. @throws BotError PEOPLE_UNAVAILABLE
 */
export async function isAmongMembers(drive: Drive, run: string): Promise<boolean> {
  const requesters = await requestersOf(drive, { run });
  return requesters.length > 0 && requesters.every(({ standing }) => standing === "member");
}

/** Accounts whose words stand in what led to the run's calls, quoted ones too: none of them approves a call as somebody else. */
export function voicesIn({ thread }: Drive, run: string): string[] {
  const { principals = [], talk } = thread.runs.get(run) ?? {};
  const seen = talk?.last?.seen ?? 0;
  const told = [...thread.voices].flatMap(([account, since]) => (since <= seen ? [account] : []));
  return [...new Set([...principals, ...told])];
}

/**
 * How the run's next request tells what people said: its lines instruct whose authors are full members of the thread, and
 * where none is, those of whoever asked, who then get what they may have and are told the thread in brief. What was told as
 * an instruction earlier in the run stays one.
 * @throws BotError PEOPLE_UNAVAILABLE
 */
export async function tellingFor(
  drive: Drive,
  run: Run,
  talk: Talk,
  signal: AbortSignal,
): Promise<Telling> {
  const first = talk.last === undefined;
  const place = placeOf(drive, signal);
  const standings = new Map<string, Requester["standing"]>();
  const unknown = () =>
    [
      ...(first ? run.started.principals : []),
      ...talk.unseen.map(({ actor }) => actor.account),
    ].filter((account) => !standings.has(account));
  // Somebody else may write while it is looked up: what the request holds is known of all of them.
  for (let accounts = unknown(); accounts.length > 0; accounts = unknown()) {
    for (const account of new Set(accounts)) {
      standings.set(account, await standingOf(drive, account, place));
    }
  }
  const authors = [...standings.keys()];
  const members = authors.filter((account) => standings.get(account) === "member");
  if (!first)
    return { instructs: [...new Set([...run.principals, ...members])], first, brief: false };
  const brief = members.length === 0;
  return { instructs: brief ? authors : members, first, brief };
}

/** Who reaches a place with one seat is its operator. */
async function standingOf(
  { adapter }: Drive,
  account: string,
  { people, key }: Place,
): Promise<Requester["standing"]> {
  return adapter.singleOperator ? "member" : people.standing(account, key);
}

async function groupsOf(
  account: string,
  groups: ReadonlySet<string>,
  { people }: Place,
): Promise<string[]> {
  const found = await Promise.all(
    [...groups].map(async (group) =>
      (await people.members(group))?.includes(account) ? group : [],
    ),
  );
  return found.flat();
}
