#!/usr/bin/env bash
# Tests ./roofwalk on a dummy project. Stand-ins replace all programs that it starts, to check what it installs, builds,
# asks and prints. Each stand-in appends its call to $CALLS. If the call begins with $HANGS, the stand-in also writes
# its process id to $CALLS.pid and does not end.
set -euo pipefail

project=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
root=$folder/a\ project  # paths may contain a space
tools=$folder/bin
export CALLS=$folder/calls
failures=0

mkdir -p "$root"/{common,grader,chapters,book/{truth,site},tests/support,solutions} "$tools"
cp -r "$project"/{roofwalk,tools} "$root"
cp "$project/tools/apt-packages.txt" "$folder/packages"  # readable for users who may not enter the project's folder
touch "$root"/{CMakeLists.txt,CMakePresets.json} "$root/grader/main.cpp"
mkdir "$root/grader/cmd"
for verb in run list; do echo "ROOFWALK_VERB(10, add_${verb}_command);" >"$root/grader/cmd/$verb.cpp"; done

# stand_in FOLDER NAME BODY: makes a command that logs its call and runs BODY.
stand_in() {
  mkdir -p "$1"
  cat >"$1/$2" <<END
#!/bin/bash
hangs=
if [[ -n \${HANGS:-} && "$2 \$*" == \$HANGS* ]]; then hangs=1; echo \$\$ >"\$CALLS.pid"; fi
echo "$2 \$*" >>"\$CALLS"
if [[ -n \$hangs ]]; then exec sleep 20; fi
$3
END
  chmod +x "$1/$2"
}
# toolkit FOLDER VERSION: makes a stand-in CUDA toolkit.
toolkit() {
  stand_in "$1/bin" nvcc "echo 'Cuda compilation tools, release $2, V$2.1'"
  stand_in "$1/bin" ptxas :
  mkdir -p "$1/include"
  touch "$1"/include/{cuda_runtime.h,cuda.h,cupti_range_profiler.h}
}
stand_in "$tools" dpkg-query "sed -n 's/^\([a-z][^ ]*\).*/\1 installed/p' '$folder/packages' |
  grep -v '^libfmt-dev' || true
[[ -n \${NO_FMT:-} ]] || echo 'libfmt-dev:amd64 installed'"
stand_in "$tools" apt-get 'if [[ $* == *--print-uris* ]]; then printf "$APT_LISTS"; exit; fi
if [[ $* == *install* && -n ${APT_SAYS:-} ]]; then echo "$APT_SAYS"; exit 100; fi
if [[ $* == *install* && -e $CALLS.half-configured ]]; then echo "E: dpkg was interrupted, you must"; exit 100; fi
if [[ $* == *install* && -n ${APT_REPORTS:-} ]]; then
  trap "" INT
  reports="$*"
  reports=${reports#*Status-Fd=}
  printf "$APT_REPORTS" >&"${reports%% *}"
  sleep 1.1
  echo "apt-get has finished" >>"$CALLS"
fi'
stand_in "$tools" dpkg 'rm "$CALLS.half-configured"'
# Like the real sudo, it passes on only descriptors 0 to 2.
stand_in "$tools" sudo 'if [[ $1 == -v ]]; then exit "${SUDO_REFUSES:-0}"; fi
if [[ $1 == -n ]]; then shift; fi
"$@" 3>&- 8<&- 9>&-'
stand_in "$tools" df 'printf "Avail\n%dMB\n" "${FREE_MB:-50000}"'
stand_in "$tools" cmake 'mkdir -p build/default && touch build/default/build.ninja
printf "%s\n" "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" "ROOFWALK_CUDA_HEADERS:INTERNAL=$ROOFWALK_CUDA/include" \
  >build/default/CMakeCache.txt'
stand_in "$tools" ninja 'printf "${NINJA_REPORTS:-}"; sleep "${NINJA_TAKES:-0}"; eval "${NINJA_RUNS:-}"
if [[ -n ${NINJA_SAYS:-} ]]; then printf "$NINJA_SAYS"; exit 1; fi
echo "[1/1] Linking"; mkdir -p "$2"/{grader,book/truth}; cp "$PROGRAM" "$2/grader/roofwalk"
cp "$PROGRAM" "$2/grader/roofwalk-learner"
cp "$TRUTH" "$2/book/truth/book_truth"'
stand_in "$tools" ctest 'echo "on-path $(type -P ptxas)" >>"$CALLS"
eval "${CTEST_RUNS:-}"
printf "$CTEST_SAYS"
while [[ $1 != --output-junit ]]; do shift; done
printf "$CTEST_WRITES" >"$2"
exit "$CTEST_EXIT"'
stand_in "$folder" program 'echo "cuda=$ROOFWALK_CUDA root=$ROOFWALK_ROOT"; for word; do echo "[$word]"; done; exit 1'
stand_in "$folder" truth 'exit "${TRUTH_EXIT:-0}"'
export APT_LISTS="'http://a.b/fmt.deb' fmt.deb 30400000 SHA256:0
0 upgraded, 1 newly installed, 0 to remove and 0 not upgraded.
After this operation, 60.2 MB of additional disk space will be used.
"
export PROGRAM=$folder/program TRUTH=$folder/truth CTEST_SAYS='' CTEST_WRITES='' CTEST_EXIT=0
for name in git gnuplot pkg-config g++ fc-match; do stand_in "$tools" "$name" :; done
toolkit "$folder/new" 13.2
toolkit "$folder/old" 12.0
unset ROOFWALK_CUDA ROOFWALK_YES ROOFWALK_BUDGET CUDA_PATH
export CUDA_HOME=$folder/new
export PATH=$folder/old/bin:$tools:/usr/bin:/bin

# call CODE ARGUMENT...: runs ./roofwalk from another folder, expects exit code CODE, and keeps the output in $output.
call() {
  local wanted=$1 code=0
  shift
  : >"$CALLS"
  output=$(cd / && "$root/roofwalk" "$@" 2>&1 </dev/null) || code=$?
  if ((code != wanted)); then
    bad "roofwalk $*: exit $code, wanted $wanted"
  fi
}
# at_terminal CODE INPUT ARGUMENT...: like `call`, but at a terminal, where the output of the shell command INPUT is
# typed. ./roofwalk then receives SIGINT even if the caller of this test ignores that signal.
at_terminal() {
  local wanted=$1 input=$2 code=0
  begun=$SECONDS
  shift 2
  : >"$CALLS"
  output=$({ eval "$input"; } |
    { cd / && env --default-signal=INT script -qec "'$root/roofwalk' $*" /dev/null; }) || code=$?
  if ((code != wanted)); then bad "roofwalk $* at a terminal: exit $code, wanted $wanted"; fi
}
# started NAME: waits until that stand-in was started.
started() { until grep -q "^$1" "$CALLS"; do sleep 0.05; done; }
# is_gone: checks that the hanging stand-in was killed and did not end by itself.
is_gone() {
  if [[ -e /proc/$(<"$CALLS.pid") ]]; then bad "still runs: process $(<"$CALLS.pid")"; fi
  ((SECONDS - begun < 15)) || bad "ended after $((SECONDS - begun)) s"
}
bad() { failures=$((failures + 1)); printf 'FAILED: %s\n%s\n' "$1" "${output:-}"; }
prints() { [[ $output == *"$1"* ]] || bad "does not print: $1"; }
prints_not() { [[ $output != *"$1"* ]] || bad "prints: $1"; }
starts() { grep -q "^$1" "$CALLS" || bad "does not start: $1"; }
starts_not() { ! grep -q "^$1" "$CALLS" || bad "starts: $1"; }

# The first call builds the program, passes its arguments on and returns the program's exit code. An older nvcc on the
# PATH is skipped.
call 1 run vector-add --kernel 'my file.cu' --yes
prints "cuda=$folder/new root=$root"
prints $'[run]\n[vector-add]\n[--kernel]\n[my file.cu]'
prints_not '[--yes]'
starts 'cmake --preset default'
starts 'ninja -C .*/build/default roofwalk-learner$'
starts_not apt-get

# The second call only starts the program. A saved source file causes a build, a changed list of packages a new check.
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

# A grading verb builds the program with all verbs, once. --help, which needs all verbs too, does not build it again.
call 1 grade class
starts 'ninja -C .*/build/default roofwalk$'
call 1 --help
starts_not ninja

# A missing package is not installed without --yes or ROOFWALK_YES=1. With these, only that package is installed. A
# failure names its cause and what to do.
touch "$root/tools/apt-packages.txt"
NO_FMT=1 call 2 list
prints 'missing: 1 apt package (30 MB to fetch)'
prints 'take 90 MB of disk'
prints 'apt-get install libfmt-dev'
starts_not 'apt-get -q'
APT_LISTS='' NO_FMT=1 call 2 list
prints 'up to 127 MB to fetch'
FREE_MB=80 NO_FMT=1 call 3 list --yes
prints "90 MB of disk space is needed, and $root has 80 MB free"
starts_not 'apt-get -q'
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

touch "$CALLS.half-configured" "$root/tools/apt-packages.txt"
NO_FMT=1 call 1 list --yes
starts 'dpkg --configure -a'

# At a terminal, the question states what would be installed, its size and the time, before anything is fetched. Then
# progress is shown.
if type -P script >/dev/null; then
  touch "$root/tools/apt-packages.txt"
  NO_FMT=1 at_terminal 2 'echo n' list
  prints '1 apt package: libfmt-dev, 30 MB'
  prints 'All of it takes 90 MB of disk'
  prints 'Install now? [Y/n]'
  starts_not 'apt-get -q'
  touch "$root/grader/main.cpp"
  mv "$root/build/default/grader/roofwalk" "$folder/built"
  NO_FMT=1 at_terminal 2 'echo n' test
  prints 'All of it takes about 5 minutes on two cores and 370 MB of disk, the tests up to 10 minutes more'
  mv "$folder/built" "$root/build/default/grader/roofwalk"
  NO_FMT=1 APT_REPORTS='dlstatus:1:34.5:Retrieving\npmstatus:a:b:45.1:Unpacking\n' NINJA_REPORTS='[1/2] a\n' \
    NINJA_TAKES=1.1 at_terminal 1 echo list
  prints 'fetching 1 apt package, 34 % ('
  prints 'installing 1 apt package, 45 % (1 s)'
  prints 'building 1/2 (0 s)'
  prints 'building 1/2 (1 s)'

  # Ctrl-C ends the launcher and all commands that it runs, but lets apt finish unpacking. The next call continues.
  touch "$root/tools/apt-packages.txt"
  NO_FMT=1 HANGS='apt-get -q' at_terminal 130 'echo; started "apt-get -q"; printf "\003"' list
  prints 'roofwalk: stopped; run again to go on'
  is_gone
  NO_FMT=1 APT_REPORTS='pmstatus:a:45.1:Unpacking\n' \
    at_terminal 130 'echo; started "apt-get -q.*install"; printf "\003"' list
  prints 'stopping at the next safe point'
  prints 'roofwalk: stopped; run again to go on'
  starts 'apt-get has finished'
  starts_not ninja
  call 1 list
  touch "$root/grader/main.cpp"
  HANGS=ninja at_terminal 130 'started ninja; printf "\003"' list
  prints 'roofwalk: stopped; run again to go on'
  prints_not 'the build failed'
  is_gone
  HANGS=ctest at_terminal 130 'started ctest; printf "\003"' test
  prints 'roofwalk: stopped; run again to go on'
  is_gone
  touch "$root/tools/apt-packages.txt"
  NO_FMT=1 at_terminal 130 'started dpkg-query; sleep 0.5; printf "\003"' list
  prints 'roofwalk: stopped; run again to go on'
  call 1 list
else
  echo "not checked: what a terminal shows (there is no script, of bsdutils)"
fi

# `kill` of the launcher alone also ends the processes that it started.
touch "$root/grader/main.cpp"
: >"$CALLS"
HANGS=ninja "$root/roofwalk" list >"$folder/output" 2>&1 </dev/null &
started ninja
kill "$!"
begun=$SECONDS
code=0
wait "$!" || code=$?
output=$(<"$folder/output")
((code == 143)) || bad "kill: exit $code, wanted 143"
prints 'roofwalk: stopped; run again to go on'
is_gone

# While another call builds, a call names that one and waits for it, and then does not repeat its work. A call that has
# a question asks before it waits.
touch "$root/grader/main.cpp"
: >"$CALLS"
NINJA_TAKES=0.7 "$root/roofwalk" list >/dev/null 2>&1 </dev/null &
holder=$!
started ninja
output=$("$root/roofwalk" list 2>&1 </dev/null) || true
prints "roofwalk: pid $holder of user $(id -un) (./roofwalk list) has been building here since "
prints "; waiting for it"
wait "$holder" || true
(($(grep -c '^ninja' "$CALLS") == 1)) || bad "the one that waited built again"
if type -P script >/dev/null; then
  exec 7>"$root/build/setup/lock"
  flock 7
  touch "$root/tools/apt-packages.txt"
  NO_FMT=1 at_terminal 2 'echo n' list
  prints 'Install now? [Y/n]'
  prints_not waiting
  touch "$root/grader/main.cpp"
  at_terminal 130 'sleep 1.5; printf "\003"' list
  prints 'another ./roofwalk is building here; waiting for it'
  [[ $output =~ 'waiting ('[1-9]' s)' ]] || bad 'does not count the seconds of waiting'
  prints 'roofwalk: stopped; run again to go on'
  exec 7>&-
fi
call 1 list

# Without root, apt runs with sudo, which asks for the password at once. If there is no sudo, the message refers to an
# administrator, and nothing is asked.
as_user=()
if ((EUID == 0)); then as_user=(setpriv --reuid=65534 --regid=65534 --clear-groups); fi
if ((EUID != 0)) || type -P setpriv >/dev/null; then
  chmod 755 "$folder"
  cd "$folder"  # that user may not enter the current folder
  : >"$CALLS"
  if ((EUID == 0)); then chown -R 65534 "$folder"; fi
  touch "$root/tools/apt-packages.txt"
  output=$(NO_FMT=1 "${as_user[@]}" "$root/roofwalk" list 2>&1 </dev/null) || true
  prints 'sudo apt-get install libfmt-dev'
  output=$(NO_FMT=1 APT_REPORTS='dlstatus:1:34.5:x\n' "${as_user[@]}" "$root/roofwalk" list -y 2>&1 </dev/null) || true
  prints 'root='
  starts 'sudo -n sh .*apt-get -q .*install'
  mkdir "$folder/no-sudo"
  ln -s /usr/bin/{awk,bash,cat,cmp,env,find,flock,grep,head,id,mkdir,mv,readlink,rm,sed,setpriv,sort,stat,tail} \
    /usr/bin/{timeout,uname} \
    "$tools"/{apt-get,df,dpkg-query} "$folder/no-sudo"
  touch "$root/tools/apt-packages.txt"
  code=0
  output=$(NO_FMT=1 PATH=$folder/no-sudo "${as_user[@]}" "$root/roofwalk" list 2>&1 </dev/null) || code=$?
  ((code == 3)) || bad "neither root nor sudo: exit $code, wanted 3"
  prints 'ask an administrator for: apt-get install libfmt-dev'
  call 1 list
  if ((EUID == 0)); then
    mkdir -m 700 "$folder/of-root"
    code=0
    output=$(cd "$folder/of-root" && "${as_user[@]}" "$root/roofwalk" list 2>&1 </dev/null) || code=$?
    ((code == 3)) || bad "in a folder of root: exit $code, wanted 3"
    prints "roofwalk: you have no permission to enter the current folder, $folder/of-root: change to another one"
  fi
fi

# A toolkit without CUPTI's headers is skipped. If the toolkit that the build was configured with is gone, the build is
# configured again.
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

# Without a toolkit of version 13, the wheels are offered; they are not fetched unasked.
rm -r "$folder/new"
if [[ ! -x /usr/local/cuda/bin/nvcc && ! -x /opt/cuda/bin/nvcc ]]; then
  call 2 list
  prints 'CUDA 13.0 toolkit'
fi
toolkit "$folder/new" 13.0
call 1 list

# A failed build shows the compiler's messages, not its command line.
touch "$root/grader/main.cpp"
NINJA_SAYS='[1/2] Building\nFAILED: a.o \ng++ -c a.cpp\na.cpp:1: error: nope\nninja: build stopped\n' call 3 list
prints 'a.cpp:1: error: nope'
prints_not 'g++ -c'
call 1 list

# A moved checkout is built again.
mv "$root" "$folder/moved"
root=$folder/moved
call 1 list
starts 'cmake --preset default'
prints "root=$root"

# `test` builds everything. Its last line counts the tests that passed, failed or were skipped. That no test ran is an
# error.
CTEST_SAYS='1/3 Test #1: a ....   Passed    0.00 sec\nchatter\n100%% tests passed, 0 tests failed out of 3\n'
call 0 test --all
starts "on-path $folder/new/bin/ptxas"
starts 'ninja -C .*/build/default all'
starts 'ninja -C .*/build/default long_tests'
starts 'ctest .*-LE \^machine\$$'
[[ ${output##*$'\n'} == '3 passed, 0 failed' ]] || bad "the last line"
prints_not chatter
call 0 test --machines
starts_not 'ninja -C .*/build/default long_tests'
starts 'ctest .*-L \^machine\$$'
CTEST_SAYS+='The following tests did not run:\n\t  2 - b (Skipped)\n'
CTEST_WRITES='<testcase name="b">\n<skipped message="SKIP_RETURN_CODE=4"/>\n'
CTEST_WRITES+='<system-out>skipped: &quot;no&quot; room &lt;1 &amp;amp; caf&#xe9; &#39;x&#39;\n</testcase>\n'
CTEST_WRITES+='<testcase name="d">\n<skipped message="SKIP_RETURN_CODE=4"/>\n'
CTEST_WRITES+='<system-out>roofwalk: `d` needs another GPU\n</testcase>\n'
call 0 test -L vector-add
starts 'ctest .*-LE long\$ -L vector-add'
prints "skipped b: \"no\" room <1 &amp; café 'x'"
prints 'skipped d: `d` needs another GPU'
[[ ${output##*$'\n'} == '2 passed, 0 failed, 1 skipped' ]] || bad "the last line"

# The processor time of the quick tests, together with that of a build from nothing, is printed. With ROOFWALK_BUDGET,
# exceeding the budget is a failure, but not for `--all` or a selection of tests.
passes='1/1 Test #1: a ....   Passed    0.00 sec\n100%% tests passed, 0 tests failed out of 1\n'
built=$root/build/setup/build-seconds
works='(ulimit -c 0 -t 2; while :; do :; done)'  # uses two seconds of processor time
rm -f "$built"
touch "$root/grader/main.cpp"
NINJA_RUNS=$works CTEST_SAYS=$passes call 0 test
[[ -s $built ]] && (($(<"$built") > 0)) || bad "a build from nothing is not recorded"
prints "(building 0 min $(<"$built") s, tests 0 min "
echo 1000 >"$built"
touch "$root/build/default/.ninja_log" "$root/grader/main.cpp"
CTEST_RUNS=$works CTEST_SAYS=$passes ROOFWALK_BUDGET=1 call 0 test
prints 'of 18 min, 1 min'
prints 'left (building 16 min 40 s, tests 0 min '
prints_not 'tests 0 min 0 s'
[[ ${output##*$'\n'} == '1 passed, 0 failed' ]] || bad "the last line"
echo 1110 >"$built"
CTEST_SAYS=$passes ROOFWALK_BUDGET=1 call 1 test
prints 'processor time: 18 min 3'
prints ' s of 18 min, 0 min 3'
prints ' s too much (building 18 min 30 s, tests 0 min '
prints 'FAILED processor time: '
[[ ${output##*$'\n'} == '1 passed, 1 failed' ]] || bad "the last line"
CTEST_SAYS=$passes call 0 test
prints 'too much'
prints_not FAILED
CTEST_SAYS=$passes ROOFWALK_BUDGET=1 call 0 test --all
prints_not 'processor time'
CTEST_SAYS=$passes ROOFWALK_BUDGET=1 call 0 test -L vector-add
prints_not 'processor time'
rm "$built"
CTEST_SAYS=$passes ROOFWALK_BUDGET=1 call 0 test
prints 'building not measured'

# Lines are read to the last one, also those that come when the process has ended.
CTEST_SAYS='' CTEST_RUNS="(sleep 1.5; printf '$passes') &" call 0 test
[[ ${output##*$'\n'} == '1 passed, 0 failed' ]] || bad "the last line"

CTEST_SAYS='1/1 Test #1: a ....***Failed    0.00 sec\nthe reason\n\n0%% tests passed, 1 tests failed out of 1\n'
CTEST_EXIT=8 call 1 test
prints 'the reason'
prints_not 'tests passed'
[[ ${output##*$'\n'} == '0 passed, 1 failed' ]] || bad "the last line"
CTEST_SAYS='No tests were found!!!\n' CTEST_EXIT=8 call 3 test -R nothing
prints 'no test ran'

# book: compares the pages first; offers to install the generator but does not fetch it unasked; the site appears only
# when it is complete.
stand_in "$tools" python3 'if [[ $* == "-m venv "* ]]; then
  mkdir -p "$3/bin" && cp "$PIP" "$3/bin/python" && cp "$GENERATOR" "$3/bin/sphinx-build"
fi'
stand_in "$folder" pip 'echo "Collecting sphinx"
if [[ -n ${PIP_SAYS:-} ]]; then echo "$PIP_SAYS"; exit 1; fi'
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
if type -P script >/dev/null; then
  rm "$root/.venv/book-requirements.txt"
  at_terminal 0 echo book
  prints 'wheels from PyPI into .venv, 21 MB to fetch'
  prints "fetching wheel 1 of $(grep -c == "$root/tools/book-requirements.txt") ("
fi
TRUTH_EXIT=1 call 1 book
starts 'generator '
prints 'differ from the program'
BOOK_SAYS='a.md: WARNING: no such page' call 3 book
prints 'no such page'
starts_not pip
[[ -d $root/build/book ]] || bad "the site that there was is gone"

((failures == 0)) || exit 1
echo "all checks hold"
