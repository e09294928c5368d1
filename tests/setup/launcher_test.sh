#!/usr/bin/env bash
# ./roofwalk on a project of one line, with stand-ins for all that it starts: what it installs, builds, asks and prints.
# Each stand-in writes its call to $CALLS, so that a check can say what was and was not started.
set -euo pipefail

project=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
root=$folder/a\ project  # a space, as people have them
tools=$folder/bin
export CALLS=$folder/calls
failures=0

mkdir -p "$root"/{common,grader,chapters,book/{operations,truth,site},tests/support,solutions} "$tools"
cp -r "$project"/{roofwalk,tools} "$root"
touch "$root"/{CMakeLists.txt,CMakePresets.json} "$root/grader/main.cpp"

# stand_in FOLDER NAME BODY: a command that logs its call.
stand_in() {
  mkdir -p "$1"
  printf '#!/bin/bash\necho "%s $*" >>"$CALLS"\n%s\n' "$2" "$3" >"$1/$2"
  chmod +x "$1/$2"
}
# toolkit FOLDER VERSION
toolkit() {
  stand_in "$1/bin" nvcc "echo 'Cuda compilation tools, release $2, V$2.1'"
  stand_in "$1/bin" ptxas :
  mkdir -p "$1/include"
  touch "$1"/include/{cuda_runtime.h,cuda.h,cupti_range_profiler.h}
}
stand_in "$tools" dpkg-query "sed -n 's/^\([a-z][^ ]*\).*/\1 installed/p' '$project/tools/apt-packages.txt' |
  grep -v '^libfmt-dev' || true
[[ -n \${NO_FMT:-} ]] || echo 'libfmt-dev:amd64 installed'"
stand_in "$tools" apt-get 'if [[ $* == *install* && -n ${APT_SAYS:-} ]]; then echo "$APT_SAYS"; exit 100; fi'
stand_in "$tools" sudo '[[ $1 != -n ]] || shift; "$@"'
stand_in "$tools" cmake 'mkdir -p build/default && touch build/default/build.ninja
printf "%s\n" "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" "ROOFWALK_CUDA_HEADERS:INTERNAL=$ROOFWALK_CUDA/include" \
  >build/default/CMakeCache.txt'
stand_in "$tools" ninja 'if [[ -n ${NINJA_SAYS:-} ]]; then printf "$NINJA_SAYS"; exit 1; fi
echo "[1/1] Linking"; mkdir -p "$2"/{grader,book/truth}; cp "$PROGRAM" "$2/grader/roofwalk"
cp "$TRUTH" "$2/book/truth/book_truth"'
stand_in "$tools" ctest 'echo "on-path $(type -P ptxas)" >>"$CALLS"
printf "$CTEST_SAYS"
while [[ $1 != --output-junit ]]; do shift; done
printf "$CTEST_WRITES" >"$2"
exit "$CTEST_EXIT"'
stand_in "$folder" program 'echo "cuda=$ROOFWALK_CUDA root=$ROOFWALK_ROOT"; for word; do echo "[$word]"; done; exit 1'
stand_in "$folder" truth 'exit "${TRUTH_EXIT:-0}"'
export PROGRAM=$folder/program TRUTH=$folder/truth CTEST_SAYS='' CTEST_WRITES='' CTEST_EXIT=0
for name in git gnuplot pkg-config g++ fc-match; do stand_in "$tools" "$name" :; done
toolkit "$folder/new" 13.2
toolkit "$folder/old" 12.0
unset ROOFWALK_CUDA ROOFWALK_YES CUDA_PATH
export CUDA_HOME=$folder/new
export PATH=$folder/old/bin:$tools:/usr/bin:/bin

# call CODE ARGUMENT...: runs ./roofwalk from another folder, keeps what it prints in $output.
call() {
  local wanted=$1 code=0
  shift
  : >"$CALLS"
  output=$(cd / && "$root/roofwalk" "$@" 2>&1 </dev/null) || code=$?
  if ((code != wanted)); then
    bad "roofwalk $*: exit $code, wanted $wanted"
  fi
}
bad() { failures=$((failures + 1)); printf 'FAILED: %s\n%s\n' "$1" "${output:-}"; }
prints() { [[ $output == *"$1"* ]] || bad "does not print: $1"; }
prints_not() { [[ $output != *"$1"* ]] || bad "prints: $1"; }
starts() { grep -q "^$1" "$CALLS" || bad "does not start: $1"; }
starts_not() { ! grep -q "^$1" "$CALLS" || bad "starts: $1"; }

# The first call builds, passes arguments on and gives the program's exit code; an old nvcc on the PATH is passed over.
call 1 run vector-add --kernel 'my file.cu' --yes
prints "cuda=$folder/new root=$root"
prints $'[run]\n[vector-add]\n[--kernel]\n[my file.cu]'
prints_not '[--yes]'
starts 'cmake --preset default'
starts 'ninja -C .*/build/default roofwalk'
starts_not apt-get

# The second starts the program and nothing else; a saved source is built, a new requirement looked at.
call 1 list
for name in nvcc dpkg-query cmake ninja; do starts_not "$name"; done
prints_not building
touch "$root/grader/main.cpp"
call 1 list
starts ninja
starts_not cmake
touch "$root/tools/apt-packages.txt"
call 1 list
starts dpkg-query
starts_not cmake

# A missing package: nothing happens unasked; --yes installs that one; a failure says its cause and what to do.
touch "$root/tools/apt-packages.txt"
NO_FMT=1 call 2 list
prints 'apt-get install libfmt-dev'
starts_not 'apt-get'
NO_FMT=1 APT_SAYS='E: Could not get lock /var/lib/dpkg/lock-frontend' call 3 list --yes
prints 'another program is using apt'
NO_FMT=1 APT_SAYS='Temporary failure resolving a.b' call 3 list --yes
prints 'no network'
NO_FMT=1 APT_SAYS='E: You do not have enough free space' call 3 list -y
prints 'the disk is full'
NO_FMT=1 APT_SAYS='E: Unable to locate package libfmt-dev' call 3 list -y
prints 'Unable to locate package libfmt-dev'
NO_FMT=1 ROOFWALK_YES=1 call 1 list
starts 'apt-get .*install.* libfmt-dev$'

# A toolkit without CUPTI's headers is passed over; the build that knew the one that went is made anew.
toolkit "$folder/whole" 13.1
mv "$folder/new/include/cupti_range_profiler.h" "$folder"
rm "$root/build/default/CMakeCache.txt"
touch "$root/tools/setup.sh"
CUDA_PATH=$folder/whole call 1 list
prints "cuda=$folder/whole"
mkdir -p "$folder/new/extras/CUPTI/include"
mv "$folder/cupti_range_profiler.h" "$folder/new/extras/CUPTI/include"
rm -r "$folder/whole"
call 1 list
prints "cuda=$folder/new"
starts 'cmake --preset default'

# No toolkit of 13 anywhere: the wheels are offered, not fetched unasked.
rm -r "$folder/new"
if [[ ! -x /usr/local/cuda/bin/nvcc && ! -x /opt/cuda/bin/nvcc ]]; then
  call 2 list
  prints 'CUDA 13.0 toolkit'
fi
toolkit "$folder/new" 13.0
call 1 list

# A broken build shows the compiler's words, not the command.
touch "$root/grader/main.cpp"
NINJA_SAYS='[1/2] Building\nFAILED: a.o \ng++ -c a.cpp\na.cpp:1: error: nope\nninja: build stopped\n' call 3 list
prints 'a.cpp:1: error: nope'
prints_not 'g++ -c'
call 1 list

# A checkout that was moved is built anew.
mv "$root" "$folder/moved"
root=$folder/moved
call 1 list
starts 'cmake --preset default'
prints "root=$root"

# test: everything is built; the count is the last line; failures, skips and "no test" are told apart.
CTEST_SAYS='1/3 Test #1: a ....   Passed    0.00 sec\nchatter\n100%% tests passed, 0 tests failed out of 3\n'
call 0 test --all
starts "on-path $folder/new/bin/ptxas"
starts 'ninja -C .*/build/default all'
starts_not 'ctest .*-LE'
[[ ${output##*$'\n'} == '3 passed, 0 failed' ]] || bad "the last line"
prints_not chatter
CTEST_SAYS+='The following tests did not run:\n\t  2 - b (Skipped)\n'
CTEST_WRITES='<testcase name="b">\n<skipped message="SKIP_RETURN_CODE=4"/>\n<system-out>skipped: no room\n</testcase>\n'
call 0 test -L vector-add
starts 'ctest .*-LE long\$ -L vector-add'
prints 'skipped b: no room'
[[ ${output##*$'\n'} == '2 passed, 0 failed, 1 skipped' ]] || bad "the last line"
CTEST_SAYS='1/1 Test #1: a ....***Failed    0.00 sec\nthe reason\n\n0%% tests passed, 1 tests failed out of 1\n'
CTEST_EXIT=8 call 1 test
prints 'the reason'
prints_not 'tests passed'
[[ ${output##*$'\n'} == '0 passed, 1 failed' ]] || bad "the last line"
CTEST_SAYS='No tests were found!!!\n' CTEST_EXIT=8 call 3 test -R nothing
prints 'no test ran'

# book: pages are compared first; the generator is offered, not fetched unasked; the site is there when it is whole.
stand_in "$tools" python3 'if [[ $* == "-m venv "* ]]; then
  mkdir -p "$3/bin" && cp "$PIP" "$3/bin/python" && cp "$GENERATOR" "$3/bin/sphinx-build"
fi'
stand_in "$folder" pip 'if [[ -n ${PIP_SAYS:-} ]]; then echo "$PIP_SAYS"; exit 1; fi'
stand_in "$folder" generator 'if [[ -n ${BOOK_SAYS:-} ]]; then echo "$BOOK_SAYS"; exit 1; fi; mkdir -p "${!#}"'
export PIP=$folder/pip GENERATOR=$folder/generator
touch "$root/book/a page.md"
call 0 book --help
prints '--rewrite'
starts_not ninja
call 2 book --quick
prints "not '--quick'"
call 0 book --check
starts 'ninja -C .*/build/default book_truth'
starts 'truth book/a page.md'
starts_not python3
TRUTH_EXIT=1 call 1 book --check
starts_not python3
call 2 book
prints 'Sphinx'
starts_not 'truth '
PIP_SAYS='THESE PACKAGES DO NOT MATCH THE HASHES' call 3 book --yes
prints 'checksum'
call 0 book --yes --rewrite
starts 'truth --rewrite book/a page.md'
starts 'generator .*-W'
[[ ${output##*$'\n'} == "book: $root/build/book/index.html" ]] || bad "the last line"
TRUTH_EXIT=1 call 1 book
starts 'generator '
prints 'differ from the program'
BOOK_SAYS='a.md: WARNING: no such page' call 3 book
prints 'no such page'
starts_not pip
[[ -d $root/build/book ]] || bad "the site that there was is gone"

((failures == 0)) || exit 1
echo "all checks hold"
