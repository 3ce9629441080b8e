#!/bin/sh
# Installs the released binary of one version. If there is no release, it builds the sources that contain this file.
#
#   sh install.sh          or   curl -fsSL https://github.com/OWNER/NAME/releases/download/vVERSION/install.sh | sh
#
# A binary is installed only if one of these verifies it: the checksums in these sources (packaging/checksums/VERSION.txt, in the
# commit that a release tags), the checksums inside this file if it is from a release, or the attestation of the workflow that
# built it on the branch `main`, which `gh` verifies. The list of checksums next to the files is not used, because anyone who can
# replace the files can replace the list. This is also true of the copy of this file in a release. If you do not trust the release,
# take this file from the tagged commit, or verify the copy first: docs/install.md has the command.
#
#   GPULINT_VERSION     default: the version of this file
#   GPULINT_REPOSITORY  owner/name of the releases; without it, nothing can be downloaded
#   GPULINT_DOWNLOAD    the address of a release's files, for a mirror: https:// or file://, and http:// for this machine only
#   GPULINT_CHECKSUMS   a checksum file of yours, instead of those here
#   GPULINT_INSTALL     directory for the binary; default: $RUNNER_TEMP/gpulint/bin, or else ~/.local/bin
set -eu

# `pack.sh` fills these in for the copy in a release.
own_version=''
own_repository=''
own_checksums=''

source=''
case $own_version/$0 in
  # This file is neither piped nor from a release, so it is part of the sources.
  /*install.sh) source=$(cd "$(dirname "$0")/.." && pwd) ;;
esac
server=${GITHUB_SERVER_URL:-https://github.com}

say() { printf 'gpulint: %s\n' "$*" >&2; }
fail() { say "$*"; exit 2; }
have() { command -v "$1" >/dev/null 2>&1; }

source_version() {
  if [ -n "$source" ] && [ -f "$source/Cargo.toml" ]; then
    sed -n 's/^version = "\([0-9][0-9A-Za-z.+-]*\)"$/\1/p;/^version = /q' "$source/Cargo.toml"
  fi
}

target() {
  case "$(uname -s)/$(uname -m)" in
    Linux/x86_64 | Linux/amd64) echo x86_64-unknown-linux-musl ;;
    Linux/aarch64 | Linux/arm64) echo aarch64-unknown-linux-musl ;;
    Darwin/x86_64) echo x86_64-apple-darwin ;;
    Darwin/arm64) echo aarch64-apple-darwin ;;
    MINGW*/x86_64 | MSYS*/x86_64 | CYGWIN*/x86_64) echo x86_64-pc-windows-msvc ;;
  esac
}

# The runner does not set the name of the action in its steps, but the path of its checkout contains the name.
repository() {
  if [ -n "${GPULINT_REPOSITORY:-$own_repository}" ]; then
    echo "${GPULINT_REPOSITORY:-$own_repository}"
  else
    printf '%s\n' "$source" | tr '\134' / | sed -n 's|.*/_actions/\([^/]*/[^/]*\)/.*|\1|p'
  fi
}

# A missing release is not an error. An unreachable server is one.
download() {
  code=0
  protocols='=https,file'
  # Downloads are verified in any case. Plain http is allowed only to this machine, where no one can listen in between.
  case $1 in http://127.0.0.1:* | http://localhost:*) protocols='=http' ;; esac
  if have curl; then
    status=$(curl --fail --silent --location --proto "$protocols" --proto-redir '=https' --retry 3 \
      --connect-timeout 10 --max-time 120 --write-out '%{http_code}' --output "$2" "$1") || code=$?
  elif have wget; then
    status=
    wget -q -T 120 -O "$2" "$1" || code=$?
  else
    fail "neither curl nor wget is installed: install one of them"
  fi
  case $code/$status in
    0/*) return 0 ;;
    22/404 | 37/*) return 1 ;;
    *) fail "$1 cannot be downloaded (${status:+status $status, }code $code)" ;;
  esac
}

sha256() {
  if have sha256sum; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1
}

# Sets the checksums of a version, and the name of their source.
checksums() {
  if [ -n "${GPULINT_CHECKSUMS:-}" ]; then
    place=$GPULINT_CHECKSUMS
    sums=$(cat "$place") || fail "$place cannot be read"
  elif [ -n "$own_checksums" ] && [ "$1" = "$own_version" ]; then
    place="this script"
    sums=$own_checksums
  elif [ -n "$source" ] && [ -f "$source/packaging/checksums/$1.txt" ]; then
    place=$source/packaging/checksums/$1.txt
    sums=$(cat "$place")
  else
    place=
  fi
}

# Fails unless checksums or an attestation verify the file of a release.
verify() {
  name=$(basename "$2")
  checksums "$1"
  if [ -n "$place" ]; then
    expected=$(printf '%s\n' "$sums" | tr -d '\r' | awk -v name="$name" '$2 == name || $2 == "*" name { print $1 }')
    [ -n "$expected" ] || fail "$place lists no checksum for $name"
    [ "$(sha256 "$2")" = "$expected" ] || fail "$name does not have the checksum that $place lists: it is not installed"
    say "$name has the checksum that $place lists"
    return
  fi
  repository=$(repository)
  if [ -n "$repository" ] && have gh; then
    # Without the ref, a changed release workflow on another branch would be accepted, too.
    gh attestation verify "$2" --repo "$repository" --signer-workflow "$repository/.github/workflows/release.yml" \
      --source-ref refs/heads/main --deny-self-hosted-runners >&2 ||
      fail "$name has no attestation of the release workflow on the branch main of $repository: it is not installed." \
        "An old \`gh\` cannot check the branch of an attestation: use 2.67.0 or newer"
    say "$name has an attestation of the release workflow on the branch main of $repository"
    return
  fi
  fail "$name cannot be verified: there are no checksums of $1 here, and no \`gh\` to verify its attestation." \
    "Pin the commit that the release tags, set GPULINT_CHECKSUMS, or build it: cargo install --locked gpulint"
}

# Replaces the file of a running program, because the file cannot be overwritten.
replace() {
  is_there=
  for file in "$1"/gpulint "$1"/gpulint.exe; do
    [ -f "$file" ] || continue
    is_there=1
    new=$install/.$(basename "$file").$$
    if ! { cp "$file" "$new" && chmod 755 "$new" && mv -f "$new" "$install/$(basename "$file")"; }; then
      rm -f "$new"
      fail "$install cannot be written: set GPULINT_INSTALL to another directory"
    fi
  done
  # An attestation verifies bytes and not their name. A renamed archive of an earlier release contains another directory.
  [ -n "$is_there" ] || fail "$(basename "$1").tar.gz does not contain this version: it is not installed"
}

from=${GPULINT_DOWNLOAD:-}

# Succeeds if the binary is installed. Exits if a binary exists but cannot be verified.
from_release() {
  target=$(target)
  [ -n "$target" ] || return 1
  archive=gpulint-$1-$target
  if [ -z "$from" ]; then
    repository=$(repository)
    [ -n "$repository" ] || return 1
    from=$server/$repository/releases/download/v$1
  fi
  temporary=${TMPDIR:-/tmp}
  # Removes directories that killed runs left. `find` does not treat links as directories.
  find "$temporary" -maxdepth 1 -type d -user "$(id -u)" -name "gpulint-install.??????" -mmin +60 -exec rm -rf {} + 2>/dev/null || true
  # The caller tests the result of this function, so `set -e` has no effect here.
  work=$(mktemp -d "$temporary/gpulint-install.XXXXXX") || fail "$temporary cannot be written: set TMPDIR to another directory"
  # shellcheck disable=SC2064 # the directory of now is meant
  trap "rm -rf '$work'" EXIT
  download "$from/$archive.tar.gz" "$work/$archive.tar.gz" || return 1
  verify "$1" "$work/$archive.tar.gz"
  mkdir -p "$install" || fail "$install cannot be created: set GPULINT_INSTALL to another directory"
  tar -xzf "$work/$archive.tar.gz" -C "$work" || fail "$archive.tar.gz cannot be unpacked: it is not installed"
  replace "$work/$archive"
  say "installed release $1 for $target in $install"
}

from_source() {
  machine="$(uname -s) on $(uname -m)"
  if [ -z "$source" ] || [ ! -f "$source/Cargo.toml" ]; then
    [ -z "$(target)" ] || fail "there is no release $1 at ${from:-a known address: set GPULINT_REPOSITORY}"
    fail "there is no release for $machine: releases are for Linux and macOS on x86-64 and ARM, and for Windows on x86-64;" \
      "with Rust: cargo install --locked gpulint"
  fi
  have cargo || fail "there is no release $1 for $machine, and no cargo to build it: install Rust from https://rustup.rs"
  say "there is no release $1 for $machine: building it"
  mkdir -p "$install" || fail "$install cannot be created: set GPULINT_INSTALL to another directory"
  root=$(cd "$install/.." && pwd)
  # rustup and cargo read settings from the current directory and its parents, which a pull request may have changed.
  (cd "$source" && cargo install --quiet --locked --path . --root "$root" --force >&2)
}

# Reports whether a shell will find the installed program, and not another one.
tell_path() {
  found=$(command -v gpulint 2>/dev/null || true)
  case $found in
    "$install"/gpulint*) ;;
    '') say "$install is not on your PATH; in your shell's profile: export PATH=\"$install:\$PATH\"" ;;
    *) say "your shell finds another gpulint first: $found" ;;
  esac
}

# The shell reads this whole function before it runs, in case a pipe breaks.
main() {
  [ $# -eq 0 ] || fail "install.sh takes no arguments: set GPULINT_VERSION and GPULINT_INSTALL"
  version=${GPULINT_VERSION:-}
  version=${version:-${own_version:-$(source_version)}}
  version=${version#v}
  [ -n "$version" ] || fail "no version is set: set GPULINT_VERSION, or use the \`install.sh\` of a release"
  case $version in
    [!0-9]* | *[!0-9A-Za-z.+-]*) fail "\`$version\` is not a version" ;;
  esac
  install=${GPULINT_INSTALL:-${RUNNER_TEMP:+$RUNNER_TEMP/gpulint/bin}}
  [ -n "$install" ] || [ -n "${HOME:-}" ] || fail "HOME is not set: set GPULINT_INSTALL to a directory for the program"
  install=${install:-$HOME/.local/bin}
  if ! from_release "$version"; then
    [ -z "$(source_version)" ] || [ "$version" = "$(source_version)" ] || fail "there is no release $version for this machine"
    [ "$(basename "$install")" = bin ] || install=$install/bin
    from_source "$version"
  fi
  if [ -n "${GITHUB_PATH:-}" ]; then
    if have cygpath; then cygpath -w "$install"; else echo "$install"; fi >>"$GITHUB_PATH"
  else
    tell_path
  fi
  "$install/gpulint" --version >&2
}

main "$@"
