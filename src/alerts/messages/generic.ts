import { createHash } from "node:crypto";
import type { BotMessage, MessagePart } from "../../core/bot-message.ts";
import { type Alert, alertOf } from "../alert.ts";
import { labelsIn, placeIn } from "./labels.ts";
import {
  addressOf,
  type Status,
  statusOfColor,
  statusOfField,
  statusOfSign,
  statusOfWord,
  withoutSigns,
} from "./words.ts";

/**
 * Messages of any other system: `🔴 [DOWN] shop`, `Problem: disk full on web-1` in red, `✅ api is back up`. Two things at least have
 * to say the same of the alert's state, a word in its heading among them; else it is no alert. What is built, deployed or
 * discussed is none either, however it went.
 */

const BRACKETED = /\[\s*([a-z][a-z -]{1,14}?)\s*(?::\s*\d{1,6})?\s*\]/gi;
const LEADING = /^([a-z][a-z -]{1,14}?)\s*(?::|\s[-–—|])\s*\S/i;
const PHRASES: readonly (readonly [Status, RegExp])[] = [
  ["acknowledged", /\b(?:is|was|has been) acknowledged\b/i],
  [
    "resolved",
    /\b(?:is|has) (?:now )?(?:recovered|resolved|back up|back online|back to normal|healthy again)\b|\b(?:is|went|came) (?:back )?(?:up|online)\b(?! to)|\bback to normal\b|\brecovered\b/i,
  ],
  [
    "firing",
    /\b(?:is|went|has gone|gone) (?:now )?(?:down|offline|unreachable|unavailable|unhealthy|critical|failing|not responding)\b|\bis (?:currently )?firing\b|\b(?:in|entered) alarm\b|\balarm state\b|\bhas (?:been )?triggered\b/i,
  ],
];
/** What is reported to people, not to those on call. */
const OTHERS =
  /\b(?:deploy(?:s|ed|ing|ments?)?|releas(?:e|es|ed|ing)|builds?|pipelines?|workflows?|pull requests?|merge requests?|merged|commits?|pushed|branch|tests? (?:passed|failed)|tickets?|stand-?up|reminder|meeting|survey|invoice|comment(?:ed|s)?|review(?:ed|s)?|backup (?:done|completed|succeeded))\b/i;

/** `by`: who posted it, so that what two bots head alike is not the same. */
export function readGeneric(message: BotMessage, by: string): readonly Alert[] | undefined {
  for (const part of message.parts) {
    const status = statusOf(part, message);
    if (status === undefined) continue;
    const labels = labelsIn(message);
    const name = nameOf(part.title);
    return [
      alertOf({
        fingerprint: hashOf([by, sameOf(part.title), placeIn(labels)]),
        status,
        name,
        labels,
        summary: part.text.split("\n").find((line) => line.trim() !== ""),
        description: part.text,
        links: { Alert: addressOf(part)?.href },
      }),
    ];
  }
  return undefined;
}

function statusOf(part: MessagePart, message: BotMessage): Status | undefined {
  const { title } = part;
  if (title.length > 600) return undefined;
  const marked = markedIn(title);
  if (marked === undefined && OTHERS.test(title)) return undefined;
  const word = marked ?? leadingIn(title) ?? phraseIn(title) ?? statusOfField(part);
  if (word === undefined) return undefined;
  const is = word === "acknowledged" ? "resolved" : word;
  const labels = labelsIn(message);
  const others = [
    statusOfSign(title) ?? statusOfSign(message.parts[0]?.title ?? ""),
    statusOfColor(part.color),
    statusOfField(part),
    // Labels say that it is of a system, whatever state that is in.
    placeIn(labels) !== "" || labels["severity"] !== undefined ? word : undefined,
    marked !== undefined && /\[[^\]]+:\s*\d+\s*\]/.test(title) ? word : undefined,
  ];
  const isFieldOnly = marked === undefined && word === statusOfField(part);
  const agreeing = others.filter((each) => each === word || each === is).length;
  const contrary = others.filter((each) => each !== undefined && each !== word && each !== is);
  return contrary.length === 0 && agreeing >= (isFieldOnly ? 2 : 1) ? word : undefined;
}

function markedIn(title: string): Status | undefined {
  for (const [, word = ""] of title.slice(0, 80).matchAll(BRACKETED)) {
    const status = statusOfWord(word);
    if (status !== undefined && !/^(?:p|sev)\d$/i.test(word)) return status;
  }
  return undefined;
}

function leadingIn(title: string): Status | undefined {
  const word = LEADING.exec(withoutSigns(title))?.[1] ?? "";
  return /^(?:p|sev)\d$/i.test(word) ? undefined : statusOfWord(word);
}

function phraseIn(title: string): Status | undefined {
  return PHRASES.find(([, words]) => words.test(title))?.[0];
}

/** Without its marks. */
function nameOf(title: string): string {
  const bare = withoutSigns(
    title.replaceAll(BRACKETED, (whole, word: string) =>
      statusOfWord(word) === undefined ? whole : " ",
    ),
  );
  const word = LEADING.exec(bare)?.[1];
  const isState = word !== undefined && statusOfWord(word) !== undefined;
  const rest = isState ? bare.slice(word.length).replace(/^[\s:|–—-]+/, "") : bare;
  return rest.replaceAll(/\s+/g, " ").trim() || withoutSigns(title) || "an alert without a name";
}

/** What firing and recovery are headed with alike: no state, no figures, no filler. */
function sameOf(title: string): string {
  const filler =
    /^(?:is|was|has|have|been|now|again|back|went|gone|came|to|your|the|a|an|in|at|on|for|after|since|currently|up|down|online|offline|normal|state|alarm|firing|resolved|recovered|recovery|triggered|acknowledged|unreachable|unavailable|unhealthy|healthy|critical|failing|not|responding|ok|problem|alert|alerting|warning|closed|and|monitor|entered)$/;
  return nameOf(title)
    .toLowerCase()
    .split(/[^\p{L}\p{N}_./:@-]+/u)
    .map((word) => word.replaceAll(/^[:.-]+|[:.-]+$/g, ""))
    .filter(
      (word) =>
        word !== "" && !filler.test(word) && !/^[\d.:%/-]+(?:ms|s|m|h|d|min|gb|mb|kb)?$/.test(word),
    )
    .join(" ");
}

function hashOf(parts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 20);
}
