#!/usr/bin/env bash
# Runs the built program ($GPULINT_BUILT) for the test of the Action as long as it does not know the formats `sarif` and `github`:
# leaves them out and puts an empty file where one is expected.
set -euo pipefail

arguments=()
while [ $# -gt 0 ]; do
  case "$1 ${2:-}" in
    '--format sarif')
      echo '{"version": "2.1.0", "runs": []}' >"$4"
      shift 4
      ;;
    '--format github') shift 2 ;;
    *)
      arguments+=("$1")
      shift
      ;;
  esac
done
exec "$GPULINT_BUILT" "${arguments[@]}"
