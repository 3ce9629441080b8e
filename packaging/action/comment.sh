#!/usr/bin/env bash
# Keeps the comment up to date. A comment that cannot be written is a warning: the report is in the summary of the job too.
set -euo pipefail

arguments=(--report "$GPULINT_REPORT" "--tag=$GPULINT_TAG" "--mode=$GPULINT_MODE")
if [ "$GPULINT_REVIEW" = true ]; then
  arguments+=(--review "--directory=$(git rev-parse --show-prefix 2>/dev/null || true)")
fi
if [ -n "${GPULINT_PAGE_URL:-}" ]; then
  arguments+=("--page=$GPULINT_PAGE_URL")
fi

# The scan wrote the summary already.
unset GITHUB_STEP_SUMMARY
gpulint comment github "${arguments[@]}" ||
  echo "::warning title=gpulint::the comment could not be written; the log of this step says why"
