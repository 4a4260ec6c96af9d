import type { BotMessage, MessagePart } from "../../core/bot-message.ts";
import type { Alert } from "../alert.ts";

/** What words, signs and colors of a message say of an alert's state. */

export type Status = Alert["status"];

/** Reads what a system's own messages say. Undefined: it is no message of that system's, or of no alert's state. */
export type MessageReader = (message: BotMessage) => readonly Alert[] | undefined;

/** Red or orange fires, green is over; grey, blue and what is not colored say nothing. */
export function statusOfColor(color: number | undefined): "firing" | "resolved" | undefined {
  if (color === undefined) return undefined;
  const [red, green, blue] = [(color >> 16) & 255, (color >> 8) & 255, color & 255];
  const strongest = Math.max(red, green, blue);
  if (strongest - Math.min(red, green, blue) < 48) return undefined;
  if (red === strongest) return blue > green + 96 ? undefined : "firing";
  return green === strongest ? "resolved" : undefined;
}

const FIRING_SIGNS =
  /^(?:🔥|🚨|🔴|🟥|🟠|🟡|❌|⛔|🆘|🛑|⚠|‼|❗|💥|:(?:fire|rotating_light|red_circle|large_red_square|large_orange_circle|large_yellow_circle|x|no_entry|sos|octagonal_sign|warning|bangbang|exclamation|boom|alert|siren):)/u;
const OVER_SIGNS =
  /^(?:✅|🟢|🟩|💚|🆗|✔|☑|:(?:white_check_mark|large_green_circle|large_green_square|green_heart|ok|heavy_check_mark|ballot_box_with_check|check):)/u;
const SIGN = /^(?:\p{Extended_Pictographic}\u{FE0F}?|\u{FE0F}|:[a-z0-9_+-]{1,40}:|[\s*_>#|~•-])+/u;

/** What the sign at a text's beginning says. */
export function statusOfSign(text: string): "firing" | "resolved" | undefined {
  const bare = text.trimStart();
  return FIRING_SIGNS.test(bare) ? "firing" : OVER_SIGNS.test(bare) ? "resolved" : undefined;
}

/** Without the signs at its ends; at the end only of what is short enough to be a heading. */
export function withoutSigns(text: string): string {
  const bare = text.replace(SIGN, "");
  const end = /(?:\p{Extended_Pictographic}|\u{FE0F}|:[a-z][a-z0-9_+-]{1,39}:|\s)+$/u;
  return (bare.length > MAX_HEADING ? bare : bare.replace(end, "")).trim();
}

const MAX_HEADING = 600;

const WORDS: readonly (readonly [Status, RegExp])[] = [
  ["acknowledged", /^(?:ack(?:ed|nowledged)?)$/],
  [
    "resolved",
    /^(?:resolved|recovered|recovery|ok|okay|up|closed|cleared|normal|healthy|inactive)$/,
  ],
  [
    "firing",
    /^(?:firing|alerting|triggered|re-?triggered|re-?opened|problem|open|opened|active|alert|alarm|critical|fatal|error|warn|warning|down|no ?data|unhealthy|failing|p[0-5]|sev[0-5])$/,
  ],
];

/** What a single word says of a state, such as that of a field `Status`. */
export function statusOfWord(word: string): Status | undefined {
  const plain = withoutSigns(word).toLowerCase();
  return WORDS.find(([, known]) => known.test(plain))?.[0];
}

const STATE_FIELD = /^(?:(?:alert|current|monitor|new|incident) )?(?:status|state)$/i;

/** What a message's field `Status` says. */
export function statusOfField({ fields }: MessagePart): Status | undefined {
  const said = fields.find(({ name }) => STATE_FIELD.test(name.replace(/:$/, "").trim()));
  return said && statusOfWord(said.value);
}

/** The parts in which people look first: those with a heading that leads somewhere, then the others. */
export function headed(message: BotMessage): readonly MessagePart[] {
  return message.parts.toSorted((a, b) => weight(a) - weight(b));
}

function weight({ url, title }: MessagePart): number {
  return url !== undefined ? 0 : title === "" ? 2 : 1;
}

/** The address that a part is about: its title's, else the first in it. */
export function addressOf({ url, links }: MessagePart): URL | undefined {
  const [first] = links;
  return URL.parse(url ?? first?.url ?? "") ?? undefined;
}

/** All that the message says, a line for each. */
export function linesOf({ title, text }: MessagePart): string[] {
  return [title, ...text.split("\n")].map((line) => line.trim()).filter((line) => line !== "");
}
