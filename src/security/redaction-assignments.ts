import type { Range } from "./redaction-encodings.ts";

/**
 * Finds what is assigned to a name that says it is secret, in any notation: `PASSWORD=x`, `"password": "x"`, YAML, also
 * inside escaped JSON, `?token=x&`, `--password x`, `<password>x</password>`, `name: PASSWORD` with `value: x`.
 */

/** A value assigned to one of these names is a secret, unless it says that it is not. */
const STRONG = [
  String.raw`password|(?<![/(])passwd|passwort|kennwort|contrase(?:ñ|n)a|pass(?:phrase|code)|pwd|(?<![a-z])(?:psk|pw)`,
  String.raw`(?<=_|-|db|user|admin|root|smtp|redis|mysql|pg|store|key)pass`,
].join("|");

/** These are also words of logs and manifests; what is assigned must look random. */
const WEAK = [
  // Not: where a listing goes on, names under which a request is repeated, the ARN of a secret.
  String.raw`(?<!(?:page|next|continu\w{1,8}|idempotency|unexpected|cancellation)[ _-]?)token`,
  String.raw`(?<!\d:)secret|credentials?|(?<=["']|\n[ \t]{1,40}|[{,] ?)pass`,
  `(?:${[
    "api|app|application|access|account|secret|private|encryption|signing|master|auth|session|client|consumer",
    "deploy|license|subscription|storage|service|webhook|hmac|jwt|crypto?|cipher|ssh|unseal|recovery|integration",
  ].join("|")})[ _-]?key`,
].join("|");

const SUFFIX =
  "(?:[ _-]?(?:old|new|current|prod|dev|test|value|base|b64|base64|text|hash|[0-9]{1,2}))?";

/** After a name for a password nearly anything: `_PRIMARY`, `_V2`, `-eu-west`. */
const LONG_SUFFIX = "(?:[_-]{1,2}[a-z0-9]{1,20}){1,4}";
/** But these make it the name of something about the password. */
const ABOUT =
  /[_-](?:file|path|dir|polic|min|max|len|age|expir|chang|last|set|reset|ur[li]|hint|field|input|label|algorithm|attempt|count|id|type|format|enabled|disabled|required|days|at|ts|time|version|name|prompt|history|strength|rule|encoder|manager|store|provider|auth|grant|regex|pattern|placeholder|env|var|ref|arn|check|protect|valid|verif)/i;

const QUOTE = String.raw`\\{0,7}["']?`;
/** What stands between the name and the value. */
const BETWEEN = {
  assign: String.raw`\\{0,7}["'${"`"}]?\]?[ \t]{0,40}(?:=>|:?={1,2}|->|→)[ \t]{0,80}`,
  colon: String.raw`\\{0,7}["'${"`"}]?\]?[ \t]{0,40}:[ \t]{0,80}`,
  pair: String.raw`${QUOTE}\s{0,80}[,{]?\s{0,80}${QUOTE}(?:\w{0,20}value|default)${QUOTE}[ \t]{0,8}[:=][ \t]{0,8}`,
  element: String.raw`(?<=<[\w:.-]{1,80})>`,
  /** In a sentence, in a table, after an element that is named by an attribute. */
  said: String.raw`[ \t]{1,4}(?:(?:for|of|on|in|to) (?:the )?[\w.@/-]{1,60}[ \t]{1,4})?(?:is|was):?[ \t]{1,4}|["']>|[ \t]{0,40}\|[ \t]{0,4}`,
  beside: String.raw`${QUOTE}[ \t]{1,40}(?:<<< ?)?`,
  /** The next argument of a command or a function. */
  next: String.raw`${QUOTE},\s{0,40}`,
};

const NAME = new RegExp(
  String.raw`(?<flag>(?<![\w-])--?(?!no-)[a-z0-9-]{0,40}?)?(?:(?<strong>${STRONG})(?:${SUFFIX}|(?<suffix>${LONG_SUFFIX}))|(?:${WEAK})${SUFFIX})(?:${Object.entries(
    BETWEEN,
  )
    .map(([form, pattern]) => `(?<${form}>${pattern})`)
    .join("|")})`,
  "gi",
);

const OPENING_QUOTE = /[bur]?(\\{0,7})(["'`])/y;
/** Where a value without quotes is over. */
const OVER =
  /\s|[&,;|][\w.%-]{1,64}[=:]|["'`](?:[\s,;:)}\]|>&\\]|$)|\\{1,7}["'nrt]|<\/|[)}\]]["'\\]|$/g;
/** Nothing longer is judged: it is secret. (What is not, is read again for names in it.) */
const LONGEST_WORD = 512;

type Groups = Record<string, string | undefined>;

interface Value {
  start: number;
  end: number;
  isQuoted: boolean;
}

function valueAt(text: string, at: number): Value {
  OPENING_QUOTE.lastIndex = at;
  const [opening, backslashes = "", quote = ""] = OPENING_QUOTE.exec(text) ?? [];
  const start = at + (opening?.length ?? 0);
  if (opening !== undefined) {
    const end = closingQuote(text, start, quote, backslashes.length);
    if (end !== undefined) return { start, end, isQuoted: true };
  }
  OVER.lastIndex = start;
  let end = OVER.exec(text)?.index ?? text.length;
  while (end > start && ",;:)}]".includes(text.charAt(end - 1))) end -= 1;
  return { start, end, isQuoted: false };
}

/** Where the value ends whose opening quote had so many backslashes (0, 1, 3, 7: the depth of JSON in JSON). */
function closingQuote(
  text: string,
  start: number,
  quote: string,
  backslashes: number,
): number | undefined {
  for (let at = text.indexOf(quote, start); at !== -1; at = text.indexOf(quote, at + 1)) {
    let run = 0;
    while (at - run > start && text[at - run - 1] === "\\") run += 1;
    if (run % (2 * backslashes + 2) !== backslashes) continue;
    return text.slice(start, at).includes("\n") ? undefined : at - backslashes;
  }
  return undefined;
}

/** Says "no secret here": masks, references to variables, nested values, and the words of logs and schemas. */
const STAND_IN = [
  String.raw`[*x•.#-]{3,}|%\w|%\(.*|\{\{.*|\$\{.*|\$\(.*|[[{](?:\\*["'].*|\]|\})?|\[[\w :.-]{3,}\]?`,
  String.raw`<[\w-]*(?:>.*)?|\((?:sensitive|redacted|hidden|none|null|not|unset)\b.*|[A-Za-z_.]{3,}\((?:["')].*)?`,
  String.raw`(?:self|this|process|config|settings|os|env|options|opts|args|params|req|request|ctx|cls)\..*`,
  "null|nil|none|true|false|yes|no|n/a|undefined|unknown|empty|unset|set|missing|required|optional|redacted|masked|hidden",
  "is|was|has|must|should|cannot|can|will|not|too|for|from|and|or|to|of|in|on|at|the|a|an|with|when|prompt",
  "flag|option|argument|configuration|directive|command|string|str|text|varchar|char|bytes",
  "incorrect|invalid|wrong|bad|expired|failed|failure|mismatch|changed|updated|reset|rejected|denied|accepted|ok|error",
  "authentication|authenticated|enabled|disabled|files|compat|sss|ldap|systemd",
].join("|");
const IS_STAND_IN = new RegExp(`^(?:${STAND_IN})$`, "i");
const VARIABLE = /^\$[A-Z_][A-Z0-9_]*$/;
const SENTENCE = /\s(?:is|was|has|be|must|should|cannot|not|too|for|from|the|required|invalid)\s/;
const PATH =
  /^(?:file:|~\/|\.{1,2}\/|[A-Za-z]:\\|\/(?:etc|var|run|home|root|usr|opt|mnt|tmp|app|data|secrets?|srv|dev|proc)\b)/;
/** URLs, ARNs; names of Kubernetes objects, hosts and files: lower case words with `-`, `.`, `/` or `:` between; no UUIDs. */
const ADDRESS = /^(?:[a-z][a-z0-9+]*:\/\/|arn:)/;
const WORDS = /^(?![0-9a-f]{8}-[0-9a-f]{4}-)[a-z0-9]+(?:[-./:][a-z0-9]+)+$/;

/** Nobody names an object by a word such as `3f9a0c1be27d4483`. */
function isObjectName(value: string): boolean {
  if (ADDRESS.test(value)) return true;
  return WORDS.test(value) && !value.split(/[-./:]/).some(isRandomWord);
}

function isRandomWord(word: string): boolean {
  if (!/[a-z]/.test(word)) return false;
  const digits = word.replaceAll(/\D/g, "").length;
  return (word.length >= 12 && digits >= 3) || /^(?=.*\d)[0-9a-f]{16,}$/.test(word);
}

/** What a program's source assigns: a longer name, an element, a call. */
const EXPRESSION = /^[A-Za-z_$]+(?:\.[A-Za-z_$]+)+$|^[\w.$]+[[(]/;

/** True unless the value says that it is not one: a mask, a reference, a word such as "expired". */
export function isGiven(value: string): boolean {
  if (value.length < 3 || /^\d{1,3}$/.test(value)) return false;
  return !IS_STAND_IN.test(value) && !VARIABLE.test(value) && !SENTENCE.test(` ${value} `);
}

/** True of what a generator makes: at least eight characters, digits among letters or a long mix of cases; no name, path or URL. */
export function looksRandom(value: string): boolean {
  if (value.length < 8 || PATH.test(value)) return false;
  if (isObjectName(value) || EXPRESSION.test(value)) return false;
  if (/\d/.test(value)) return /[A-Za-z]/.test(value);
  return value.length >= 20 && /[a-z]/.test(value) && /[A-Z]/.test(value);
}

/** True of what people type as a password and do not write in sentences: letters with digits, signs or capitals among them. */
function looksTyped(value: string): boolean {
  if (value.length < 6 || /[\\()[\]<>:,;]/.test(value) || isObjectName(value)) return false;
  return /[A-Za-z]/.test(value) && /[\d!#$%^&*~+=]|@(?![\w-]+\.)|[a-z][A-Z]/.test(value);
}

function isSecret(text: string, value: Value, groups: Groups): boolean {
  const given = text.slice(value.start, value.end);
  const isStrong = groups["strong"] !== undefined;
  const isApart = groups["beside"] !== undefined || groups["next"] !== undefined;
  if (isApart && given.startsWith("-")) return false;
  if (given.length > LONGEST_WORD) return true;
  if (!isGiven(given) || PATH.test(given)) return false;
  const { suffix } = groups;
  if (suffix !== undefined && (ABOUT.test(suffix) || !(looksTyped(given) || looksRandom(given)))) {
    return false;
  }
  if (isApart && groups["flag"] === undefined) {
    const isArgument = value.isQuoted && !given.includes("*");
    if (groups["next"] !== undefined && !isArgument) return false;
    return looksTyped(given) && (isStrong || (given.length >= 20 && looksRandom(given)));
  }
  if (!isStrong) return looksRandom(given);
  if (groups["said"] !== undefined) return looksTyped(given);
  const isInSentence =
    groups["colon"] !== undefined && !value.isQuoted && /^[A-Za-z]+$/.test(given);
  return !isInSentence || !/^[ \t]+[A-Za-z]/.test(text.slice(value.end, value.end + 80));
}

/** Where secrets are assigned in the text. */
export function findAssignments(text: string): Range[] {
  const ranges: Range[] = [];
  NAME.lastIndex = 0;
  for (let match = NAME.exec(text); match !== null; match = NAME.exec(text)) {
    const groups = match.groups ?? {};
    const value = valueAt(text, NAME.lastIndex);
    if (!isSecret(text, value, groups)) continue;
    ranges.push([value.start, value.end]);
    NAME.lastIndex = value.end;
  }
  return ranges;
}
