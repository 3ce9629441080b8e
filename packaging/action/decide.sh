#!/usr/bin/env bash
# Passes only when the scan said so: whatever else happened is a failure.
set -euo pipefail

code=$GPULINT_EXIT_CODE
case $code in
  0)
    # Without a verdict, whoever said 0 was not this scan.
    case ${GPULINT_VERDICT:-} in
      pass) exit 0 ;;
      "not judged")
        echo "::warning title=gpulint::not judged: ${GPULINT_NOT_JUDGED:-some things} that matter; fail-on-unread makes this fail"
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
      echo "::error title=gpulint::not judged: ${GPULINT_NOT_JUDGED:-some things} that matter; the report says why of each"
    else
      found="findings that count"
      if [ -n "${GPULINT_NEW_FINDINGS:-}" ]; then
        found="$GPULINT_NEW_FINDINGS new findings, ${GPULINT_WORSE_FINDINGS:-0} worse ones"
      fi
      echo "::error title=gpulint::$found, or a broken budget: the report says which"
    fi
    ;;
  2) echo "::error title=gpulint::the scan could not be done; the log of the step Scan says why" ;;
  3) echo "::error title=gpulint::nothing was there to check; compare paths and working-directory, or set allow-empty" ;;
  *)
    echo "::error title=gpulint::the scan broke off with code ${code:-unknown}"
    code=70
    ;;
esac
exit "$code"
