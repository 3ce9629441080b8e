#!/usr/bin/env bash
# Passes only when the scan said so: whatever else happened is a failure.
set -euo pipefail

code=$GPULINT_EXIT_CODE
case $code in
  0) exit 0 ;;
  1) echo "::error title=gpulint::${GPULINT_NEW_FINDINGS:-there are} findings that count, or a budget is broken" ;;
  2) echo "::error title=gpulint::the scan could not be done; the log of the step Scan says why" ;;
  3) echo "::error title=gpulint::nothing was there to check; compare paths and working-directory, or set allow-empty" ;;
  *)
    echo "::error title=gpulint::the scan broke off with code ${code:-unknown}"
    code=70
    ;;
esac
exit "$code"
