# Sourced by ./roofwalk for long operations: waiting for another call and for child processes, and handling signals.
# Uses state, arguments, say and stop from there.

watched=      # the process that `watch` waits for
stopped_with= # the exit code, after a signal
signals=0     # number of signals so far; `read` returns at each
doing=        # the text of the progress line
doing_since=0
waited=       # set after waiting for another call

# Shows the progress of a long job: on a terminal in one line that is overwritten, elsewhere nothing.
progress() {
  doing=$1
  if [[ ! -t 2 ]]; then return; fi
  local seconds=$((SECONDS - doing_since)) elapsed=
  if ((seconds >= 60)); then elapsed="$((seconds / 60)) min "; fi
  printf '\r\033[Kroofwalk: %s (%s%d s)%s' "$doing" "$elapsed" $((seconds % 60)) \
    "${stopped_with:+, stopping at the next safe point}" >&2
}
progress_done() {
  if [[ -t 2 && -n $doing ]]; then printf '\r\033[K' >&2; fi
  doing=
}

# Prints the process group of process $1, or nothing if it has ended.
group_of() {
  local fields
  fields=$(cat "/proc/$1/stat")  # 12 (name) S parent group ...
  fields=${fields##*) }
  fields=${fields#* * }
  printf '%s\n' "${fields%% *}"
}

# Sends SIGINT to process $1 and to its descendants in our process group, as a terminal does at Ctrl-C. dpkg is spared,
# because apt runs it in a group of its own: unpacking must not be interrupted. Files are read with `cat`, because this
# function runs in a trap: while the trap interrupts a `read`, another `read` would read nothing, and a redirection from
# a file that has disappeared would end bash.
interrupt() {
  local child children
  [[ $(group_of "$1") == "$(group_of $$)" ]] || return 0
  children=$(cat "/proc/$1/task/$1/children") || true
  kill -INT "$1" || true
  for child in $children; do interrupt "$child"; done
} 2>/dev/null  # a process may end meanwhile

# Handles a signal; $1 is the exit code. Interrupts the running command, if any: `watch` then waits until it has ended
# and calls this function again, so that no process is left that still writes.
stopped() {
  stopped_with=$1
  signals=$((signals + 1))
  if [[ -n $watched ]]; then
    interrupt "$watched"
    if [[ -n $doing ]]; then progress "$doing"; fi
    return 0  # otherwise the status of the interrupted command would be returned
  fi
  if [[ -t 2 && -z $doing ]]; then printf '\n' >&2; fi  # starts a new line after the ^C
  progress_done
  stop "$1" "stopped; run again to go on"
}
trap 'stopped 130' INT
trap 'stopped 143' TERM

# watch TEXT FUNCTION WORD...: runs `env WORD...` without input, calls FUNCTION with each line of its output, and keeps
# a progress line moving, which shows TEXT until FUNCTION sets another text. Returns the command's exit status. Bash
# would handle a signal only after a foreground command has ended, but it does so at once during `read`. So the command
# runs in the background, where SIGINT is ignored unless env restores it.
watch() {
  local on_line=$2 line='' part='' code=0 before ended=
  doing_since=$SECONDS
  progress "$1"
  shift 2
  exec 8< <(exec env --default-signal=INT,QUIT "$@" 2>&1 </dev/null)
  watched=$!
  while true; do
    part=
    before=$signals
    if IFS= read -r -t 1 -u 8 part; then
      if [[ -z $stopped_with ]]; then "$on_line" "$line$part"; else progress "$doing"; fi
      line=
    elif (($? > 128 || signals > before)) && [[ -z $ended ]]; then  # no complete line within a second
      line+=$part
      # It may have written its last lines within this second. They are read before the loop ends. A process that it
      # left behind may hold the pipe open for longer.
      if [[ ! -e /proc/$watched ]]; then ended=1; fi
      if [[ -n $doing ]]; then progress "$doing"; fi
    else
      break
    fi
  done
  if [[ -n $line$part && -z $stopped_with ]]; then "$on_line" "$line$part"; fi
  exec 8<&-
  wait "$watched" || code=$?
  watched=
  if [[ -n $stopped_with ]]; then stopped "$stopped_with"; fi
  if ((code == 130)); then stopped 130; fi  # sudo may hide a Ctrl-C from us
  progress_done
  return "$code"
}

# run_locked FUNCTION WORD...: runs FUNCTION under a lock, because two calls must not install or build at the same time.
run_locked() {
  local holder='' pid=''
  mkdir -p "$state" 2>/dev/null || stop 3 "cannot write in $root/build: free some space or check its owner"
  exec 9>"$state/lock"
  if ! flock -n 9; then
    { read -r pid holder <"$state/holder"; } 2>/dev/null || true
    if [[ -z $holder || ! -e /proc/$pid ]]; then
      say "another ./roofwalk is building here; waiting for it"
    else
      say "pid $pid $holder; waiting for it"
    fi
    watch waiting : flock 9
    waited=1
  fi
  printf '%d of user %s (./roofwalk %s) has been building here since %(%H:%M)T\n' $$ "$(id -un)" "${arguments[*]-}" -1 \
    >"$state/holder"
  "$@" || exit $?
  exec 9>&-
}
