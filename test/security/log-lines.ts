import type { Seeded } from "../core/seeded.ts";

const LOWER = "abcdefghijklmnopqrstuvwxyz";
const DIGITS = "0123456789";
const ALNUM = LOWER + LOWER.toUpperCase() + DIGITS;
const HEX = "0123456789abcdef";
const BASE64 = `${ALNUM}+/`;

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
  (r) =>
    `  # aws_db_instance.main will be updated in-place ~ password = (sensitive value) ~ engine_version = "16.${r.int(9)}"`,
  () => `	ssl.keystore.password = null`,
  () => `	sasl.jaas.config = [hidden]`,
  () => `	ssl.key.password = null ssl.keystore.type = JKS`,
  () => `env: TOKEN: *** GITHUB_TOKEN: ***`,
  (r) =>
    `Warning  FailedMount  kubelet  MountVolume.SetUp failed for volume "kube-api-access-${r.text(LOWER, 5)}" : failed to fetch token: serviceaccounts "web" is forbidden`,
  () =>
    `kubectl get secret --namespace prod grafana -o jsonpath="{.data.admin-password}" | base64 --decode ; echo`,
  (r) => `vault kv get secret/data/prod/web version=${r.int(20)}`,
  (r) =>
    `cert-manager: Issuing certificate as Secret does not exist, secret_name=web-tls-${r.text(LOWER, 4)}`,
  () => `oauth2: cannot fetch token: 401 Unauthorized Response: {"error":"invalid_client"}`,
  (r) =>
    `arn:aws:sts::${r.text(DIGITS, 12)}:assumed-role/web-role/i-0${r.text(HEX, 16)} is not authorized`,
  (r) =>
    `[${stamp(r)}] "POST /token HTTP/2" 200 - via_upstream - "-" ${r.int(900)} ${r.int(900)} 12 11 "-" "${uuid(r)}" "auth:8080" "10.1.2.3:8080" outbound|8080||auth.prod.svc.cluster.local`,
  (r) => `Session ${uuid(r)} token refreshed for client ${r.text(ALNUM, 20)}`,
  (r) =>
    `GC(${r.int(999)}) Pause Young (Normal) (G1 Evacuation Pause) ${r.int(999)}M->${r.int(99)}M(1024M) ${r.int(99)}.123ms`,
  () => `LOG:  statement: SELECT id, password_hash, token_version FROM users WHERE id = $1`,
  (r) => `DETAIL:  parameters: $1 = '${uuid(r)}', $2 = '2026-11-21'`,
  (r) =>
    `systemd[1]: Started Session ${r.int(9999)} of User ops. pam_unix(su:session): session opened`,
  (r) => `keepalived: VRRP authentication type: PASS key mismatch on vrid ${r.int(99)}`,
  (r) => `FAILED - RETRYING: wait for secret web-env (${r.int(9)} retries left).`,
  (r) =>
    `docker-proxy -proto tcp -host-ip 0.0.0.0 -host-port ${r.int(65535)} -container-ip 172.17.0.2 -container-port 5432`,
  (r) =>
    `docker run -d -p ${r.int(65535)}:80 --name web nginx:1.27 && docker login registry.example.com`,
  (r) =>
    `mysqld: ready for connections. Version: '8.0.${r.int(40)}'  socket: '/var/run/mysqld/mysqld.sock'  port: 3306`,
  () => `[Note] mysql -h db1 --port=3306 --protocol tcp: Access denied`,
  (r) =>
    `nginx: [error] 31#31: *${r.int(99999)} upstream timed out, client: 10.0.0.1, request: "POST /login?next=/account/password/reset HTTP/1.1", host: "x"`,
  (r) =>
    `ActionController::InvalidAuthenticityToken (Can't verify CSRF token authenticity.): app/controllers/application_controller.rb:${r.int(99)}`,
  (r) =>
    `Parameters: {"utf8"=>"✓", "authenticity_token"=>"[FILTERED]", "password"=>"[FILTERED]", "page"=>"${r.int(9)}"}`,
  (r) =>
    `jwt malformed: token contains an invalid number of segments, alg=RS256, kid=${r.text(ALNUM, 24)}`,
  (r) => `redis: NOAUTH Authentication required. command=GET key=session:${uuid(r)}`,
  () => `WRONGPASS invalid username-password pair or user is disabled.`,
  (r) =>
    `etcdserver: request "header:<ID:${r.text(DIGITS, 19)} username:\\"root\\" auth_revision:1 > txn:<compare:<key:\\"/registry/secrets/prod/web-env\\" version:${r.int(99)} > " took too long`,
  (r) =>
    `audit: {"verb":"get","objectRef":{"resource":"secrets","namespace":"prod","name":"web-env","apiVersion":"v1"},"user":{"username":"system:serviceaccount:prod:web","uid":"${uuid(r)}"}}`,
  (r) =>
    `Reconciler error controller=ingress secret=prod/db-creds-${r.text(HEX, 6)} token: default-token-${r.text(LOWER + DIGITS, 5)}`,
  (r) => `Created token id ${r.int(9999)} (name=ci) for user svc; expires in 30d`,
  (r) =>
    `key ${r.text(HEX, 40)} expired on 2026-0${1 + r.int(9)}-01; gpg: using RSA key ${r.text(HEX, 40).toUpperCase()}`,
  (r) => `passwd[${r.int(9999)}]: pam_unix(passwd:chauthtok): password changed for ops`,
  (r) =>
    `sshd: Accepted publickey for ops from 10.0.0.1 port ${r.int(60000)} ssh2: RSA SHA256:${r.text(ALNUM, 43)}`,
  (r) =>
    `level=info component=auth msg="api key validated" key_id=ak_${r.text(HEX, 12)} tenant=${r.int(999)}`,
  (r) =>
    `{"eventName":"GetSecretValue","requestParameters":{"secretId":"prod/web"},"eventID":"${uuid(r)}","accessKeyIdUsed":true}`,
  () => `Error: secret: name must be lower-case; got "Web_Env"`,
  (r) => `lexer: expected token: IDENT, got token: "}" at line ${r.int(99)}`,
  (r) => `tokens/s=${r.int(99)}.4 prompt tokens: ${r.int(9999)}, cache key: ${r.text(HEX, 16)}`,
  (r) =>
    `snapshot snap-0${r.text(HEX, 16)} of vol-0${r.text(HEX, 16)} 42% encrypted=true kmsKey=alias/ebs key_arn=arn:aws:kms:eu-west-1:1:key/${uuid(r)}`,
  (r) =>
    `Authorization server metadata fetched from https://auth.example.com/.well-known/openid-configuration in ${r.int(99)}ms`,
  (r) =>
    `x509: certificate signed by unknown authority (possibly because of "crypto/rsa: verification error" while trying to verify candidate authority certificate "ca-${r.text(HEX, 8)}")`,
  () =>
    `Cookie "JSESSIONID" will be soon treated as cross-site cookie against "https://x" because the scheme does not match.`,
  (r) => `cookie_policy=strict cookies=accepted sess_count=${r.int(999)} auth=none basic=false`,
  (r) => `Progress: ${r.int(100)}% [${"#".repeat(20)}] pass=${r.int(300)} fail=0 skip=2`,
  (r) =>
    `PASS test/auth/token.test.ts (${r.int(9)}.1 s) ✓ rejects a wrong password (${r.int(40)} ms)`,
  (r) => `ok ${r.int(99)} - password: rejects empty string`,
  (r) => `go: downloading github.com/golang-jwt/jwt/v5 v5.2.${r.int(9)} h1:${r.text(ALNUM, 43)}=`,
  (r) =>
    `"resolved": "https://packages.example.com/js-tokens-4.0.0.tgz", "integrity": "sha512-${r.text(ALNUM, 86)}=="`,
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
