#!/usr/bin/env bash
# Installs the released binary of one version, or builds the sources that this file lies in where there is no release.
#
# A binary is installed only if something vouches for it that whoever can replace the files of a release cannot replace too:
# the checksums that lie in these sources (packaging/checksums/VERSION.txt, in the commit that a release tags), or else the
# attestation of the workflow that built it, which `gh` verifies. The list of checksums beside the files is not asked.
#
#   GPULINT_VERSION     default: the version of these sources
#   GPULINT_REPOSITORY  owner/name of the releases; without it there is nothing to download from
#   GPULINT_DOWNLOAD    where the files of a release lie, for a mirror; https:// or file://
#   GPULINT_CHECKSUMS   a file of checksums of your own, instead of those in these sources
#   GPULINT_INSTALL     directory for the binary, default: $RUNNER_TEMP/gpulint/bin, else ~/.local/bin
set -euo pipefail

source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
install=${GPULINT_INSTALL:-${RUNNER_TEMP:+$RUNNER_TEMP/gpulint/bin}}
install=${install:-$HOME/.local/bin}
server=${GITHUB_SERVER_URL:-https://github.com}

say() { printf 'gpulint: %s\n' "$*" >&2; }
fail() { say "$*"; exit 2; }

source_version() {
  sed -n 's/^version = "\([0-9][0-9A-Za-z.+-]*\)"$/\1/p;/^version = /q' "$source/Cargo.toml"
}

target() {
  case "$(uname -s)/$(uname -m)" in
    Linux/x86_64) echo x86_64-unknown-linux-musl ;;
    Linux/aarch64 | Linux/arm64) echo aarch64-unknown-linux-musl ;;
    Darwin/x86_64) echo x86_64-apple-darwin ;;
    Darwin/arm64) echo aarch64-apple-darwin ;;
    MINGW*/x86_64 | MSYS*/x86_64) echo x86_64-pc-windows-msvc ;;
    *) echo none ;;
  esac
}

# The runner forgets the name of the action inside its own steps; the path that it checked the action out to tells it.
repository() {
  if [ -n "${GPULINT_REPOSITORY:-}" ]; then
    echo "$GPULINT_REPOSITORY"
  else
    printf '%s\n' "${source//\\//}" | sed -n 's|.*/_actions/\([^/]*/[^/]*\)/.*|\1|p'
  fi
}

# That a release is not there is no error; that it cannot be reached is one.
download() {
  local code=0 status
  status=$(curl --fail --silent --location --proto '=https,file' --proto-redir '=https' --retry 3 \
    --connect-timeout 10 --max-time 120 --write-out '%{http_code}' --output "$2" "$1") || code=$?
  case $code/$status in
    0/*) return 0 ;;
    22/404 | 37/*) return 1 ;;
    *) fail "$1 cannot be downloaded (status $status, curl $code)" ;;
  esac
}

sha256() {
  if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1
}

# Fails the run unless something vouches for the file of a release.
verify() {
  local version=$1 file=$2 name sums repository expected
  name=$(basename "$file")
  sums=${GPULINT_CHECKSUMS:-$source/packaging/checksums/$version.txt}
  if [ -n "${GPULINT_CHECKSUMS:-}" ] || [ -f "$sums" ]; then
    expected=$(tr -d '\r' <"$sums" | awk -v name="$name" '$2 == name || $2 == "*" name { print $1 }')
    [ -n "$expected" ] || fail "$sums lists no checksum for $name"
    [ "$(sha256 "$file")" = "$expected" ] || fail "$name does not have the checksum that $sums lists"
    say "$name has the checksum that $sums lists"
    return
  fi
  repository=$(repository)
  if [ -n "$repository" ] && command -v gh >/dev/null; then
    gh attestation verify "$file" --repo "$repository" \
      --signer-workflow "$repository/.github/workflows/release.yml" --deny-self-hosted-runners >&2 ||
      fail "$name has no attestation of the release workflow of $repository"
    say "$name has an attestation of the release workflow of $repository"
    return
  fi
  fail "nothing vouches for $name: these sources hold no checksums of $version, and there is no \`gh\` to verify its" \
    "attestation. Pin the commit that the release tags, name checksums by GPULINT_CHECKSUMS, or build it: cargo install --locked gpulint"
}

# Succeeds when the binary is there; fails the run when it is there but nothing vouches for it.
from_release() {
  local version=$1 target name place work
  target=$(target)
  name=gpulint-$version-$target.tar.gz
  place=${GPULINT_DOWNLOAD:-}
  if [ -z "$place" ]; then
    local repository
    repository=$(repository)
    [ -n "$repository" ] || return 1
    place=$server/$repository/releases/download/v$version
  fi
  temporary=${TMPDIR:-/tmp}
  # What runs left behind that were killed; links are no directories to `find`.
  find "$temporary" -maxdepth 1 -type d -user "$(id -u)" -name "gpulint-install.??????" -mmin +60 -exec rm -rf {} + 2>/dev/null || true
  work=$(mktemp -d "$temporary/gpulint-install.XXXXXX")
  # shellcheck disable=SC2064 # the directory of now is meant
  trap "rm -rf '$work'" EXIT
  download "$place/$name" "$work/$name" || return 1
  verify "$version" "$work/$name"
  mkdir -p "$install"
  tar -xzf "$work/$name" -C "$work"
  cp "$work/gpulint-$version-$target"/gpulint* "$install/"
  chmod +x "$install"/gpulint*
  say "installed the release $version for $target"
}

from_source() {
  command -v cargo >/dev/null || fail "there is no release $1 for this machine, and no cargo to build it with"
  say "there is no release $1 for this machine: building it"
  cargo install --quiet --locked --path "$source" --root "$(dirname "$install")" --force >&2
}

version=${GPULINT_VERSION:-$(source_version)}
version=${version#v}
[[ $version =~ ^[0-9]+(\.[0-9]+)*[0-9A-Za-z.+-]*$ ]] || fail "\`$version\` is no version"
if ! from_release "$version"; then
  [ "$version" = "$(source_version)" ] || fail "there is no release $version for this machine"
  [ "$(basename "$install")" = bin ] || install=$install/bin
  from_source "$version"
fi
if [ -n "${GITHUB_PATH:-}" ]; then
  if command -v cygpath >/dev/null; then cygpath -w "$install"; else echo "$install"; fi >>"$GITHUB_PATH"
fi
"$install/gpulint" --version >&2
