#!/usr/bin/env bash
# Tests that a course of thirty chapters passes `./roofwalk test` within its budget of processor time, in a copy of the
# project where copies of today's chapters stand for future ones. If the project was built from nothing and bubblewrap
# may mount, the copy continues from that build, whose time counts. Otherwise it is a clone of HEAD and builds
# everything. Exits with 4 if it cannot run, and prints the reason. KEEP=1 keeps the folder for inspection; PREPARE=1
# keeps it, too, and runs no test in it.
set -euo pipefail

wanted=30
skip() { echo "skipped: $*"; exit 4; }
fail() { echo "FAILED: $*" >&2; exit 1; }

here=$(dirname -- "${BASH_SOURCE[0]}")
type -P git >/dev/null || skip "git is not installed"
root=$(git -C "$here" rev-parse --show-toplevel 2>/dev/null) || skip "the project is no clone: there is no HEAD to copy"
if [[ -z ${ROOFWALK_CUDA:-} && -x $root/.venv/cuda/bin/nvcc ]]; then export ROOFWALK_CUDA=$root/.venv/cuda; fi
temporary=${TMPDIR:-/tmp}
free_mb=$(df -Pm "$temporary" | awk 'NR == 2 { print $4 }')
((free_mb >= 3000)) || skip "$temporary has $free_mb MB free, and a build takes 3000"

folder=$(mktemp -d "$temporary/roofwalk-thirty.XXXXXX")
clean_up() { if [[ -z ${KEEP:-}${PREPARE:-} ]]; then rm -rf "$folder"; else echo "kept: $folder"; fi; }
trap clean_up EXIT
course=$folder/course
build=$root/build/default
source "$root/tests/setup/copied_project.sh"
if [[ -z ${PREPARE:-} && -s $root/build/setup/build-seconds && -e $build/build.ninja ]] && can_mount; then
  mkdir "$course"
  copy_project "$course"
else
  copy=
  git clone -q "$root" "$course"
fi
cd "$course"

# copy_chapter FROM TO LAST: copies the chapter FROM, such as 01-vector-add, to TO, such as 06-copy-06 (a name unlike
# any mistyped name in the tests), and lists it in the book after the chapter LAST. Adds a comment to every kernel, so
# that a copy cannot use what is cached by content, such as compiled kernels; a comment changes no figure.
copy_chapter() {
  local from=$1 to=$2 last=$3 parent file row
  key_of() { sed -n "s/^$1 = \"\(.*\)\"$/\1/p" "chapters/$from/exercise.toml"; }
  for parent in chapters solutions tests/grader/wrong; do
    if [[ -d $parent/$from ]]; then cp -r "$parent/$from" "$parent/$to"; fi
  done
  sed -i "s/^name = \"${from#*-}\"$/name = \"${to#*-}\"/" "chapters/$to/exercise.toml"
  sed -i "s/ROOFWALK_EXERCISE(\"${from#*-}\"/ROOFWALK_EXERCISE(\"${to#*-}\"/" "chapters/$to/exercise.cpp"
  for file in {chapters,solutions,tests/grader/wrong}/"$to"/*.cu; do echo "// $to" >>"$file"; done
  # A copied patch still applies to the original chapter. Lines above its diff become the first lines of the patched
  # kernel, so the comment goes there.
  find "tests/grader/wrong/$to" -name '*.patch' -exec sed -i "0,/^--- /s/^--- /\/\/ $to\n&/" {} +
  sed -i "/(..\/chapters\/$last\/lesson.md)/a - [$(key_of title)](../chapters/$to/lesson.md): $(key_of summary)" book/README.md
  row=$(grep -F "(../chapters/$from/lesson.md)" book/course-map.md)
  row="| $((10#${to%%-*})) [${row#*[}"
  sed -i "/(..\/chapters\/$last\/lesson.md)/a ${row//$from/$to}" book/course-map.md
}

chapters=(chapters/[0-9][0-9]-*/)
today=${#chapters[@]}
last=$(basename "${chapters[-1]}")
for ((i = today; i < wanted; ++i)); do
  from=$(basename "${chapters[i % today]}")
  to=$(printf '%02d-copy-%02d' $((i + 1)) $((i + 1)))
  copy_chapter "$from" "$to" "$last"
  last=$to
done
if [[ -n ${PREPARE:-} ]]; then exit 0; fi

# Removes a variable that an enclosing test may have set. Below, ROOFWALK_BUDGET makes `test` fail if it exceeds the
# budget.
unset ROOFWALK_ROOT
code=0
if [[ -n $copy ]]; then
  commit_copy "thirty chapters"
  TIMEFORMAT='%U %S'
  read -r user system < <({ time in_copy ninja -C "$build" >"$folder/output" 2>&1; } 2>&1)
  awk "BEGIN { getline built <\"$course/build/setup/build-seconds\"; printf \"%d\\n\", built + $user + $system }" \
    >"$folder/seconds"
  mv "$folder/seconds" "$course/build/setup/build-seconds"
  in_copy env ROOFWALK_BUDGET=1 ./roofwalk test </dev/null >"$folder/output" 2>&1 || code=$?
else
  ROOFWALK_BUDGET=1 ./roofwalk test </dev/null >"$folder/output" 2>&1 || code=$?
fi
tail -n 2 "$folder/output"
if ((code != 0)); then
  tail -n 100 "$folder/output" >&2
  fail "./roofwalk test with $wanted chapters: exit $code"
fi
grep -qE '^processor time: .* left \(building [0-9]' "$folder/output" || fail "no processor time within the budget is told"
