#!/usr/bin/env bash
# Takes the place of `gpulint diff` and `gpulint check` in the test of the Action while the built program does not understand
# all that the Action asks of them.
# It keeps to their arguments, files and exit codes, and knows one waste and one fault: a pool that is rented on demand, and
# a file whose braces do not match.
set -euo pipefail

verb=$1
shift
base='' policy='' format='' paths=()
declare -A files=()
while [ $# -gt 0 ]; do
  case $1 in
    --base) base=$2; shift ;;
    --policy-ref) policy=$2; shift ;;
    --format) format=$2; files[$format]=/dev/stdout; shift ;;
    --output) files[$format]=$2; shift ;;
    --fail-on=* | --allow-empty) ;;
    --) shift; paths=("$@"); break ;;
    *) echo "error: unexpected argument \`$1\`" >&2; exit 2 ;;
  esac
  shift
done
[ "$verb" = check ] || [ -n "$base" ] || { echo 'error: diff needs --base' >&2; exit 2; }

for path in "${paths[@]}"; do
  [ -e "$path" ] || { echo "error: path \`$path\` does not exist" >&2; exit 2; }
done

# Findings of the tree at a commit, or of the work tree: one `rule path` a line.
findings() {
  local file text
  for file in $(if [ -n "$1" ]; then git ls-tree -r --name-only "$1" -- "${paths[@]}"; else git ls-files -- "${paths[@]}"; fi); do
    [[ $file == *.tf ]] || continue
    text=$(if [ -n "$1" ]; then git show "$1:$file"; else cat "$file"; fi)
    grep -q 'ON_DEMAND' <<<"$text" && echo "on-demand-batch $file"
    [ "$(tr -cd '{' <<<"$text" | wc -c)" = "$(tr -cd '}' <<<"$text" | wc -c)" ] || echo "unreadable $file"
  done
  return 0
}
settings=$(if [ -n "$policy" ]; then git show "$policy:gpulint.toml" 2>/dev/null; else cat gpulint.toml 2>/dev/null; fi || true)
accepted() { if grep -q 'ignore' <<<"$settings"; then grep -v on-demand-batch || true; else cat; fi; }

here=$(findings '' | accepted | sort)
there=$([ -z "$base" ] || findings "$base" | accepted | sort)
lines() { [ -z "$1" ] || printf '%s\n' "$1"; }
new=$(comm -23 <(lines "$here") <(lines "$there"))
fixed=$(comm -13 <(lines "$here") <(lines "$there"))
count() { grep -c . <<<"$1" || true; }
quiet=$([ -z "$new$fixed" ] && echo true || echo false)
for format in "${!files[@]}"; do
  case $format in
    json) printf '{"version": 1, "new": %d, "fixed": %d}\n' "$(count "$new")" "$(count "$fixed")" ;;
    markdown) printf 'New: %d, fixed: %d\n\n%s\n' "$(count "$new")" "$(count "$fixed")" "$new" ;;
    sarif) echo '{"version": "2.1.0", "runs": []}' ;;
    outputs)
      printf 'findings=%d\nnew-findings=%d\n' "$(count "$here")" "$(count "$new")"
      printf 'monthly-cost=%d\nmonthly-delta=%d\nunpriced=0\nquiet=%s\n' "$(($(count "$here") * 100))" \
        "$((($(count "$new") - $(count "$fixed")) * 100))" "$quiet"
      ;;
    github) while read -r rule file; do [ -z "$rule" ] || echo "::warning file=$file::$rule"; done <<<"$new" ;;
  esac >"${files[$format]}"
done
[ -z "$new" ] || exit 1
