# Sourced by tests that change the project. Copies the project and its build folder and mounts the copy at the project's
# path, so that a build continues there and compiles only what changed. Compiled kernels are not copied.
#
#   can_mount                true if bubblewrap may mount a copy here
#   copy_project COPY        needs `root` and `build`; COPY becomes a git repository with one commit
#   in_copy COMMAND...       runs the command in $root, where the copy is mounted

in_copy() {
  local binds=(--dev-bind / / --bind "$copy" "$root")
  if [[ -d $root/.venv ]]; then binds+=(--bind "$root/.venv" "$root/.venv"); fi
  bwrap "${binds[@]}" --die-with-parent --chdir "$root" -- "$@"
}

can_mount() {
  type -P bwrap >/dev/null && bwrap --dev-bind / / --bind "$root" "$root" -- true 2>/dev/null
}

# Keeps the files' times: ninja compiles files that are newer than their output.
copy_project() {
  copy=$1
  tar -C "$root" --exclude=./build --exclude=./.venv --exclude=./.git --exclude=./.cache --exclude=./my -cf - . |
    tar -C "$copy" -xf -
  mkdir -p "$copy/build/setup" "$copy/.venv" "$copy/${build#"$root"/}"
  local file
  for file in "$root"/build/setup/{ready,build-seconds}; do
    if [[ -f $file ]]; then cp -p "$file" "$copy/build/setup/"; fi
  done
  tar -C "$build" --exclude=cache -cf - . | tar -C "$copy/${build#"$root"/}" -xf -
  git -C "$copy" init -q
  commit_copy start
}

commit_copy() {
  git -C "$copy" add -A
  git -C "$copy" -c user.name=tests -c user.email=tests@localhost commit -qm "$1"
}
