import { inCodeBlock } from "../core/edit.ts";
import type { Actor, Entry, JsonObject } from "../core/entry.ts";
import { countPeople, signed } from "../core/people.ts";
import { oneLine, shortened } from "../core/text.ts";
import type { ReverseCall } from "../core/tool-call.ts";

/** What people were reminded of: not at all, at half-time, for the last time. */
export type Warned = "no" | "once" | "last";

/**
 * A gated call's life, folded: proposed in revisions, voted on, then started or closed. Approval does not close an action,
 * `tool_started` does: until then a deny, a Stop or the expiry wins, also after the last approval.
 */
export class Action {
  readonly action: string;
  readonly run: string;
  readonly call: string;
  /** The newest revision; votes on earlier ones are void. */
  proposal: Entry<"action_proposed">;
  votes: Entry<"vote">[] = [];
  readonly editors = new Set<string>();
  /** Accounts to which all of the newest revision was shown. */
  readonly opened = new Set<string>();
  /** Who opened the edit form of the newest revision last, until it is sent or for some time. */
  editing: { name: string; until: number } | undefined;
  /** What was seen when it was looked at again. */
  verified: "done" | "not done" | "unknown" | undefined;
  /** Accounts that had asked for it when it was proposed: they may take it back without being asked again. */
  readonly askers: ReadonlySet<string>;
  /** How those are called who may not approve the newest revision, since they asked for it or edited it. */
  barred: string[] = [];
  readonly told = new Set<string>();
  warned: Warned = "no";
  /** Those whom its rule names were told that it waits. */
  escalated = false;
  /** What ends it, once anything does; `recorded` when an `action_closed` says so. */
  closed:
    | {
        outcome: ClosedOutcome;
        by: string | undefined;
        reason: string | undefined;
        recorded: boolean;
      }
    | undefined;
  started = false;
  finished: Pick<Entry<"tool_finished">, "outcome" | "ms"> | undefined;
  settled: Entry<"settled"> | undefined;
  /** What its approval granted besides, once it was started. */
  grant: Grant | undefined;
  /** The grant of an earlier action that covers it. */
  granted: Grant | undefined;
  /** The action that it takes back. */
  readonly undoes: string | undefined;
  /** The call that takes it back exactly, once it is done. */
  reverse: ReverseCall | undefined;
  /** It expired, and this person asked for the same once more. */
  repeatedBy: Actor | undefined;
  /** The newest wish to take it back. */
  undoing: Undoing | undefined;
  /** The entry that proposed it first, and when that was, ms since 1970. */
  readonly proposedAt: number;
  readonly openedAt: number;
  /** The last entry that changed what its card shows. */
  touched: number;
  readonly shown = new Map<string, ShownCard>();

  constructor(
    proposal: Entry<"action_proposed">,
    askers: Iterable<string>,
    undoes: string | undefined,
  ) {
    const { action, run, call, seq, at } = proposal;
    this.action = action;
    this.run = run;
    this.call = call;
    this.proposal = proposal;
    this.askers = new Set(askers);
    this.undoes = undoes;
    this.proposedAt = seq;
    this.openedAt = at;
    this.touched = seq;
  }
}

/** What a view has of an action's card. */
export interface ShownCard {
  ref: string;
  /** The entry up to which the view has had its turn. */
  seq: number;
  /** The entry up to which people can read it there; 0: nothing of it. */
  read: number;
  /** The place took nothing the last time. */
  isRefused: boolean;
}

/** A call that somebody asked for to take an action back, as it stands. */
interface Undoing {
  by: Actor;
  call: Readonly<{
    call: string;
    action: Action | undefined;
    finished: Pick<Entry<"tool_finished">, "outcome"> | undefined;
    settled: Pick<Entry<"settled">, "happened"> | undefined;
  }>;
}

export type ClosedOutcome = Entry<"action_closed">["outcome"];

const MAX_TITLE = 100;

/** What an action would do, in its card's words: `Purge queue web`; without those the tool's name. */
export function titleOf({ tool, preview: { title = tool } }: Action["proposal"]): string {
  // Between backticks the program's own words are code.
  return shortened(oneLine(title), MAX_TITLE).replaceAll("`", "'");
}

/** Nothing has ended it and nothing has begun. */
export function isOpen(action: Action): boolean {
  return !action.started && action.closed === undefined;
}

/** People in this view can read the newest revision on its card. */
export function isShown({ shown, proposal }: Action, view: string): boolean {
  return (shown.get(view)?.read ?? 0) >= proposal.seq;
}

/** The platform would not show the newest revision in this view. */
export function isHidden({ shown, proposal }: Action, view: string): boolean {
  const there = shown.get(view);
  return there !== undefined && there.seq >= proposal.seq && there.read < proposal.seq;
}

/** Nothing more will happen to it by itself; a person may still settle an unknown outcome. */
export function isOver(action: Action): boolean {
  return action.finished !== undefined || action.closed?.recorded === true;
}

/**
 * It can be asked to be taken back. Once that is asked for, only if it came to nothing: the world is looked at again then, so
 * that nothing is taken back twice.
 */
export function isUndoable({ reverse, undoing }: Action): boolean {
  if (reverse === undefined) return false;
  if (undoing === undefined) return true;
  const { finished, settled } = undoing.call;
  if (finished?.outcome === "unknown") return settled?.happened === false;
  return finished !== undefined && finished.outcome !== "ok";
}

/** Nobody decided it in time, and nobody has asked for the same once more. What takes another back is asked for there. */
export function isRepeatable({ closed, repeatedBy, undoes }: Action): boolean {
  return closed?.outcome === "expired" && repeatedBy === undefined && undoes === undefined;
}

/** The call that an action was asked for by, without what the program filled in. */
export function askedCall({ proposal }: Action): ReverseCall {
  const { tool, args, preview } = proposal;
  const given = Object.entries(args).filter(([name]) => preview.filled?.includes(name) !== true);
  return { tool, args: editedArgs(proposal, Object.fromEntries(given)) };
}

/** Nothing has closed it, and something carries it. */
export function isApproved(action: Action): boolean {
  return isOpen(action) && carrierOf(action) !== undefined;
}

/** What carries an action's newest revision: enough different people, one who broke the glass, or an earlier grant. */
export function carrierOf({ votes, proposal, granted }: Action): Carrier | undefined {
  const glass = votes.find(({ breaksGlass }) => breaksGlass === true);
  if (glass !== undefined) return { kind: "glass", vote: glass };
  if (isEnough({ proposal }, approvals({ votes }))) return { kind: "votes" };
  return granted !== undefined && isFree(granted) ? { kind: "grant", grant: granted } : undefined;
}

export function approvals({ votes }: Pick<Action, "votes">): Entry<"vote">[] {
  return votes.filter((vote) => vote.approve);
}

/** So many different people approve as it takes. */
export function isEnough(
  { proposal }: Pick<Action, "proposal">,
  approving: readonly Pick<Entry<"vote">, "person">[],
): boolean {
  return countPeople(approving.map(({ person }) => person)) >= proposal.quorum;
}

export type Carrier =
  | { kind: "votes" }
  | { kind: "glass"; vote: Entry<"vote"> }
  | { kind: "grant"; grant: Grant };

/** Those who stand for it: they approved it, or granted it before. */
export function approvingVotes({ votes, granted }: Action): Entry<"vote">[] {
  const approving = approvals({ votes });
  return approving.length === 0 && granted !== undefined ? [granted.vote] : approving;
}

/** Closes an action that has not started; the first reason stays. */
export function close(action: Action, outcome: ClosedOutcome, by?: string, reason?: string): void {
  if (isOpen(action)) action.closed = { outcome, by, reason, recorded: false };
}

/** Counts a vote on the newest revision; a deny closes at once. */
export function count(action: Action, vote: Entry<"vote">): void {
  if (vote.revision !== action.proposal.revision) return;
  action.votes.push(vote);
  if (!vote.approve) close(action, "denied", signed(vote), vote.reason);
}

/** Opens the next revision: earlier votes are void, the expiry stays as proposed. */
export function revise(
  action: Action,
  proposal: Entry<"action_proposed">,
  editor: string | undefined,
): void {
  if (editor !== undefined) action.editors.add(editor);
  action.proposal = proposal;
  action.votes = [];
  // What was granted was the same, and this is not.
  action.granted = undefined;
  action.opened.clear();
  action.editing = undefined;
}

/** So much is read on a card; what is longer is approved only by who has opened it. */
const MAX_READ_BYTES = 900;
const MAX_READ_LINES = 12;

/** It is too long to be read on its card. */
export function mustBeOpened({ args }: Pick<Entry<"action_proposed">, "args">): boolean {
  // What a card escapes takes at most six characters.
  const shown = inCodeBlock(JSON.stringify(args).replaceAll(/[^ -~]/g, "\\u0000"));
  const lines = shown.match(/\\n/g)?.length ?? 0;
  return lines > MAX_READ_LINES || shown.length > MAX_READ_BYTES;
}

/** What an edit asks for: it stays with the machine that the action is for, unless it names another. */
export function editedArgs(
  { host }: Pick<Entry<"action_proposed">, "host">,
  args: JsonObject,
): JsonObject {
  return host === undefined ? args : { host, ...args };
}

/**
 * "The same for 30 minutes": what an action's approval granted besides, from when the action was started. A use of it is an
 * action of its own, with all its checks and its card, that needs no press. Whatever is not certain leaves it to people.
 */
export interface Grant {
  /** The action that was approved with it. */
  readonly of: Action;
  readonly vote: Entry<"vote">;
  readonly offer: Offer;
  /** Ms since 1970. */
  readonly until: number;
  /** The calls that were started by it. */
  readonly uses: Use[];
  /** Undefined: it holds. */
  ended: { how: "expired" | "stopped" } | { how: "revoked"; by: string } | undefined;
}

/** What of a call a grant looks at. */
type Use = Readonly<
  Pick<Action, "finished" | "settled"> & { action: Pick<Action, "proposal"> | undefined }
>;

type Offer = NonNullable<Entry<"action_proposed">["offer"]>;

/** It holds and has a use left. */
export function isLeft({ ended, uses, offer }: Grant): boolean {
  return ended === undefined && uses.length < offer.uses;
}

/** It may be used now: nothing done by it is under way, and of nothing is it unknown whether it was done. */
function isFree(grant: Grant): boolean {
  const { uses, of } = grant;
  const first = of.finished !== undefined && (of.finished.outcome !== "unknown" || of.settled);
  const rest = uses.every(
    ({ finished, settled }) =>
      finished !== undefined && (finished.outcome !== "unknown" || settled),
  );
  return isLeft(grant) && Boolean(first) && rest;
}

/** Begins with the action's start; nothing where its approval granted nothing. */
export function grantOf(action: Action): Grant | undefined {
  const { offer } = action.proposal;
  const vote = action.votes.find(({ grants }) => grants === true);
  if (offer === undefined || vote === undefined) return undefined;
  const until = vote.at + offer.minutes * 60_000;
  return { of: action, vote, offer, until, uses: [], ended: undefined };
}
