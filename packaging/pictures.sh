#!/usr/bin/env bash
# Creates the pictures in docs/pictures from the examples: pages and a comment with a headless Chromium, a terminal as SVG.
#
#   pictures.sh [DIRECTORY]
#
# GPULINT sets the program to use, CHROMIUM the browser, MDBOOK the converter from Markdown to HTML. By default, gpulint is built
# and the others are searched. Dates, authors and prices are fixed, so the same programs and fonts give the same bytes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

today=2026-11-21
root=$PWD
directory=${1:-docs/pictures}
mkdir -p "$directory"
directory=$(cd "$directory" && pwd)

fail() { printf 'pictures.sh: %s\n' "$*" >&2; exit 2; }

browser=${CHROMIUM:-}
for name in chromium chromium-browser google-chrome google-chrome-stable; do
  [ -n "$browser" ] || browser=$(command -v "$name" || true)
done
[ -n "$browser" ] || fail "no browser is installed: install Chromium, or set CHROMIUM"

command -v python3 >/dev/null || fail "python3 is not installed: install it to compress the pictures"

mdbook=${MDBOOK:-mdbook}
command -v "$mdbook" >/dev/null || fail "mdbook is not installed: install it to convert the comment to HTML, or set MDBOOK"

gpulint=${GPULINT:-}
if [ -z "$gpulint" ]; then
  cargo build --locked --quiet
  gpulint=$root/target/debug/gpulint
fi

place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

# Findings are not a failure here. A missing page is one.
page() {
  local to=$1
  shift
  "$gpulint" "$@" --today "$today" --format html --output "$to" || true
  [ -s "$to" ] || fail "gpulint $1 wrote no page"
}

# The window of a headless Chromium cannot be as narrow as a phone, so the page is shown in a frame of that width.
picture() {
  local name=$1 file=$2 width=$3 height=$4
  shift 4
  "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --force-device-scale-factor=1 \
    --disable-lcd-text --font-render-hinting=none --run-all-compositor-stages-before-draw \
    --user-data-dir="$place/profile" --virtual-time-budget=3000 --lang=en-US "$@" \
    --window-size="$width,$height" --screenshot="$directory/$name.png" "file://$file" >"$place/said" 2>&1 ||
    fail "the browser failed: $(tail -n 3 "$place/said")"
  [ -s "$directory/$name.png" ] || fail "the browser created no picture: $(tail -n 3 "$place/said")"
  python3 "$root/packaging/palette.py" "$directory/$name.png"
  local bytes
  bytes=$(wc -c <"$directory/$name.png")
  printf '%-14s %4d kB\n' "$name" $((bytes / 1000))
  [ "$bytes" -lt 150000 ] || fail "$name.png is larger than 150 kB"
}

# One year of a platform team, in a separate repository.
repository=$place/infra
commit() {
  git -C "$repository" add --all
  GIT_AUTHOR_NAME=$2 GIT_AUTHOR_EMAIL=$2@example.org GIT_AUTHOR_DATE="$1T12:00:00Z" \
    GIT_COMMITTER_NAME=$2 GIT_COMMITTER_EMAIL=$2@example.org GIT_COMMITTER_DATE="$1T12:00:00Z" \
    git -C "$repository" -c commit.gpgsign=false -c core.hooksPath=/dev/null commit --quiet --message "$3"
}
replace() {
  local file=$repository/$1
  grep -qF -- "$2" "$file" || fail "$1 does not contain \`$2\`"
  sed "s/$2/$3/" "$file" >"$place/replaced"
  cp "$place/replaced" "$file"
}
year() {
  export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
  git init --quiet --initial-branch=main "$repository"
  cp -R examples/training-platform-eks "$repository/training"
  local main=training/main.tf
  # The later commits.
  sed '/^# Started for a demo/,$d' examples/training-platform-eks/main.tf >"$repository/$main"
  replace $main 'desired_size   = 2' 'desired_size   = 1'
  replace training/terraform.tfvars p4d.24xlarge g5.48xlarge
  commit 2025-11-24 Ada 'Start a training platform'
  cp -R examples/notebooks-gcp "$repository/notebooks"
  commit 2026-01-12 Grace 'Give the data scientists workbenches'
  replace training/terraform.tfvars g5.48xlarge p4d.24xlarge
  commit 2026-02-16 Ada 'Train on A100'
  cp examples/training-platform-eks/main.tf "$repository/$main"
  replace $main 'desired_size   = 2' 'desired_size   = 1'
  commit 2026-04-09 Lin 'Show the demo at the fair'
  replace $main 'desired_size   = 1' 'desired_size   = 3'
  commit 2026-06-15 Ada 'Train the large model until autumn'
  replace $main 'desired_size   = 3' 'desired_size   = 2'
  commit 2026-09-21 Grace 'The large model is trained'
  cp -R examples/inference-service "$repository/serving"
  commit 2026-10-19 Lin 'Serve it'
}

# The comment on a pull request that adds the demo and more nodes, as a code host shows it.
comment() {
  local change=$place/change
  mkdir -p "$change/before" "$change/src"
  cp -R examples/training-platform-eks "$change/before/training"
  cp -R "$change/before" "$change/after"
  sed '/^# Started for a demo/,$d' examples/training-platform-eks/main.tf >"$change/before/training/main.tf"
  (cd "$change/after" && "$gpulint" diff --base-dir ../before . --today "$today" --format markdown --output ../src/comment.md \
    --files-url https://github.com/acme/infra/blob/main) || true
  [ -s "$change/src/comment.md" ] || fail "gpulint diff wrote no comment"
  printf '[book]\ntitle = "comment"\n' >"$change/book.toml"
  printf -- '- [comment](comment.md)\n' >"$change/src/SUMMARY.md"
  "$mdbook" build "$change" >"$place/said" 2>&1 || fail "mdbook failed: $(tail -n 3 "$place/said")"
  python3 - "$change/book/comment.html" packaging/comment.html >"$place/comment.html" <<'PYTHON'
import re, sys
page, frame = (open(name, encoding="utf-8").read() for name in sys.argv[1:])
body = re.search(r"<main>(.*)</main>", page, re.S).group(1)
print(frame.replace("<!-- the comment -->", body))
PYTHON
}

"$gpulint" check examples/training-platform-eks --today "$today" --prices embedded --color always >"$place/terminal" || true
[ -s "$place/terminal" ] || fail "gpulint check printed nothing"
python3 packaging/terminal.py 'gpulint check examples/training-platform-eks' <"$place/terminal" >"$directory/terminal.svg"

comment
picture comment "$place/comment.html" 960 620 --blink-settings=preferredColorScheme=1

page "$place/report.html" check examples
picture report "$place/report.html" 1280 1400 --blink-settings=preferredColorScheme=1
picture report-dark "$place/report.html" 1280 1400 --blink-settings=preferredColorScheme=0
printf '<!DOCTYPE html><style>body{margin:0}iframe{border:0;width:390px;height:1400px;display:block}</style><iframe src="report.html"></iframe>\n' >"$place/narrow.html"
picture report-narrow "$place/narrow.html" 390 1400 --blink-settings=preferredColorScheme=1

year
cd "$repository"
page "$place/history.html" history
picture history "$place/history.html" 1280 1400 --blink-settings=preferredColorScheme=1
