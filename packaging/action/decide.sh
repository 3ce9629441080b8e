#!/usr/bin/env bash
# Passes only if the scan passed. Everything else is a failure.
set -euo pipefail

code=$GPULINT_EXIT_CODE
case $code in
  0)
    # A code of 0 without a verdict does not come from this scan.
    case ${GPULINT_VERDICT:-} in
      pass) exit 0 ;;
      "not judged")
        echo "::warning title=gpulint::incomplete: ${GPULINT_NOT_JUDGED:-some} relevant entries not evaluated; set fail-on-unread to make this fail"
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
      echo "::error title=gpulint::incomplete: ${GPULINT_NOT_JUDGED:-some} relevant entries not evaluated; the report lists the reasons"
    else
      found="findings at or above fail-on"
      if [ -n "${GPULINT_NEW_FINDINGS:-}" ]; then
        found="$GPULINT_NEW_FINDINGS new findings, ${GPULINT_WORSE_FINDINGS:-0} worse ones"
      fi
      echo "::error title=gpulint::$found, or an exceeded budget: see the report"
    fi
    ;;
  2) echo "::error title=gpulint::the scan failed: see the log of the step Scan" ;;
  3) echo "::error title=gpulint::there was nothing to check: correct paths and working-directory, or set allow-empty" ;;
  *)
    echo "::error title=gpulint::the scan stopped with code ${code:-unknown}"
    code=70
    ;;
esac
exit "$code"
