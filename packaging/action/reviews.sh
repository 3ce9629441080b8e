#!/usr/bin/env bash
# Writes the users and teams that approved the newest commit of the pull request to the output `approved-by`, as a JSON list.
# Does not read the checkout. If GitHub does not answer, nobody approved.
set -euo pipefail

cd "$RUNNER_TEMP"
say() { printf 'gpulint: %s\n' "$*" >&2; }

# The last review of each user that approves or refuses. Comments do not replace it. The author never approves.
approvers=$(gh api --paginate "repos/$GITHUB_REPOSITORY/pulls/$GPULINT_PULL_REQUEST/reviews?per_page=100" --jq \
  '.[] | select(.state == "APPROVED" or .state == "CHANGES_REQUESTED" or .state == "DISMISSED")
   | select(.user.type == "User") | [.user.login, .state, .commit_id] | @tsv' |
  awk -F '\t' -v head="$GPULINT_HEAD" -v author="$GPULINT_AUTHOR" '
    { state[$1] = $2; commit[$1] = $3 }
    END { for (user in state) if (state[user] == "APPROVED" && commit[user] == head && user != author) print user }') || {
  say "the reviews cannot be read: no review approves"
  approvers=
}

names=()
while IFS= read -r user; do
  [ -n "$user" ] || continue
  names+=("$user")
  while IFS= read -r team; do
    team=${team#@}
    [[ $team =~ ^[A-Za-z0-9-]+/[A-Za-z0-9._-]+$ ]] || continue
    state=$(gh api "orgs/${team%%/*}/teams/${team#*/}/memberships/$user" --jq .state) || state=
    [ "$state" != active ] || names+=("@$team")
  done <<<"${GPULINT_APPROVER_TEAMS:-}"
done <<<"$approvers"

# Names of users and teams contain no character that JSON escapes.
list=
for name in "${names[@]:-}"; do
  [ -z "$name" ] || list+="${list:+,}\"$name\""
done
printf 'approved-by=[%s]\n' "$list" >>"$GITHUB_OUTPUT"
