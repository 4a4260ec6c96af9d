import { isPeriod } from "../incidents/period.ts";
import { unquote } from "./shell-words.ts";

/** What is asked in so few words; more of them are a story for a model. */
const MAX_LENGTH = 120;

const INCIDENTS = "(?:incidents?|outages?|inc)";
const OPEN = "(?:open|ongoing|active|current|running|unresolved)";
const SHOW = "(?:show|list|give|get|see|display|print)(?: me)?";
const ASK = `(?:${SHOW}|(?:are|is) there|(?:do|did) we have|have we(?: got)?|got|what|which|whats|what is|any)`;
const NOW = "(?: (?:right now|now|rn|atm|at the moment|currently|at present|still|here))*";
const ABOUT = "(?:for|about|on|with|of|in|like|regarding|concerning)";
const SEV = "(?:sev-?([1-4]) )?";

/** "any open incidents?", "which sev1 incidents are still open for checkout" */
const OPEN_ONES: readonly RegExp[] = [
  `(?:${ASK} )*(?:the |all |our |any )*${SEV}${OPEN} ${SEV}${INCIDENTS}${NOW}(?: ${ABOUT} (\\S.*))?`,
  `(?:${ASK} )*(?:the |all |our |any )*${SEV}(?:incidents|outages) (?:(?:that )?(?:are|is) )?(?:still |currently )*${SEV}${OPEN}${NOW}(?: ${ABOUT} (\\S.*))?`,
  `(?:(?:are|is) there )?(?:any )${SEV}()${INCIDENTS}${NOW}`,
  `incident ()()status`,
  `(?:alle )?offene()() (?:incidents|vorfälle|störungen)`,
  `(?:hay )?incidentes()() abiertos`,
].map(whole);

/** "incident list", "recent incidents" */
const NEWEST = whole(
  `incidents? (?:list|log|history|ls)|(?:${SHOW} )(?:all |the |our |any |recent |last |latest )*${INCIDENTS}|(?:all|recent|last|latest|past|previous) incidents`,
);

const WORDS = "(\\S+(?: \\S+){0,2}?)";

/** "search incidents for disk", "did we have a disk incident before?" */
const FOUND: readonly RegExp[] = [
  `(?:search|find|look up|lookup|grep)(?: (?:for|in|through|the|all|our|past|old))* ${INCIDENTS}(?: ${ABOUT})* (\\S.*)`,
  `incidents? (?:search|find)(?: ${ABOUT})? (\\S.*)`,
  `(?:${ASK} )+(?:past |old |earlier |previous |similar )*${INCIDENTS} (?:${ABOUT}) (\\S.*)`,
  `(?:have|did) we (?:ever |already )*(?:had|have|seen|see) (?:this |that |an? |any |such )*${WORDS} ${INCIDENTS}(?: (?:before|already|lately|recently|in the past))*`,
].map(whole);

function whole(pattern: string): RegExp {
  return new RegExp(`^(?:${pattern})$`, "i");
}

/**
 * The arguments of `incident_search`, where somebody asks for recorded incidents in plain words and for nothing else: "any open incidents?",
 * "incident list", "search incidents for disk".
 */
export function readIncidentWords(text: string): Record<string, string> | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const said = text
    .trim()
    .replace(/^\/(?=incident)/i, "")
    .replace(/\s*[.!?]+$/, "")
    .replace(/^(?:please|pls|hey|hi)[, ]+/i, "")
    .replace(/,?\s+(?:please|pls)$/i, "")
    .replaceAll(/\s+/g, " ");
  for (const form of OPEN_ONES) {
    const [found, ...sevs] = form.exec(said) ?? [];
    if (found === undefined) continue;
    const [severity] = sevs.slice(0, 2).filter(Boolean);
    return {
      status: "open",
      ...(severity !== undefined && { severity: `sev${severity}` }),
      ...about(sevs[2]),
    };
  }
  if (NEWEST.test(said)) return {};
  for (const form of FOUND) {
    const [, words] = form.exec(said) ?? [];
    if (words !== undefined) return about(words);
  }
  return undefined;
}

/** A time, or words of the record. */
function about(words: string | undefined): Record<string, string> {
  const bare = words?.replace(/^the (?=last|past|previous)/i, "");
  if (bare === undefined) return {};
  return isPeriod(bare) ? { period: bare } : { text: unquote(bare) };
}
