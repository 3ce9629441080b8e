#!/usr/bin/env bash
# Creates the commit that a release tags: the sources of the build, with the checksums of its files.
#
#   seal.sh SHA256SUMS
#
# The build does not depend on the checksums, so the sources can contain them. A user who pins the Action to this commit
# also pins the bytes that it installs. The list must name every file in its directory. Commits and tags in the working tree's
# repository, pushes nothing, and prints the commit.
set -euo pipefail

sums=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
version=$(sed -n 's/^version = "\(.*\)"$/\1/p;/^version = /q' Cargo.toml)

fail() { printf 'gpulint: %s\n' "$*" >&2; exit 2; }
[ -z "$(git status --porcelain --untracked-files=no)" ] || fail "there are uncommitted changes: commit or stash them"
if git rev-parse --quiet --verify "refs/tags/v$version" >/dev/null; then fail "v$version already has a tag"; fi
directory=$(dirname "$sums")
grep -q "  gpulint-$version-" "$sums" || fail "$1 lists no file of $version"
if grep -Evq '^[0-9a-f]{64}  [A-Za-z0-9._+-]+$' "$sums"; then fail "$1 is not a list of checksums"; fi
listed=$(cut -c 67- "$sums" | LC_ALL=C sort)
there=$(cd "$directory" && find . ! -name . ! -name "$(basename "$sums")" | sed 's|^\./||' | LC_ALL=C sort)
[ "$listed" = "$there" ] || fail "$1 does not list the files in its directory: $(printf '%s\n' "$listed" "$there" | sort | uniq -u | tr '\n' ' ')"
if command -v sha256sum >/dev/null; then check=sha256sum; else check="shasum -a 256"; fi
(cd "$directory" && $check --check "$sums" >/dev/null 2>&1) || fail "$1 lists a checksum that its file does not have"

file=packaging/checksums/$version.txt
mkdir -p packaging/checksums
cp "$sums" "$file"
git add "$file"
git -c user.name='github-actions[bot]' -c user.email='41898282+github-actions[bot]@users.noreply.github.com' \
  -c commit.gpgsign=false commit --quiet --message "Add the checksums of $version"
git -c tag.gpgsign=false tag "v$version"
git rev-parse HEAD
