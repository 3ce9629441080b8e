#!/usr/bin/env bash
# Updates the comment. If the comment cannot be written, this is only a warning, because the job summary has the report, too.
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
  echo "::warning title=gpulint::the comment was not written: see the log of this step"
