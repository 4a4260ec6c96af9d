import canonicalize from "canonicalize";
import type { ActionCard, ActionPhase } from "../adapters/shown.ts";
import type { Approvers, Json } from "../core/entry.ts";
import { formatElapsed } from "../core/instant.ts";
import type { JournalKey } from "../core/journal-key.ts";
import { signed } from "../core/people.ts";
import { exactText } from "../security/sanitize.ts";
import { grantWords } from "../thread/click-phrases.ts";
import { approversAsked } from "../thread/mentions.ts";
import {
  type Action,
  isApproved,
  isLeft,
  isRepeatable,
  isUndoable,
  mustBeOpened,
} from "../thread/action.ts";

/** The one encoder that every outgoing text passes: no control characters, no secrets. */
export type Encode = (text: string) => string;

/** An action as its card shows it: every byte of what would be executed, and where it stands. */
export function cardOf(key: JournalKey, action: Action, encode: Encode): ActionCard {
  return encodedCard(rawCard(key, action), encode);
}

/** Its words as they may be shown; a card that was encoded stays as it is, unless there is more to hide by now. */
export function encodedCard(card: ActionCard, encode: Encode): ActionCard {
  const { confirm, granted, grant, undo, repeat } = card;
  const words = (text: string | undefined) => (text === undefined ? undefined : encode(text));
  return {
    ...card,
    reason: words(card.reason),
    approvers: encode(card.approvers),
    votes: card.votes.map((vote) => ({
      ...vote,
      name: encode(vote.name),
      reason: words(vote.reason),
    })),
    editing: words(card.editing),
    ending: words(card.ending),
    ...(confirm !== undefined && { confirm: encode(confirm) }),
    ...(granted && { granted: { ...granted, by: encode(granted.by) } }),
    ...(grant && { grant: { ...grant, words: encode(grant.words) } }),
    ...(undo && "by" in undo && { undo: { ...undo, by: encode(undo.by) } }),
    ...(repeat && "by" in repeat && { repeat: { ...repeat, by: encode(repeat.by) } }),
  };
}

function rawCard(key: JournalKey, action: Action): ActionCard {
  const { proposal } = action;
  const { filled = [] } = proposal.preview;
  const isFilled = ([name]: [string, Json]) => filled.includes(name);
  const args = Object.entries(proposal.args);
  return {
    key,
    action: action.action,
    revision: proposal.revision,
    tool: proposal.tool,
    effect: proposal.effect,
    host: proposal.host,
    args: proposal.args,
    canonical: canonicalOf(args.filter((each) => !isFilled(each))),
    ...(args.some(isFilled) && { filled: canonicalOf(args.filter(isFilled)) }),
    digest: proposal.digest,
    reason: proposal.reason,
    preview: proposal.preview,
    phase: phaseOf(action),
    approvers: approversText(action),
    listed: listedIn(action),
    mentions: approversAsked(action),
    quorum: proposal.quorum,
    votes: action.votes.map((vote) => ({
      name: `${signed(vote)}${vote.breaksGlass === true ? " (broke the glass)" : ""}`,
      approve: vote.approve,
      reason: vote.reason,
    })),
    askedAt: proposal.at,
    expiresAt: proposal.expiresAt,
    decidedAt: action.votes.at(-1)?.at,
    mustOpen: mustBeOpened(proposal),
    editing: action.editing?.name,
    verified: action.verified,
    ending: endingOf(action),
    ...permissionsOf(action),
    undoes: action.undoes,
    undo: undoOf(action),
    repeat: repeatOf(action),
  };
}

function permissionsOf({
  proposal,
  granted,
  grant,
}: Action): Pick<ActionCard, "confirm" | "breakable" | "offer" | "granted" | "grant"> {
  const { confirm, breakable, offer } = proposal;
  return {
    ...(confirm !== undefined && { confirm }),
    ...(breakable === true && { breakable }),
    ...(offer !== undefined && { offer }),
    ...(granted !== undefined &&
      (isLeft(granted) || granted.uses.some(({ action }) => action?.proposal === proposal)) && {
        granted: { action: granted.of.action, by: signed(granted.vote) },
      }),
    ...(grant !== undefined && { grant: { words: grantWords(grant), isLeft: isLeft(grant) } }),
  };
}

function canonicalOf(args: [string, Json][]): string {
  return exactText(canonicalize(Object.fromEntries(args)) ?? "{}");
}

function undoOf(action: Action): ActionCard["undo"] {
  if (isUndoable(action)) return { state: "offered" };
  if (action.undoing === undefined) return undefined;
  const { by, call } = action.undoing;
  if (call.finished === undefined) return { state: "asked", by: by.name };
  const state = call.finished.outcome === "ok" ? "undone" : "unknown";
  return { state, by: call.action?.action ?? call.call };
}

function repeatOf(action: Action): ActionCard["repeat"] {
  if (isRepeatable(action)) return { state: "offered" };
  const { repeatedBy: by } = action;
  return by && { state: "asked", by: by.name };
}

function phaseOf(action: Action): ActionPhase {
  if (action.closed !== undefined) return action.closed.outcome;
  if (action.finished === undefined) {
    return action.started ? "running" : isApproved(action) ? "approved" : "open";
  }
  const { outcome } = action.finished;
  if (outcome === "ok") return "done";
  return outcome === "unknown" ? "unknown" : "failed";
}

function endingOf(action: Action): string | undefined {
  const { closed, finished, settled } = action;
  const because = (reason: string | undefined) => (reason === undefined ? "" : `: ${reason}`);
  if (closed !== undefined) {
    const by = closed.by === undefined ? "" : ` by ${closed.by}`;
    return `${closed.outcome}${by}${because(closed.reason)}`;
  }
  if (settled !== undefined) {
    const word = settled.happened ? "it happened" : "it did not happen";
    return `settled by ${settled.name}: ${word}${settled.reason === undefined ? "" : ` (${settled.reason})`}`;
  }
  if (finished === undefined) return undefined;
  return finished.outcome === "unknown"
    ? "outcome unknown"
    : `${phaseOf(action)} in ${formatElapsed(finished.ms ?? 0)}`;
}

function listedIn({ proposal: { approvers } }: Action): string[] {
  if (approvers.kind === "anyone" || approvers.accounts.every(({ groups }) => groups === undefined))
    return [];
  return approvers.accounts.map(({ account }) => account);
}

/** Those whom the rule names, as people call them: `@sre (3 people), Ana (U07)`; without a name as the rule has them. */
function referencesOf(accounts: ListedAccounts, names: Readonly<Record<string, string>>): string[] {
  const counts = new Map<string, number>();
  const named: string[] = [];
  for (const { account, groups } of accounts) {
    if (groups === undefined) named.push(namedAs(account, names[account]));
    for (const group of groups ?? []) counts.set(group, (counts.get(group) ?? 0) + 1);
  }
  const groups = [...counts].map(
    ([group, n]) => `${names[group] ?? group} (${n === 1 ? "1 person" : `${n} people`})`,
  );
  return [...groups, ...named];
}

function namedAs(account: string, name: string | undefined): string {
  return name === undefined ? account : signed({ account, name });
}

type ListedAccounts = Extract<Approvers, { kind: "listed" }>["accounts"];

/** `anyone in #ops except ana`: who may approve, and who of them may not. */
function approversText({ proposal, barred }: Action): string {
  const { approvers, names = {}, place = "this thread" } = proposal;
  const who =
    approvers.kind === "anyone"
      ? `anyone in ${place}`
      : referencesOf(approvers.accounts, names).join(", ");
  return barred.length === 0 ? who : `${who} except ${barred.join(" and ")}`;
}
