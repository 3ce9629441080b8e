#!/usr/bin/env bash
# Passes only if the scan passed: everything else is a failure.
set -euo pipefail

code=$GPULINT_EXIT_CODE
case $code in
  0)
    # Without a verdict, the 0 did not come from this scan.
    case ${GPULINT_VERDICT:-} in
      pass) exit 0 ;;
      "not judged")
        echo "::warning title=gpulint::not evaluated: ${GPULINT_NOT_JUDGED:-some} relevant files, blocks or resources; set fail-on-unread to fail in this case"
        exit 0
        ;;
      *)
        echo "::error title=gpulint::the scan ended without a verdict"
        exit 70
        ;;
    esac
    ;;
  1)
    if [ "${GPULINT_VERDICT:-}" = "not judged" ]; then
      echo "::error title=gpulint::not evaluated: ${GPULINT_NOT_JUDGED:-some} relevant files, blocks or resources; the report has the reason for each"
    else
      found="findings at or above fail-on"
      if [ -n "${GPULINT_NEW_FINDINGS:-}" ]; then
        found="$GPULINT_NEW_FINDINGS new findings, ${GPULINT_WORSE_FINDINGS:-0} worse ones"
      fi
      echo "::error title=gpulint::$found, or an exceeded budget; the report lists them"
    fi
    ;;
  2) echo "::error title=gpulint::the scan failed; the reason is in the log of the step Scan" ;;
  3) echo "::error title=gpulint::nothing to check; correct paths and working-directory, or set allow-empty" ;;
  *)
    echo "::error title=gpulint::the scan ended with unexpected code ${code:-unknown}"
    code=70
    ;;
esac
exit "$code"
