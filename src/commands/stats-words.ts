import { isPeriod } from "../incidents/period.ts";

/** With the longest form of a period. */
const MAX_LENGTH = 120;

const STATS =
  /^(?:\/?incidents? (?:stats?|statistics|numbers|count)|(?:show )?(?:me )?(?:the )?(?:incident )?stats|how many incidents(?: were there| did we have| have we had| happened)?|(?:what (?:is|was) (?:our |the )?)?mtt[dar])(?: (?:(?:for|of|in|over|during|on|from) )?(?:the )?(\S.*))?$/i;

/**
 * The arguments of `incident_stats`, where somebody asks for the numbers of a period in plain words and for nothing else: "incident stats",
 * "incident stats last week", "how many incidents in november?", "MTTR last 30 days".
 */
export function readStats(text: string): { period?: string } | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const said = text
    .trim()
    .replace(/\s*[.!?]+$/, "")
    .replace(/,?\s+please$/i, "")
    .replaceAll(/\s+/g, " ");
  const [found, period] = STATS.exec(said) ?? [];
  if (found === undefined) return undefined;
  if (period === undefined) return {};
  return isPeriod(period) ? { period } : undefined;
}
