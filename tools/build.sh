# Sourced by ./roofwalk when something must be built or tested. Uses root, build, state, say and stop from there, and
# waiting.sh.

build_log=$root/build/build.log

log_build() { printf '%s\n' "$1" >>"$build_log"; }

# Prints the lines of a failed build that give the cause: CMake's own error, or the output of the first failed command.
show_build_errors() {
  {
    if grep -q '^CMake Error' "$build_log"; then
      sed -n '/^CMake Error/,$p' "$build_log" | grep -vE '^ *$|^FAILED:|^ninja: |^/.*cmake --regenerate'
    elif grep -q '^FAILED:' "$build_log"; then
      sed -n '/^FAILED:/,$p' "$build_log" | sed '1,2d;/^\[[0-9]*\/[0-9]*\]/d;/^ninja: /d'
    else
      grep -vE '^-- |^ *$' "$build_log"
    fi
  } | head -n 20 >&2
  if grep -qE 'No space left' "$build_log"; then stop 3 "the build failed: the disk is full"; fi
  stop 3 "the build failed (all of it: $build_log)"
}

# Configures the build folder if necessary: one made for another path (a copied or moved checkout) is removed first, and
# one whose CUDA headers no longer exist is configured again.
configure() {
  local cached='' headers=''
  if [[ -f $build/CMakeCache.txt ]]; then
    cached=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$build/CMakeCache.txt")
    headers=$(sed -n 's/^ROOFWALK_CUDA_HEADERS:INTERNAL=\([^;]*\).*/\1/p' "$build/CMakeCache.txt")
    if [[ $cached != "$root" || ! -f $build/build.ninja ]]; then
      rm -rf "$build"
    elif [[ -z $headers || -d $headers ]]; then
      return
    fi
  fi
  if [[ ! -t 2 ]]; then say "preparing the build ..."; fi
  # ROOFWALK_NATIVE=OFF is for a build that runs on other processors, such as that of a container image.
  watch "preparing the build" log_build -C "$root" cmake --preset default \
    ${ROOFWALK_NATIVE:+"-DROOFWALK_NATIVE=$ROOFWALK_NATIVE"} ${ROOFWALK_WERROR:+"-DROOFWALK_WERROR=$ROOFWALK_WERROR"} ||
    show_build_errors
}

# Turns ninja's "[37/120] ..." into progress.
ninja_line() {
  log_build "$1"
  # Lines such as "[0/2] Re-checking ..." and "[1/1] Re-running CMake..." come first and count other steps.
  if [[ $1 =~ ^\[([1-9][0-9]*/[0-9]+)\] && $1 != *'] Re-'* ]]; then
    if [[ ! -t 2 && -z $started ]]; then
      say "building (${BASH_REMATCH[1]#*/} steps; where it is: tail build/build.log) ..."
    fi
    started=1
    progress "building ${BASH_REMATCH[1]}"
  fi
}

# Builds TARGET. The stamp has the time of the start, so that a file saved during the build counts as new.
build_quietly() {
  local target=$1 stamp=$state/built-$1 started=
  rm -f "$stamp"
  : >"$stamp.new" && : >"$build_log" || stop 3 "cannot write in $root/build: free some space or check its owner"
  configure
  watch building ninja_line NINJA_STATUS='[%f/%t] ' ninja -C "$build" "$target" || show_build_errors
  mv "$stamp.new" "$stamp"
  if [[ $target == all ]]; then
    cp -p "$stamp" "$state/built-roofwalk"
    cp -p "$stamp" "$state/built-roofwalk-learner"
    cp -p "$stamp" "$state/built-roofwalk-programs"
  fi
}

# Minutes of processor time that the quick tests and a build from nothing may take together. This corresponds to ten
# minutes on two cores, which are never fully busy.
budget_min=18
build_record=$state/build-seconds  # seconds of the last build of all targets in an empty folder

# Sets `spent` to the processor seconds of all processes that this shell started and that have ended.
count_processor_seconds() {
  local part
  times >"$state/times"  # a subshell would print its own times
  spent=0
  for part in $(tail -n 1 "$state/times"); do
    if [[ $part =~ ^([0-9]+)m([0-9]+) ]]; then spent=$((spent + 60 * BASH_REMATCH[1] + 10#${BASH_REMATCH[2]})); fi
  done
}

build_and_time() {
  local spent before is_first=
  if [[ $1 == all && ! -e $build/.ninja_log ]]; then is_first=1; fi
  count_processor_seconds
  before=$spent
  build_quietly "$1"
  count_processor_seconds
  if [[ -n $is_first ]]; then echo $((spent - before)) >"$build_record"; fi
}

minutes() { printf '%d min %d s' $(($1 / 60)) $(($1 % 60)); }

# Prints the processor time of the build and the quick tests ($1: seconds of the tests), and the budget. Fails if the
# budget is exceeded.
within_budget() {
  local tests=$1 sum=$1 margin building='building not measured: its folder was not empty' standing=left
  if [[ -s $build_record ]]; then
    sum=$((tests + $(<"$build_record")))
    building="building $(minutes $((sum - tests)))"
  fi
  margin=$((60 * budget_min - sum))
  if ((margin < 0)); then standing='too much'; fi
  printf 'processor time: %s of %d min, %s %s (%s, tests %s)\n' "$(minutes "$sum")" "$budget_min" \
    "$(minutes "${margin#-}")" "$standing" "$building" "$(minutes "$tests")"
  ((margin >= 0))
}

# Prints "skipped NAME and N more: REASON", one line for each reason. The file is XML, so names and reasons are
# unescaped. In the C locale, every awk writes a code above 127 as one byte.
show_skips() {
  LC_ALL=C awk '
    function tail(code, unit) { return sprintf("%c", 128 + int(code / unit) % 64) }
    function character(code) {
      if (code < 128) return sprintf("%c", code)
      if (code < 2048) return sprintf("%c", 192 + int(code / 64)) tail(code, 1)
      if (code < 65536) return sprintf("%c", 224 + int(code / 4096)) tail(code, 64) tail(code, 1)
      return sprintf("%c", 240 + int(code / 262144)) tail(code, 4096) tail(code, 64) tail(code, 1)
    }
    function unescaped(text,   done, entity, code, i) {
      done = ""
      while (match(text, /&([a-z]+|#[0-9]+|#x[0-9A-Fa-f]+);/)) {
        entity = substr(text, RSTART + 1, RLENGTH - 2)
        done = done substr(text, 1, RSTART - 1)
        text = substr(text, RSTART + RLENGTH)
        if (entity in named) {
          done = done named[entity]
        } else if (entity ~ /^#x/) {
          code = 0
          for (i = 3; i <= length(entity); ++i)
            code = code * 16 + index("0123456789abcdef", tolower(substr(entity, i, 1))) - 1
          done = done character(code)
        } else {
          done = done (entity ~ /^#/ ? character(substr(entity, 2) + 0) : "&" entity ";")
        }
      }
      return done text
    }
    BEGIN { named["quot"] = "\""; named["apos"] = "\047"; named["lt"] = "<"; named["gt"] = ">"; named["amp"] = "&" }
    /<testcase name="/ { split($0, part, "\""); name = part[2]; sub(/  # GetParam.*/, "", name); reason = "-"; ours = 0 }
    /<skipped message="SKIP_/ { ours = 1 }
    /: Skipped$/ { getline; reason = $0 }
    match($0, /(^|>)skipped: /) { reason = substr($0, RSTART + RLENGTH) }
    reason == "-" && match($0, /(^|>)roofwalk: /) { reason = substr($0, RSTART + RLENGTH) }
    /<\/testcase>/ && ours { if (!count[reason]++) { first[reason] = name; order[++reasons] = reason } }
    END {
      for (i = 1; i <= reasons; ++i) {
        more = count[order[i]] - 1
        print "skipped " unescaped(first[order[i]] (more ? " and " more " more" : "") ": " order[i])
      }
    }' "$1"
}

# Turns ctest's "37/120 Test #5: ..." into progress, and shows the output of a failed test.
ctest_line() {
  printf '%s\n' "$1" >>"$log"
  if [[ $1 =~ ^\ *([0-9]+/[0-9]+)\ Test\ +# ]]; then
    progress "tested ${BASH_REMATCH[1]}"
    shown=0
    case $1 in *' Passed '* | *'***Skipped'* | *'(Disabled)'*) show= ;; *) show=1; progress_done ;; esac
  elif [[ $1 =~ ^\ +Start\ +[0-9]+:|^[0-9]+%\ tests\ passed, ]]; then
    show=
  fi
  if [[ -n $show ]] && ((shown++ < 60)); then printf '%s\n' "$1"; fi
}

# Runs the tests and prints failures with their output, then the count as the last line. Exits with 0, 1 (a failure) or
# 3.
run_tests() {
  local junit=$root/build/tests.xml log=$root/build/test.log line show='' shown=0 status=0
  local total=0 failed=0 skipped=0 spent before is_quick= waiting=1
  local -a selection=(-LE 'long$')
  if (($# == 0)); then is_quick=1; fi
  case ${1:-} in
    --all) selection=(-LE '^machine$'); waiting=2; shift ;;
    --machines) selection=(-L '^machine$'); shift ;;
  esac
  count_processor_seconds
  before=$spent
  rm -f "$junit"
  : >"$log"
  # The toolkit comes first on the PATH, so that tests do not call an older one. There are more jobs than processors,
  # because a few tests mostly wait: one job more for the quick tests, two with those that play a slow GPU.
  watch "starting the tests" ctest_line PATH="$ROOFWALK_CUDA/bin:$PATH" ctest --test-dir "$build" --no-tests=error \
    -j "$(($(nproc) + waiting))" --output-on-failure --output-junit "$junit" "${selection[@]}" "$@" ||
    status=$?
  line=$(grep -E '^[0-9]+% tests passed, ' "$log" | tail -n 1) || true
  if [[ ! $line =~ ^[0-9]+%\ tests\ passed,\ ([0-9]+)\ tests?\ failed\ out\ of\ ([0-9]+) ]]; then
    tail -n 5 "$log"
    stop 3 "no test ran (log: $log)"
  fi
  failed=${BASH_REMATCH[1]}
  total=${BASH_REMATCH[2]}
  skipped=$(grep -cE '^[[:space:]]+[0-9]+ - .* \(Skipped\)$' "$log") || true
  if ((skipped > 0)); then show_skips "$junit"; fi
  count_processor_seconds
  if [[ -n $is_quick ]] && ! within_budget $((spent - before)) && [[ -n ${ROOFWALK_BUDGET:-} ]]; then
    echo "FAILED processor time: label the longest tests in build/test.log so that it ends in \`long\`, or make them cheaper"
    failed=$((failed + 1))
    total=$((total + 1))
  fi
  printf '%d passed, %d failed' $((total - failed - skipped)) "$failed"
  if ((skipped > 0)); then printf ', %d skipped' "$skipped"; fi
  printf '\n'
  if ((failed > 0 || status != 0)); then exit 1; fi
  exit 0
}
