#!/usr/bin/env bash
# Rehearses a release on this machine, with the scripts of .github/workflows/release.yml. Publishes nothing.
#
#   rehearse.sh WORK [TARGET …]
#
# 1. Clones the commit of this checkout twice into WORK, builds all files of a release in both clones, and compares each byte.
# 2. Installs each file into an empty place, runs its first example, and compares the output with that of the built program.
# 3. Upgrades the previous version. Settings, baseline, saved reports and the price cache must still work.
# 4. Seals a third clone, writes the recipes, and installs from the sealed commit.
#
# The last lines are a table of all steps, and the skipped steps with their reasons. The exit code is 1 if a step fails. TARGET is a Linux
# target of a release. The first one must run on this machine [default: the one of this machine] and is built in both clones. The others
# are built once. If WORK exists, its builds go on.
#
#   GPULINT_PREVIOUS  commit of the previous version [default: the newest tag, or the commit that named 0.1.0]
#   GPULINT_MDBOOK    the program mdbook [default: that on the path]
#   GPULINT_BUILDS    1: do not compile the programs twice, only pack them twice [default: 2]
#
# Needs rustup, a python3 with tomllib and venv, npm, openssl, and a network for crates and packages.
set -uo pipefail

# No tag exists before 0.2.0.
readonly FIRST_VERSION=a3319df6706270f960fd4de351e06fa8d82e3e8d
readonly TARGETS="x86_64-unknown-linux-musl aarch64-unknown-linux-musl x86_64-apple-darwin aarch64-apple-darwin x86_64-pc-windows-msvc"

stop() { printf 'gpulint: %s\n' "$*" >&2; exit 2; }

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 2
source=$PWD
[ $# -ge 1 ] || stop "rehearse.sh takes a directory for its work"
[ -z "$(git status --porcelain --untracked-files=no)" ] || stop "there are uncommitted changes: commit or stash them"
mkdir -p "$1" || stop "$1 cannot be created"
work=$(cd "$1" && pwd)
shift
native=${1:-$(uname -m)-unknown-linux-musl}
[ $# -gt 0 ] || set -- "$native"
targets=("$@")
for target in "${targets[@]}"; do
  [[ " $TARGETS " == *" $target "* && $target == *linux* ]] || stop "$target is not a Linux target of a release"
done

commit=$(git rev-parse HEAD)
version=$(sed -n 's/^version = "\(.*\)"$/\1/p;/^version = /q' Cargo.toml)
repository=$(sed -n 's|^repository = "https://github.com/\(.*\)"$|\1|p' Cargo.toml)
previous=${GPULINT_PREVIOUS:-$(git describe --tags --abbrev=0 --match 'v[0-9]*.[0-9]*.[0-9]*' "HEAD^" 2>/dev/null || echo "$FIRST_VERSION")}
RUSTUP_TOOLCHAIN=$(sed -n 's/^  TOOLCHAIN: "\(.*\)"$/\1/p' .github/workflows/release.yml)
export RUSTUP_TOOLCHAIN
python=$(python3 -c 'import sys, tomllib; print(sys.executable)') || stop "python3 with tomllib is not installed: use Python 3.11 or newer"
mdbook=${GPULINT_MDBOOK:-$(command -v mdbook || true)}
check=$source/packaging/rehearse.py
# Two directories whose paths have different lengths.
one=$work/one/gpulint
two=$work/second/place/source
dist=$one/dist
program=$one/target/$native/dist/gpulint
# Nothing of the caller may decide what a build contains.
unset CARGO_TARGET_DIR RUSTFLAGS CFLAGS SOURCE_DATE_EPOCH GITHUB_PATH RUNNER_TEMP GPULINT_CACHE_DIR GPULINT_REPOSITORY GPULINT_VERSION
export GIT_CONFIG_GLOBAL=/dev/null PYTHONDONTWRITEBYTECODE=1

# --- The log ---

logs=$work/logs
rm -rf "$logs"
mkdir -p "$logs"
# Outside of every checkout, because gpulint refuses a cache inside of one.
places=$(mktemp -d "${TMPDIR:-/tmp}/gpulint-rehearse.XXXXXX")
trap 'rm -rf "$places"' EXIT
: >"$work/table"
failed=0

skip() { echo "$*"; exit 77; }
fail() { echo "error: $*" >&2; exit 1; }

# Runs a function as a step: step ARTEFACT FILE PLACE WHAT FUNCTION [ARGUMENTS]. FILE gives the bytes, and `-` none.
step() {
  local artefact=$1 file=$2 place=$3 what=$4 bytes=- code log begin=$SECONDS result
  shift 4
  log=$logs/$(printf '%02d' "$(($(wc -l <"$work/table") + 1))")-$1.log
  printf '== %s: %s\n' "$artefact" "$what"
  (set -e; "$@") >"$log" 2>&1
  code=$?
  if [ -f "$file" ]; then bytes=$(wc -c <"$file" | tr -d ' '); fi
  case $code in
    0) result=ok ;;
    77) result="skipped: $(tail -n 1 "$log")" ;;
    *)
      result=FAILED
      failed=$((failed + 1))
      tail -n 30 "$log"
      ;;
  esac
  printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$artefact" "$bytes" "$place" "$what" "$((SECONDS - begin))" "$result" >>"$work/table"
}

# Prints the table, and the skipped steps again with their reasons.
show_table() {
  printf '\n%s\n' "release $version of commit $commit, previous version $previous"
  { printf 'artefact\tbytes\tplace\twhat ran\tseconds\tresult\n'; cut -c 1-1000 "$work/table"; } |
    awk -F '\t' '
      { for (i = 1; i <= 6; i++) { cell[NR, i] = (i == 6) ? substr($i, 1, index($i ":", ":") - 1) : $i
          if (length(cell[NR, i]) > width[i]) width[i] = length(cell[NR, i]) } }
      END { for (row = 1; row <= NR; row++) { line = ""
          for (i = 1; i <= 6; i++) line = line sprintf((i == 2 || i == 5) ? "%*s  " : "%-*s  ", width[i], cell[row, i])
          sub(/ +$/, "", line); print line } }'
  printf '\n%s steps, %s failed, %s skipped:\n' "$(wc -l <"$work/table" | tr -d ' ')" "$failed" "$(grep -c "skipped: " "$work/table")"
  awk -F '\t' '$6 ~ /^skipped: / { print "- " $1 " (" $4 "): " substr($6, 10) }' "$work/table"
}

# --- 1. Build ---

clone() {
  if [ -d "$1/.git" ]; then
    git -C "$1" fetch --quiet "$source" "$commit"
    # Only what cargo and npm built may stay.
    git -C "$1" clean -ffdxq --exclude /target --exclude node_modules
  else
    mkdir -p "$(dirname "$1")"
    git clone --quiet --no-checkout "$source" "$1"
  fi
  git -C "$1" checkout --quiet --force --detach "$commit"
  [ -z "$(git -C "$1" status --porcelain)" ]
}

# The tools that link the Linux programs, pinned by their hashes.
build_tools() {
  [ -x "$work/zig/bin/cargo-zigbuild" ] && return
  "$python" -m venv "$work/zig"
  "$work/zig/bin/pip" install --require-hashes --only-binary :all: --requirement "$one/packaging/build-tools.txt"
}

build() {
  rustup target add --toolchain "$RUSTUP_TOOLCHAIN" "$2"
  PATH=$work/zig/bin:$PATH bash "$1/packaging/build.sh" "$2" zigbuild
  mkdir -p "$1/binaries/$2"
  cp "$1/target/$2/dist/gpulint" "$1/binaries/$2/"
  if [ "$2" = "$native" ]; then
    "$1/target/$2/dist/gpulint" --version
    if ldd "$1/target/$2/dist/gpulint"; then fail "the program is not static"; fi
  fi
}

take_from_one() {
  mkdir -p "$two/binaries/$1"
  cp "$one/binaries/$1/gpulint" "$two/binaries/$1/"
  skip "built in one directory only"
}

# The same commands as in the job `pack`. The extension has one package for each platform.
pack() {
  cd "$1"
  rm -rf dist licences
  "$python" packaging/licences.py licences
  "$python" packaging/wheel.py binaries dist licences
  "$python" packaging/fleet.py dist
  local platforms=() target
  for target in "${targets[@]}"; do
    case $target in
      x86_64-*) platforms+=(--target linux-x64 --target alpine-x64) ;;
      aarch64-*) platforms+=(--target linux-arm64 --target alpine-arm64) ;;
    esac
  done
  "$python" packaging/vscode.py binaries dist licences "${platforms[@]}"
  bash packaging/pack.sh binaries dist "binaries/$native/gpulint" "$repository" licences
  ls -l dist
}

make_book() {
  [ -n "$mdbook" ] || skip "mdbook is not installed"
  cd "$1"
  "$mdbook" build --dest-dir "$1/book"
}

# Lists each file of both builds with its bytes and its checksum. Fails if one differs or is missing.
compare() {
  list() { (cd "$1" && mkdir -p book && find dist binaries licences book -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum); }
  list "$one" >"$work/files-one"
  list "$two" >"$work/files-two"
  if ! diff "$work/files-one" "$work/files-two"; then fail "these files differ"; fi
  grep -v '  book/' "$work/files-one" | while read -r sum file; do
    printf '%10s  %.16s  same  %s\n' "$(wc -c <"$one/$file" | tr -d ' ')" "$sum" "$file"
  done >"$work/same"
  printf '%s files of the book: same\n' "$(grep -c '  book/' "$work/files-one" || true)" >>"$work/same"
  cat "$work/same"
}

# --- 2. Verify ---

checksums_are_complete() {
  cd "$dist"
  sha256sum --check SHA256SUMS
  diff <(cut -c 67- SHA256SUMS) <(find . -maxdepth 1 -type f ! -name SHA256SUMS | sed 's|^\./||' | LC_ALL=C sort)
  local file
  for file in "gpulint-$version-$native.tar.gz" install.sh gpulint.rb Containerfile gpulint.cdx.json "gpulint_fleet-$version-py3-none-any.whl"; do
    grep -qF "  $file" SHA256SUMS || fail "SHA256SUMS does not list $file"
  done
}

bill_is_complete() {
  "$python" "$check" bill "$dist/gpulint.cdx.json" "$program"
  # cargo itself lists the crates of this target.
  local missing
  missing=$(cd "$one" && cargo tree --locked --target "$native" --edges normal,build --prefix none --format '{p}' |
    sed -n 's/^\([^ ]*\) v\([^ ]*\).*/pkg:cargo\/\1@\2/p' | sort -u | while read -r crate; do
      grep -qF "\"$crate\"" "$dist/gpulint.cdx.json" || echo "$crate"
    done)
  [ -z "$missing" ] || fail "the bill of materials does not list: $missing"
}

# Signs prices as the nightly workflow does, with a key of this run. The program accepts the file with this key, and refuses a changed file.
sign() {
  cd "$(place sign)"
  new_key
  "$python" "$one/packaging/prices.py" release "$one/pricing" "$(date -u +%F)" prices.csv
  PRICES_SIGNING_KEY=$(cat prices.pem) bash "$one/packaging/sign.sh" prices.csv
  clean "$PWD" "$program" catalog update --from prices.csv --key prices.key
  echo >>prices.csv
  if clean "$PWD" "$program" catalog update --from prices.csv --key prices.key; then fail "a changed file was accepted"; fi
}

new_key() {
  openssl genpkey -algorithm ed25519 -out prices.pem
  openssl pkey -in prices.pem -pubout -outform DER | tail -c 32 | od -An -v -tx1 | tr -d ' \n' >prices.key
}

# --- 3. Install ---

# Prints a new empty directory with an empty home, and a path that has no compiler, no cargo and no git.
place() {
  local place=$places/$1 name found
  rm -rf "$place"
  mkdir -p "$place/home" "$place/tmp" "$place/tools"
  for name in awk basename bash cat chmod cp curl cut dirname env find gzip id mkdir mktemp mv rm sed sh sha256sum sort tar tr uname; do
    found=$(command -v "$name") && ln -s "$found" "$place/tools/$name"
  done
  echo "$place"
}

# Runs a command in the environment of a place: clean PLACE [NAME=VALUE …] COMMAND …
clean() {
  local place=$1
  shift
  env -i HOME="$place/home" TMPDIR="$place/tmp" PATH="$place/tools" LANG=C.UTF-8 "$@"
}

# Runs the first examples of README.md and docs/start.md in a place, and writes their outputs: examples PLACE OUT COMMAND …
examples() {
  local place=$1 out=$2 name code
  shift 2
  mkdir -p "$out"
  rm -rf "$place/work"
  mkdir -p "$place/work/start"
  cp -R "$one/examples" "$place/work/"
  # The file of the first page.
  "$python" "$check" code "$one/docs/start.md" "hcl file=main.tf" >"$place/work/start/main.tf"
  cd "$place/work"
  for name in version price check start; do
    code=0
    case $name in
      version) clean "$place" "$@" --version ;;
      price) clean "$place" "$@" price p5.48xlarge ;;
      check) clean "$place" "$@" check examples/training-platform-eks ;;
      start) cd start && clean "$place" "$@" && cd .. ;;
    esac >"$out/$name" 2>&1 || code=$?
    cd "$place/work"
    echo "[exit $code]" >>"$out/$name"
  done
}

# Compares the outputs of an installed program with those of the built one.
runs_as_built() {
  local place=$1
  shift
  examples "$place" "$place/output" "$@"
  diff -r "$work/expected" "$place/output"
}

expect() {
  rm -rf "$work/expected"
  examples "$(place expected)" "$work/expected" "$program"
  grep -qx "gpulint $version" "$work/expected/version"
  [ "$(tail -qn 1 "$work"/expected/{version,price,check,start} | tr -d '\n')" = "[exit 0][exit 0][exit 1][exit 1]" ]
  grep -q "GPU cost" "$work/expected/start"
}

by_installer() {
  local place
  place=$(place archive)
  clean "$place" GPULINT_DOWNLOAD="file://$dist" sh "$dist/install.sh"
  cmp "$place/home/.local/bin/gpulint" "$program"
  runs_as_built "$place" "$place/home/.local/bin/gpulint"
}

# Other bytes under the same name, with a matching list.
refuses_other_bytes() {
  local place
  place=$(place refused)
  mkdir "$place/files"
  cp "$dist"/*.tar.gz "$place/files"
  echo more >>"$place/files/gpulint-$version-$native.tar.gz"
  (cd "$place/files" && sha256sum ./* >SHA256SUMS)
  if clean "$place" GPULINT_DOWNLOAD="file://$place/files" sh "$dist/install.sh"; then fail "it was installed"; fi
  [ ! -e "$place/home/.local/bin/gpulint" ]
}

# A root directory with nothing but the program shows that it is one static file.
in_empty_root() {
  [ "$(id -u)" = 0 ] || skip "only root can change the root directory"
  local place
  place=$(place root)
  mkdir "$place/root"
  tar -xzf "$dist/gpulint-$version-$native.tar.gz" -C "$place/root" --strip-components 1 "gpulint-$version-$native/gpulint"
  chroot "$place/root" /gpulint --version | grep -qx "gpulint $version"
  chroot "$place/root" /gpulint price p5.48xlarge >"$place/price" 2>&1
  diff <(sed '$d' "$work/expected/price") "$place/price"
}

completions_and_manual() {
  local place shell
  place=$(place archive-files)
  tar -xzf "$dist/gpulint-$version-$native.tar.gz" -C "$place"
  cd "$place/gpulint-$version-$native"
  cmp LICENCES.txt "$one/licences/LICENCES.txt"
  cmp gpulint.cdx.json "$dist/gpulint.cdx.json"
  # shellcheck disable=SC2016 # the inner shell expands it
  bash -c 'source completions/gpulint.bash
    COMP_WORDS=(gpulint pri) COMP_CWORD=1
    _gpulint gpulint pri gpulint
    echo "gpulint pri: ${COMPREPLY[*]}"' | grep -qx 'gpulint pri: price'
  for shell in zsh fish; do
    if command -v "$shell" >/dev/null; then "$shell" -n "completions/gpulint.$shell"; else echo "$shell is not installed"; fi
  done
  [ "$(find man -name '*.1' | wc -l)" -gt 20 ]
  if command -v man >/dev/null; then
    LC_ALL=C.UTF-8 MANWIDTH=80 man -l --warnings man/gpulint.1 2>"$place/warnings" | grep -q gpulint
    [ ! -s "$place/warnings" ] || fail "$(cat "$place/warnings")"
  fi
}

by_pip() {
  local place
  place=$(place wheel)
  "$python" -m venv "$place/env"
  clean "$place" "$place/env/bin/python" -m pip install --quiet --no-index --find-links "$dist" gpulint
  cmp "$place/env/bin/gpulint" "$program"
  runs_as_built "$place" "$place/env/bin/gpulint"
  clean "$place" "$place/env/bin/python" -m pip uninstall --quiet --yes gpulint
  [ ! -e "$place/env/bin/gpulint" ]
}

# Unpacks the extension as an editor does, and starts its server.
extension() {
  local place
  place=$(place "extension-$1")
  "$python" -m zipfile -e "$dist/gpulint-vscode-$version-$1.vsix" "$place"
  chmod +x "$place/extension/bin/gpulint"
  runs_as_built "$place" "$place/extension/bin/gpulint"
  clean "$place" "$python" "$check" server "$place/extension/bin/gpulint" "$place/work/examples/notebooks-gcp"
}

# The commands of the first scan, on two repositories of this machine. Its dependency comes from the index.
fleet() {
  local place name
  place=$(place fleet)
  "$python" -m venv "$place/env"
  HOME=$place/home TMPDIR=$place/tmp "$place/env/bin/pip" install --quiet --find-links "$dist" "gpulint==$version" "gpulint-fleet==$version"
  ln -s "$(command -v git)" "$place/tools/"
  mkdir "$place/work"
  cd "$place/work"
  for name in notebooks-gcp inference-service; do
    git init --quiet --initial-branch=main "$name"
    cp -R "$one/examples/$name/." "$name/"
    git -C "$name" add --all
    git -C "$name" -c user.name=a -c user.email=a@example.com commit --quiet --message first
    echo "file://$PWD/$name" >>repositories.txt
  done
  # Ray is not installed, so one process scans one repository after the other.
  "$python" "$check" code "$one/docs/fleet.md" "sh not-run=program" | sed 's/ --ray local//' >commands
  cat commands
  clean "$place" PATH="$place/env/bin:$place/tools" GPULINT_FLEET_ALLOW_LOCAL=1 bash -euo pipefail commands >output
  cat output
  [ -s fleet.html ]
  [ "$(grep -c notebooks-gcp fleet.html)" -gt 0 ]
}

# Stands in for Homebrew: takes the values of the formula, and installs into a directory.
formula() {
  "$python" "$check" formula "$dist/gpulint.rb" "$dist"
  command -v ruby >/dev/null || skip "ruby is not installed; the checksums agree"
  local place
  place=$(place formula)
  mkdir "$place/source"
  tar -xzf "$dist/gpulint-$version-$native.tar.gz" -C "$place/source" --strip-components 1
  cd "$place/source"
  cat >"$place/formula.rb" <<'RUBY'
require "fileutils"
class Target
  def initialize(directory) = @directory = directory
  def install(what)
    FileUtils.mkdir_p(@directory)
    pairs = what.is_a?(Hash) ? what : Array(what).to_h { |it| [it, File.basename(it)] }
    raise "nothing to install" if pairs.empty?
    pairs.each { |from, to| FileUtils.cp(from, File.join(@directory, to)) }
  end
end
class Formula
  def self.on_linux = yield
  def self.on_macos = nil
  def self.on_arm = ARGV[1].start_with?("aarch64") ? yield : nil
  def self.on_intel = ARGV[1].start_with?("x86_64") ? yield : nil
  def self.test = nil
  %i[desc homepage version license url sha256].each { |name| define_singleton_method(name) { |*value| puts "#{name} #{value.join}" } }
  { bin: "bin", bash_completion: "bash", zsh_completion: "zsh", fish_completion: "fish", man1: "man1" }.each do |name, directory|
    define_method(name) { Target.new(File.join(ARGV[2], directory)) }
  end
end
load ARGV[0]
Gpulint.new.install
RUBY
  ruby "$place/formula.rb" "$dist/gpulint.rb" "$native" "$place/prefix" >"$place/values"
  cat "$place/values"
  grep -qx "version $version" "$place/values"
  grep -qx "sha256 $(sha256sum "$dist/gpulint-$version-$native.tar.gz" | cut -d ' ' -f 1)" "$place/values"
  [ -f "$place/prefix/zsh/_gpulint" ]
  [ -f "$place/prefix/man1/gpulint-check.1" ]
  runs_as_built "$place" "$place/prefix/bin/gpulint"
}

# Runs the command of the container file in an empty root directory. The download and the package manager are stand-ins.
container() {
  "$python" "$check" formula "$dist/Containerfile" "$dist"
  [ "$(id -u)" = 0 ] || skip "only root can change the root directory; the checksums agree"
  local busybox place root applet
  busybox=$(command -v busybox || true)
  if [ -z "$busybox" ] || ldd "$busybox" >/dev/null 2>&1; then skip "no static busybox; the checksums agree"; fi
  place=$(place container)
  root=$place/root
  mkdir -p "$root/bin" "$root/tmp" "$root/usr/local/bin" "$root/dist" "$root/work"
  cp "$busybox" "$root/bin/"
  for applet in sh sha256sum tar gzip mv rm echo cat cp basename; do ln -s busybox "$root/bin/$applet"; done
  cp "$dist/gpulint-$version-$native.tar.gz" "$root/dist/"
  printf '#!/bin/sh\necho "apk $*"\n' >"$root/bin/apk"
  # The last argument is the address: wget -q -O FILE ADDRESS.
  # shellcheck disable=SC2016 # the script in the root directory expands it
  printf '#!/bin/sh\ncase $4 in\n  https://github.com/%s/releases/download/v%s/*) cp "/dist/$(basename "$4")" "$3" ;;\n  *) exit 1 ;;\nesac\n' \
    "$repository" "$version" >"$root/bin/wget"
  chmod +x "$root/bin/apk" "$root/bin/wget"
  "$python" "$check" step "$dist/Containerfile" >"$root/step.sh"
  local arch=amd64
  case $native in aarch64-*) arch=arm64 ;; esac
  PATH=/bin:/usr/local/bin TARGETARCH=$arch "$(command -v chroot)" "$root" /bin/sh /step.sh
  cmp "$root/usr/local/bin/gpulint" "$program"
  [ -z "$(ls "$root/tmp")" ]
  # The user, the directory and the command that the file sets.
  grep -qx 'USER 65534:65534' "$dist/Containerfile"
  "$python" "$check" code "$one/docs/start.md" "hcl file=main.tf" >"$root/work/main.tf"
  local code=0
  env -i PATH=/bin:/usr/local/bin "$(command -v chroot)" --userspec=65534:65534 "$root" /bin/sh -c 'cd /work && gpulint check' \
    >"$place/output" 2>&1 || code=$?
  echo "[exit $code]" >>"$place/output"
  diff "$work/expected/start" "$place/output"
}

container_engine() {
  if docker info >/dev/null 2>&1 || podman info >/dev/null 2>&1; then
    skip "the recipe downloads a release, and version $version is not published"
  fi
  skip "no docker and no podman runs here"
}

other_architecture() {
  local target=$1 place emulator
  emulator=$(command -v "qemu-${target%%-*}-static" || command -v "qemu-${target%%-*}" || true)
  [ -n "$emulator" ] || skip "no emulator for ${target%%-*}"
  place=$(place "$target")
  tar -xzf "$dist/gpulint-$version-$target.tar.gz" -C "$place"
  runs_as_built "$place" "$emulator" "$place/gpulint-$version-$target/gpulint"
}

read_book() {
  [ -n "$mdbook" ] || skip "mdbook is not installed"
  local place
  place=$(place book)
  cp -R "$one/book" "$place/"
  "$python" "$check" book "$place/book"
}

# --- 4. Upgrade ---

# Builds the wheel, the archive and the installer of the previous version. Its debug profile saves time and changes no behavior.
build_previous() {
  clone_previous
  mkdir -p "$work/previous-wheel"
  if ! compgen -G "$work/previous-wheel/gpulint-*.whl" >/dev/null; then
    MATURIN_PEP517_ARGS="--profile dev --strip" "$python" -m pip wheel --no-deps --wheel-dir "$work/previous-wheel" "$work/previous"
  fi
  rm -rf "$work/previous-binaries" "$work/previous-dist" "$work/previous-unpacked"
  mkdir -p "$work/previous-binaries/$native"
  "$python" -m zipfile -e "$work"/previous-wheel/gpulint-*.whl "$work/previous-unpacked"
  cp "$work"/previous-unpacked/gpulint-*.data/scripts/gpulint "$work/previous-binaries/$native/"
  chmod +x "$work/previous-binaries/$native/gpulint"
  bash "$work/previous/packaging/pack.sh" "$work/previous-binaries" "$work/previous-dist" \
    "$work/previous-binaries/$native/gpulint" "$repository"
  "$work/previous-binaries/$native/gpulint" --version
}

clone_previous() {
  [ -d "$work/previous/.git" ] || git clone --quiet --no-checkout "$source" "$work/previous"
  git -C "$work/previous" checkout --quiet --force --detach "$(git rev-parse "$previous^{commit}")"
}

# Prints the version of the previous commit.
previous_version() { sed -n 's/^version = "\(.*\)"$/\1/p;/^version = /q' "$work/previous/Cargo.toml"; }

# Creates a repository with settings, a baseline, a saved report and a cache of prices: use_previous PLACE COMMAND …
use_previous() {
  local place=$1 code
  shift
  mkdir -p "$place/work/repository"
  cd "$place/work"
  new_key
  # One price of the cache differs from those in both programs.
  cp -R "$work/previous/pricing" pricing
  "$python" - "$(date -u +%F)" <<'PYTHON'
import csv, sys
with open("pricing/aws.csv", encoding="utf-8", newline="") as file:
    rows = csv.DictReader(line for line in file if not line.startswith("#"))
    columns, rows = rows.fieldnames, list(rows)
row = next(it for it in rows if it["machine"] == "g5.12xlarge" and it["region"] == "us-east-1")
row["on_demand_usd_per_hour"], row["as_of"] = "5.4321", sys.argv[1]
with open("pricing/aws.csv", "w", encoding="utf-8", newline="") as file:
    table = csv.DictWriter(file, columns, lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
PYTHON
  "$python" "$work/previous/packaging/prices.py" release pricing "$(date -u +%F)" prices.csv
  PRICES_SIGNING_KEY=$(cat prices.pem) bash "$work/previous/packaging/sign.sh" prices.csv
  clean "$place" "$@" catalog update --from prices.csv --key prices.key
  cd repository
  cp -R "$work/previous/examples/." .
  cat >gpulint.toml <<'TOML'
required-version = ">=0.1"

[defaults]
region = "us-east-1"

[rules.missing-labels]
level = "note"

[[suppress]]
rules = ["on-demand-batch"]
address = "*"
reason = "the rehearsal of an upgrade"
TOML
  code=0
  clean "$place" "$@" check --format json >../before.json || code=$?
  [ "$code" = 1 ]
  clean "$place" "$@" config show
  clean "$place" "$@" baseline create
  clean "$place" "$@" check
  clean "$place" "$@" price g5.12xlarge --region us-east-1 | tee ../price-before
  grep -qF 5.43 ../price-before
}

# Uses all of it with the new version.
use_new() {
  local place=$1 code
  shift
  cd "$place/work/repository"
  clean "$place" "$@" --version | grep -qx "gpulint $version"
  clean "$place" "$@" config show
  # The price comes from the cache that the previous version wrote.
  clean "$place" "$@" price g5.12xlarge --region us-east-1 | tee ../price-after
  grep -qF 5.43 ../price-after
  # Without the baseline, JSON has every field with the same type.
  code=0
  clean "$place" "$@" check --no-baseline --format json >../after.json || code=$?
  [ "$code" = 1 ]
  "$python" "$check" report ../before.json ../after.json
  # Every entry of the baseline that is still a finding is accepted. New rules and better evaluation can find more.
  code=0
  clean "$place" "$@" check --format json >../with-baseline.json || code=$?
  echo "check with the old baseline: exit code $code"
  "$python" "$check" baseline .gpulint-baseline.json ../with-baseline.json
  # Afterwards, one command accepts the rest.
  clean "$place" "$@" baseline update
  clean "$place" "$@" check
  # The new program compares its report with the saved one.
  clean "$place" "$@" diff --base-file ../before.json ../after.json || [ $? = 1 ]
}

upgrade_by_pip() {
  local place
  place=$(place upgrade-pip)
  "$python" -m venv "$place/env"
  ln -s "$(command -v git)" "$place/tools/"
  clean "$place" "$place/env/bin/python" -m pip install --quiet --no-index "$work"/previous-wheel/gpulint-*.whl
  use_previous "$place" "$place/env/bin/gpulint"
  clean "$place" "$place/env/bin/python" -m pip install --quiet --no-index --find-links "$dist" --upgrade gpulint
  use_new "$place" "$place/env/bin/gpulint"
}

upgrade_by_installer() {
  local place
  place=$(place upgrade-installer)
  ln -s "$(command -v git)" "$place/tools/"
  # The installer of the previous version belongs to its sources, and the caller names the checksums.
  clean "$place" GPULINT_DOWNLOAD="file://$work/previous-dist" GPULINT_CHECKSUMS="$work/previous-dist/SHA256SUMS" \
    bash "$work/previous/packaging/install.sh"
  use_previous "$place" "$place/home/.local/bin/gpulint"
  clean "$place" GPULINT_DOWNLOAD="file://$dist" sh "$dist/install.sh"
  use_new "$place" "$place/home/.local/bin/gpulint"
}

# --- 5. Seal ---

# Makes the commit and the tag of the release in a throw-away clone.
seal() {
  rm -rf "$work/sealed" "$work/sealed-checkout"
  git clone --quiet "$one" "$work/sealed"
  git -C "$work/sealed" checkout --quiet --detach "$commit"
  # Files between the two are as in the workflow: `dist` is in the checkout and not part of it.
  cp -R "$dist" "$work/sealed/dist"
  local sealed
  sealed=$(bash "$work/sealed/packaging/seal.sh" "$work/sealed/dist/SHA256SUMS")
  [ "$(git -C "$work/sealed" tag --points-at "$sealed")" = "v$version" ]
  [ "$(git -C "$work/sealed" rev-parse "$sealed^")" = "$commit" ]
  cmp "$dist/SHA256SUMS" "$work/sealed/packaging/checksums/$version.txt"
  if bash "$work/sealed/packaging/seal.sh" "$work/sealed/dist/SHA256SUMS"; then fail "the version was sealed twice"; fi
  # The notes of the release. GitHub refuses more than 125,000 characters, after the tag is there.
  awk -v head="## [$version]" 'index($0, head) == 1 { on = 1; next } on && /^## / { exit } on' "$work/sealed/CHANGELOG.md" >"$work/notes.md"
  [ -s "$work/notes.md" ]
  [ "$(wc -m <"$work/notes.md")" -lt 124000 ]
  git clone --quiet --branch "v$version" "$work/sealed" "$work/sealed-checkout"
  (cd "$work/sealed" && bash packaging/pin.sh "$sealed" && git diff --stat)
  grep -q "gpulint/gpulint@$sealed # v$version" "$work/sealed/README.md"
  if grep -rn "gpulint/gpulint@<commit of the release>" "$work/sealed/README.md" "$work/sealed/docs/ci" | grep -v '`<commit'; then
    fail "a recipe names no commit"
  fi
}

# The Action installs with the installer of its commit. The list of checksums is in this commit.
install_from_seal() {
  [ -d "$work/sealed-checkout" ] || fail "nothing is sealed"
  local place
  place=$(place sealed)
  clean "$place" GPULINT_DOWNLOAD="file://$dist" RUNNER_TEMP="$place/tmp" bash "$work/sealed-checkout/packaging/install.sh" 2>"$place/messages"
  cat "$place/messages"
  grep -q "has the checksum that .*/packaging/checksums/$version.txt lists" "$place/messages"
  runs_as_built "$place" "$place/tmp/gpulint/bin/gpulint"
  mkdir "$place/files"
  cp "$dist"/*.tar.gz "$place/files"
  echo more >>"$place/files/gpulint-$version-$native.tar.gz"
  local code=0
  clean "$place" GPULINT_DOWNLOAD="file://$place/files" RUNNER_TEMP="$place/other" bash "$work/sealed-checkout/packaging/install.sh" || code=$?
  [ "$code" = 2 ]
  [ ! -e "$place/other/gpulint/bin/gpulint" ]
}

# --- All steps ---

step "clone 1" - "$one" "git clone" clone "$one"
step "clone 2" - "$two" "git clone" clone "$two"
step "build tools" - "$work/zig" "pip install --require-hashes" build_tools
for target in "${targets[@]}"; do
  step "program" "$one/target/$target/dist/gpulint" "$target" "build.sh, clone 1" build "$one" "$target"
  if [ "$target" = "$native" ] && [ "${GPULINT_BUILDS:-2}" = 2 ]; then
    step "program" "$two/target/$target/dist/gpulint" "$target" "build.sh, clone 2" build "$two" "$target"
  else
    step "program" "$one/target/$target/dist/gpulint" "$target" "a second build" take_from_one "$target"
  fi
done
for target in $TARGETS; do
  [[ " ${targets[*]} " == *" $target "* ]] && continue
  case $target in
    *linux*) why="not asked for" ;;
    *) why="needs its own system" ;;
  esac
  step "program" - "$target" "build.sh" skip "$target $why"
done
step "all files" "$dist/SHA256SUMS" "$dist" "licences, wheel, fleet, vscode, pack" pack "$one"
step "all files" "$two/dist/SHA256SUMS" "$two/dist" "licences, wheel, fleet, vscode, pack" pack "$two"
step "book" "$one/book/index.html" "$one/book" "mdbook build" make_book "$one"
step "book" "$two/book/index.html" "$two/book" "mdbook build" make_book "$two"
step "both builds" - "$work/same" "every byte is the same" compare
step "SHA256SUMS" "$dist/SHA256SUMS" "$dist" "complete and right" checksums_are_complete
step "gpulint.cdx.json" "$dist/gpulint.cdx.json" "$dist" "lists each crate of the program" bill_is_complete
step "provenance" - - "gpulint-$version.intoto.jsonl" skip "only Sigstore can sign it, for a run of the workflow"
step "program" "$program" "the build" "first examples" expect
for target in "${targets[@]}"; do
  archive=gpulint-$version-$target.tar.gz
  if [ "$target" != "$native" ]; then
    step "$archive" "$dist/$archive" "an empty directory" "first examples, emulated" other_architecture "$target"
    continue
  fi
  step "$archive" "$dist/$archive" "an empty home" "install.sh, first examples" by_installer
  step "$archive" "$dist/$archive" "an empty home" "install.sh refuses other bytes" refuses_other_bytes
  step "$archive" "$dist/$archive" "an empty root directory" "--version, price" in_empty_root
  step "$archive" "$dist/$archive" "an empty directory" "completions, manual pages" completions_and_manual
done
step "wheel" "$(compgen -G "$dist/gpulint-$version-*${native%%-*}*.whl")" "an empty environment" "pip --no-index, first examples" by_pip
step "fleet's wheel" "$dist/gpulint_fleet-$version-py3-none-any.whl" "an empty environment" "pip, the first scan" fleet
for platform in linux alpine; do
  platform=$platform-$(case $native in x86_64-*) echo x64 ;; *) echo arm64 ;; esac)
  step "$platform.vsix" "$dist/gpulint-vscode-$version-$platform.vsix" "an empty directory" "first examples, server" extension "$platform"
done
step "gpulint.rb" "$dist/gpulint.rb" "an empty directory" "checksums, install, first examples" formula
step "gpulint.rb" "$dist/gpulint.rb" - "brew install" skip "$(if command -v brew >/dev/null; then echo "version $version is not published"; else echo "brew is not installed"; fi)"
step "Containerfile" "$dist/Containerfile" "an empty root directory" "checksums, its command, first example" container
step "Containerfile" "$dist/Containerfile" - "build of the image" container_engine
step "book" "$one/book/index.html" "an empty directory" "first page, links" read_book
step "prices" - "an empty home" "sign.sh, catalog update" sign
step "previous version" - "$work/previous" "its wheel, archive, installer" build_previous
step "upgrade" - "an empty environment" "pip install --upgrade" upgrade_by_pip
step "upgrade" - "an empty home" "install.sh over the old program" upgrade_by_installer
step "commit and tag" - "$work/sealed" "seal.sh, pin.sh" seal
step "commit and tag" - "an empty home" "install.sh of the sealed commit" install_from_seal
cat "$work/same" 2>/dev/null
show_table
[ "$failed" = 0 ]
