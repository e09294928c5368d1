#!/usr/bin/env bash
# Measures builds in processor seconds (user and system, of all processes) and in wall seconds: from nothing to the
# first dot, after one touched file, and an update, for which all files that some commits changed are touched. Works in a
# clone of HEAD. Other load on the machine raises the figures.
#
#   build_figures.sh [FROM [TO]]    the commits of the update; default: the last ten
set -euo pipefail

root=$(git -C "$(dirname -- "${BASH_SOURCE[0]}")" rev-parse --show-toplevel)
from=$(git -C "$root" rev-parse --verify "${1:-HEAD~10}^{commit}")
to=$(git -C "$root" rev-parse --verify "${2:-HEAD}^{commit}")
if [[ -z ${ROOFWALK_CUDA:-} && -x $root/.venv/cuda/bin/nvcc ]]; then export ROOFWALK_CUDA=$root/.venv/cuda; fi
folder=$(mktemp -d "${TMPDIR:-/tmp}/roofwalk-build.XXXXXX")
trap 'rm -rf "$folder"' EXIT
unset ROOFWALK_ROOT
export CCACHE_DISABLE=1  # a warm cache would hide the cost of a first build

# measured WHAT COMMAND...: prints a line of figures. Ignores the command's exit code, because a starter does not pass.
measured() {
  local what=$1 wall user system TIMEFORMAT='%R %U %S'
  shift
  { time "$@" >"$folder/output" 2>&1 || true; } 2>"$folder/time"
  read -r wall user system < <(tail -n 1 "$folder/time")
  awk -v what="$what" -v wall="$wall" -v user="$user" -v system_s="$system" \
    'BEGIN { printf "%-58s %7.1f processor s %7.1f s\n", what, user + system_s, wall }'
}

git clone -q "$root" "$folder/clone"
cd "$folder/clone"
measured 'first dot: run vector-add' ./roofwalk run vector-add --yes
grep -q 'NOT YET' "$folder/output" || { cat "$folder/output" >&2; echo 'FAILED: no dot' >&2; exit 1; }
measured 'first verb about a class: grade --help' ./roofwalk grade --help
for file in common/vgpu/{timing/timing_model,exec/ops/alu_ops,exec/lockstep/lockstep_ops,trace/sample}.cpp \
  grader/attempt/pipeline.cpp grader/cmd/run.cpp \
  chapters/03-tiled-gemm/exercise.cpp; do
  touch -c "$file"
  measured "touched $file: list" ./roofwalk list
done
touch -c grader/class/batch/gradebook.cpp
measured 'touched grader/class/batch/gradebook.cpp: grade --help' ./roofwalk grade --help
echo 'the ten longest steps of the first build, in seconds of wall:'
awk 'NR > 1 { printf "%8.1f  %s\n", ($2 - $1) / 1000, $4 }' build/default/.ninja_log | sort -rn | head -n 10

git diff --name-only --diff-filter=d "$from" "$to" | xargs touch -c
measured "update by the $(git rev-list --count "$from..$to") commits to ${to:0:9}: list" ./roofwalk list
