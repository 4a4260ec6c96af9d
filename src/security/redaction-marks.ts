/** Letters and digits, and `-` and `_`. */
const WORD = "[A-Za-z0-9_-]";
const ALNUM = "[A-Za-z0-9]";
const SMALL = "[a-z0-9]";
const BIG = "[A-Z0-9]";
const HEX = "[0-9a-f]";
const BASE64 = "[A-Za-z0-9+/]";
const UUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";

/**
 * Secrets that begin with a mark: a name, the marks with spaces between, and the pattern of the rest; nothing that could go on
 * with it follows. The marks and lengths are facts that the issuers publish and that gitleaks collects (config/gitleaks.toml
 * of github.com/gitleaks/gitleaks at commit 009e025, read 2026-11-22); how they are written here is ours.
 */
export const MARKED: readonly (readonly [name: string, marks: string, rest: string])[] = [
  ["1password-key", "A3-", `${BIG}{6}(?:-${BIG}{5,11}){3,5}`],
  ["1password-token", "ops_eyJ", `${BASE64}{32,}={0,3}`],
  ["adobe-secret", "p8e-", `${ALNUM}{32}`],
  ["airtable-token", "pat", String.raw`${ALNUM}{14}\.${HEX}{64}`],
  ["alibaba-key-id", "LTAI", `${ALNUM}{12,24}`],
  ["artifactory-key", "AKCp", `${ALNUM}{60,}`],
  ["artifactory-key", "cmVmd", `${ALNUM}{50,}`],
  [
    "authress-key",
    "sc_ ext_ scauth_ authress_",
    String.raw`${ALNUM}{5,30}\.${ALNUM}{4,6}\.acc[_-][a-z0-9-]{10,32}\.[A-Za-z0-9+/_=-]{30,120}`,
  ],
  ["aws-bedrock-key", "ABSK", `${BASE64}{60,}={0,2}`],
  ["aws-bedrock-key", "bedrock-api-key-", `${BASE64}{32,}={0,2}`],
  ["beamer-token", "b_", `${SMALL}{44}`],
  ["brevo-key", "xkeysib- xsmtpsib-", `${HEX}{64}-${ALNUM}{16}`],
  ["buildkite-token", "bkua_", `${HEX}{40}`],
  ["circleci-token", "CCIPAT_", `${WORD}{32,}`],
  ["clickhouse-key", "4b1d", `${ALNUM}{38}`],
  ["clojars-token", "CLOJARS_", `${ALNUM}{60}`],
  ["defined-networking-token", "dnkey-", `${SMALL}{26}-${SMALL}{52}`],
  ["duffel-token", "duffel_test_ duffel_live_", `${WORD}{43}`],
  ["dynatrace-token", "dt0c01. dt0s01. dt0s16.", String.raw`${BIG}{24}\.${BIG}{64}`],
  ["easypost-key", "EZAK EZTK", `${ALNUM}{54}`],
  ["facebook-token", "EAAM EAAC", `${ALNUM}{100,}`],
  ["figma-token", "figd_", `${WORD}{32,}`],
  ["flutterwave-key", "FLWSECK_TEST- FLWSECK-", "[a-h0-9]{12,32}(?:-X)?"],
  ["fly-token", "fm1a_ fm1r_ fm2_", `${BASE64}{60,}={0,3}`],
  ["fly-token", "fo1_", `${WORD}{43}`],
  ["frameio-token", "fio-u-", `${WORD}{64}`],
  ["gitlab-session", "_gitlab_session=", `${HEX}{32}|${SMALL}{32}`],
  ["groq-key", "gsk_", `${ALNUM}{40,}`],
  ["harness-token", "pat. sat.", String.raw`${WORD}{22}\.${ALNUM}{24}\.${ALNUM}{20}`],
  ["huggingface-token", "api_org_", "[A-Za-z]{34}"],
  ["infracost-key", "ico-", `${ALNUM}{32}`],
  ["intra42-secret", "s-s4t2ud- s-s4t2af-", `${HEX}{64}`],
  ["langsmith-key", "lsv2_pt_ lsv2_sk_", `${HEX}{32}_${HEX}{10}`],
  ["linear-key", "lin_api_ lin_oauth_", `${ALNUM}{40,}`],
  ["mapbox-token", "sk.eyJ", String.raw`${WORD}{40,}\.${WORD}{20,}`],
  ["notion-token", "ntn_", `${ALNUM}{40,}`],
  ["octopus-key", "API-", `${BIG}{26}`],
  ["openshift-token", "sha256~", `${WORD}{43}`],
  ["openrouter-key", "sk-or-v1-", `${HEX}{64}`],
  ["perplexity-key", "pplx-", `${ALNUM}{40,}`],
  ["plaid-token", "access-sandbox- access-development- access-production-", UUID],
  ["postman-key", "PMAK-", `${HEX}{24}-${HEX}{34}`],
  ["prefect-token", "pnu_ pnb_", `${ALNUM}{36}`],
  ["pulumi-token", "pul-", `${HEX}{40}`],
  ["readme-token", "rdme_", `${SMALL}{70}`],
  ["replicate-token", "r8_", `${ALNUM}{37}`],
  ["scalingo-token", "tk-us-", `${WORD}{48}`],
  ["settlemint-token", "sm_aat_ sm_pat_ sm_sat_", `${ALNUM}{16}`],
  ["shippo-token", "shippo_live_ shippo_test_", "[0-9a-fA-F]{40}"],
  ["sourcegraph-token", "sgp_", `(?:${HEX}{16}_|local_)?${HEX}{40}`],
  ["stripe-key", "sk_prod_ rk_prod_", `${ALNUM}{10,}`],
  ["supabase-token", "sbp_ sb_secret_", `${WORD}{30,}`],
  ["typeform-token", "tfp_", `${WORD}{40,}`],
  ["xai-key", "xai-", `${ALNUM}{60,}`],
  ["yandex-key", "AQVN", `${WORD}{35,38}`],
  ["yandex-token", "t1.", String.raw`${WORD}{20,}={0,2}\.${WORD}{86}={0,2}`],
];
