import { addressesIn } from "../core/links.ts";
import { plainText } from "./phrases.ts";
import { probedIn, withPorts } from "./ports.ts";
import { hostIn, type Subject, type SubjectName, subjectOf, withDomain } from "./subject.ts";

/** What the words of a question name. */

/** Words after a name that are no value of it: "the service is down", "pods keep restarting". */
const NO_VALUE = new Set(
  "a after again all an and any anybody anyone anything are as at be because been before but by can cannot connection could crash crashes dead did do does down error everything fail failed fails for from full gets goes gone had hang hangs has have he here high how i if in is it its just keep keeps last logs looks low me missing more most my new no not now of on one open or our out pending ready refuses restart restarts said say says seems she should since slow so somebody someone something status still stuck that than the their them then there these they this those to too top unavailable unreachable up uses used user users want was we were what when where which who why will with without work would you your".split(
    " ",
  ),
);

/** When something was: "errors of the past week" names no service. */
const TIMES = new Set(
  "today yesterday tonight tomorrow now recently lately past previous last this current morning noon afternoon evening night midnight second seconds minute minutes hour hours day days week weeks weekend month months year monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september october november december".split(
    " ",
  ),
);

/** What systems have of a kind: no name of one. */
const GENERIC = new Set(
  "alert alerts all few http internal latest lots many recent several some api app application backup box build certificate cluster container cpu daemon database deploy deployment disk dns firewall frontend backend host internet job latency load log machine memory namespace network node page pipeline pod port postgres process prod production program queue replica server service site staging swap system vpn website".split(
    " ",
  ),
);

/** What looks like a domain's name and is none. */
const FILE =
  /\.(?:conf|csv|gz|html|ini|java|jpe?g|js|json|log|md|pid|png|py|service|sh|sock|sql|ts|txt|ya?ml|zip)$/i;

/** "at p99", "on k8s" */
const NO_HOST = /^(?:[a-z]\d+|k8s|ipv[46]|x509)$/i;

/** "error:1234" names no host. */
const NO_PLACE = /^(?:code|error|id|image|line|pid|port|status|tag|version)$/i;

interface Place {
  host?: string | undefined;
  port?: string | undefined;
  /** The host is named as people name a site. */
  isDomain?: boolean;
}

/**
 * `10.0.0.5:5432`, `db:5432`, `on web-1`, `db.internal`: with a digit, a dot or a port of four digits, so that "on staging" and
 * "web:200" name no machine.
 */
function placeIn(text: string): Place {
  const probed = probedIn(text);
  if (probed !== undefined) return probed;
  const [, at = "", port] =
    /(?<![\w.:/-])((?=[a-z])[\w-]+(?=:\d{4})|(?=[\w-]*[.\d-])[\w-]+(?:\.[\w-]+)*):(\d{3,5})(?![\w.])/i.exec(
      text,
    ) ?? [];
  if (/[a-z]|\d\.\d/i.test(at) && !NO_PLACE.test(at)) return { host: hostIn(at) ?? at, port };
  const [, machine] =
    /\b(?:on|at|of|from|to)\s+([a-z][a-z-]*\d[\w-]*(?:\.[\w-]+)*)(?![\w/:])/i.exec(text) ?? [];
  const domain = text
    .match(/(?<![\w@/.-])(?:[a-z][\w-]*\.)+[a-z]{2,}(?![\w/(-])/gi)
    ?.find((each) => !FILE.test(each));
  if (domain !== undefined) return { host: domain, isDomain: true };
  const [address] = /(?<![\w.:/-])\d{1,3}(?:\.\d{1,3}){3}(?![\w.]*\d)/.exec(text) ?? [];
  return { host: address ?? (NO_HOST.test(machine ?? "") ? undefined : machine) };
}

const STATE =
  "(?:down|up|running|stopped|started|crashed|crashing|failed|failing|ok|broken|reach|answer|work|slow|restarting|deploy)";
const DOES =
  "(?:stop|stopped|crash|crashed|die|fail|failed|restart|start|run|running|answer|work|log|down)";
const NAME = String.raw`([a-z][\w@-]*(?:\.[\w-]+)*)`;
/** Looked for only where a word begins: after each dot or dash of a long one, it would be read to its end again. */
const START = String.raw`(?<![\w@.-])`;
const STILL = "(?:(?:service|daemon|unit|still|again|not|now|really)\\s+)*";

/** How people name a service in what they ask of it, in words of `plainText`. */
const OF_SERVICE: readonly RegExp[] = [
  String.raw`\bis\s+(?:the\s+)?${NAME}\s+${STILL}${STATE}\b`,
  String.raw`${START}${NAME}\s+is\s+${STILL}${STATE}\b`,
  String.raw`${START}${NAME}\s+(?:isnt|wont|doesnt|does\s+not|will\s+not|can\s+not)\s+${STILL}(?:${STATE}|${DOES})\b`,
  String.raw`\b(?:does|has|why)\s+(?:the\s+)?${NAME}\s+${STILL}${DOES}\b`,
  String.raw`\b(?:running|crashed|deploy|not\s+work)\s+${NAME}\b`,
  String.raw`^\W*${NAME}\s+(?:status|state|${STATE})\W*$`,
  String.raw`\b(?:status|state|logs?|errors?)\s+(?:of|from|for)\s+(?:the\s+)?${NAME}`,
  String.raw`${START}${NAME}\s+(?:log|error)\b`,
  String.raw`\b(?:a|any|the)\s+${NAME}\s+process\b`,
  String.raw`^\W*(?:sudo\s+)?systemctl\s+(?:status|is-active|show)\s+${NAME}`,
  String.raw`\bjournalctl\s+(?:-\S+\s+){0,3}?(?:-\w*u|--unit)[\s=]*${NAME}`,
].map((each) => new RegExp(each, "gi"));

/** Names of the kind that stand before it: "the shop namespace". */
const BEFORE: readonly SubjectName[] = ["namespace", "deployment", "service", "queue", "database"];

/** How else people write it. */
const ALIAS: Readonly<Partial<Record<SubjectName, string>>> = { namespace: "(?:namespace|ns)" };

function isValue(word: string): boolean {
  return !NO_VALUE.has(word.toLowerCase()) && !TIMES.has(word.toLowerCase());
}

function isName(word: string | undefined): word is string {
  return word !== undefined && isValue(word) && !GENERIC.has(word.toLowerCase());
}

function serviceIn(text: string): string | undefined {
  return OF_SERVICE.flatMap((form) => [...text.matchAll(form)].map(([, word]) => word))
    .map((word) => word?.replace(/\.service$/, ""))
    .find((word) => isName(word) && !word.includes("."));
}

/** "in the last 2 hours", "since 14:00", "today" */
function sinceIn(text: string): string | undefined {
  const [, count = "1", unit] =
    /\b(?:last|past|within|previous)\s+(?:the\s+)?(?:(\d{1,3})\s*)?(m|h|d|w)(?:in|inutes?|ours?|ays?|eeks?|r)?s?\b/i.exec(
      text,
    ) ?? [];
  if (unit !== undefined) return `${count}${unit.toLowerCase()}`;
  const [, long, of] =
    /\b(?:since|for)\s+(?:the\s+)?(\d{1,3})\s?(m|h|d|w)(?:in|inutes?|ours?|ays?|eeks?|r)?s?\b/i.exec(
      text,
    ) ?? [];
  if (of !== undefined) return `${long}${of.toLowerCase()}`;
  const [, time] = /\bsince\s+(\d{1,2}:\d\d)\b/i.exec(text) ?? [];
  if (time !== undefined) return time;
  if (/\bthis morning\b/i.test(text)) return "06:00";
  if (/\b(?:last night|tonight)\b/i.test(text)) return "18:00";
  if (/\btoday\b/i.test(text)) return "00:00";
  return /\byesterday\b/i.test(text) ? "48h" : undefined;
}

/** `/var/log/nginx/error.log` */
function pathIn(text: string): string | undefined {
  const [path] = /(?<![^\s"'`(])\/(?:[\w.@+-]+\/)+[\w.@+-]+/.exec(text) ?? [];
  return path?.replace(/\.+$/, "");
}

/** The value that stands behind the name, or before it. */
function namedIn(text: string, name: SubjectName): string | undefined {
  const called = ALIAS[name] ?? name;
  const after = new RegExp(
    String.raw`(?<![\w.-])${called}(?:s|\b)[\s=:/]+["'` + "`" + String.raw`]?([a-z0-9][\w./-]*)`,
    "i",
  );
  const value = after.exec(text)?.[1]?.replace(/[./-]+$/, "");
  const fits = value !== undefined && isValue(value) && (name !== "port" || /^\d+$/.test(value));
  if (fits) return value;
  if (name === "namespace") {
    const flag = /(?:^|\s)-n[\s=]+([a-z0-9][a-z0-9-]*)/.exec(text)?.[1];
    if (flag !== undefined) return flag;
  }
  if (!BEFORE.includes(name)) return undefined;
  const before = new RegExp(String.raw`\b(?:the|in|is|of)\s+([a-z][\w-]*)\s+${called}\b`, "i");
  const word = before.exec(text)?.[1];
  return isName(word) ? word : undefined;
}

/** `namespace shop`, `service=checkout`, addresses. */
export function subjectOfText(text: string): Subject {
  const [{ address } = {}] = addressesIn(text);
  const isPage = address !== undefined && /^https?:/i.test(address);
  // Of another address only its place is of use: `redis://cache:6379`.
  const behind = address === undefined || isPage ? " " : ` ${placeOf(address)} `;
  const rest = withPorts(address === undefined ? text : text.replace(address, behind));
  const place = placeIn(rest);
  const plain = plainText(rest);
  const url = isPage ? address : undefined;
  return withDomain(
    subjectOf((name) => {
      if (name === "url") return url;
      if (name === "site") return url ?? (place.isDomain ? `https://${place.host}` : undefined);
      if (name === "time") return /\bsince\s+(\d{1,2}:\d\d)\b/i.exec(rest)?.[1];
      if (name === "since") return sinceIn(plain);
      const value = name === "path" ? pathIn(rest) : (namedIn(rest, name) ?? namedIn(plain, name));
      if (value !== undefined) return value;
      if (name === "service") return serviceIn(plain);
      return name === "host" || name === "port" ? place[name] : undefined;
    }),
  );
}

function placeOf(address: string): string {
  return URL.canParse(address) ? new URL(address).host : "";
}
