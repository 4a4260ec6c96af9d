import { BotError } from "../core/errors.ts";
import { isOverStatus } from "../core/incident-status.ts";
import { inQuotes } from "../core/text.ts";
import {
  type Acted,
  type AlertFact,
  type Change,
  type FollowUp,
  type Incident,
  type KnownBy,
  type Role,
  type Spell,
  TIMES,
  type TimeName,
} from "./incident.ts";

/** What the parts of an incident come to with one more statement. Each leaves what was there before unchanged. */

type Times = Pick<Incident, TimeName>;

/** A time that is set or corrected is known as the statement is; what is not known any more is left out. */
export function knownAfter(
  { known: before, history, ...were }: Incident,
  times: Times,
  { how, ...change }: Change,
): Incident["known"] {
  const known: Partial<Record<TimeName, KnownBy>> = {};
  for (const name of TIMES) {
    if (times[name] === undefined) continue;
    const isNew = history.length === 0 || times[name] !== were[name];
    // Named by somebody, also where it was so before.
    if (change[name] !== undefined) known[name] = how ?? "said";
    else known[name] = isNew ? (how ?? "person") : (before[name] ?? "person");
  }
  return known;
}

/** How it stood when. A corrected time moves where what it is the time of began. */
export function spellsAfter(
  { spells, status: was, history }: Incident,
  now: Times & Pick<Incident, "status">,
  at: number,
): Spell[] {
  const { status } = now;
  const isNew = history.length > 0 && status !== was;
  const begun: Spell[] =
    history.length === 0
      ? [{ status, from: now.startedAt }]
      : spells.map((spell) => ({ ...spell }));
  if (isNew) begun.push({ status, from: at });
  const opened = begun.findLastIndex((spell) => spell.status === "open");
  const isUnsaid = !begun.slice(opened).some((spell) => spell.status === "mitigated");
  // Said once it was over.
  if (now.mitigatedAt !== undefined && isUnsaid)
    begun.splice(opened + 1, 0, { status: "mitigated", from: now.mitigatedAt });
  const set = (of: (spell: Spell) => boolean, from: number | undefined) => {
    const found = begun.findLast(of);
    if (found !== undefined && from !== undefined) found.from = from;
  };
  const [first] = begun;
  if (first !== undefined) first.from = now.startedAt;
  set((spell) => spell.status === "mitigated", now.mitigatedAt);
  set((spell) => isOverStatus(spell.status), now.resolvedAt);
  // Times that contradict each other, such as an end before the mitigation, leave nothing between them.
  let least = now.startedAt;
  const ordered = begun.map(({ status: stood, from }) => {
    least = Math.max(least, from);
    return { status: stood, from: least };
  });
  const end = isOverStatus(status) ? now.resolvedAt : undefined;
  if (end === undefined) return ordered;
  return ordered.map((spell) => ({ ...spell, from: Math.min(spell.from, end) }));
}

/** Another cause is as sure as it is said to be, and no more. */
export function causeAfter(
  before: Incident,
  { cause, certainty, evidence }: Change,
): Pick<Incident, "cause" | "certainty" | "evidence"> {
  const isOther = cause !== undefined && cause !== before.cause;
  return {
    cause: cause ?? before.cause,
    certainty: certainty ?? (isOther ? undefined : before.certainty),
    evidence: evidence ?? (isOther ? [] : before.evidence),
  };
}

/** One person for each role. */
export function rolesAfter(before: readonly Role[], { roles = [] }: Change, since: number): Role[] {
  let after = [...before];
  for (const { role, name } of roles) {
    const known = after.find((each) => each.role === role);
    if (known !== undefined && known.name === name) continue;
    after = after.filter((each) => each.role !== role);
    if (name !== undefined) after.push({ role, name, since });
  }
  return after;
}

/** @throws BotError INPUT_INVALID for one that is not there, or that says nothing */
export function followUpsAfter(
  { id, followUps: before }: Incident,
  { followUps = [] }: Change,
): FollowUp[] {
  const after = [...before];
  for (const { name, text, owner, due, state } of followUps) {
    const at = after.findIndex((each) => each.name === name);
    const known = after[at];
    if (name !== undefined && known === undefined) {
      const names = before.map((each) => each.name).join(", ") || "none";
      const problem = `${id} has no follow-up ${inQuotes(name)}; it has ${names}.`;
      throw new BotError("INPUT_INVALID", problem);
    }
    if (known !== undefined) {
      after[at] = {
        name: known.name,
        text: text ?? known.text,
        owner: owner ?? known.owner,
        due: due ?? known.due,
        state: state ?? known.state,
      };
      continue;
    }
    if (text === undefined || text === "")
      throw new BotError("INPUT_INVALID", "A follow-up needs words: followUp='…'.");
    const next = `f${after.length + 1}`;
    after.push({ name: next, text, owner, due, state: state ?? "open" });
  }
  return after;
}

export function alertsAfter(before: readonly AlertFact[], { alert }: Change): AlertFact[] {
  if (alert === undefined) return [...before];
  const { acknowledgedAt, ...newest } = alert;
  const isSame = (each: AlertFact) => each.of === alert.of && each.group === alert.group;
  const since = acknowledgedAt ?? before.find(isSame)?.acknowledgedAt;
  const fact = { ...newest, ...(since !== undefined && { acknowledgedAt: since }) };
  return before.some(isSame)
    ? before.map((each) => (isSame(each) ? fact : each))
    : [...before, fact];
}

export function actedAfter(before: readonly Acted[], { acted }: Change): Acted[] {
  if (acted === undefined) return [...before];
  const isSame = (each: Acted) => each.action === acted.action;
  return before.some(isSame)
    ? before.map((each) => (isSame(each) ? { ...each, ...acted } : each))
    : [...before, acted];
}
