#!/bin/sh
# Made the certificates in this folder, once, with OpenSSL 3.0: an authority, and hosts.pem for the hosts that clients are seen to reach
# through a proxy. The authority's key is not kept.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
new_key() { openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1"; }
new_key "$work/authority-key.pem"
new_key key.pem
openssl req -x509 -new -key "$work/authority-key.pem" -subj "/CN=Watchkeeper proxy test authority" -days 36500 -out authority.pem
cat > "$work/extensions" <<END
subjectAltName = DNS:*.shop.test, DNS:api.anthropic.com, DNS:api.openai.com, DNS:*.openai.azure.com, DNS:*.us-east-1.amazonaws.com, DNS:*.googleapis.com, DNS:slack.com, DNS:*.slack.com, DNS:discord.com, DNS:gateway.discord.gg, IP:93.184.216.34
END
openssl req -new -key key.pem -subj "/CN=hosts" -out "$work/request.pem"
openssl x509 -req -in "$work/request.pem" -CA authority.pem -CAkey "$work/authority-key.pem" -days 36500 \
  -extfile "$work/extensions" -out hosts.pem 2> /dev/null
