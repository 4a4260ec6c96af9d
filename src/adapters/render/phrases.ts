/** What every chat says in the same words, the terminal too. */

import { totalTokens } from "../../core/block.ts";
import { exactText } from "../../security/sanitize.ts";
import type { Json, JsonObject } from "../../core/entry.ts";
import type { ActionCard, CallResult, Notice, Outgoing } from "../adapter.ts";

/** What a run ends with. */
export type Answer = Extract<Outgoing, { kind: "answer" }>;

/** A button or form that this version doesn't know. */
export const OTHER_VERSION =
  "This button is from another version of Watchkeeper. Type what you want instead; `help` shows how.";

/** A press that the journal does not have. */
export const NOT_RECORDED =
  "Couldn't record that: my database isn't answering. Press again in a moment; it counts only once.";

export function unknownAction(action: string): string {
  return `I don't know ${action} in this thread any more.`;
}

/** To whoever types one that the app's settings still have. */
export const NO_COMMANDS =
  "I have no slash commands. Mention me and write what you want; `help` lists how.";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** A notice that can only be read. */
export function plainNotice(text: string): Notice {
  return { kind: "notice", text, settles: undefined, asks: undefined, holds: [] };
}

/** Milliseconds as a person says them: `34 ms`, `1.2 s`, `3 min 20 s`, `2 h 5 min`. */
export function formatMs(ms: number): string {
  if (ms < SECOND) return `${Math.round(ms)} ms`;
  if (ms < MINUTE) return `${(Math.floor(ms / 100) / 10).toFixed(1)} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min ${Math.floor((ms % MINUTE) / SECOND)} s`;
  return `${Math.floor(ms / HOUR)} h ${Math.floor((ms % HOUR) / MINUTE)} min`;
}

/** Arguments as they are typed, `url=http://a/ method=GET`, for lines that say which call it was. */
export function briefArgs(args: JsonObject): string {
  return Object.entries(args)
    .map(([name, value]) => `${exactText(name)}=${briefValue(value)}`)
    .join(" ");
}

function briefValue(value: Json): string {
  if (typeof value === "string" && /^[^\s"']+$/.test(value)) return exactText(value);
  return exactText(JSON.stringify(value));
}

/** Exact text that keeps its line breaks; nothing else of it can move the cursor or hide. */
export function exactLines(text: string): string {
  return text.split("\n").map(exactText).join("\n");
}

/**
 * The results that the answer's text cites as `[T3]`, which is the call whose id ends in `.t3`, and in words how many
 * calls there were besides. A citation of no call is left out.
 */
export function evidenceOf({ text, results }: Answer): {
  cited: { label: string; result: CallResult }[];
  others: string | undefined;
} {
  const labels = new Set(text?.match(/\[T\d+\]/g));
  const cited: { label: string; result: CallResult }[] = [];
  const others: CallResult[] = [];
  for (const result of results) {
    const label = `[T${/\.t(\d+)$/.exec(result.call)?.[1]}]`;
    if (labels.has(label)) cited.push({ label, result });
    else others.push(result);
  }
  if (others.length === 0) return { cited, others: undefined };
  const failed = others.filter(({ outcome }) => outcome !== "ok").length;
  const calls = others.length === 1 ? "call" : "calls";
  const how = failed === 0 ? "" : `, ${failed} of them failed or did not run`;
  const { length } = others;
  const count =
    cited.length === 0 ? `${length} ${calls}, none cited` : `and ${length} more ${calls}`;
  return { cited, others: count + how };
}

/** What the answer cost: `2 steps · 1200 tokens · 3.4 s`. */
export function spentWords({ steps, usage, workMs }: NonNullable<Answer["spent"]>): string {
  const count = steps === 1 ? "1 step" : `${steps} steps`;
  return `${count} · ${totalTokens(usage)} tokens · ${formatMs(workMs)}`;
}

/** ` by ana, bob`, or nothing when nobody approved. */
export function byApprovers({ votes }: ActionCard): string {
  const names = votes.filter((vote) => vote.approve).map((vote) => vote.name);
  return names.length === 0 ? "" : ` by ${names.join(", ")}`;
}

/** `2 approvals from anyone in #ops except ana, who asked; approved by bob so far` */
export function neededWords(card: ActionCard): string {
  return `${approvals(card)} from ${card.approvers}${soFar(card)}`;
}

function approvals({ quorum }: ActionCard): string {
  return quorum === 1 ? "1 approval" : `${quorum} approvals`;
}

function soFar(card: ActionCard): string {
  const by = byApprovers(card);
  return by === "" ? "" : `; approved${by} so far`;
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
      return `waiting for ${approvals(card)}${soFar(card)}`;
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
