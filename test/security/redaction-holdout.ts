import type { Seeded } from "../core/seeded.ts";

/**
 * Secrets and ordinary lines that were set aside before the rules were written that have to tell them apart, from what
 * the issuers publish of their formats and from the shapes that gitleaks knows (config/gitleaks.toml, commit 009e025 of
 * github.com/gitleaks/gitleaks, read 2026-11-22). Rules may be mended when a line here shows a fault; lines stay.
 */

const LOWER = "abcdefghijklmnopqrstuvwxyz";
const UPPER = LOWER.toUpperCase();
const DIGITS = "0123456789";
const ALNUM = LOWER + UPPER + DIGITS;
const SMALL = LOWER + DIGITS;
const BIG = UPPER + DIGITS;
const WORD = `${ALNUM}_-`;
const HEX = "0123456789abcdef";
const BASE64 = `${ALNUM}+/`;

type Make = (random: Seeded) => string;

const uuid: Make = (r) => [8, 4, 4, 4, 12].map((length) => r.text(HEX, length)).join("-");

/** What its issuer's mark tells, wherever it stands. */
export const MARKED: Record<string, Make> = {
  "1Password secret key": (r) =>
    `A3-${r.text(BIG, 6)}-${r.text(BIG, 11)}-${[5, 5, 5].map((n) => r.text(BIG, n)).join("-")}`,
  "1Password service account": (r) => `ops_eyJ${r.text(BASE64, 260)}==`,
  "Adobe client secret": (r) => `p8e-${r.text(SMALL, 32)}`,
  "age key": (r) => `AGE-SECRET-KEY-1${r.text("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58)}`,
  "Airtable personal token": (r) => `pat${r.text(ALNUM, 14)}.${r.text(HEX, 64)}`,
  "Alibaba key id": (r) => `LTAI${r.text(ALNUM, 20)}`,
  "Anthropic admin": (r) => `sk-ant-admin01-${r.text(WORD, 93)}AA`,
  "Artifactory key": (r) => `AKCp${r.text(ALNUM, 69)}`,
  "Artifactory reference token": (r) => `cmVmd${r.text(ALNUM, 59)}`,
  Authress: (r) =>
    `sc_${r.text(SMALL, 12)}.${r.text(SMALL, 5)}.acc_${r.text(SMALL, 16)}.${r.text(BASE64, 64)}`,
  "AWS Bedrock": (r) => `ABSK${r.text(BASE64, 128)}=`,
  "AWS Bedrock short-lived": (r) =>
    `bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29t${r.text(BASE64, 60)}`,
  "Azure AD client secret": (r) =>
    `${r.text(ALNUM, 3)}8Q~${r.text(ALNUM + "_~.-", 31)}${r.text(ALNUM, 3)}`,
  Brevo: (r) => `xkeysib-${r.text(HEX, 64)}-${r.text(ALNUM, 16)}`,
  ClickHouse: (r) => `4b1d${r.text(ALNUM, 38)}`,
  Clojars: (r) => `CLOJARS_${r.text(SMALL, 60)}`,
  "Cloudflare origin CA": (r) => `v1.0-${r.text(HEX, 24)}-${r.text(HEX, 146)}`,
  Databricks: (r) => `dapi${r.text(HEX, 32)}-2`,
  "Defined Networking": (r) => `dnkey-${r.text(SMALL, 26)}-${r.text(SMALL, 52)}`,
  "DigitalOcean refresh": (r) => `dor_v1_${r.text(HEX, 64)}`,
  Doppler: (r) => `dp.pt.${r.text(ALNUM, 43)}`,
  Duffel: (r) => `duffel_${r.pick(["test", "live"])}_${r.text(WORD, 43)}`,
  Dynatrace: (r) => `dt0c01.${r.text(BIG, 24)}.${r.text(BIG, 64)}`,
  EasyPost: (r) => `${r.pick(["EZAK", "EZTK"])}${r.text(ALNUM, 54)}`,
  "Facebook page token": (r) => `EAA${r.pick(["M", "C"])}${r.text(ALNUM, 120)}`,
  "Flutterwave encryption": (r) => `FLWSECK_TEST-${r.text("0123456789abcdefgh", 12)}`,
  Flutterwave: (r) => `FLWSECK_TEST-${r.text("0123456789abcdefgh", 32)}-X`,
  "Fly.io": (r) => `${r.pick(["fm2_", "fm1r_", "fm1a_"])}${r.text(BASE64, 120)}=`,
  "Fly.io old": (r) => `fo1_${r.text(WORD, 43)}`,
  "Frame.io": (r) => `fio-u-${r.text(WORD, 64)}`,
  "GitHub refresh": (r) => `ghr_${r.text(ALNUM, 36)}`,
  "GitLab feed": (r) => `glft-${r.text(WORD, 20)}`,
  "GitLab mail": (r) => `glimt-${r.text(WORD, 25)}`,
  "GitLab job": (r) => `glcbt-${r.text(HEX, 2)}_${r.text(WORD, 20)}`,
  "GitLab trigger": (r) => `glptt-${r.text(HEX, 40)}`,
  "GitLab routable": (r) => `glpat-${r.text(WORD, 40)}.${r.text(SMALL, 9)}`,
  "GitLab session": (r) => `_gitlab_session=${r.text(SMALL, 32)}`,
  "Google OAuth secret": (r) => `GOCSPX-${r.text(WORD, 28)}`,
  "Grafana cloud": (r) => `glc_${r.text(BASE64, 80)}=`,
  Groq: (r) => `gsk_${r.text(ALNUM, 52)}`,
  Harness: (r) =>
    `${r.pick(["pat", "sat"])}.${r.text(WORD, 22)}.${r.text(ALNUM, 24)}.${r.text(ALNUM, 20)}`,
  Heroku: (r) => `HRKU-AA${r.text(WORD, 58)}`,
  "Hugging Face organisation": (r) => `api_org_${r.text(LOWER + UPPER, 34)}`,
  Infracost: (r) => `ico-${r.text(ALNUM, 32)}`,
  Intra42: (r) => `s-s4t2${r.pick(["ud", "af"])}-${r.text(HEX, 64)}`,
  Linear: (r) => `lin_api_${r.text(ALNUM, 40)}`,
  MaxMind: (r) => `${r.text(ALNUM, 6)}_${r.text(ALNUM, 29)}_mmk`,
  "Mapbox secret": (r) => `sk.eyJ1Ijoi${r.text(SMALL, 50)}.${r.text(SMALL, 22)}`,
  "New Relic browser": (r) => `NRJS-${r.text(HEX, 19)}`,
  "New Relic insert": (r) => `NRII-${r.text(SMALL, 32)}`,
  Notion: (r) => `ntn_${r.text(DIGITS, 11)}${r.text(ALNUM, 35)}`,
  NuGet: (r) => `oy2${r.text(SMALL, 43)}`,
  Octopus: (r) => `API-${r.text(BIG, 26)}`,
  OpenRouter: (r) => `sk-or-v1-${r.text(HEX, 64)}`,
  OpenShift: (r) => `sha256~${r.text(WORD, 43)}`,
  Perplexity: (r) => `pplx-${r.text(ALNUM, 48)}`,
  Plaid: (r) => `access-${r.pick(["sandbox", "development", "production"])}-${uuid(r)}`,
  PlanetScale: (r) => `pscale_tkn_${r.text(WORD, 43)}`,
  Postman: (r) => `PMAK-${r.text(HEX, 24)}-${r.text(HEX, 34)}`,
  Prefect: (r) => `pnu_${r.text(ALNUM, 36)}`,
  Pulumi: (r) => `pul-${r.text(HEX, 40)}`,
  ReadMe: (r) => `rdme_${r.text(SMALL, 70)}`,
  Replicate: (r) => `r8_${r.text(ALNUM, 37)}`,
  RubyGems: (r) => `rubygems_${r.text(HEX, 48)}`,
  Scalingo: (r) => `tk-us-${r.text(WORD, 48)}`,
  SendGrid: (r) => `SG.${r.text(WORD, 22)}.${r.text(WORD, 43)}`,
  "Sentry organisation": (r) => `sntrys_eyJpYXQiO${r.text(BASE64, 90)}=_${r.text(BASE64, 43)}`,
  "Sentry user": (r) => `sntryu_${r.text(HEX, 64)}`,
  Settlemint: (r) => `sm_${r.pick(["aat", "pat", "sat"])}_${r.text(ALNUM, 16)}`,
  Shippo: (r) => `shippo_${r.pick(["live", "test"])}_${r.text(HEX, 40)}`,
  Shopify: (r) => `${r.pick(["shpat_", "shpca_", "shppa_", "shpss_"])}${r.text(HEX, 32)}`,
  "Slack configuration": (r) => `xoxe.xoxp-1-${r.text(BIG, 165)}`,
  "Slack refresh": (r) => `xoxe-1-${r.text(BIG, 146)}`,
  Sourcegraph: (r) => `sgp_${r.text(HEX, 16)}_${r.text(HEX, 40)}`,
  Square: (r) => `sq0atp-${r.text(WORD, 22)}`,
  "Stripe prod": (r) => `${r.pick(["sk", "rk"])}_prod_${r.text(ALNUM, 40)}`,
  Supabase: (r) => `sbp_${r.text(HEX, 40)}`,
  Tailscale: (r) => `tskey-auth-k${r.text(ALNUM, 11)}CNTRL-${r.text(ALNUM, 32)}`,
  "Teams webhook": (r) =>
    `https://acme.webhook.office.com/webhookb2/${uuid(r)}@${uuid(r)}/IncomingWebhook/${r.text(HEX, 32)}/${uuid(r)}`,
  Typeform: (r) => `tfp_${r.text(ALNUM, 59)}`,
  "Vault batch": (r) => `hvb.${r.text(WORD, 150)}`,
  "xAI in lower case": (r) => `xai-${r.text(SMALL, 80)}`,
  "Yandex API key": (r) => `AQVN${r.text(WORD, 36)}`,
  "Yandex IAM": (r) => `t1.${r.text(WORD, 40)}.${r.text(WORD, 86)}`,
};

/** Where such a secret turns up with nothing that names it. */
export const MARKED_CARRIERS: readonly ((secret: string) => string)[] = [
  (s) => `Nov 21 10:14:03 web-2 sync[812]: upstream said 403 for ${s}`,
  (s) => `{"event":"call","input":"${s}","attempt":2}`,
  (s) => `+ deployctl apply --with '${s}' --wait`,
];

/** What only the name beside it tells. */
const OPAQUE: readonly Make[] = [
  (r) => r.text(HEX, 32),
  (r) => r.text(HEX, 40),
  (r) => r.text(SMALL, 24),
  (r) => r.text(ALNUM, 40),
  (r) => r.text(BIG, 32),
  (r) => `${r.text(BASE64, 43)}=`,
  uuid,
  // Class (a): words that look like an object's name.
  (r) => `${r.text(HEX, 16)}-${r.text(HEX, 16)}`,
  (r) => `${r.text(HEX, 8)}.${r.text(HEX, 24)}`,
  (r) => `${r.text(HEX, 40)}/${r.text(HEX, 10)}`,
  (r) => `live:${r.text(HEX, 24)}`,
  (r) => `${r.text(SMALL, 12)}3a7-${r.text(SMALL, 12)}b41`,
  (r) => `prod-${r.text(SMALL, 26)}09f`,
];

const VENDORS =
  "adafruit airtable algolia asana bitbucket bittrex codecov cohere coinbase confluent contentful datadog droneci dropbox etsy fastly finnhub flickr freshbooks gitter gocardless intercom jfrog kraken kucoin launchdarkly linkedin lob mapbox mattermost messagebird netlify nytimes okta plaid rapidapi sendbird snyk sonar squarespace sumologic travis twitch twitter zendesk".split(
    " ",
  );

const NAMES: readonly ((vendor: string) => string)[] = [
  (v) => `${v.toUpperCase()}_API_KEY=`,
  (v) => `${v}_token: `,
  (v) => `"${v}ClientSecret": "`,
  (v) => `${v}.access-token=`,
  (v) => `--${v}-api-key `,
  (v) => `${v.toUpperCase()}_SECRET_KEY="`,
  () => "auth_token: ",
];

/** An assignment, with the secret in it. */
export function namedSample(random: Seeded): { secret: string; text: string } {
  const secret = random.pick(OPAQUE)(random);
  const name = random.pick(NAMES)(random.pick(VENDORS));
  const end = name.endsWith('"') ? '"' : "";
  return { secret, text: `level=debug ${name}${secret}${end} host=db-2` };
}

const TYPED: readonly Make[] = [
  (r) => `Sommer${2_000 + r.int(30)}!${r.text(LOWER, 2)}`,
  (r) => `${r.text(ALNUM, 12)}7$`,
  (r) => r.text(HEX, 24),
  (r) => `${r.text(LOWER, 5)}-${r.text(UPPER, 4)}${r.text(DIGITS, 3)}!`,
  (r) => `${r.text(ALNUM, 20)}4k`,
];

/** Class (b): a word stands between the name and what is assigned, or the name is a short one. */
const PASSWORD_LINES: readonly ((secret: string) => string)[] = [
  (s) => `DB_PASSWORD_PRIMARY=${s}`,
  (s) => `SMTP_PASSWORD_V2=${s}`,
  (s) => `export PASSWORD_MASTER='${s}'`,
  (s) => `user[email]=a%40b.example&password_confirmation=${s}&commit=Save`,
  (s) => `{"password_confirmation":"${s}","terms":true}`,
  (s) => `DB_PW=${s}`,
  (s) => `kubectl create secret generic db --from-literal=pw=${s}`,
  (s) => `if ("${s}" == password) return true;`,
  (s) => `POSTGRES_PASSWORD__SHADOW: "${s}"`,
  (s) => `  admin-password-eu-west: ${s}`,
  (s) => `REDIS_PASSWD_REPLICA=${s}`,
  (s) => `ldap.bind.passphrase-for-sync=${s}`,
];

export function passwordSample(random: Seeded): { secret: string; text: string } {
  const secret = random.pick(TYPED)(random);
  return { secret, text: random.pick(PASSWORD_LINES)(secret) };
}

/** Lines with words of secrets in them, and none. */
export const ORDINARY_WITH_NAMES: readonly ((random: Seeded) => string)[] = [
  (r) => `token bucket web-${r.text(SMALL, 10)}-${r.text(SMALL, 5)} refilled to ${r.int(500)}`,
  (r) => `GET cache access key=tenant:${r.int(99)}:profile:v${r.int(9)} hit in ${r.int(9)} ms`,
  (r) => `s3: key: orders/2026/11/${10 + r.int(20)}/part-${r.int(9)}.parquet size=${r.int(99999)}`,
  (r) => `secret: db-creds-${r.text(SMALL, 5)} mounted at /etc/creds`,
  (r) => `using secret "web-tls-${r.int(2030)}" in namespace shop-${r.text(LOWER, 4)}`,
  () => `password_policy=strict-2026 applied to realm ops`,
  (r) =>
    `password_changed_at=2026-11-${10 + r.int(20)}T10:${10 + r.int(50)}:00Z user=svc-${r.int(99)}`,
  (r) => `PASSWORD_MIN_LENGTH=${8 + r.int(9)} PASSWORD_MAX_AGE=${r.int(365)}d`,
  (r) => `password_attempts=${r.int(5)} password_expiry_days: ${r.int(90)}`,
  () => `password_hash_algorithm=pbkdf2_sha256 password_encoder=bcrypt2`,
  () => `password-reset-url=https://id.example.com/reset/v2 password_file=/run/secrets/db2`,
  (r) => `pwd_last_set=${1_763_712_843 + r.int(9999)} pwd=/srv/app-${r.int(9)}`,
  (r) => `api-gateway-${r.text(SMALL, 10)}-${r.text(SMALL, 5)} API-VERSION 2026-11-0${r.int(9)}`,
  (r) => `image pat.example.com/team/web@sha256:${r.text(HEX, 64)}`,
  (r) => `layer sha256:${r.text(HEX, 64)} already exists, digest ~${r.int(9)} MB`,
  (r) => `session_key=user:${r.int(9999)}:cart expired; idempotency_key ${uuid(r)}`,
  (r) => `auth: token type=Bearer kid=key-2026-${r.int(12)} alg=RS256 accepted`,
  (r) => `integration key web-${r.int(9)}/eu-central-${r.int(3)} rotated by ops`,
  (r) => `license_key: enterprise-2026.${r.int(9)} valid`,
  (r) =>
    `access-${r.pick(["sandbox", "production"])}-log rotated to access-production-2026${r.int(9999)}.log`,
  (r) => `metric api_key_count=${r.int(40)} token_ttl=3600s secret_version=${r.int(9)}`,
  (r) => `pw-check.sh: ${r.int(9)} accounts, pw_age=${r.int(90)} days`,
  (r) => `commit ${r.text(HEX, 40)} touches sm_pat_tern.go and fio-u-tils.ts`,
];
