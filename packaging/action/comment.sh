#!/usr/bin/env bash
# Updates the comment. A comment that cannot be written is only a warning, because the job summary also has the report.
set -euo pipefail

if [ -n "${GPULINT_WORKING_DIRECTORY:-}" ]; then cd "$GPULINT_WORKING_DIRECTORY"; fi
arguments=(--report "$GPULINT_REPORT" "--tag=$GPULINT_TAG" "--mode=$GPULINT_MODE")
[ "$GPULINT_REVIEW" != true ] || arguments+=(--review)
if [ -n "${GPULINT_PAGE_URL:-}" ]; then
  arguments+=("--page=$GPULINT_PAGE_URL")
fi

# The scan has already written the summary.
unset GITHUB_STEP_SUMMARY
gpulint comment github "${arguments[@]}" ||
  echo "::warning title=gpulint::the comment could not be written; the reason is in the log of this step"
