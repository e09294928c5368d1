#!/usr/bin/env bash
# Checks that this checkout gives the same figures as another one, for changes that must not change figures. Compares
# the JSON of every starter and solution step on each machine, and of every wrong solution on classroom, to the last
# digit. Both checkouts must be built.
#
#   same_figures.sh OTHER [MACHINE...]    OTHER: the other checkout; without MACHINE: all of this one's
#
# Exits with 1 if anything differs, and shows the first lines of each difference. Both run this checkout's kernels.
set -euo pipefail

root=$(git -C "$(dirname -- "${BASH_SOURCE[0]}")" rev-parse --show-toplevel)
other=$(cd -- "${1:?usage: same_figures.sh OTHER [MACHINE...]}" && pwd -P)
shift
machines=("$@")
if ((${#machines[@]} == 0)); then
  for file in "$root"/common/specs/*.toml; do file=${file##*/}; machines+=("${file%.toml}"); done
fi
folder=$(mktemp -d "${TMPDIR:-/tmp}/roofwalk-same.XXXXXX")
trap 'rm -rf "$folder"' EXIT
compared=0 differing=0

# figures CHECKOUT CHAPTER KERNEL MACHINE: prints the JSON of an attempt with any verdict, without the checkout's path.
figures() {
  ROOFWALK_ROOT=$1 "$1/build/default/grader/roofwalk-learner" run "$2" --kernel "$3" --device "virtual:$4" \
    --format json 2>&1 | sed "s|$1/||g; s|$root/||g" || true
}

compare() {
  figures "$root" "$@" >"$folder/here" &
  figures "$other" "$@" >"$folder/there"
  wait
  compared=$((compared + 1))
  if ! cmp -s "$folder/here" "$folder/there"; then
    differing=$((differing + 1))
    printf 'DIFFERS on %s: %s\n' "$3" "${2#"$root"/}"
    diff "$folder/there" "$folder/here" | head -n 10 || true
  fi
}

# kernel_of WRONG: prints the file to run. If WRONG is a patch, makes that file by applying it to its base.
kernel_of() {
  local base kernel=$1
  if [[ $1 == *.patch ]]; then
    base=$(sed -n '/^--- /{s///;s/\t.*//;p;q}' "$1")
    kernel=$folder/$(basename "$1" .patch).cu
    patch --unified --fuzz=0 --force --silent --output="$kernel" --input="$1" "$root/$base" >&2 || return
  fi
  printf '%s\n' "$kernel"
}

for chapter in "$root"/chapters/*/; do
  chapter=${chapter%/} number_and_name=${chapter##*/} name=${number_and_name#*-}
  for machine in "${machines[@]}"; do
    for kernel in "$chapter/kernel.cu" "$root/solutions/$number_and_name"/*.cu; do compare "$name" "$kernel" "$machine"; done
  done
  for wrong in "$root/tests/grader/wrong/$number_and_name"/*.{cu,patch}; do
    if [[ ! -e $wrong ]]; then continue; fi  # no file matched the pattern
    kernel=$(kernel_of "$wrong")
    compare "$name" "$kernel" classroom
  done
done
printf '%d attempts compared with %s: %d differ\n' "$compared" "$(git -C "$other" rev-parse --short HEAD)" "$differing"
((differing == 0))
