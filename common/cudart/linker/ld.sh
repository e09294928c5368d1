#!/bin/sh
# Stands before the linker where a program of the user is built: links the shared CUDA runtime where the static one is
# asked for. GCC and Clang find it in COMPILER_PATH, under the name of the linker that they look for.
set -u
here=${0%/*} name=${0##*/}
real=
# As GCC itself: the linker of its own toolchain before that of PATH.
compiler=$(readlink -f "/proc/$PPID/exe") && compiler=${compiler%/*}
target=${compiler%/*}
for candidate in "$compiler/$name" "$compiler/../../../../${target##*/}/bin/$name" "$(command -v "$name")"; do
  if [ -x "$candidate" ] && [ ! "$candidate" -ef "$0" ]; then
    real=$candidate
    break
  fi
done
if [ -z "$real" ]; then
  echo "roofwalk: there is no $name on the PATH" >&2
  exit 1
fi
lists=  # response files with the change
for word do
  shift
  case $word in
    -lcudart_static | -l:libcudart_static.a | libcudart_static.a | */libcudart_static.a) word=-lcudart ;;
    @*)
      if list=$(mktemp) && sed -E 's#(^|[[:space:]"])(-lcudart_static|[^[:space:]"]*libcudart_static\.a)#\1-lcudart#g' "${word#@}" >"$list"; then
        lists="$lists $list"
        word=@$list
      fi
      ;;
  esac
  set -- "$@" "$word"
done
"$real" "-L$here/.." "$@"
code=$?
[ -z "$lists" ] || rm -f $lists
exit $code
