#!/usr/bin/env bash
# Makes the pictures of terminal, comment, pages and book from the examples, with a headless Chromium.
#
#   pictures.sh [DIRECTORY [REVIEW]]
#
# DIRECTORY gets the pictures of README and book; the default is docs/pictures. REVIEW gets every other picture, too: light, dark and on
# a phone, with an index.html that shows all of them. No page may scroll to the side on a phone.
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
review=${2:-}
if [ -n "$review" ]; then
  mkdir -p "$review"
  review=$(cd "$review" && pwd)
fi

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

# Runs the browser with a page, and prints its output.
browse() {
  "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --force-device-scale-factor=1 --allow-file-access-from-files \
    --disable-lcd-text --font-render-hinting=none --run-all-compositor-stages-before-draw \
    --user-data-dir="$place/profile" --virtual-time-budget=3000 --lang=en-US "$@" 2>"$place/said" ||
    fail "the browser failed: $(tail -n 3 "$place/said")"
}

# The window of a headless Chromium cannot be as narrow as a phone, so each page is shown in a frame of the wanted width.
frame() {
  printf '<!DOCTYPE html><style>:root{color-scheme:light dark}body{margin:0}iframe{border:0;width:%spx;height:%spx;display:block}</style><iframe src="file://%s"></iframe>%s\n' \
    "$2" "$3" "$1" "${4:-}" >"$place/frame.html"
}

# Prints the width and the height that the content of a page needs in a window of this width.
measure() {
  frame "$1" "$2" 800 '<p id="size"></p><script>onload=()=>{const e=document.querySelector("iframe").contentDocument.documentElement;document.querySelector("#size").textContent=["size",e.scrollWidth,e.scrollHeight,"end"].join(" ")}</script>'
  browse --window-size="1400,1000" --dump-dom "file://$place/frame.html" | sed -n 's/.*size \([0-9]*\) \([0-9]*\) end.*/\1 \2/p'
}

# picture FILE.png PAGE WIDTH HEIGHT SCHEME: a height of 0 shows the whole page, at most $longest pixels.
longest=4000
picture() {
  local file=$1 page=$2 width=$3 height=$4 scheme=$5 wide high
  read -r wide high < <(measure "$page" "$width") || fail "the browser measured nothing: $page"
  [ "$wide" -le "$width" ] || fail "$(basename "$file" .png): the content is $wide pixels wide, the window $width"
  if [ "$height" = 0 ]; then
    height=$((high < longest ? high : longest))
  fi
  frame "$page" "$width" "$height"
  rm -f "$file"
  browse --blink-settings=preferredColorScheme="$([ "$scheme" = dark ] && echo 0 || echo 1)" \
    --window-size="$width,$height" --screenshot="$file" "file://$place/frame.html" >/dev/null
  [ -s "$file" ] || fail "the browser created no picture: $(tail -n 3 "$place/said")"
}

# A picture of README or book is small.
published() {
  local file=$directory/$1.png bytes
  picture "$file" "${@:2}"
  python3 "$root/packaging/palette.py" "$file"
  bytes=$(wc -c <"$file")
  printf '%-14s %4d kB\n' "$1" $((bytes / 1000))
  [ "$bytes" -lt 150000 ] || fail "$1.png is larger than 150 kB"
}

# review NAME PAGE WIDTH PHONE: light and dark, in both widths.
review() {
  local scheme
  for scheme in light dark; do
    picture "$review/$1-$scheme.png" "$2" "$3" 0 "$scheme"
    picture "$review/$1-$scheme-phone.png" "$2" "$4" 0 "$scheme"
  done
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

# The output of gpulint in a terminal of this width; without a width, as wide as in a file.
terminal() {
  local name=$1 columns=$2
  shift 2
  COLUMNS=$columns "$gpulint" "$@" --today "$today" --prices embedded --color always >"$place/terminal" || true
  [ -s "$place/terminal" ] || fail "gpulint $1 printed nothing"
  python3 packaging/terminal.py "gpulint $*" <"$place/terminal" >"$name.svg"
}

example=examples/training-platform-eks
terminal "$directory/terminal" '' check $example
terminal "$directory/terminal-phone" 48 check $example

comment
published comment "$place/comment.html" 960 0 light
published comment-dark "$place/comment.html" 960 0 dark

page "$place/check.html" check examples
published report "$place/check.html" 1280 1400 light
published report-dark "$place/check.html" 1280 1400 dark
published report-narrow "$place/check.html" 390 1400 light

year
(cd "$repository" && page "$place/history.html" history)
published history "$place/history.html" 1280 1400 light

[ -n "$review" ] || exit 0

# Everything else, for a reviewer.
for columns in 80 120; do
  terminal "$place/terminal-$columns" $columns check $example
  printf '<!DOCTYPE html><style>:root{color-scheme:light dark}body{margin:8px}img{display:block;max-width:100%%}</style><img src="terminal-%s.svg">' $columns >"$place/terminal-$columns.html"
  for scheme in light dark; do
    picture "$review/terminal-$columns-$scheme.png" "$place/terminal-$columns.html" 1060 0 $scheme
  done
done
review comment "$place/comment.html" 900 380
review check "$place/check.html" 1200 390
review history "$place/history.html" 1200 390
page "$place/cost.html" cost examples
review cost "$place/cost.html" 1200 390
(cd "$place/change/after" && page "$place/diff.html" diff --base-dir ../before .)
review diff "$place/diff.html" 1200 390
(cd "$repository" && page "$place/month.html" report --month 2026-09)
review month "$place/month.html" 1200 390

# The book selects its theme by the preference of the reader, too.
"$mdbook" build --dest-dir "$place/book" >"$place/said" 2>&1 || fail "mdbook failed: $(tail -n 3 "$place/said")"
review book-start "$place/book/README.html" 1200 390
review book-rule "$place/book/rules/missing-auto-shutdown.html" 1200 390
review book-commands "$place/book/commands.html" 1200 390
review book-report "$place/book/report.html" 1200 390

{
  printf '<!DOCTYPE html><meta charset="utf-8"><title>Pictures</title><style>body{font:14px system-ui;background:#888}figure{display:inline-block;vertical-align:top;margin:8px}img{max-width:600px}</style>\n'
  for file in "$review"/*.png; do
    name=$(basename "$file")
    printf '<figure><figcaption>%s</figcaption><img src="%s"></figure>\n' "$name" "$name"
  done
} >"$review/index.html"
