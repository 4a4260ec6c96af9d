import { findAssignments, isGiven, looksRandom } from "./redaction-assignments.ts";
import { type SecretShape, SECRET_SHAPES } from "./redaction-shapes.ts";
import { literal, type Range } from "./redaction-encodings.ts";

/** One shape of secret. `find` takes linear time and never throws. */
export interface SecretRule {
  /** Stands in the text instead of what was found: `[secret:<name>]`. */
  readonly name: string;
  /** In lower case. A text that has none of them is not searched; one of a single character is not looked for. */
  readonly clues: readonly string[];
  readonly find: (text: string) => Range[];
}

/** A rule by pattern: what it matches is removed, but for what its group `keep` matched, when `accept` agrees. */
function rule(
  name: string,
  clues: string,
  pattern: RegExp,
  accept: (found: string) => boolean = () => true,
): SecretRule {
  const find = (text: string): Range[] =>
    Array.from(text.matchAll(pattern), (match): Range => {
      const kept = match.groups?.["keep"]?.length ?? 0;
      return [match.index + kept, match.index + match[0].length];
    }).filter(([start, end]) => accept(text.slice(start, end)));
  return { name, clues: clues.split(" "), find };
}

function shapeRule({ name, marks, rest }: SecretShape): SecretRule {
  const all = marks.split(" ").map(literal).join("|");
  const isMark = /^\w/.test(marks) ? "(?<![A-Za-z0-9])" : "";
  const pattern = new RegExp(`${isMark}(?:${all})(?:${rest})(?![A-Za-z0-9])`, "g");
  return rule(name, marks.toLowerCase(), pattern);
}

/** A value that a program compares with a password, before the password's name. */
const COMPARED =
  /(?<keep>["'])[^"'\s]{4,128}(?=["']\s{0,4}[!=]==?\s{0,4}[\w.$]{0,40}(?:password|passwd|passphrase|pwd|secret|token|api_?key)\b)/gi;

function comparedRange({ 0: found, index }: RegExpExecArray): Range[] {
  return isGiven(found.slice(1)) ? [[index + 1, index + found.length]] : [];
}

/**
 * The shapes of secrets that we do not hold. To add one: a name, what every such text contains, and a pattern in which
 * no two neighbouring repetitions can match the same character, so that it stays linear.
 */
export const SECRET_RULES: readonly SecretRule[] = [
  { name: "private-key", clues: ["private key"], find: findPrivateKeys },
  // A private key in PEM, in base64 once more: kubeconfigs, Kubernetes Secrets, CI variables.
  rule(
    "private-key-base64",
    "ls0tls1crudj",
    /LS0tLS1CRUdJTi(?:BSU0Eg|BFQyBQ|BQUklW|BPUEVO|BFTkNS|BEU0Eg|BQR1Ag)[\w+/=]+/g,
  ),
  rule("putty-key", "private-lines", /(?<keep>Private-Lines: \d+\s)(?:[A-Za-z0-9+/=]+\s?)+/g),
  rule("age-key", "age-secret-key-1", /AGE-SECRET-KEY-1[A-Z0-9]{50,}/gi),

  // What a transport or a file format says is secret.
  rule(
    "authorization",
    "authorization",
    /(?<keep>authorization\\{0,7}["']?\s{0,3}[:=]\s{0,3}\\{0,7}["']?(?:bearer|basic|token|apikey|bot|negotiate|splunk|genie_?key|key)\s{1,3})[^\s"'\\,;<>]{6,}/gi,
    isGiven,
  ),
  rule(
    "authorization",
    "authorization",
    /(?<keep>authorization\\{0,7}["']?\s{0,3}[:=]\s{0,3}\\{0,7}["']?)[^\s"'\\,;<>]{8,}/gi,
    (found) => looksRandom(found) || isUserAndPassword(found),
  ),
  rule(
    "authorization",
    "signature",
    /(?<keep>(?:AWS4-HMAC-SHA256|Signature|Digest)\s[^\n]{0,400}?(?:signature|response)=\\{0,7}"?)[\w+/=]{20,}/gi,
  ),
  rule(
    "bearer-token",
    "bearer token key bot splunk",
    /(?<keep>\bbearer(?:\s{1,3}|%20|\+|:\s{0,3})|["'](?:token|api-?key|genie_?key|bot|splunk)\s{1,3})[\w.~+/-]{12,}=*/gi,
    looksRandom,
  ),
  rule(
    "basic-credentials",
    "basic",
    /(?<keep>\bbasic\s{1,3})[A-Za-z0-9+/]{6,}={0,2}/gi,
    isUserAndPassword,
  ),
  rule(
    "cookie",
    "cookie",
    /(?<keep>set-cookie\\{0,7}["']?\s{0,3}[:=]\s{0,3}\\{0,7}["']?[\w.$-]{1,128}=)[^;\s"'\\]{3,}/gi,
  ),
  rule(
    "cookie",
    "cookie",
    /(?<keep>(?<!set-)cookie\\{0,7}["']?[ \t]{0,3}[:=\s][ \t]{0,3}\\{0,7}["']?)[\w.$-]{1,128}=[^\n"'\\]{3,}/gi,
  ),
  rule(
    "session-id",
    "sess connect.sid",
    /(?<keep>(?:[jt]sessionid|phpsessid|aspsessionid\w{0,20}|asp\.net_sessionid|connect\.sid|laravel_session|sessionid)\\{0,7}["']?[=:]\s?\\{0,7}["']?)[\w.%:-]{12,}/gi,
  ),
  rule(
    "url-password",
    "://",
    /(?<keep>:\/\/[^\s:/@?#"'<>]{0,256}:)(?!\d{1,5}[/?#])(?:[^\s"'<>`/?#]{1,256}|[^\s"'<>`]{1,256})(?=@(?!sha256:)[\w[%.-])/g,
    isGiven,
  ),
  rule("url-token", "://", /(?<keep>:\/\/)[\w.~%-]{20,256}(?=:?@[\w[.-])/g, looksRandom),
  rule(
    "url-signature",
    "sig",
    /(?<keep>[?&;](?:sig|signature|x-(?:amz|goog|ms|oss)-signature)=)[\w%+/=~-]{16,}/gi,
  ),
  rule(
    "go-dsn",
    "@tcp( @unix(",
    /(?<keep>(?<![\w/:@])[\w.-]{1,64}:)[^\s:@"'()]{1,128}(?=@(?:tcp|unix)\()/g,
  ),
  rule("netrc", "login", /(?<keep>\blogin\s{1,8}[^\s"']{1,128}\s{1,8}password\s{1,8})\S{3,}/g),
  rule(
    "pgpass",
    ":",
    /(?<keep>^[\w.*-]{1,255}:(?:5432|5433|6432|\*):(?:[A-Za-z_*][^:\s]{0,63}:){2})\S{3,}/gm,
  ),
  rule(
    "redis-config",
    "requirepass masterauth",
    /(?<keep>(?:requirepass|masterauth)\\{0,7}["']?\s{1,8}\\{0,7}["']?)[^\s"'\\(]{3,}/g,
    isGiven,
  ),
  rule(
    "docker-auth",
    "auth",
    /(?<keep>"?_?auth\\{0,7}"?\s{0,3}[:=]\s{0,3}\\{0,7}"?)[A-Za-z0-9+/]{6,}={0,2}/g,
    isUserAndPassword,
  ),
  rule(
    "client-key",
    "client-key-data",
    /(?<keep>client-key-data\\{0,7}["']?:\s{0,3}\\{0,7}["']?)[A-Za-z0-9+/]{16,}={0,2}/g,
  ),
  { name: "kubernetes-secret", clues: ["secret"], find: findKubernetesSecrets },
  rule("command-line", "sshpass", /(?<keep>\bsshpass\s{1,4}-p\s{0,4}["']?)[^\s"']+/g),
  rule(
    "command-line",
    "mysql mariadb",
    /(?<keep>\b(?:mysql|mariadb)(?:-?(?:dump|admin|check|import|show|slap))?(?=\s)[^\n|;&]{0,200}?\s-p["']?)[^\s"'-][^\s"']+/g,
  ),
  rule(
    "command-line",
    "curl wget",
    /(?<keep>\bcurl(?=\s)[^\n|;]{0,300}?\s(?:-u|--user|-U|--proxy-user)[ =]{0,2}["']?[^\s:"']{1,128}:)[^\s"']+/g,
    isGiven,
  ),
  rule(
    "command-line",
    "redis-cli",
    /(?<keep>\bredis-cli(?=\s)[^\n|;]{0,200}?\s-a\s{1,4}["']?)[^\s"']+/g,
    isGiven,
  ),
  rule(
    "command-line",
    "login",
    /(?<keep>\blogin(?=\s)[^\n|;]{0,200}?\s-p[ =]?["']?)[^\s"'-][^\s"']+/g,
  ),
  rule(
    "command-line",
    "echo",
    /(?<keep>\becho\s{1,4}(?:-\w\s)?["']?)[^\s"'|$]{3,}(?=["']?\s{0,4}\|[^\n]{0,120}(?:password-stdin|passwd|sudo -S))/g,
  ),
  rule(
    "command-line",
    "identified",
    /(?<keep>\bidentified\s{1,4}(?:with\s\w{1,40}\s)?(?:by|as)\s{1,4}(?:password\s)?["'])[^"'\n]{3,}/gi,
  ),
  rule("command-line", "-pass", /(?<keep>-pass(?:in|out)?[ =]["']?pass:)[^\s"']+/g),
  rule(
    "password-hash",
    "$",
    /\$(?:2[abxy]|apr1|[1567y]|gy|argon2(?:id|[id])|pbkdf2[\w-]{0,16}|scrypt)\$[\w./+=,$-]{16,}/g,
  ),
  rule(
    "password-hash",
    "sha md5",
    /\{S?(?:SHA|MD5)(?:\d{3})?\}[A-Za-z0-9+/]{20,}={0,2}|SCRAM-SHA-(?:1|256)\$\d{1,8}:[\w+/=$:]{16,}|pbkdf2_sha\d{1,3}\$\d{1,8}\$[\w+/=$]{16,}/g,
  ),
  rule(
    "unseal-key",
    "unseal recovery",
    /(?<keep>(?:Unseal|Recovery) Key \d{1,2}: )[A-Za-z0-9+/]{32,}={0,2}/g,
  ),
  rule(
    "jwt",
    "eyj",
    /(?<=^|[^\w-]|%[0-9A-Fa-f]{2}|\\[nrt])eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*){0,3}/g,
  ),

  // Vendors' tokens.
  rule(
    "aws-access-key-id",
    "akia asia abia acca",
    /(?<![A-Z0-9])(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Z0-9])/g,
  ),
  rule(
    "aws-secret-key",
    "akia asia",
    /(?<keep>(?:AKIA|ASIA)[A-Z0-9]{16}[^A-Za-z0-9/+]{1,8}(?:[\w-]{0,32}["']?\s{0,4}[:=]\s{0,4}["']?)?)[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+])/g,
  ),
  rule(
    "aws-secret-key",
    "secret",
    /(?<keep>secret[ _-]?access[ _-]?key\\{0,7}["']?\s{0,8}[:=]?>?\s{0,8}\\{0,7}["']?)[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+])/gi,
  ),
  rule("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", /gh[pousr]_[\w.-]{30,}/g),
  rule("github-token", "github_pat_", /github_pat_\w{22,}/g),
  rule(
    "gitlab-token",
    "gl",
    /(?<![a-z])gl(?:pat|oas|dt|rt|rtr|cbt|ptt|ft|imt|agent|wt|soat|ffct)-[\w.-]{18,}/g,
  ),
  rule("gitlab-token", "gr1348941", /GR1348941[\w-]{18,}/g),
  rule("slack-token", "xox xapp-", /(?:xox[abcdeoprs]|xoxe\.xox[bp]|xapp)-[\w-]{10,}/g),
  rule(
    "slack-webhook",
    "hooks.slack.com",
    /(?<keep>hooks\.slack\.com\\?\/(?:services|workflows|triggers)\\?\/)[\w/+\\-]{16,}/g,
  ),
  rule(
    "discord-token",
    ".",
    /(?<![\w-])[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,40}(?![\w-])/g,
    looksRandom,
  ),
  rule("discord-token", "mfa.", /\bmfa\.[\w-]{60,}/g),
  rule(
    "discord-webhook",
    "webhooks",
    /(?<keep>discord(?:app)?\.com\\?\/api\\?\/(?:v\d{1,2}\\?\/)?webhooks\\?\/\d{15,22}\\?\/)[\w-]{40,}/g,
  ),
  rule("anthropic-key", "sk-ant-", /sk-ant-[\w-]{16,}/g),
  rule(
    "openai-key",
    "sk-",
    /(?<![A-Za-z0-9])sk-[\w-]{20,}/g,
    (found) => /\d/.test(found) && /[A-Z]/.test(found),
  ),
  rule("google-api-key", "aiza", /AIza[\w-]{35}/g),
  rule(
    "google-oauth",
    "ya29. 1//0 gocspx-",
    /ya29\.[\w.-]{20,}|1\/\/0[\w-]{30,}|GOCSPX-[\w-]{20,}/g,
  ),
  rule("stripe-key", "k_live_ k_test_", /\b[srp]k_(?:live|test)_[A-Za-z0-9]{10,}/g),
  rule("webhook-secret", "whsec_", /whsec_[A-Za-z0-9+/=]{20,}/g),
  rule("twilio-key", "sk", /(?<![A-Za-z0-9])SK[0-9a-f]{32}(?![0-9a-f])/g),
  rule("twilio-token", "twilio", /(?<keep>twilio[^\n]{0,60}?[^0-9a-z])[0-9a-f]{32}(?![0-9a-f])/gi),
  rule("sendgrid-key", "sg.", /\bSG\.[\w-]{16,32}\.[\w-]{16,64}/g),
  rule("mailgun-key", "key-", /\bkey-[0-9a-f]{32}(?![0-9a-f])/g),
  rule("mailchimp-key", "-us", /(?<![0-9a-f])[0-9a-f]{32}-us\d{1,2}\b/g),
  rule("npm-token", "npm_", /\bnpm_[A-Za-z0-9]{30,}/g),
  rule("npm-token", "_authtoken", /(?<keep>_authToken\s?=\s?["']?)[^\s"'$][^\s"']{7,}/g),
  rule("pypi-token", "pypi-", /pypi-[\w-]{40,}/g),
  rule("rubygems-key", "rubygems_", /rubygems_[0-9a-f]{40,}/g),
  rule("nuget-key", "oy2", /\boy2[a-z0-9]{43}\b/g),
  rule("docker-token", "dckr_", /dckr_(?:pat|oat)_[\w-]{20,}/g),
  rule("digitalocean-token", "_v1_", /\bdo[opr]_v1_[0-9a-f]{60,}/g),
  rule("vault-token", "hvs. hvb. hvr.", /\bhv[sbr]\.[\w-]{20,}/g),
  rule(
    "vault-token",
    "s.",
    /(?<keep>(?:vault|token)[^\n]{0,40}?[^\w.])[sbr]\.[A-Za-z0-9]{24}(?![\w.])/gi,
    looksRandom,
  ),
  rule("terraform-token", ".atlasv1.", /[A-Za-z0-9]{10,20}\.atlasv1\.[\w-]{40,}/g),
  rule(
    "newrelic-key",
    "nrak- nrjs- nrii- nriq- nrra- nral",
    /\bNR(?:AK|JS|II|IQ|RA|SP)-[\w-]{18,}|(?<![0-9a-z])[0-9a-fx]{30,36}(?:FFFF)?NRAL\b/g,
  ),
  rule(
    "azure-key",
    "accountkey accesskey",
    /(?<keep>(?:AccountKey|SharedAccessKey)=)[A-Za-z0-9+/]{30,}={0,2}/gi,
  ),
  rule("azure-secret", "q~", /(?<![\w~.-])[\w~.-]{3}\dQ~[\w~.-]{31,34}(?![\w~-])/g),
  rule(
    "grafana-token",
    "glsa_ glc_ eyjrijoi",
    /\bglsa_\w{32,}|\bglc_[A-Za-z0-9+/=]{32,}|\beyJrIjoi[A-Za-z0-9+/=]{20,}/g,
  ),
  rule("atlassian-token", "atatt3 atbb atctt3", /\b(?:ATATT3|ATCTT3|ATBB)[\w=-]{20,}/g),
  rule("telegram-token", ":aa", /(?<!\d)\d{8,10}:AA[\w-]{32,34}(?![\w-])/g),
  rule("shopify-token", "shp", /\bshp(?:at|ca|pa|ss|ua|tka)_[0-9a-fA-F]{32,}/g),
  rule(
    "square-token",
    "sq0 eaaa",
    /\bsq0[a-z]{3}-[\w-]{22,}|(?<![\w+/=-])EAAA[\w-]{60}(?![\w+/=-])/g,
  ),
  rule("databricks-token", "dapi", /\bdapi[0-9a-f]{32}(?:-\d)?/g),
  rule("huggingface-token", "hf_", /\bhf_[A-Za-z]{30,}/g),
  rule("tailscale-key", "tskey-", /\btskey-[\w-]{16,}/g),
  rule("doppler-token", "dp.", /\bdp\.(?:pt|st|ct|sa|scim|audit)\.[\w.-]{36,}/g),
  rule("planetscale-token", "pscale_", /\bpscale_(?:tkn|oauth|pw)_[\w.=-]{30,}/g),
  rule("sentry-token", "sntry", /\bsntry[su]_[\w+/=]{40,}/g),
  rule("cloudflare-key", "v1.0-", /\bv1\.0-[0-9a-f]{24}-[0-9a-f]{100,}/g),
  rule("heroku-key", "hrku-", /\bHRKU-[\w-]{30,}/g),
  rule("notion-token", "secret_", /\bsecret_[A-Za-z0-9]{43}\b/g),

  // Marks that do not stand at the beginning.
  rule(
    "azure-client-secret",
    "q~",
    /(?<![\w~.-])[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,34}(?![\w~.-])/g,
  ),
  rule("maxmind-key", "_mmk", /(?<![A-Za-z0-9])[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk(?!\w)/g),
  rule(
    "teams-webhook",
    "webhookb2",
    /(?<keep>\.webhook\.office\.com\\?\/webhookb2\\?\/)[\w@/\\-]{60,}/g,
  ),
  ...SECRET_SHAPES.map(shapeRule),

  {
    name: "named",
    clues: ["=="],
    find: (text) => Array.from(text.matchAll(COMPARED)).flatMap(comparedRange),
  },
  { name: "named", clues: [""], find: findAssignments },
];

/** Longest first, and ahead of each place, so that no clue hides another: whoever sees "sk-ant-" has seen "sk-". */
const CLUES = new RegExp(
  `(?=(${SECRET_RULES.flatMap(({ clues }) => clues)
    .filter((clue) => clue.length > 1)
    .toSorted((a, b) => b.length - a.length)
    .map(literal)
    .join("|")}))`,
  "g",
);

/** The rules that can find something in the text. Asking for all clues at once is five times faster than for each. */
export function rulesFor(text: string): SecretRule[] {
  const seen = new Set(Array.from(text.toLowerCase().matchAll(CLUES), (match) => match[1] ?? ""));
  const words = Array.from(seen);
  return SECRET_RULES.filter(({ clues }) =>
    clues.some((clue) => clue.length < 2 || words.some((word) => word.includes(clue))),
  );
}

/** Base64 of `user:password`. */
function isUserAndPassword(found: string): boolean {
  return /^[ -~]*:[ -~]+$/.test(Buffer.from(found, "base64").toString("latin1"));
}

const KEY_END = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/y;
/** What is left of a key whose end is cut off. */
const KEY_LINES =
  /(?:(?:\s|\\{1,7}[nrt]|["',|>])*(?:[A-Za-z0-9+/=]{16,}|(?:Proc-Type|DEK-Info|Version|Comment):[^\n]*))*(?:\s[A-Za-z0-9+/=]+(?=\s*$|\.\.|…))?/y;
const LONGEST_KEY = 65_536;

function findPrivateKeys(text: string): Range[] {
  const ranges: Range[] = [];
  for (const begin of text.matchAll(/-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g)) {
    const body = begin.index + begin[0].length;
    const dashes = text.indexOf("-----", body);
    KEY_END.lastIndex = dashes;
    KEY_LINES.lastIndex = body;
    const isWhole = dashes !== -1 && dashes - body < LONGEST_KEY && KEY_END.test(text);
    const rest = KEY_LINES.exec(text)?.[0].length ?? 0;
    ranges.push([begin.index, isWhole ? KEY_END.lastIndex : body + rest]);
  }
  for (const end of text.matchAll(/-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g)) {
    // In case its beginning is cut off: the lines above it are the key as far as they look like base64.
    let start = end.index;
    while (text[start - 1] === "\n") {
      const line = text.lastIndexOf("\n", start - 2) + 1;
      if (!/^[A-Za-z0-9+/=]+\n$/.test(text.slice(line, start))) break;
      start = line;
    }
    ranges.push([start, end.index + end[0].length]);
  }
  return ranges;
}

/** The values under `data` and `stringData` wherever a manifest of kind Secret is shown, as YAML or JSON. */
function findKubernetesSecrets(text: string): Range[] {
  if (!/kind\\{0,7}["']?:\s{0,8}\\{0,7}["']?Secret\b/.test(text)) return [];
  const maps =
    /\b(?:data|stringData)\\{0,7}"\s{0,8}:\s{0,80}\{(?<json>[^{}]*)\}|^(?<indent>[ \t]*)(?:data|stringData):[ \t]*\n(?<yaml>(?:\k<indent>[ \t]+[^\n]*(?:\n|$))+)/gm;
  const inJson = /(?<keep>[\w.-]\\{0,7}":\s{0,8}\\{0,7}")[^"\\]*/g;
  // Lines without a name continue the value above them.
  const inYaml = /^(?<keep>[ \t]+(?:["']?[\w./-]+["']?:(?:[ \t]+|$))?)[^\n]*$/gm;
  return Array.from(text.matchAll(maps)).flatMap(({ index, 0: map, groups = {} }) => {
    const content = groups["json"] ?? groups["yaml"] ?? "";
    const at = index + map.lastIndexOf(content);
    return Array.from(content.matchAll(groups["json"] === undefined ? inYaml : inJson))
      .map((value): Range => {
        const kept = value.groups?.["keep"]?.length ?? 0;
        return [at + value.index + kept, at + value.index + value[0].length];
      })
      .filter(([start, end]) => end - start > 2);
  });
}
