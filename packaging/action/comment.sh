#!/usr/bin/env bash
# Keeps the comment up to date. A comment that cannot be written is a warning: the report is in the summary of the job too.
set -euo pipefail

if [ -n "${GPULINT_WORKING_DIRECTORY:-}" ]; then cd "$GPULINT_WORKING_DIRECTORY"; fi
arguments=(--report "$GPULINT_REPORT" "--tag=$GPULINT_TAG" "--mode=$GPULINT_MODE")
[ "$GPULINT_REVIEW" != true ] || arguments+=(--review)
if [ -n "${GPULINT_PAGE_URL:-}" ]; then
  arguments+=("--page=$GPULINT_PAGE_URL")
fi

# The scan wrote the summary already.
unset GITHUB_STEP_SUMMARY
gpulint comment github "${arguments[@]}" ||
  echo "::warning title=gpulint::the comment could not be written; the log of this step says why"
