#!/usr/bin/env bash
# fuzz.sh NAME [--seconds N] [libFuzzer's own arguments]: builds the target in build/fuzz with clang and the address and
# undefined-behaviour sanitizers, and runs it. New inputs go to build/fuzz/corpus/NAME, crashes to build/fuzz/found.
# Exits with 4 if there is no clang.
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=$(cd -- "$here/../.." && pwd)
build=${ROOFWALK_FUZZ_BUILD:-$root/build/fuzz}
name=${1:-}
seconds=60
if [[ $name != ptx && $name != plan ]]; then
  echo "fuzz.sh: which one, ptx or plan?" >&2
  exit 2
fi
shift
if [[ ${1:-} == --seconds ]]; then
  seconds=${2:?how many seconds?}
  shift 2
fi

probe=$(mktemp -d)
trap 'rm -rf "$probe"' EXIT
echo 'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }' >"$probe/probe.cpp"
if ! clang++ -fsanitize=fuzzer,address "$probe/probe.cpp" -o "$probe/probe" >/dev/null 2>&1; then
  echo "skipped: no clang++ with libFuzzer here (apt-get install clang)"
  exit 4
fi

mkdir -p "$build/corpus/$name" "$build/found"
log=$build/build.log
if ! { cd "$root" && cmake --preset fuzz -B "$build" && ninja -C "$build" "fuzz_$name"; } >"$log" 2>&1; then
  tail -n 20 "$log" >&2
  exit 1
fi

# libFuzzer's dictionary: all words of the golden files.
grep -ohE '[.%_a-zA-Z$][.:%_a-zA-Z0-9$]+' "$root"/tests/ptx/parse/forms-*.ptx "$root/tests/ptx/parse/nvcc-plan.ptx" |
  sort -u | sed 's/.*/"&"/' >"$build/words.dict"

seeds=("$root/tests/ptx/parse")
if [[ -d $here/$name/seeds ]]; then seeds+=("$here/$name/seeds"); fi
export ROOFWALK_ROOT=$root
"$build/tests/fuzz/fuzz_$name" -max_total_time="$seconds" -max_len=12000 -timeout=10 -rss_limit_mb=2048 \
  -malloc_limit_mb=1024 -dict="$build/words.dict" -artifact_prefix="$build/found/$name-" -print_final_stats=1 "$@" \
  "$build/corpus/$name" "${seeds[@]}"
