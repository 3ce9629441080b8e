#!/usr/bin/env bash
# Signs a file with the Ed25519 key in PRICES_SIGNING_KEY (PEM), into FILE.sig, in hexadecimal digits.
#
#   sign.sh FILE
#
# Once:  openssl genpkey -algorithm ed25519 -out prices.pem
#        openssl pkey -in prices.pem -pubout -outform DER | tail -c 32 | od -An -v -tx1 | tr -d ' \n' >prices.key
# The first file is the secret; users pass the second one to `--key`.
set -euo pipefail

temporary=${TMPDIR:-/tmp}
# Removes directories that killed runs left. `find` does not treat links as directories.
find "$temporary" -maxdepth 1 -type d -user "$(id -u)" -name "gpulint-sign.??????" -mmin +60 -exec rm -rf {} + 2>/dev/null || true
work=$(mktemp -d "$temporary/gpulint-sign.XXXXXX")
trap 'rm -rf "$work"' EXIT
(umask 077 && printf '%s\n' "$PRICES_SIGNING_KEY" >"$work/key.pem")
openssl pkeyutl -sign -rawin -inkey "$work/key.pem" -in "$1" -out "$work/sig"
od -An -v -tx1 "$work/sig" | tr -d ' \n' >"$1.sig"
