import { type Here, readMoment } from "./instant.ts";

const UNIT_MS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

const PART = /(\d+(?:\.\d+)?) ?(s|m|h|d|w)(?:ec|in|our|ay|eek|econd|inute)?s?\.?(?![a-z])/giu;

/** A length of time in ms, such as `90s`, `1h30m`, `2 days`; undefined for anything else. */
export function tryDuration(text: string): number | undefined {
  const written = text.trim().toLowerCase();
  const parts = [...written.matchAll(PART)];
  if (parts.length === 0 || written.replaceAll(PART, "").trim() !== "") return undefined;
  return parts.reduce((sum, [, count, unit = ""]) => sum + Number(count) * (UNIT_MS[unit] ?? 0), 0);
}

/**
 * A time of the past as people write it: how long ago (`1h`, `30 min ago`), or as `readMoment` takes it. In ms since 1970.
 * @throws BotError INPUT_INVALID as `readMoment`
 */
export async function readPast(text: string, here: Here): Promise<number> {
  const ago = tryDuration(text.replace(/\bago\s*$/i, ""));
  return ago === undefined ? readMoment(text, here) : here.now - ago;
}
