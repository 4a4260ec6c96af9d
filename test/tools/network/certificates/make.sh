#!/bin/sh
# Made the certificates in this folder, once, with OpenSSL 3.0. All of them share key.pem; the authority's key is not kept.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

new_key() { openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1"; }

# sign <file> <common name> <subjectAltName> <from> <to> <key> <how to sign>...
sign() {
  cat > "$work/ca.cnf" <<END
[ca]
default_ca = authority
[authority]
new_certs_dir = $work
database = $work/index.txt
serial = $work/serial
default_md = sha256
policy = policy
x509_extensions = extensions
[policy]
commonName = supplied
[extensions]
$3
END
  file=$1 name=$2 from=$4 to=$5 key=$6
  shift 6
  : > "$work/index.txt"
  openssl rand -hex 8 > "$work/serial"
  openssl req -new -key "$key" -subj "/CN=$name" -out "$work/request.pem"
  openssl ca -batch -notext -config "$work/ca.cnf" -in "$work/request.pem" \
    -startdate "$from" -enddate "$to" -out "$file" "$@" 2> /dev/null
}

new_key "$work/authority-key.pem"
new_key key.pem
by_authority="-cert authority.pem -keyfile $work/authority-key.pem"
local="subjectAltName = DNS:localhost, IP:127.0.0.1"
sign authority.pem "Watchkeeper test authority" "basicConstraints = critical, CA:true" \
  20200101000000Z 21200101000000Z "$work/authority-key.pem" -selfsign -keyfile "$work/authority-key.pem"
sign self-signed.pem localhost "$local" 20200101000000Z 21200101000000Z key.pem -selfsign -keyfile key.pem
# shellcheck disable=SC2086
{
  sign valid.pem localhost "$local" 20200101000000Z 21200101000000Z key.pem $by_authority
  sign expired.pem localhost "$local" 20190101000000Z 20200101000000Z key.pem $by_authority
  sign not-yet-valid.pem localhost "$local" 21190101000000Z 21200101000000Z key.pem $by_authority
  sign other-name.pem shop.example "subjectAltName = DNS:shop.example, DNS:*.shop.example" \
    20200101000000Z 21200101000000Z key.pem $by_authority
}
