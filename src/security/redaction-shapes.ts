/**
 * What issuers' secrets look like: a mark, an alphabet, a length. The marks and lengths are facts that the issuers
 * publish and that gitleaks collects (config/gitleaks.toml of github.com/gitleaks/gitleaks at commit 009e025, read
 * 2026-11-22); how they are written here is ours. To add one, write what every such secret begins with and the rest as a
 * pattern in which no two neighbouring repetitions can match the same character.
 */
export interface SecretShape {
  /** Stands in the text instead of what was found. */
  name: string;
  /** What it begins with: one or several, separated by spaces. The case of letters counts. */
  marks: string;
  /** The rest of it. Nothing that could go on with it follows. */
  rest: string;
}

/** Letters and digits, and `-` and `_`. */
const WORD = "[A-Za-z0-9_-]";
const ALNUM = "[A-Za-z0-9]";
const SMALL = "[a-z0-9]";
const BIG = "[A-Z0-9]";
const HEX = "[0-9a-f]";
const BASE64 = "[A-Za-z0-9+/]";
const UUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";

export const SECRET_SHAPES: readonly SecretShape[] = [
  { name: "1password-key", marks: "A3-", rest: `${BIG}{6}(?:-${BIG}{5,11}){3,5}` },
  { name: "1password-token", marks: "ops_eyJ", rest: `${BASE64}{32,}={0,3}` },
  { name: "adobe-secret", marks: "p8e-", rest: `${ALNUM}{32}` },
  { name: "airtable-token", marks: "pat", rest: String.raw`${ALNUM}{14}\.${HEX}{64}` },
  { name: "alibaba-key-id", marks: "LTAI", rest: `${ALNUM}{12,24}` },
  { name: "artifactory-key", marks: "AKCp", rest: `${ALNUM}{60,}` },
  { name: "artifactory-key", marks: "cmVmd", rest: `${ALNUM}{50,}` },
  {
    name: "authress-key",
    marks: "sc_ ext_ scauth_ authress_",
    rest: String.raw`${ALNUM}{5,30}\.${ALNUM}{4,6}\.acc[_-][a-z0-9-]{10,32}\.[A-Za-z0-9+/_=-]{30,120}`,
  },
  { name: "aws-bedrock-key", marks: "ABSK", rest: `${BASE64}{60,}={0,2}` },
  { name: "aws-bedrock-key", marks: "bedrock-api-key-", rest: `${BASE64}{32,}={0,2}` },
  { name: "beamer-token", marks: "b_", rest: `${SMALL}{44}` },
  { name: "brevo-key", marks: "xkeysib- xsmtpsib-", rest: `${HEX}{64}-${ALNUM}{16}` },
  { name: "buildkite-token", marks: "bkua_", rest: `${HEX}{40}` },
  { name: "circleci-token", marks: "CCIPAT_", rest: `${WORD}{32,}` },
  { name: "clickhouse-key", marks: "4b1d", rest: `${ALNUM}{38}` },
  { name: "clojars-token", marks: "CLOJARS_", rest: `${ALNUM}{60}` },
  { name: "defined-networking-token", marks: "dnkey-", rest: `${SMALL}{26}-${SMALL}{52}` },
  { name: "duffel-token", marks: "duffel_test_ duffel_live_", rest: `${WORD}{43}` },
  {
    name: "dynatrace-token",
    marks: "dt0c01. dt0s01. dt0s16.",
    rest: String.raw`${BIG}{24}\.${BIG}{64}`,
  },
  { name: "easypost-key", marks: "EZAK EZTK", rest: `${ALNUM}{54}` },
  { name: "facebook-token", marks: "EAAM EAAC", rest: `${ALNUM}{100,}` },
  { name: "figma-token", marks: "figd_", rest: `${WORD}{32,}` },
  { name: "flutterwave-key", marks: "FLWSECK_TEST- FLWSECK-", rest: "[a-h0-9]{12,32}(?:-X)?" },
  { name: "fly-token", marks: "fm1a_ fm1r_ fm2_", rest: `${BASE64}{60,}={0,3}` },
  { name: "fly-token", marks: "fo1_", rest: `${WORD}{43}` },
  { name: "frameio-token", marks: "fio-u-", rest: `${WORD}{64}` },
  { name: "gitlab-session", marks: "_gitlab_session=", rest: `${HEX}{32}|${SMALL}{32}` },
  { name: "groq-key", marks: "gsk_", rest: `${ALNUM}{40,}` },
  {
    name: "harness-token",
    marks: "pat. sat.",
    rest: String.raw`${WORD}{22}\.${ALNUM}{24}\.${ALNUM}{20}`,
  },
  { name: "huggingface-token", marks: "api_org_", rest: "[A-Za-z]{34}" },
  { name: "infracost-key", marks: "ico-", rest: `${ALNUM}{32}` },
  { name: "intra42-secret", marks: "s-s4t2ud- s-s4t2af-", rest: `${HEX}{64}` },
  { name: "langsmith-key", marks: "lsv2_pt_ lsv2_sk_", rest: `${HEX}{32}_${HEX}{10}` },
  { name: "linear-key", marks: "lin_api_ lin_oauth_", rest: `${ALNUM}{40,}` },
  { name: "mapbox-token", marks: "sk.eyJ", rest: String.raw`${WORD}{40,}\.${WORD}{20,}` },
  { name: "notion-token", marks: "ntn_", rest: `${ALNUM}{40,}` },
  { name: "octopus-key", marks: "API-", rest: `${BIG}{26}` },
  { name: "openshift-token", marks: "sha256~", rest: `${WORD}{43}` },
  { name: "openrouter-key", marks: "sk-or-v1-", rest: `${HEX}{64}` },
  { name: "perplexity-key", marks: "pplx-", rest: `${ALNUM}{40,}` },
  {
    name: "plaid-token",
    marks: "access-sandbox- access-development- access-production-",
    rest: UUID,
  },
  { name: "postman-key", marks: "PMAK-", rest: `${HEX}{24}-${HEX}{34}` },
  { name: "prefect-token", marks: "pnu_ pnb_", rest: `${ALNUM}{36}` },
  { name: "pulumi-token", marks: "pul-", rest: `${HEX}{40}` },
  { name: "readme-token", marks: "rdme_", rest: `${SMALL}{70}` },
  { name: "replicate-token", marks: "r8_", rest: `${ALNUM}{37}` },
  { name: "scalingo-token", marks: "tk-us-", rest: `${WORD}{48}` },
  { name: "settlemint-token", marks: "sm_aat_ sm_pat_ sm_sat_", rest: `${ALNUM}{16}` },
  { name: "shippo-token", marks: "shippo_live_ shippo_test_", rest: "[0-9a-fA-F]{40}" },
  { name: "sourcegraph-token", marks: "sgp_", rest: `(?:${HEX}{16}_|local_)?${HEX}{40}` },
  { name: "stripe-key", marks: "sk_prod_ rk_prod_", rest: `${ALNUM}{10,}` },
  { name: "supabase-token", marks: "sbp_ sb_secret_", rest: `${WORD}{30,}` },
  { name: "typeform-token", marks: "tfp_", rest: `${WORD}{40,}` },
  { name: "xai-key", marks: "xai-", rest: `${ALNUM}{60,}` },
  { name: "yandex-key", marks: "AQVN", rest: `${WORD}{35,38}` },
  { name: "yandex-token", marks: "t1.", rest: String.raw`${WORD}{20,}={0,2}\.${WORD}{86}={0,2}` },
];
