#!/usr/bin/env bash
# Writes into the recipes of README.md and docs/ci which version they install, and which commit of the Action and the hooks they run.
#
#   pin.sh COMMIT    the commit that the release of this version tags
#   pin.sh           a placeholder: before the release no commit is known
#
# A commit cannot hold its own hash, so the commit that a release tags shows the placeholder, and a commit above it the hash.
# `gpulint init` writes a recipe that the program holds, so that one keeps the tag.
set -euo pipefail

fail() { printf 'gpulint: %s\n' "$*" >&2; exit 2; }
[ $# -le 1 ] || fail "it takes one commit, or nothing"
commit=${1:-'<commit of the release>'}
if [ $# -eq 1 ] && ! [[ $commit =~ ^[0-9a-f]{40}$ ]]; then fail "\`$commit\` is no full hash of a commit"; fi

cd "$(dirname "${BASH_SOURCE[0]}")/.."
version=$(sed -n 's/^version = "\(.*\)"$/\1/p;/^version = /q' Cargo.toml)
number='[0-9][0-9A-Za-z.+-]*'

written=$(mktemp "${TMPDIR:-/tmp}/gpulint-pin.XXXXXX")
trap 'rm -f "$written"' EXIT
for page in README.md docs/ci/*.md; do
  sed -E \
    -e "s~(gpulint/gpulint@)[^#@]+ # v$number~\1$commit # v$version~" \
    -e "s~(gpulint/gpulint@)v$number~\1v$version~" \
    -e "s~(rev: )[^#]+ # frozen: v$number~\1$commit # frozen: v$version~" \
    -e "s~(gpulint==)$number~\1$version~" \
    -e "s~(/gpulint/gpulint/releases/download/|refs/tags/)v$number~\1v$version~" \
    "$page" >"$written"
  cmp -s "$written" "$page" || cat "$written" >"$page"
done
