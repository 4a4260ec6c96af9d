import { MARKED } from "./redaction-marks.ts";
import { findAssignments, isGiven, looksRandom } from "./redaction-assignments.ts";
import { literal, type Range } from "./redaction-encodings.ts";
import { findKubernetesSecrets, findPrivateKeys } from "./redaction-finders.ts";

/** One form of secret. `find` takes linear time and never throws. */
export interface SecretRule {
  /** Stands in the text instead of what was found: `[secret:<name>]`. */
  readonly name: string;
  /** In lower case. A text that has none of them is not searched; one of a single character is not looked for. */
  readonly clues: readonly string[];
  readonly find: (text: string) => Range[];
}

/**
 * A name, the rule's clues with spaces between, and the pattern, in which no two neighbouring repetitions can match the same
 * character, so that it stays linear. What its group `keep` matches stays in the text; `accept` says what else a match has to
 * look like.
 */
type Pattern = readonly [
  name: string,
  clues: string,
  pattern: RegExp,
  accept?: (found: string) => boolean,
];

/** The forms of secrets that we do not hold, below who says that they have this form, and when it was read there. */
const PATTERNS: readonly Pattern[] = [
  // PEM (RFC 7468) in base64 once more, as in kubeconfigs, Kubernetes Secrets and CI variables, 2026-11-21.
  [
    "private-key-base64",
    "ls0tls1crudj",
    /LS0tLS1CRUdJTi(?:BSU0Eg|BFQyBQ|BQUklW|BPUEVO|BFTkNS|BEU0Eg|BQR1Ag)[\w+/=]+/g,
  ],
  // PuTTY's key files (PPK), 2026-11-21.
  ["putty-key", "private-lines", /(?<keep>Private-Lines: \d+\s)(?:[A-Za-z0-9+/=]+\s?)+/g],
  // age's key files, 2026-11-21.
  ["age-key", "age-secret-key-1", /AGE-SECRET-KEY-1[A-Z0-9]{50,}/gi],
  // HTTP: Authorization (RFC 9110), Bearer (RFC 6750), Basic (RFC 7617), AWS Signature Version 4, 2026-11-21.
  [
    "authorization",
    "authorization",
    /(?<keep>authorization\\{0,7}["']?\s{0,3}[:=]\s{0,3}\\{0,7}["']?(?:bearer|basic|token|apikey|bot|negotiate|splunk|genie_?key|key)\s{1,3})[^\s"'\\,;<>]{6,}/gi,
    isGiven,
  ],
  [
    "authorization",
    "authorization",
    /(?<keep>authorization\\{0,7}["']?\s{0,3}[:=]\s{0,3}\\{0,7}["']?)[^\s"'\\,;<>]{8,}/gi,
    isRandomOrLogin,
  ],
  [
    "authorization",
    "signature",
    /(?<keep>(?:AWS4-HMAC-SHA256|Signature|Digest)\s[^\n]{0,400}?(?:signature|response)=\\{0,7}"?)[\w+/=]{20,}/gi,
  ],
  [
    "bearer-token",
    "bearer token key bot splunk",
    /(?<keep>\bbearer(?:\s{1,3}|%20|\+|:\s{0,3})|["'](?:token|api-?key|genie_?key|bot|splunk)\s{1,3})[\w.~+/-]{12,}=*/gi,
    looksRandom,
  ],
  ["basic-credentials", "basic", /(?<keep>\bbasic\s{1,3})[A-Za-z0-9+/]{6,}={0,2}/gi, isLogin],
  // HTTP: cookies (RFC 6265), 2026-11-21.
  [
    "cookie",
    "cookie",
    /(?<keep>set-cookie\\{0,7}["']?\s{0,3}[:=]\s{0,3}\\{0,7}["']?[\w.$-]{1,128}=)[^;\s"'\\]{3,}/gi,
  ],
  [
    "cookie",
    "cookie",
    /(?<keep>(?<!set-)cookie\\{0,7}["']?[ \t]{0,3}[:=\s][ \t]{0,3}\\{0,7}["']?)[\w.$-]{1,128}=[^\n"'\\]{3,}/gi,
  ],
  // Session cookies of Java, PHP, ASP.NET, Express, Laravel and Django, 2026-11-21.
  [
    "session-id",
    "sess connect.sid",
    /(?<keep>(?:[jt]sessionid|phpsessid|aspsessionid\w{0,20}|asp\.net_sessionid|connect\.sid|laravel_session|sessionid)\\{0,7}["']?[=:]\s?\\{0,7}["']?)[\w.%:-]{12,}/gi,
  ],
  // URLs: user information (RFC 3986, 3.2.1), 2026-11-21.
  [
    "url-password",
    "://",
    /(?<keep>:\/\/[^\s:/@?#"'<>]{0,256}:)(?!\d{1,5}[/?#])(?:[^\s"'<>`/?#]{1,256}|[^\s"'<>`]{1,256})(?=@(?!sha256:)[\w[%.-])/g,
    isGiven,
  ],
  ["url-token", "://", /(?<keep>:\/\/)[\w.~%-]{20,256}(?=:?@[\w[.-])/g, looksRandom],
  // Signed URLs of AWS, Google Cloud, Azure and Alibaba Cloud, 2026-11-21.
  [
    "url-signature",
    "sig",
    /(?<keep>[?&;](?:sig|signature|x-(?:amz|goog|ms|oss)-signature)=)[\w%+/=~-]{16,}/gi,
  ],
  // Addresses and files with passwords of go-sql-driver, netrc, PostgreSQL, Redis, Docker, npm and kubectl, 2026-11-21.
  [
    "go-dsn",
    "@tcp( @unix(",
    /(?<keep>(?<![\w/:@])[\w.-]{1,64}:)[^\s:@"'()]{1,128}(?=@(?:tcp|unix)\()/g,
  ],
  ["netrc", "login", /(?<keep>\blogin\s{1,8}[^\s"']{1,128}\s{1,8}password\s{1,8})\S{3,}/g],
  [
    "pgpass",
    ":",
    /(?<keep>^[\w.*-]{1,255}:(?:5432|5433|6432|\*):(?:[A-Za-z_*][^:\s]{0,63}:){2})\S{3,}/gm,
  ],
  [
    "redis-config",
    "requirepass masterauth",
    /(?<keep>(?:requirepass|masterauth)\\{0,7}["']?\s{1,8}\\{0,7}["']?)[^\s"'\\(]{3,}/g,
    isGiven,
  ],
  [
    "docker-auth",
    "auth",
    /(?<keep>"?_?auth\\{0,7}"?\s{0,3}[:=]\s{0,3}\\{0,7}"?)[A-Za-z0-9+/]{6,}={0,2}/g,
    isLogin,
  ],
  [
    "client-key",
    "client-key-data",
    /(?<keep>client-key-data\\{0,7}["']?:\s{0,3}\\{0,7}["']?)[A-Za-z0-9+/]{16,}={0,2}/g,
  ],
  // The manuals of sshpass, MySQL, curl, redis-cli, docker, passwd, SQL and OpenSSL, 2026-11-21.
  ["command-line", "sshpass", /(?<keep>\bsshpass\s{1,4}-p\s{0,4}["']?)[^\s"']+/g],
  [
    "command-line",
    "mysql mariadb",
    /(?<keep>\b(?:mysql|mariadb)(?:-?(?:dump|admin|check|import|show|slap))?(?=\s)[^\n|;&]{0,200}?\s-p["']?)[^\s"'-][^\s"']+/g,
  ],
  [
    "command-line",
    "curl wget",
    /(?<keep>\bcurl(?=\s)[^\n|;]{0,300}?\s(?:-u|--user|-U|--proxy-user)[ =]{0,2}["']?[^\s:"']{1,128}:)[^\s"']+/g,
    isGiven,
  ],
  [
    "command-line",
    "redis-cli",
    /(?<keep>\bredis-cli(?=\s)[^\n|;]{0,200}?\s-a\s{1,4}["']?)[^\s"']+/g,
    isGiven,
  ],
  ["command-line", "login", /(?<keep>\blogin(?=\s)[^\n|;]{0,200}?\s-p[ =]?["']?)[^\s"'-][^\s"']+/g],
  [
    "command-line",
    "echo",
    /(?<keep>\becho\s{1,4}(?:-\w\s)?["']?)[^\s"'|$]{3,}(?=["']?\s{0,4}\|[^\n]{0,120}(?:password-stdin|passwd|sudo -S))/g,
  ],
  [
    "command-line",
    "identified",
    /(?<keep>\bidentified\s{1,4}(?:with\s\w{1,40}\s)?(?:by|as)\s{1,4}(?:password\s)?["'])[^"'\n]{3,}/gi,
  ],
  ["command-line", "-pass", /(?<keep>-pass(?:in|out)?[ =]["']?pass:)[^\s"']+/g],
  // Password hashes: crypt(5), LDAP (RFC 2307), SCRAM (RFC 5803), Django, 2026-11-21.
  [
    "password-hash",
    "$",
    /\$(?:2[abxy]|apr1|[1567y]|gy|argon2(?:id|[id])|pbkdf2[\w-]{0,16}|scrypt)\$[\w./+=,$-]{16,}/g,
  ],
  [
    "password-hash",
    "sha md5",
    /\{S?(?:SHA|MD5)(?:\d{3})?\}[A-Za-z0-9+/]{20,}={0,2}|SCRAM-SHA-(?:1|256)\$\d{1,8}:[\w+/=$:]{16,}|pbkdf2_sha\d{1,3}\$\d{1,8}\$[\w+/=$]{16,}/g,
  ],
  // What `vault operator init` prints, 2026-11-21.
  [
    "unseal-key",
    "unseal recovery",
    /(?<keep>(?:Unseal|Recovery) Key \d{1,2}: )[A-Za-z0-9+/]{32,}={0,2}/g,
  ],
  // JSON Web Tokens (RFC 7519), 2026-11-21.
  ["jwt", "eyj", /(?<=^|[^\w-]|%[0-9A-Fa-f]{2}|\\[nrt])eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*){0,3}/g],
  // What the issuers say of their tokens, 2026-11-21.
  [
    "aws-access-key-id",
    "akia asia abia acca",
    /(?<![A-Z0-9])(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Z0-9])/g,
  ],
  [
    "aws-secret-key",
    "akia asia",
    /(?<keep>(?:AKIA|ASIA)[A-Z0-9]{16}[^A-Za-z0-9/+]{1,8}(?:[\w-]{0,32}["']?\s{0,4}[:=]\s{0,4}["']?)?)[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+])/g,
  ],
  [
    "aws-secret-key",
    "secret",
    /(?<keep>secret[ _-]?access[ _-]?key\\{0,7}["']?\s{0,8}[:=]?>?\s{0,8}\\{0,7}["']?)[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+])/gi,
  ],
  ["github-token", "ghp_ gho_ ghu_ ghs_ ghr_", /gh[pousr]_[\w.-]{30,}/g],
  ["github-token", "github_pat_", /github_pat_\w{22,}/g],
  [
    "gitlab-token",
    "gl",
    /(?<![a-z])gl(?:pat|oas|dt|rt|rtr|cbt|ptt|ft|imt|agent|wt|soat|ffct)-[\w.-]{18,}/g,
  ],
  ["gitlab-token", "gr1348941", /GR1348941[\w-]{18,}/g],
  ["slack-token", "xox xapp-", /(?:xox[abcdeoprs]|xoxe\.xox[bp]|xapp)-[\w-]{10,}/g],
  [
    "slack-webhook",
    "hooks.slack.com",
    /(?<keep>hooks\.slack\.com\\?\/(?:services|workflows|triggers)\\?\/)[\w/+\\-]{16,}/g,
  ],
  [
    "discord-token",
    ".",
    /(?<![\w-])[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,40}(?![\w-])/g,
    looksRandom,
  ],
  ["discord-token", "mfa.", /\bmfa\.[\w-]{60,}/g],
  [
    "discord-webhook",
    "webhooks",
    /(?<keep>discord(?:app)?\.com\\?\/api\\?\/(?:v\d{1,2}\\?\/)?webhooks\\?\/\d{15,22}\\?\/)[\w-]{40,}/g,
  ],
  ["anthropic-key", "sk-ant-", /sk-ant-[\w-]{16,}/g],
  ["openai-key", "sk-", /(?<![A-Za-z0-9])sk-[\w-]{20,}/g, hasDigitAndCapital],
  ["google-api-key", "aiza", /AIza[\w-]{35}/g],
  ["google-oauth", "ya29. 1//0 gocspx-", /ya29\.[\w.-]{20,}|1\/\/0[\w-]{30,}|GOCSPX-[\w-]{20,}/g],
  ["stripe-key", "k_live_ k_test_", /\b[srp]k_(?:live|test)_[A-Za-z0-9]{10,}/g],
  ["webhook-secret", "whsec_", /whsec_[A-Za-z0-9+/=]{20,}/g],
  ["twilio-key", "sk", /(?<![A-Za-z0-9])SK[0-9a-f]{32}(?![0-9a-f])/g],
  ["twilio-token", "twilio", /(?<keep>twilio[^\n]{0,60}?[^0-9a-z])[0-9a-f]{32}(?![0-9a-f])/gi],
  ["sendgrid-key", "sg.", /\bSG\.[\w-]{16,32}\.[\w-]{16,64}/g],
  ["mailgun-key", "key-", /\bkey-[0-9a-f]{32}(?![0-9a-f])/g],
  ["mailchimp-key", "-us", /(?<![0-9a-f])[0-9a-f]{32}-us\d{1,2}\b/g],
  ["npm-token", "npm_", /\bnpm_[A-Za-z0-9]{30,}/g],
  ["npm-token", "_authtoken", /(?<keep>_authToken\s?=\s?["']?)[^\s"'$][^\s"']{7,}/g],
  ["pypi-token", "pypi-", /pypi-[\w-]{40,}/g],
  ["rubygems-key", "rubygems_", /rubygems_[0-9a-f]{40,}/g],
  ["nuget-key", "oy2", /\boy2[a-z0-9]{43}\b/g],
  ["docker-token", "dckr_", /dckr_(?:pat|oat)_[\w-]{20,}/g],
  ["digitalocean-token", "_v1_", /\bdo[opr]_v1_[0-9a-f]{60,}/g],
  ["vault-token", "hvs. hvb. hvr.", /\bhv[sbr]\.[\w-]{20,}/g],
  [
    "vault-token",
    "s.",
    /(?<keep>(?:vault|token)[^\n]{0,40}?[^\w.])[sbr]\.[A-Za-z0-9]{24}(?![\w.])/gi,
    looksRandom,
  ],
  ["terraform-token", ".atlasv1.", /[A-Za-z0-9]{10,20}\.atlasv1\.[\w-]{40,}/g],
  [
    "newrelic-key",
    "nrak- nrjs- nrii- nriq- nrra- nral",
    /\bNR(?:AK|JS|II|IQ|RA|SP)-[\w-]{18,}|(?<![0-9a-z])[0-9a-fx]{30,36}(?:FFFF)?NRAL\b/g,
  ],
  [
    "azure-key",
    "accountkey accesskey",
    /(?<keep>(?:AccountKey|SharedAccessKey)=)[A-Za-z0-9+/]{30,}={0,2}/gi,
  ],
  ["azure-secret", "q~", /(?<![\w~.-])[\w~.-]{3}\dQ~[\w~.-]{31,34}(?![\w~-])/g],
  [
    "grafana-token",
    "glsa_ glc_ eyjrijoi",
    /\bglsa_\w{32,}|\bglc_[A-Za-z0-9+/=]{32,}|\beyJrIjoi[A-Za-z0-9+/=]{20,}/g,
  ],
  ["atlassian-token", "atatt3 atbb atctt3", /\b(?:ATATT3|ATCTT3|ATBB)[\w=-]{20,}/g],
  ["telegram-token", ":aa", /(?<!\d)\d{8,10}:AA[\w-]{32,34}(?![\w-])/g],
  ["shopify-token", "shp", /\bshp(?:at|ca|pa|ss|ua|tka)_[0-9a-fA-F]{32,}/g],
  ["square-token", "sq0 eaaa", /\bsq0[a-z]{3}-[\w-]{22,}|(?<![\w+/=-])EAAA[\w-]{60}(?![\w+/=-])/g],
  ["databricks-token", "dapi", /\bdapi[0-9a-f]{32}(?:-\d)?/g],
  ["huggingface-token", "hf_", /\bhf_[A-Za-z]{30,}/g],
  ["tailscale-key", "tskey-", /\btskey-[\w-]{16,}/g],
  ["doppler-token", "dp.", /\bdp\.(?:pt|st|ct|sa|scim|audit)\.[\w.-]{36,}/g],
  ["planetscale-token", "pscale_", /\bpscale_(?:tkn|oauth|pw)_[\w.=-]{30,}/g],
  ["sentry-token", "sntry", /\bsntry[su]_[\w+/=]{40,}/g],
  ["cloudflare-key", "v1.0-", /\bv1\.0-[0-9a-f]{24}-[0-9a-f]{100,}/g],
  ["heroku-key", "hrku-", /\bHRKU-[\w-]{30,}/g],
  ["notion-token", "secret_", /\bsecret_[A-Za-z0-9]{43}\b/g],
  // gitleaks, 2026-11-22.
  [
    "azure-client-secret",
    "q~",
    /(?<![\w~.-])[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,34}(?![\w~.-])/g,
  ],
  ["maxmind-key", "_mmk", /(?<![A-Za-z0-9])[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk(?!\w)/g],
  [
    "teams-webhook",
    "webhookb2",
    /(?<keep>\.webhook\.office\.com\\?\/webhookb2\\?\/)[\w@/\\-]{60,}/g,
  ],
];

/** A value that a program compares with a password, before the password's name. */
const COMPARED: Pattern = [
  "named",
  "==",
  /(?<keep>["'])[^"'\s]{4,128}(?=["']\s{0,4}[!=]==?\s{0,4}[\w.$]{0,40}(?:password|passwd|passphrase|pwd|secret|token|api_?key)\b)/gi,
  isGiven,
];

/** What two of them find in one place is named after the first. */
export const SECRET_RULES: readonly SecretRule[] = [
  { name: "private-key", clues: ["private key"], find: findPrivateKeys },
  { name: "kubernetes-secret", clues: ["secret"], find: findKubernetesSecrets },
  ...PATTERNS.map(patternRule),
  ...MARKED.map(([name, marks, rest]) =>
    patternRule([name, marks.toLowerCase(), marked(marks, rest)]),
  ),
  patternRule(COMPARED),
  { name: "named", clues: [""], find: findAssignments },
];

function patternRule([name, clues, pattern, accept = () => true]: Pattern): SecretRule {
  const find = (text: string): Range[] =>
    Array.from(text.matchAll(pattern), (match): Range => {
      const kept = match.groups?.["keep"]?.length ?? 0;
      return [match.index + kept, match.index + match[0].length];
    }).filter(([start, end]) => accept(text.slice(start, end)));
  return { name, clues: clues.split(" "), find };
}

function marked(marks: string, rest: string): RegExp {
  const all = marks.split(" ").map(literal).join("|");
  const begin = /^\w/.test(marks) ? "(?<![A-Za-z0-9])" : "";
  return new RegExp(`${begin}(?:${all})(?:${rest})(?![A-Za-z0-9])`, "g");
}

/** Base64 of `user:password`. */
function isLogin(found: string): boolean {
  return /^[ -~]*:[ -~]+$/.test(Buffer.from(found, "base64").toString("latin1"));
}

function isRandomOrLogin(found: string): boolean {
  return looksRandom(found) || isLogin(found);
}

function hasDigitAndCapital(found: string): boolean {
  return /\d/.test(found) && /[A-Z]/.test(found);
}

/** Longest first, and ahead of each place, so that no clue hides another: whoever sees "sk-ant-" has seen "sk-". */
const CLUES = new RegExp(
  `(?=(${SECRET_RULES.flatMap(({ clues }) => clues)
    .filter((clue) => clue.length > 1)
    .toSorted((a, b) => b.length - a.length)
    .map(literal)
    .join("|")}))`,
  "g",
);

const isAsked = (clue: string) => clue.length > 1;
/** Those that need no clue, which most texts need alone. */
const ALWAYS = SECRET_RULES.filter(({ clues }) => !clues.every(isAsked));

/** The rules that can find something in the text. Asking for all clues at once is five times faster than for each. */
export function rulesFor(text: string): readonly SecretRule[] {
  const seen = new Set(Array.from(text.toLowerCase().matchAll(CLUES), (match) => match[1] ?? ""));
  if (seen.size === 0) return ALWAYS;
  const words = Array.from(seen);
  return SECRET_RULES.filter(({ clues }) =>
    clues.some((clue) => !isAsked(clue) || words.some((word) => word.includes(clue))),
  );
}
