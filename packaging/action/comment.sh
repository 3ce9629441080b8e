#!/usr/bin/env bash
# Keeps the comment up to date. A comment that cannot be written is a warning: the report is in the summary of the job too.
set -euo pipefail

arguments=(--body "$GPULINT_BODY" "--tag=$GPULINT_TAG" "--mode=$GPULINT_MODE")
[ "$GPULINT_QUIET" != true ] || arguments+=(--only-if-present)

# The scan wrote the summary already.
unset GITHUB_STEP_SUMMARY
gpulint comment github "${arguments[@]}" ||
  echo "::warning title=gpulint::the comment could not be written; the log of this step says why"
