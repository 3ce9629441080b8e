#!/usr/bin/env bash
# Updates the recipes in README.md and docs: the installed version, and the commit of the Action and the hooks. Also writes the
# version into the files of gpulint-fleet and of the extension for Zed.
#
#   pin.sh COMMIT    the commit that the release of this version tags
#   pin.sh           a placeholder, because no commit is known before the release
#
# A commit cannot contain its own hash, so the tagged commit has the placeholder, and the next commit has the hash.
# The program contains the recipe of `gpulint init`, so that recipe uses the tag.
set -euo pipefail

fail() { printf 'gpulint: %s\n' "$*" >&2; exit 2; }
[ $# -le 1 ] || fail "pin.sh takes one commit, or no argument"
commit=${1:-'<commit of the release>'}
if [ $# -eq 1 ] && ! [[ $commit =~ ^[0-9a-f]{40}$ ]]; then fail "\`$commit\` is not the full hash of a commit"; fi

cd "$(dirname "${BASH_SOURCE[0]}")/.."
version=$(sed -n 's/^version = "\(.*\)"$/\1/p;/^version = /q' Cargo.toml)
number='[0-9][0-9A-Za-z.+-]*'

written=$(mktemp "${TMPDIR:-/tmp}/gpulint-pin.XXXXXX")
trap 'rm -f "$written"' EXIT
for page in README.md docs/*.md docs/ci/*.md fleet/pyproject.toml fleet/gpulint_fleet/__init__.py fleet/manifests/* editors/zed/*.toml; do
  [ -f "$page" ] || continue
  sed -E \
    -e "s~(gpulint/gpulint@)[^#@]+ # v$number~\1$commit # v$version~" \
    -e "s~(gpulint/gpulint@)v$number~\1v$version~" \
    -e "s~(rev: )[^#]+ # frozen: v$number~\1$commit # frozen: v$version~" \
    -e "s~(gpulint==|gpulint-fleet==|gpulint-fleet\[ray\]==|gpulint-fleet:)$number~\1$version~g" \
    -e "s~(gpulint-vscode-)[0-9][0-9.]*-~\1$version-~" \
    -e "s~^((__)?version(__)? = \")$number\"~\1$version\"~" \
    -e "s~(/gpulint/gpulint/releases/download/|refs/tags/)v$number~\1v$version~" \
    "$page" >"$written"
  cmp -s "$written" "$page" || cat "$written" >"$page"
done
