#!/usr/bin/env bash
# on_part.sh PART COMMAND...: runs a test that compiles for minutes in each third `test --all`, by the day (see
# tests/support/part_of_today.h). Exits with 4, which skips the test, on other days.
set -euo pipefail
part=$1
shift
today=${ROOFWALK_PART:-$(($(date +%s) / 86400 % 3))}
if [[ $today != all && $today != "$part" ]]; then
  echo "skipped: runs each third day, or with ROOFWALK_PART=$part"
  exit 4
fi
exec "$@"
