#!/usr/bin/env bash
# Compares the change with its base, or checks everything where there is no base. Does not fail: `decide.sh` does.
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

# A shallow clone has the commit of the build and not the one to compare with.
have() {
  git cat-file -e "$1^{commit}" 2>/dev/null && return
  git fetch --quiet --no-tags --depth=1 origin "$1" 2>/dev/null && git cat-file -e "$1^{commit}" 2>/dev/null
}

is_there() { git show-ref --verify --quiet "$1"; }

# The commit that somebody's reference, or a name with steps from it, is.
parsed() { git rev-parse --quiet --verify --end-of-options "$1^{commit}" 2>/dev/null; }

fetched() { git fetch --quiet --no-tags --depth=1 origin "$1" 2>/dev/null && parsed FETCH_HEAD; }

# The commit that a name means; a branch need not exist locally. A name that is both a branch and a tag means neither: whoever
# may push the one could take the place of the other.
commit_of() {
  local name=${1%%[~^:@]*} steps branch='' tag='' reference remote
  steps=${1#"$name"}
  if [[ $1 == -* || $1 == *$'\n'* ]]; then
    return 1
  elif [[ $name == HEAD || $name == '' || $name =~ ^([0-9a-f]{40}|[0-9a-f]{64})$ ]]; then
    parsed "$1"
    return
  elif [[ $name == refs/* ]]; then
    if is_there "$name"; then parsed "$1"; else [ -z "$steps" ] && fetched "$name"; fi
    return
  fi
  for reference in "refs/heads/$name" "refs/remotes/$name" "refs/remotes/origin/$name"; do
    [ -n "$branch" ] || ! is_there "$reference" || branch=$reference
  done
  ! is_there "refs/tags/$name" || tag=refs/tags/$name
  if [ -z "$branch" ]; then
    if ! remote=$(git ls-remote origin "refs/heads/$name" "refs/tags/$name" 2>/dev/null | cut -f2) && [ -n "$tag" ]; then
      say "\`$name\` is a tag, and the origin does not tell whether it is a branch as well: write $tag"
      return 1
    fi
    ! grep -Fqx "refs/heads/$name" <<<"$remote" || branch=refs/heads/$name
    ! grep -Fqx "refs/tags/$name" <<<"$remote" || tag=refs/tags/$name
  fi
  if [[ -n $branch && -n $tag ]]; then
    say "\`$name\` is a branch and a tag: write refs/heads/$name or $tag"
    return 1
  fi
  reference=$branch$tag
  if [ -z "$reference" ]; then
    parsed "$1" # a part of an id
  elif is_there "$reference"; then
    parsed "$reference$steps"
  else
    [ -z "$steps" ] && fetched "$reference"
  fi
}

# What was checked out is usually the merge of the change: its first parent is the base as it is now. The base that the event
# names may be older, and comparing with it would blame the change for what others did meanwhile.
base_of_change() {
  if [ -n "$GPULINT_BASE" ]; then
    commit_of "$GPULINT_BASE"
  elif [[ ${GITHUB_REF:-} == refs/pull/*/merge && "$(git rev-parse HEAD)" == "${GITHUB_SHA:-}" ]]; then
    # A clone of one commit does not know that this parent is one.
    git fetch --quiet --no-tags --depth=2 origin "$GITHUB_SHA" 2>/dev/null || true
    git cat-file -p HEAD | sed -n 's/^parent //p' | sed -n 1p
  elif [ -n "$GPULINT_EVENT_BASE" ]; then
    git merge-base "$GPULINT_EVENT_BASE" HEAD 2>/dev/null || printf '%s\n' "$GPULINT_EVENT_BASE"
  fi
}

base=$(base_of_change) || give_up "the base \`$GPULINT_BASE\` is no commit that this clone has or can fetch"
if [ -n "$base" ] && ! have "$base"; then
  give_up "the base $base is not in this clone and cannot be fetched; check out with fetch-depth: 0"
fi

arguments=(
  --format json --output "$reports/report.json"
  --format markdown --output "$reports/report.md"
  --format sarif --output "$reports/report.sarif"
  --format outputs --output "$reports/outputs"
  --format github
)
# Named by the tag: a run has one artifact of a name, and people see the name.
page=
if [ "${GPULINT_PAGE:-}" = true ]; then
  tag=${GPULINT_TAG:-default}
  tag=${tag//[!A-Za-z0-9._-]/-}
  page=gpulint-${tag:0:100}.html
  arguments+=(--format html --output "$reports/$page")
  [ -z "${GITHUB_REPOSITORY:-}" ] || arguments+=("--title=$GITHUB_REPOSITORY")
fi
case $GPULINT_POLICY_REF in
  head) ;;
  base) [ -z "$base" ] || arguments+=(--policy-ref "$base") ;;
  *)
    policy=$(commit_of "$GPULINT_POLICY_REF") || give_up "policy-ref \`$GPULINT_POLICY_REF\` is no commit of this repository"
    arguments+=(--policy-ref "$policy")
    ;;
esac
[ -z "$GPULINT_FAIL_ON" ] || arguments+=("--fail-on=$GPULINT_FAIL_ON")
[ "${GPULINT_FAIL_ON_UNREAD:-}" != true ] || arguments+=(--fail-on-unread)
# As GitHub tells them with the event; who may set one may triage.
[ -z "${GPULINT_CHANGE_LABELS:-}" ] || arguments+=("--change-labels=$GPULINT_CHANGE_LABELS")
[ "$GPULINT_ALLOW_EMPTY" != true ] || arguments+=(--allow-empty)
while IFS= read -r path; do
  [ -z "${path//[[:space:]]/}" ] || paths+=("$path")
done <<<"$GPULINT_PATHS"

verb=(check)
if [ -n "$base" ]; then
  verb=(diff --base "$base")
  # A name that is no part of an address leaves the report without links.
  place=$(git rev-parse --show-prefix)
  if [[ -n $GPULINT_HEAD && $place =~ ^[A-Za-z0-9._~/+=,@-]*$ ]]; then
    verb+=(--files-url "$GITHUB_SERVER_URL/$GITHUB_REPOSITORY/blob/$GPULINT_HEAD/$place")
  fi
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
