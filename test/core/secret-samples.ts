import type { Seeded } from "./seeded.ts";

const LOWER = "abcdefghijklmnopqrstuvwxyz";
const UPPER = LOWER.toUpperCase();
const DIGITS = "0123456789";
const ALNUM = LOWER + UPPER + DIGITS;
const WORD = `${ALNUM}_-`;
const HEX = "0123456789abcdef";
const BASE64 = `${ALNUM}+/`;

/** Secrets that can be told by their own look, by who issues them. */
export const SHAPES: Record<string, (random: Seeded) => string> = {
  "AWS key id": (r) => r.pick(["AKIA", "ASIA"]) + r.text(UPPER + "234567", 16),
  "GitHub classic": (r) => r.pick(["ghp_", "gho_", "ghs_", "ghu_"]) + r.text(ALNUM, 36),
  "GitHub fine-grained": (r) => `github_pat_${r.text(ALNUM, 22)}_${r.text(ALNUM, 59)}`,
  GitLab: (r) => `glpat-${r.text(WORD, 20)}`,
  "GitLab runner": (r) => `glrt-${r.text(WORD, 20)}`,
  "Slack bot": (r) => `xoxb-${r.text(DIGITS, 12)}-${r.text(DIGITS, 13)}-${r.text(ALNUM, 24)}`,
  "Slack app": (r) =>
    `xapp-1-A${r.text(UPPER + DIGITS, 10)}-${r.text(DIGITS, 13)}-${r.text(HEX, 64)}`,
  "Discord bot": (r) =>
    `${r.pick(["M", "N", "O"])}${r.text(ALNUM, 23)}.${r.text(WORD, 6)}.${r.text(WORD, 38)}`,
  Anthropic: (r) => `sk-ant-api03-${r.text(WORD, 93)}AA`,
  "OpenAI project": (r) => `sk-proj-${r.text(WORD, 74)}T3BlbkFJ${r.text(WORD, 74)}`,
  "OpenAI classic": (r) => `sk-${r.text(ALNUM, 20)}T3BlbkFJ${r.text(ALNUM, 20)}`,
  "Google API": (r) => `AIza${r.text(WORD, 35)}`,
  "Google OAuth": (r) => `ya29.a0${r.text(WORD, 120)}`,
  Stripe: (r) => `${r.pick(["sk", "rk"])}_${r.pick(["live", "test"])}_${r.text(ALNUM, 24)}`,
  "Twilio key": (r) => `SK${r.text(HEX, 32)}`,
  SendGrid: (r) => `SG.${r.text(WORD, 22)}.${r.text(WORD, 43)}`,
  npm: (r) => `npm_${r.text(ALNUM, 36)}`,
  PyPI: (r) => `pypi-AgEIcHlwaS5vcmc${r.text(WORD, 150)}`,
  DigitalOcean: (r) => `dop_v1_${r.text(HEX, 64)}`,
  Vault: (r) => `hvs.${r.text(WORD, 90)}`,
  Terraform: (r) => `${r.text(ALNUM, 14)}.atlasv1.${r.text(WORD, 67)}`,
  "New Relic": (r) => `NRAK-${r.text(UPPER + DIGITS, 27)}`,
  Grafana: (r) => `glsa_${r.text(ALNUM, 32)}_${r.text(HEX, 8)}`,
  Atlassian: (r) => `ATATT3xFfGF0${r.text(WORD, 170)}=${r.text(HEX.toUpperCase(), 8)}`,
  Telegram: (r) => `${r.text("123456789", 10)}:AA${r.text(WORD, 33)}`,
  Databricks: (r) => `dapi${r.text(HEX, 32)}`,
  HuggingFace: (r) => `hf_${r.text(LOWER + UPPER, 34)}`,
  Docker: (r) => `dckr_pat_${r.text(WORD, 27)}`,
  JWT: (r) => `eyJ${r.text(WORD, 33)}.eyJ${r.text(WORD, 80)}.${r.text(WORD, 43)}`,
  bcrypt: (r) => `$2b$12$${r.text(`${ALNUM}./`, 53)}`,
  "SHA-512 crypt": (r) => `$6$${r.text(ALNUM, 16)}$${r.text(`${ALNUM}./`, 86)}`,
};

/** Where such a secret turns up with nothing around it that says so. */
export const PLAIN_CARRIERS: readonly ((secret: string) => string)[] = [
  (s) => `2026-11-21T08:14:03.114Z DEBUG outbound call with ${s} took 31ms`,
  (s) => `{"level":"warn","ts":1763712843.2,"caller":"client/retry.go:81","args":["${s}",3]}`,
  (s) => `msg="{\\"event\\":\\"sync\\",\\"detail\\":\\"${s}\\"}" n=4`,
  (s) => `ValueError: cannot parse '${s}'\n  File "/app/sync.py", line 12, in run`,
  (s) =>
    `java.lang.IllegalStateException: bad reply for ${s}\n\tat com.acme.Client.call(Client.java:88)`,
  (s) => `root 812 0.0 0.1 /usr/bin/sync-agent --id 7 ${s}`,
  (s) => `| worker-3 | ${s} | 2026-11-20 |`,
  (s) => `- ${s}\n- next item`,
  (s) => `<value>${s}</value>`,
  (s) => `I pasted it here: ${s}, can you check?`,
  (s) => `GET /v1/check/${s} HTTP/1.1`,
  (s) => `export FOO='${s}'; run`,
  (s) => `"${s}\\n"`,
  (s) => `[${s}]`,
];

/** Secrets that look like nothing in particular. */
export const OPAQUE: Record<string, (random: Seeded) => string> = {
  hexadecimal: (r) => r.text(HEX, r.pick([32, 40, 64])),
  base64: (r) => `${r.text(BASE64, 43)}=`,
  alphanumeric: (r) => r.text(ALNUM, 20 + r.int(20)),
  uuid: (r) => [8, 4, 4, 4, 12].map((length) => r.text(HEX, length)).join("-"),
};

/** What only a password may look like. */
export const PASSWORDS: Record<string, (random: Seeded) => string> = {
  ...OPAQUE,
  typed: (r) =>
    `${r.pick(["Summer", "admin", "Kx", "prod", "qwerty"])}${r.pick(["!", "#", "_", "2026", "@"])}${r.text(ALNUM + "!#%*_-", 7)}`,
  lowercase: (r) => r.text(LOWER, 9),
};

/** Where only the name beside it tells that it is a secret. */
export const NAMED_CARRIERS: readonly ((secret: string) => string)[] = [
  (s) => `GRAFANA_API_TOKEN=${s}`,
  (s) => `Environment="BACKUP_ACCESS_TOKEN=${s}" "TZ=UTC"`,
  (s) => `  auth_token: ${s}\n  region: eu-west-1`,
  (s) => `    apiKey: "${s}"`,
  (s) => `{"client_id":"web","client_secret":"${s}","scope":"read"}`,
  (s) => `{ "apiToken" : "${s}" }`,
  (s) => `level=info msg="login" refresh_token=${s} user=ana`,
  (s) => `POST https://api.example.com/v2/hook?env=prod&api_key=${encodeURIComponent(s)}&n=1 200`,
  (s) => `> X-Api-Key: ${s}\r\n> Accept: */*`,
  (s) => `curl -H "X-Vault-Token: ${s}" https://vault.internal:8200/v1/sys/health`,
  (s) => `DD-API-KEY: ${s}`,
  (s) => `Authorization: Bearer ${s}`,
  (s) => `{"headers":{"authorization":"Bearer ${s}","accept":"json"}}`,
  (s) => `proxy_set_header Authorization "Token ${s}";`,
  (s) => `$ deployctl login --token ${s} --org acme`,
  (s) => `["deployctl","--api-key","${s}","status"]`,
  (s) => `config = Config(host='db1', secret_key='${s}', port=5432)`,
  (s) => `Settings{region=eu, accessKey=${s}, retries=3}`,
  (s) => `<appSettings><add key="ServiceToken" value="${s}" /></appSettings>`,
  (s) => `        - name: INGEST_SECRET\n          value: ${s}`,
  (s) => `{"Name":"INGEST_SECRET","Value":"${s}"}`,
  (s) => `  encryption_key = "${s}"`,
  (s) => `err="401 for request {\\"token\\":\\"${s}\\",\\"id\\":7}"`,
  (s) => `//registry.example.com/:_authToken=${s}`,
  (s) => `Cookie: theme=dark; session=${s}; lang=en`,
  (s) => `Set-Cookie: sid=${s}; Path=/; HttpOnly`,
  (s) => `https://x-token-auth:${encodeURIComponent(s)}@git.example.com/acme/web.git (fetch)`,
];

/** The same, where the name is that of a password: whatever stands there. */
export const PASSWORD_CARRIERS: readonly ((secret: string) => string)[] = [
  (s) => `DB_PASSWORD=${s}`,
  (s) => `export PGPASSWORD='${s}'`,
  (s) => `spring.datasource.password=${s}`,
  (s) => `  password: ${s}\n`,
  (s) => `  passwd: "${s}"`,
  (s) => `{"user":"svc","password":"${s}","db":"orders"}`,
  (s) => `{\\"user\\":\\"svc\\",\\"password\\":\\"${s}\\"}`,
  (s) => `postgres://svc:${encodeURIComponent(s)}@db1.internal:5432/orders?sslmode=require`,
  (s) => `amqp://guest:${encodeURIComponent(s)}@rabbit:5672/`,
  (s) => `jdbc:mysql://db1:3306/app?user=svc&password=${encodeURIComponent(s)}&useSSL=true`,
  (s) => `Server=db1;Database=app;User Id=svc;Password=${s};Encrypt=true`,
  (s) => `psql "host=db1 user=svc password=${s} dbname=app"`,
  (s) => `svc:${s.replaceAll("@", "_")}@tcp(db1:3306)/app?parseTime=true`,
  (s) => `$ mysqldump -h db1 -u svc -p${s} app`,
  (s) => `sshpass -p ${s} ssh ops@web1`,
  (s) => `curl -u svc:${s} https://artifacts.example.com/`,
  (s) => `redis-cli -h cache1 -a ${s} info`,
  (s) => `myctl login --username svc --password ${s}`,
  (s) => `machine git.example.com login svc password ${s}`,
  (s) => `db1.internal:5432:orders:svc:${s}`,
  (s) => `requirepass ${s}`,
  (s) => `<user>svc</user><password>${s}</password>`,
  (s) => `Credentials{username='svc', password='${s}'}`,
  (s) => `Authorization: Basic ${Buffer.from(`svc:${s}`).toString("base64")}`,
  (s) => `{"auths":{"reg.example.com":{"auth":"${Buffer.from(`svc:${s}`).toString("base64")}"}}}`,
  (s) => `kind: Secret\ndata:\n  value: ${Buffer.from(s).toString("base64")}\n`,
];

/** A private key as files have it, not a real one. */
export function privateKey(random: Seeded, kind: string): string {
  const lines = Array.from({ length: 12 }, () => random.text(BASE64, 64)).join("\n");
  return `-----BEGIN ${kind}-----\n${lines}\n${random.text(BASE64, 22)}==\n-----END ${kind}-----`;
}

/** Lines as logs have them, with everything in them that looks random and is no secret. */
export const ORDINARY_LINES: readonly ((random: Seeded) => string)[] = [
  (r) =>
    `${stamp(r)} INFO [http-nio-8080-exec-${r.int(40)}] GET /api/v1/orders/${uuid(r)}?page_token=${r.text(ALNUM, 24)}&limit=50 200 ${r.int(900)}ms`,
  (r) =>
    `${r.int(255)}.${r.int(255)}.0.1 - - [21/Nov/2026:10:00:0${r.int(10)} +0000] "GET /static/app.${r.text(HEX, 8)}.js HTTP/1.1" 200 ${r.int(99999)} "https://example.com/?q=${r.text(LOWER, 6)}" "Mozilla/5.0"`,
  (r) => `Pulled image registry.example.com/team/web@sha256:${r.text(HEX, 64)} in ${r.int(9)}.2s`,
  (r) =>
    `commit ${r.text(HEX, 40)} (tag: v${r.int(9)}.${r.int(20)}.${r.int(9)}) Merge pull request #${r.int(999)} from acme/fix-token-refresh`,
  (r) =>
    `web-${r.text(LOWER + DIGITS, 10)}-${r.text(LOWER + DIGITS, 5)}   1/1     Running   ${r.int(5)} (3h ago)   12d   10.2.${r.int(255)}.${r.int(255)}`,
  (r) =>
    `{"level":"info","ts":${1763712843 + r.int(9999)}.${r.int(999)},"logger":"controller","msg":"Reconciling","secret":{"name":"db-creds","namespace":"prod"},"reconcileID":"${uuid(r)}"}`,
  (r) =>
    `E1121 10:${pad(r)}:${pad(r)}.${r.int(999999)}       1 reflector.go:138] k8s.io/client-go: Failed to watch *v1.Secret: secrets "db-creds-${r.text(HEX, 6)}" not found`,
  () => `MountVolume.SetUp failed for volume "creds" : secret "db-credentials" not found`,
  (r) => `FATAL:  password authentication failed for user "svc_${r.text(LOWER, 4)}"`,
  (r) => `Access denied for user 'svc'@'10.2.${r.int(255)}.${r.int(255)}' (using password: YES)`,
  (r) =>
    `sshd[${r.int(99999)}]: Failed password for invalid user ${r.text(LOWER, 6)} from 10.0.${r.int(255)}.7 port ${r.int(65535)} ssh2`,
  (r) =>
    `sudo: ops : TTY=pts/0 ; PWD=/home/ops ; USER=root ; COMMAND=/usr/bin/systemctl restart web-${r.int(9)}`,
  (r) => `auth: token expired at ${stamp(r)}, request_id=${uuid(r)}`,
  (r) => `invalid token: signature mismatch (kid=${r.text(HEX, 16)})`,
  (r) => `SyntaxError: Unexpected token < in JSON at position ${r.int(99)}`,
  (r) =>
    `usage: prompt_tokens=${r.int(9999)} completion_tokens=${r.int(999)} total_tokens: ${r.int(9999)} max_tokens=4096`,
  (r) =>
    `level=warn msg="password too short" user=${r.text(LOWER, 5)} trace_id=${r.text(HEX, 32)} span_id=${r.text(HEX, 16)}`,
  (r) => `passwd: password expiry information changed for svc${r.int(99)}.`,
  () => `password: must be at least 12 characters`,
  (r) => `Password: ******** for account ${r.int(99999)}`,
  () => `DB_PASSWORD_FILE=/run/secrets/db_password`,
  () => `  password: \${DB_PASSWORD}`,
  () => `      secretKeyRef: {name: web-env, key: api_token}`,
  () => `  secretName: web-tls-2026`,
  (r) => `client_secret: <set to the key 'secret' in secret 'oauth-${r.text(LOWER, 5)}'>`,
  (r) => `at Object.decodeToken (/app/node_modules/jsonwebtoken/verify.js:${r.int(300)}:19)`,
  (r) =>
    `	at com.acme.auth.TokenService.refresh(TokenService.java:${r.int(400)}) ~[auth-1.${r.int(9)}.0.jar!/:?]`,
  (r) =>
    `  File "/usr/lib/python3.12/site-packages/secrets/loader.py", line ${r.int(900)}, in load_credentials`,
  (r) => `http_requests_total{method="POST",code="200",path="/oauth/token"} ${r.int(99999)}`,
  (r) =>
    `process_resident_memory_bytes{pod="web-${r.text(LOWER + DIGITS, 10)}-${r.text(LOWER + DIGITS, 5)}"} 1.${r.int(9999999)}e+08`,
  (r) => `container ${r.text(HEX, 64)} exited with code ${r.int(140)}`,
  (r) => `${stamp(r)} dockerd: stopping container ${r.text(HEX, 12)} (signal=SIGTERM)`,
  (r) =>
    `etag: "${r.text(HEX, 32)}" cache-key=assets/${r.text(HEX, 20)}.png x-request-id: ${uuid(r)}`,
  (r) => `data:image/png;base64,iVBORw0KGgo${r.text(BASE64, 120)}`,
  (r) => `payload=${r.text(BASE64, 88)}== decoded=66 bytes`,
  (r) => `integrity sha512-${r.text(BASE64, 86)}==`,
  (r) => `SHA256:${r.text(BASE64, 43)} ops@bastion (ED25519)`,
  (r) => `ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI${r.text(BASE64, 43)} ops@laptop`,
  (r) =>
    `certificate serial=${r.text(HEX.toUpperCase(), 32)} CN=*.example.com notAfter=2027-0${1 + r.int(8)}-11`,
  (r) => `-----BEGIN CERTIFICATE----- ${r.text(BASE64, 64)}`,
  (r) =>
    `arn:aws:secretsmanager:eu-west-1:${r.text(DIGITS, 12)}:secret:prod/db-${r.text(ALNUM, 6)} rotated`,
  (r) =>
    `i-0${r.text(HEX, 16)} vol-0${r.text(HEX, 16)} ami-0${r.text(HEX, 16)} state=running zone=ap-southeast-1a Asia/Tokyo`,
  (r) =>
    `kafka: partition_key=user-${r.int(9999)} routing_key=orders.created sort_key=2026#${r.int(99)} offset=${r.int(999999)}`,
  (r) => `Connecting to postgres://db1.internal:5432/orders as svc (attempt ${r.int(9)})`,
  (r) =>
    `git fetch https://github.com/acme/web.git refs/pull/${r.int(999)}/head from git@github.com:acme/web.git`,
  (r) =>
    `docker pull ghcr.io/acme/web:${r.int(9)}.${r.int(9)}.${r.int(9)}@sha256:${r.text(HEX, 64)}`,
  (r) =>
    `WWW-Authenticate: Bearer realm="https://auth.example.com/token",service="registry",error="invalid_token"`.concat(
      ` n=${r.int(9)}`,
    ),
  (r) => `authorization: denied by policy "deny-all" for subject user-${r.int(99)}`,
  (r) => `Basic authentication is disabled; bearer authentication is required (${r.int(999)})`,
  () => `Set-Cookie header missing; cookie: none`,
  (r) => `consul: KV key=service/web/leader session=${uuid(r)}`,
  (r) => `"continue": "eyJ${r.text(ALNUM, 60)}", "remainingItemCount": ${r.int(999)}`,
  (r) => `nextPageToken: "${r.text(ALNUM, 40)}" resultSizeEstimate: ${r.int(200)}`,
  (r) =>
    `nova.compute [req-${uuid(r)} ${r.text(HEX, 32)} ${r.text(HEX, 32)} - - -] [instance: ${uuid(r)}] VM Started`,
  (r) =>
    `worker.go:${r.int(999)}: lease token ${r.int(9999)} renewed, fencing token=${r.int(9999)}, key=lock:orders`,
  (r) => `vault: lease_id=database/creds/readonly/${r.text(ALNUM, 24)} ttl=3600`,
  (r) => `0x${r.text(HEX, 16)} <token_cache_lookup+${r.int(400)}> rsp=0x${r.text(HEX, 16)}`,
  (r) =>
    `keycloak: realm=prod client_id=web-${r.text(LOWER, 5)} grant_type=refresh_token error=invalid_grant`,
  (r) =>
    `npm warn deprecated @acme/secret-store@${r.int(9)}.${r.int(9)}.${r.int(9)}: use @acme/vault`,
  (r) =>
    `upload of s3://backups/2026/11/21/db-${r.text(HEX, 8)}.dump.gz finished, versionId=${r.text(ALNUM + "._", 32)}`,
];

function stamp(random: Seeded): string {
  return `2026-11-${10 + random.int(20)}T${10 + random.int(13)}:${pad(random)}:${pad(random)}.${100 + random.int(899)}Z`;
}

function pad(random: Seeded): string {
  return String(10 + random.int(49));
}

function uuid(random: Seeded): string {
  return [8, 4, 4, 4, 12].map((length) => random.text(HEX, length)).join("-");
}
