#!/usr/bin/env bash
# todays_slices.sh ROOFWALK CHAPTER PLACE CHIP...: `dev check` of a chapter on slices of a third of the chips, another
# third each day: all of it on one of three large chips, the quick form on the others. PLACE, the chapter's place in the
# course, spreads the chips over the chapters. ROOFWALK_PART=0, 1 or 2 in the environment names the third; "all" runs
# all chips. Exits with 4 if none of today's chips can run the chapter.
set -euo pipefail
roofwalk=$1 chapter=$2 place=$3
shift 3

large=() others=()
for chip in "$@"; do
  case $chip in
    a100-80 | h100-sxm | rtx4090) large+=("$chip") ;;
    *) others+=("$chip") ;;
  esac
done

today=${ROOFWALK_PART:-$(($(date +%s) / 86400 % 3))}
is_todays() { [[ $today == all ]] || ((($1 + place + today) % 3 == 0)); }

ran=0 failed=0
check() {
  local chip=$1 status=0
  shift
  echo "--- virtual:$chip/8"
  "$roofwalk" dev check "$chapter" "$@" --device "virtual:$chip/8" || status=$?
  if ((status == 4)); then return; fi
  ran=1
  if ((status != 0)); then failed=1; fi
}
for i in "${!large[@]}"; do
  if is_todays "$i"; then check "${large[i]}"; fi
done
for i in "${!others[@]}"; do
  if is_todays "$i"; then check "${others[i]}" --quick; fi
done

if ((failed)); then
  echo "repeat it with ROOFWALK_PART=$today"
  exit 1
fi
if ((!ran)); then exit 4; fi
