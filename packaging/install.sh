#!/bin/sh
# Installs the released binary of one version, or builds the sources that this file lies in where there is no release.
#
#   sh install.sh          or   curl -fsSL https://github.com/OWNER/NAME/releases/download/vVERSION/install.sh | sh
#
# A binary is installed only if something vouches for it: the checksums that lie in these sources (packaging/checksums/VERSION.txt,
# in the commit that a release tags), those that this file itself holds where it is one of a release, or else the attestation of
# the workflow that built it on the branch `main`, which `gh` verifies. The list of checksums beside the files is not asked: whoever
# can replace the files can replace it. That holds for the copy of this file in a release, too. If the release's word is not enough,
# take this file from the tagged commit, or verify the copy first: docs/install.md has the command.
#
#   GPULINT_VERSION     default: the version of this file
#   GPULINT_REPOSITORY  owner/name of the releases; without it there is nothing to download from
#   GPULINT_DOWNLOAD    where the files of a release lie, for a mirror: https:// or file://, and http:// of this machine
#   GPULINT_CHECKSUMS   a file of checksums of your own, instead of those here
#   GPULINT_INSTALL     directory for the binary, default: $RUNNER_TEMP/gpulint/bin, else ~/.local/bin
set -eu

# What `pack.sh` fills in for the copy in a release.
own_version=''
own_repository=''
own_checksums=''

source=''
case $own_version/$0 in
  # Neither through a pipe nor from a release: it lies in sources.
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

# The runner forgets the name of the action inside its own steps; the path that it checked the action out to tells it.
repository() {
  if [ -n "${GPULINT_REPOSITORY:-$own_repository}" ]; then
    echo "${GPULINT_REPOSITORY:-$own_repository}"
  else
    printf '%s\n' "$source" | tr '\134' / | sed -n 's|.*/_actions/\([^/]*/[^/]*\)/.*|\1|p'
  fi
}

# That a release is not there is no error; that it cannot be reached is one.
download() {
  code=0
  protocols='=https,file'
  # What is downloaded is not trusted for its way; nobody listens between this machine and itself all the same.
  case $1 in http://127.0.0.1:* | http://localhost:*) protocols='=http' ;; esac
  if have curl; then
    status=$(curl --fail --silent --location --proto "$protocols" --proto-redir '=https' --retry 3 \
      --connect-timeout 10 --max-time 120 --write-out '%{http_code}' --output "$2" "$1") || code=$?
  elif have wget; then
    status=
    wget -q -T 120 -O "$2" "$1" || code=$?
  else
    fail "neither curl nor wget is here to download with"
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

# The list that vouches for a version, and what people call it.
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

# Fails the run unless something vouches for the file of a release.
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
    # Without the ref, a release workflow that somebody changed on another branch would vouch too.
    gh attestation verify "$2" --repo "$repository" --signer-workflow "$repository/.github/workflows/release.yml" \
      --source-ref refs/heads/main --deny-self-hosted-runners >&2 ||
      fail "$name has no attestation of the release workflow on the branch main of $repository: it is not installed." \
        "An old \`gh\` does not know the branch of an attestation: use 2.67.0 or newer"
    say "$name has an attestation of the release workflow on the branch main of $repository"
    return
  fi
  fail "nothing vouches for $name: there are no checksums of $1 here, and there is no \`gh\` to verify its" \
    "attestation. Pin the commit that the release tags, name checksums by GPULINT_CHECKSUMS, or build it: cargo install --locked gpulint"
}

# A program that runs is not written over: it is replaced.
replace() {
  is_there=
  for file in "$1"/gpulint "$1"/gpulint.exe; do
    [ -f "$file" ] || continue
    is_there=1
    new=$install/.$(basename "$file").$$
    if ! { cp "$file" "$new" && chmod 755 "$new" && mv -f "$new" "$install/$(basename "$file")"; }; then
      rm -f "$new"
      fail "$install cannot be written; name another directory by GPULINT_INSTALL"
    fi
  done
  # An attestation vouches for bytes and not for their name: the archive of an earlier release, renamed, holds another directory.
  [ -n "$is_there" ] || fail "$(basename "$1").tar.gz holds no program of this version: it is not installed"
}

from=${GPULINT_DOWNLOAD:-}

# Succeeds when the binary is there; fails the run when it is there but nothing vouches for it.
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
  # What runs left behind that were killed; links are no directories to `find`.
  find "$temporary" -maxdepth 1 -type d -user "$(id -u)" -name "gpulint-install.??????" -mmin +60 -exec rm -rf {} + 2>/dev/null || true
  # The caller tests the result of this function, so `set -e` does not hold in here.
  work=$(mktemp -d "$temporary/gpulint-install.XXXXXX") || fail "$temporary cannot be written; name another directory by TMPDIR"
  # shellcheck disable=SC2064 # the directory of now is meant
  trap "rm -rf '$work'" EXIT
  download "$from/$archive.tar.gz" "$work/$archive.tar.gz" || return 1
  verify "$1" "$work/$archive.tar.gz"
  mkdir -p "$install" || fail "$install cannot be made; name another directory by GPULINT_INSTALL"
  tar -xzf "$work/$archive.tar.gz" -C "$work" || fail "$archive.tar.gz cannot be unpacked: it is not installed"
  replace "$work/$archive"
  say "installed the release $1 for $target in $install"
}

from_source() {
  machine="$(uname -s) on $(uname -m)"
  if [ -z "$source" ] || [ ! -f "$source/Cargo.toml" ]; then
    [ -z "$(target)" ] || fail "there is no release $1 at ${from:-any place that is known: name one by GPULINT_REPOSITORY}"
    fail "there is no release for $machine: releases are for Linux and macOS on x86-64 and ARM, and for Windows on x86-64;" \
      "with Rust: cargo install --locked gpulint"
  fi
  have cargo || fail "there is no release $1 for $machine, and no cargo to build it with"
  say "there is no release $1 for $machine: building it"
  mkdir -p "$install" || fail "$install cannot be made; name another directory by GPULINT_INSTALL"
  root=$(cd "$install/.." && pwd)
  # Both rustup and cargo obey files of the directory that they are called from, and of those above it: a pull request may have
  # written them.
  (cd "$source" && cargo install --quiet --locked --path . --root "$root" --force >&2)
}

# Whether a shell will find what was installed, and not another one before it.
tell_path() {
  found=$(command -v gpulint 2>/dev/null || true)
  case $found in
    "$install"/gpulint*) ;;
    '') say "$install is not on your PATH; in your shell's profile: export PATH=\"$install:\$PATH\"" ;;
    *) say "your shell finds another one first: $found" ;;
  esac
}

# All of it is read before any of it runs, should the pipe break off.
main() {
  [ $# -eq 0 ] || fail "it takes no arguments; GPULINT_VERSION and GPULINT_INSTALL say which version and where to"
  version=${GPULINT_VERSION:-}
  version=${version:-${own_version:-$(source_version)}}
  version=${version#v}
  [ -n "$version" ] || fail "which version? GPULINT_VERSION says it; \`install.sh\` of a release knows its own"
  case $version in
    [!0-9]* | *[!0-9A-Za-z.+-]*) fail "\`$version\` is no version" ;;
  esac
  install=${GPULINT_INSTALL:-${RUNNER_TEMP:+$RUNNER_TEMP/gpulint/bin}}
  [ -n "$install" ] || [ -n "${HOME:-}" ] || fail "HOME is not set: name a directory for the program by GPULINT_INSTALL"
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
