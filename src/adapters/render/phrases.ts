export const UNKNOWN_ALERTS = "I don't know these alerts in this thread any more.";
export const NOT_SILENCED =
  "I can't silence these alerts from here: they are over, silenced already, or their Alertmanager isn't one of mine.";
export const NOTHING_OPEN = "No incident is open in this thread any more.";

export function openAlready(incident: string): string {
  return `${incident} is open in this thread already: its card has what can be done.`;
}

/** What every chat says in the same words, the terminal too. */

import { formatElapsed, isoUtc } from "../../core/instant.ts";
import { totalTokens } from "../../core/block.ts";
import { moneyText } from "../../core/money.ts";
import { listAnd } from "../../core/lists.ts";
import { counted } from "../../core/text.ts";
import { exactText } from "../../security/sanitize.ts";
import type { Json, JsonObject } from "../../core/entry.ts";
import type { ActionCard, Answer, CallResult, Meter, Notice } from "../shown.ts";

export type { Answer };

/** A button or form that this version doesn't know. */
export const OTHER_VERSION =
  "This button is from another version of Watchkeeper. Type what you want instead; `help` shows how.";

/** What somebody wants to read is not in the journal, or its time of keeping is over. */
export const NOT_KEPT = "I don't have that any more.";

/** A press that the journal does not have. */
export const NOT_RECORDED =
  "Couldn't record that: my database isn't answering. Press again in a moment; it counts only once.";

/** In a thread, once the bot is back. `at`: the newest message that it did not read. */
export function unreadWhileAway(at: number): string {
  return `I was away and didn't read what was written here up to ${isoUtc(at, "minute").replace("T", " ")} UTC. Write again what still matters.`;
}

/** To a bot that mentions this one. */
export function botRefused(setting: string, id: string): string {
  return `I don't answer other bots. An operator can let this one start investigations: add ${id} to ${setting}.`;
}

export const NOTHING_CHANGED = "Nothing was changed in the form.";

export function unknownIncident(incident: string): string {
  return `I don't know ${incident} in this thread any more. Type: incident ${incident}`;
}

/** Somebody presses a button on a card that is about to lose it. */
export function resolvedIncident(incident: string): string {
  return `${incident} is already resolved. To open it again, type: incident update ${incident} status=open`;
}

export function unknownAction(action: string): string {
  return `I don't know ${action} in this thread any more.`;
}

/** Labels the reason of an action. */
export const REASON = "Why (AI-written, not verified)";

export function plainNotice(text: string): Notice {
  return { kind: "notice", text, settles: undefined, asks: undefined, holds: [] };
}

/** Arguments as they are typed, `url=http://a/ method=GET`, for lines that say which call it was. */
export function briefArgs(args: JsonObject): string {
  return Object.entries(args)
    .map(([name, value]) => `${exactText(name)}=${briefValue(value)}`)
    .join(" ");
}

/** A longer object is on the card, or is what a change found before it: it would hide which call it was. */
const MAX_OBJECT = 60;

function briefValue(value: Json): string {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  if (isObject && JSON.stringify(value).length > MAX_OBJECT) return "{…}";
  if (typeof value === "string" && /^[^\s"']+$/.test(value)) return exactText(value);
  return exactText(JSON.stringify(value));
}

/** Exact text that keeps its line breaks; nothing else of it can move the cursor or hide. */
export function exactLines(text: string): string {
  return text.split("\n").map(exactText).join("\n");
}

interface Check {
  /** `T3` */
  label: string;
  result: CallResult;
}

/**
 * The results that the answer's text cites as `[T3]`, which is the call whose id ends in `.t3`, the others, and in words
 * how many those are. A citation of no call is left out.
 */
export function evidenceOf({ text, results }: Answer): {
  cited: Check[];
  others: Check[];
  rest: string | undefined;
} {
  const references = text?.match(/\[T\d+(?:\s*,\s*T?\d+)*\]/g) ?? [];
  const numbers = new Set(references.flatMap((found) => found.match(/\d+/g) ?? []));
  const checks = results.map((result) => ({ label: checkLabel(result.call), result }));
  const cited = checks.filter(({ label }) => numbers.has(label.slice(1)));
  const others = checks.filter((check) => !cited.includes(check));
  return { cited, others, rest: othersWords(others, cited.length) };
}

/** How much was read above the question: `I read the 12 messages above.` Undefined: there was nothing to read. */
export function aboveWords({
  read,
  isMore,
  isOlder,
  why,
}: NonNullable<Answer["above"]>): string | undefined {
  if (read === 0) return why && `I couldn't read what's above: ${why}.`;
  const count = read === 1 ? "" : `${read} `;
  const messages = read === 1 ? "message" : "messages";
  const what = isMore ? `${count}new ${messages}` : `${count}${messages} above`;
  const which = isMore ? "" : isOlder ? "last " : "";
  const rest = why === undefined ? "" : `, not all of it: ${why}`;
  return `I read the ${which}${what}${rest}.`;
}

/** How an answer cites a call: `T3` for the one whose id ends in `.t3`. */
export function checkLabel(call: string): string {
  return `T${/\.t(\d+)$/.exec(call)?.[1] ?? "?"}`;
}

/** `+ 2 more checks (1 failed or didn't run)`; undefined for none. */
function othersWords(others: readonly Check[], cited: number): string | undefined {
  if (others.length === 0) return undefined;
  const failed = others.filter(({ result }) => result.outcome !== "ok").length;
  const how = failed === 0 ? "" : ` (${failed} failed or didn't run)`;
  if (cited === 0) return `${counted(others.length, "check")}, not cited${how}`;
  return `+ ${counted(others.length, "more check")}${how}`;
}

/** Once below each of a model's answers. */
export const AI_MADE = "AI-generated · check before acting";

/** To whoever said that an answer helped. */
export const FEEDBACK_NOTED = "Thanks, noted. `feedback` shows what people said.";

/** What the journal has of an answer's changes: it stands below whatever the answer claims, in whatever language. */
export function changedWords({ done, maybe }: NonNullable<Answer["changed"]>): string {
  const words = [
    ...(done.length > 0 ? [`changed by ${listAnd(done)}`] : []),
    ...(maybe.length > 0 ? [`unknown whether ${listAnd(maybe)} changed anything`] : []),
  ];
  return words.length === 0 ? "changed nothing" : words.join(", ");
}

/** What the answer cost: `14k tokens · $0.04 · 2.4 s`, without the money where no price is known (`cost` says so). */
export function spentWords({ usage, money, workMs }: NonNullable<Answer["spent"]>): string {
  const isPriced = money !== undefined && money.microdollars > 0;
  const tokens = `${formatCount(totalTokens(usage))} tokens`;
  return [tokens, ...(isPriced ? [moneyText(money)] : []), formatElapsed(workMs)].join(" · ");
}

/** `987`, `1.2k`, `14k`, `1.4M`. */
export function formatCount(count: number): string {
  if (count < 1_000) return String(count);
  if (count < 10_000) return `${(count / 1_000).toFixed(1)}k`;
  return count < 1_000_000 ? `${Math.round(count / 1_000)}k` : `${(count / 1_000_000).toFixed(1)}M`;
}

const SIGNS: Readonly<Record<Answer["status"], string>> = {
  completed: "",
  failed: "✗ ",
  cancelled: "⏹ ",
  wrapped_up: "⚠ ",
};

/** What an answer begins with when it ended otherwise than usual. */
export function statusSign(status: Answer["status"]): string {
  return SIGNS[status];
}

/** What a message of progress says where only its text is seen. */
export function stillWords(calls: number): string {
  return calls === 0
    ? "Still looking into it"
    : `Still looking into it: ${counted(calls, "check")} so far`;
}

/** The same as a task of a plan. */
export function modelTask({ step, draft }: { step: number; draft: string }): string {
  if (draft !== "") return "Writing the answer";
  return step > 1 ? "Thinking it over" : "Deciding what to check";
}

/** What a model is doing: `thinking`, `writing · step 3`. A meter says itself how many steps there were. */
export function modelWords({
  step,
  draft,
  meter,
}: {
  step: number;
  draft: string;
  meter: Meter | undefined;
}): string {
  const which = step > 1 && meter === undefined ? ` · step ${step}` : "";
  return `${draft === "" ? "thinking" : "writing"}${which}`;
}

/** ` by ana, bob`, or nothing when nobody approved. */
export function byApprovers({ votes, granted }: ActionCard): string {
  const names = votes.filter((vote) => vote.approve).map((vote) => vote.name);
  if (names.length > 0) return ` by ${names.join(", ")}`;
  return granted === undefined ? "" : ` by ${granted.by}, who granted it with ${granted.action}`;
}

/** ` · granted the same: used 2 of 5, until 14:30 UTC`, or nothing. */
function grantedWords({ grant }: ActionCard): string {
  return grant === undefined ? "" : ` · granted the same: ${grant.words}`;
}

/** `Needs 2 approvals · anyone in #ops except ana · approved by bob so far` */
export function neededWords(card: ActionCard): string {
  const more = card.phase === "open" ? soFar(card) : "";
  return `Needs ${counted(card.quorum, "approval")} · ${card.approvers}${more}`;
}

/** What an approval may grant besides; whoever grants it says yes to this. */
export function offerWords({ action, offer }: ActionCard): string {
  if (offer === undefined) return "";
  const { uses, minutes } = offer;
  const often = uses === 1 ? "once" : `at most ${uses} times`;
  return `Exactly this again, ${often} within ${counted(minutes, "minute")} of the approval. Revoke ends it. (Or type: grant ${action})`;
}

function soFar(card: ActionCard): string {
  const by = byApprovers(card);
  return by === "" ? "" : ` · approved${by} so far`;
}

/** A line for each vote. */
export function voteLines({ votes }: ActionCard): string {
  const lines = votes.map(({ name, approve, reason }) => {
    const because = reason === undefined ? "" : `: ${reason}`;
    return `${name} ${approve ? "approved" : "denied"}${because}`;
  });
  return lines.length === 0 ? "none" : lines.join("\n");
}

/** Where an action stands: `approved by ana · running`, `denied by ana: wrong host`. */
export function standingOf(card: ActionCard): string {
  const { phase, ending } = card;
  switch (phase) {
    case "open":
      return `waiting for ${counted(card.quorum, "approval")}${soFar(card)}`;
    case "approved":
      return `approved${byApprovers(card)}`;
    case "running":
      return `approved${byApprovers(card)} · running`;
    case "denied":
      return ended(phase, ending === undefined || ending === phase ? denial(card) : ending);
    case "unknown":
      return isSettled(card) ? String(ending) : unknown(ending);
    case "done":
    case "failed":
    case "expired":
    case "cancelled":
    case "void":
      return ended(phase, ending);
  }
}

/** What became of it since: ` · granted the same: used 1 of 5, until 14:30 UTC · undone by a5`, or nothing. */
export function undoWords(card: ActionCard): string {
  const { undo, repeat } = card;
  const repeated = repeat?.state === "asked" ? ` · asked again by ${repeat.by}` : "";
  return grantedWords(card) + undoneWords(undo) + repeated;
}

function undoneWords(undo: ActionCard["undo"]): string {
  switch (undo?.state) {
    case "asked":
      return ` · undo asked for by ${undo.by}`;
    case "undone":
      return ` · undone by ${undo.by}`;
    case "unknown":
      return ` · undo ${undo.by}: outcome unknown`;
    case "offered":
    case undefined:
      return "";
  }
}

/** True once a person has said what became of an unknown outcome; the card then stays `unknown` and ends so. */
export function isSettled({ phase, ending }: ActionCard): boolean {
  return phase === "unknown" && ending?.startsWith("settled ") === true;
}

function unknown(ending: string | undefined): string {
  const said = ending === undefined || /^outcome unknown$/i.test(ending) ? "" : `: ${ending}`;
  return `UNKNOWN outcome${said}`;
}

function denial({ votes }: ActionCard): string | undefined {
  const vote = votes.find((each) => !each.approve);
  if (vote === undefined) return undefined;
  return `by ${vote.name}${vote.reason === undefined ? "" : `: ${vote.reason}`}`;
}

/** An ending that begins with the phase's own word does not say it twice. */
function ended(phase: string, ending: string | undefined): string {
  if (ending === undefined || ending === "") return phase;
  if (ending.startsWith(phase)) return ending;
  return /^(?:by|in|after) /.test(ending) ? `${phase} ${ending}` : `${phase}: ${ending}`;
}

/** The words by which a model grades its conclusion, and how people read them. */
export const GRADES: Readonly<Record<string, string>> = {
  CONFIRMED: "Confirmed",
  LIKELY: "Likely",
  INCONCLUSIVE: "Not sure yet",
};
/** What begins with a grade. */
export const GRADED = /^\s*(CONFIRMED|LIKELY|INCONCLUSIVE)\b\s*[:,–—-]?\s*/;

/** A model's conclusion as one plain sentence, without marks and references. */
export function conclusionOf(markdown: string): string {
  const [first = ""] = markdown.split("\n").filter((line) => /\p{L}/u.test(line));
  const plain = first.replaceAll(/\s*\[T\d+(?:\s*,\s*T?\d+)*\]|[*`]/g, "").replace(/^[#>\s-]+/, "");
  const [mark = "", word = ""] = GRADED.exec(plain) ?? [];
  const said = word === "" ? plain : `${GRADES[word]}: ${plain.slice(mark.length)}`;
  return /^[^]{20,}?[.!?](?=\s)/.exec(said)?.[0] ?? said;
}

/** In place of a file that goes with an answer. */
export function notSentAlong(name: string, why: string): string {
  return `I couldn't send ${name} here: ${why}`;
}
