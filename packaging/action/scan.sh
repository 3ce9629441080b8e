#!/usr/bin/env bash
# Compares the change with its base, or checks everything if there is no base. Never fails, because `decide.sh` does.
# Does not start git itself. Only `gpulint base` does, and it prevents git from starting programs that a repository sets.
set -euo pipefail

reports=$RUNNER_TEMP/gpulint/reports
rm -rf "$reports"
mkdir -p "$reports"

say() { printf 'gpulint: %s\n' "$*" >&2; }
output() { printf '%s=%s\n' "$1" "$2" >>"$GITHUB_OUTPUT"; }
give_up() {
  say "$*"
  output exit-code 2
  exit 0
}

# Runners may start a step in a linked directory. The written path shows whether the change created a link in it.
if [ -n "${GPULINT_WORKING_DIRECTORY:-}" ]; then
  cd "$GPULINT_WORKING_DIRECTORY" || give_up "the working-directory \`$GPULINT_WORKING_DIRECTORY\` cannot be opened"
fi

# `commit_of NAME ARGUMENTS…` sets NAME to a commit; it stays empty if the build is not for a pull request.
commit_of() {
  local name=$1 code=0 answer
  shift
  answer=$(gpulint base "--head=${GPULINT_HEAD:-}" "--tip=${GPULINT_EVENT_BASE:-}" "$@") || code=$?
  case $code in
    0) printf -v "$name" %s "$answer" ;;
    3) printf -v "$name" %s '' ;;
    *) give_up "the scan needs the commits of the pull request: the line above names what is missing" ;;
  esac
}

# Without the prices of the day, the check uses those in this version: a server that does not answer stops no pull request.
case ${GPULINT_PRICES:-embedded} in
  embedded) ;;
  daily)
    export GPULINT_CACHE_DIR=$RUNNER_TEMP/gpulint/cache
    rm -rf "$GPULINT_CACHE_DIR"
    gpulint catalog update --timeout 60 >&2 || say "the prices of the day are missing: the check uses the prices in this version"
    ;;
  *) give_up "\`prices\` must be embedded or daily" ;;
esac

commit_of base -- "${GPULINT_BASE:-}"

arguments=(
  --format json --output "$reports/report.json"
  --format markdown --output "$reports/report.md"
  --format sarif --output "$reports/report.sarif"
  --format outputs --output "$reports/outputs"
  --format github
)
# The tag is part of the name, because artifact names are unique in a run and users see them.
page=
if [ "${GPULINT_PAGE:-}" = true ]; then
  tag=${GPULINT_TAG:-default}
  tag=${tag//[!A-Za-z0-9._-]/-}
  page=gpulint-${tag:0:100}.html
  arguments+=(--format html --output "$reports/$page")
  [ -z "${GITHUB_REPOSITORY:-}" ] || arguments+=("--title=$GITHUB_REPOSITORY")
fi
case $GPULINT_POLICY_REF in
  head) policy= ;;
  base) if [ -n "$base" ]; then commit_of policy --policy -- "${GPULINT_BASE:-}"; else policy=; fi ;;
  *) commit_of policy -- "$GPULINT_POLICY_REF" ;;
esac
[ -z "$policy" ] || arguments+=(--policy-ref "$policy")
[ -z "$GPULINT_FAIL_ON" ] || arguments+=("--fail-on=$GPULINT_FAIL_ON")
[ "${GPULINT_FAIL_ON_UNREAD:-}" != true ] || arguments+=(--fail-on-unread)
[ -z "${GPULINT_ORGANIZATION:-}" ] || arguments+=("--organization=$GPULINT_ORGANIZATION")
# The labels in GitHub's event. Only users with triage permission can set labels. A merge queue has none.
case ${GITHUB_EVENT_NAME:-} in
  pull_request*)
    arguments+=("--change-labels=${GPULINT_CHANGE_LABELS:-}")
    [ "${GPULINT_REVIEWS:-}" != true ] || arguments+=("--approved-by=${GPULINT_APPROVED_BY:-}")
    ;;
esac
[ "$GPULINT_ALLOW_EMPTY" != true ] || arguments+=(--allow-empty)
paths=()
while IFS= read -r path; do
  [ -z "${path//[[:space:]]/}" ] || paths+=("$path")
done <<<"$GPULINT_PATHS"

verb=(check)
if [ -n "$base" ]; then
  verb=(diff --base "$base")
  [ -z "${GPULINT_HEAD:-}" ] || verb+=("--repository-url=$GITHUB_SERVER_URL/$GITHUB_REPOSITORY/blob/$GPULINT_HEAD")
fi
code=0
gpulint "${verb[@]}" "${arguments[@]}" -- "${paths[@]:-.}" || code=$?

output exit-code "$code"
output compared "$([ -n "$base" ] && echo true || echo false)"
[ ! -s "$reports/outputs" ] || cat "$reports/outputs" >>"$GITHUB_OUTPUT"
for kind in json:json markdown:md sarif:sarif; do
  file=$reports/report.${kind#*:}
  if [ -s "$file" ]; then output "report-${kind%:*}" "$file"; fi
done
if [ -n "$page" ] && [ -s "$reports/$page" ]; then
  output report-html "$reports/$page"
  output page-name "$page"
fi
if [ -s "$reports/report.md" ]; then cat "$reports/report.md" >>"$GITHUB_STEP_SUMMARY"; fi
