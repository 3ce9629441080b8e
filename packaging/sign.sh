#!/usr/bin/env bash
# Signs a file with each Ed25519 key in PRICES_SIGNING_KEY (PEM), into FILE.sig: a line of hexadecimal digits for each key.
#
#   sign.sh FILE
#
# Once:  openssl genpkey -algorithm ed25519 -out prices.pem
#        openssl pkey -in prices.pem -pubout -outform DER | tail -c 32 | od -An -v -tx1 | tr -d ' \n' >prices.key
# The first file is the secret PRICES_SIGNING_KEY of the environment `prices`. The line of the second one belongs in prices.keys,
# or users pass the file to `--key`.
# To replace a key, put the new PEM behind the old one in the secret, until no version in use knows only the old one.
set -euo pipefail

temporary=${TMPDIR:-/tmp}
# Removes directories that killed runs left. `find` does not treat links as directories.
find "$temporary" -maxdepth 1 -type d -user "$(id -u)" -name "gpulint-sign.??????" -mmin +60 -exec rm -rf {} + 2>/dev/null || true
work=$(mktemp -d "$temporary/gpulint-sign.XXXXXX")
trap 'rm -rf "$work"' EXIT
(umask 077 && printf '%s\n' "$PRICES_SIGNING_KEY" | awk -v work="$work" '/-----BEGIN/ { n++ } n { print >(work "/" n ".pem") }')
: >"$work/signatures"
for key in "$work"/*.pem; do
  openssl pkeyutl -sign -rawin -inkey "$key" -in "$1" -out "$work/sig"
  od -An -v -tx1 "$work/sig" | tr -d ' \n' >>"$work/signatures"
  echo >>"$work/signatures"
done
mv "$work/signatures" "$1.sig"
