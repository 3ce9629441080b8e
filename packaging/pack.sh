#!/usr/bin/env bash
# Turns built programs into the files of a release.
#
#   pack.sh BINARIES OUT NATIVE REPOSITORY [LICENCES]
#
# BINARIES has one directory per target with its program. NATIVE is the program that runs on this machine and writes
# completions and manual pages. REPOSITORY is owner/name, for the formula. LICENCES is the output of licences.py: all of it goes into
# each archive, and its bill of materials is also a file of the release. Wheels and extensions are already in OUT.
#
# Files contain checksums of other files, so the order is: archives, then the formula, the container file and the installer with the
# checksums of the archives, and finally SHA256SUMS, which lists every other file in OUT.
#
# The same programs give the same bytes: files have the date of SOURCE_DATE_EPOCH, or of the packed commit.
set -euo pipefail

binaries=$(cd "$1" && pwd)
mkdir -p "$2"
out=$(cd "$2" && pwd)
native=$3
repository=$4
licences=${5:-}
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
version=$(sed -n 's/^version = "\(.*\)"$/\1/p;/^version = /q' "$source/Cargo.toml")

epoch=${SOURCE_DATE_EPOCH:-$(git -C "$source" log -1 --format=%ct 2>/dev/null || echo 0)}

temporary=${TMPDIR:-/tmp}
# Removes directories that killed runs left. `find` does not treat links as directories.
find "$temporary" -maxdepth 1 -type d -user "$(id -u)" -name "gpulint-pack.??????" -mmin +60 -exec rm -rf {} + 2>/dev/null || true
work=$(mktemp -d "$temporary/gpulint-pack.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/completions" "$work/man"
for shell in bash zsh fish powershell elvish; do
  "$native" completions "$shell" >"$work/completions/gpulint.$shell"
done
"$native" manual "$work/man"

sha256() {
  if command -v sha256sum >/dev/null; then sha256sum "$@"; else shasum -a 256 "$@"; fi
}

# Fixed order, date, owner and mode, which would otherwise depend on this machine.
archive() {
  if tar --version 2>/dev/null | grep -q GNU; then
    tar --sort=name --mtime="@$epoch" --owner=0 --group=0 --numeric-owner --mode=go=rX,u+rw --format=ustar -cf - -C "$1" "$2"
  else
    tar -cf - -C "$1" "$2"
  fi | gzip -9n
}

for directory in "$binaries"/*/; do
  target=$(basename "$directory")
  name=gpulint-$version-$target
  mkdir "$work/$name"
  cp "$directory"/gpulint* "$work/$name/"
  for file in "$source"/LICENSE-* "$source"/README.md "$source"/CHANGELOG.md ${licences:+"$licences"/*}; do
    if [ -e "$file" ]; then cp "$file" "$work/$name/"; fi
  done
  cp -R "$work/completions" "$work/man" "$work/$name/"
  chmod +x "$work/$name"/gpulint*
  archive "$work" "$name" >"$out/$name.tar.gz"
done

# Lists files of OUT with their checksums, in the same order on every machine.
list() {
  (cd "$out" && find . -maxdepth 1 -type f "$@" | sed 's|^\./||' | LC_ALL=C sort | while read -r file; do
    sha256 "$file" | sed 's/ \*/  /'
  done)
}
list -name "gpulint-$version-*.tar.gz" >"$work/archives"

# The first line of a template marks it as a template.
fill() {
  local text
  text=$(sed 1d "$1")
  text=${text//@VERSION@/$version}
  text=${text//@REPOSITORY@/$repository}
  while read -r sum file; do
    file=${file#"gpulint-$version-"}
    text=${text//"@SHA256:${file%.tar.gz}@"/$sum}
  done <"$work/archives"
  printf '%s\n' "$text"
}
fill "$source/packaging/gpulint.rb" >"$out/gpulint.rb"
fill "$source/packaging/Containerfile" >"$out/Containerfile"

# The installer of a release contains its version and the checksums of its archives.
text=$(cat "$source/packaging/install.sh")
text=${text/"own_version=''"/"own_version='$version'"}
text=${text/"own_repository=''"/"own_repository='$repository'"}
text=${text/"own_checksums=''"/"own_checksums='$(cat "$work/archives")'"}
printf '%s\n' "$text" >"$out/install.sh"

if [ -n "$licences" ]; then cp "$licences/gpulint.cdx.json" "$out/"; fi
rm -f "$out/SHA256SUMS"
list >"$work/SHA256SUMS"
cp "$work/SHA256SUMS" "$out/"
