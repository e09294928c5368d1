#!/usr/bin/env bash
# fresh_machine.sh [debian|ubuntu]: tests the README's promise on a machine that has only root, git and a network: a new
# folder from debootstrap, a clone of HEAD, `./roofwalk run vector-add --yes` (the starter's dot, exit 1) and
# `./roofwalk test`. Then runs vector-add and the tests of the command line again, with an old nvcc 12 first on the PATH
# and with solved files in my/. Needs root and debootstrap. Exits with 4 if it cannot run, and prints the reason. KEEP=1
# keeps the folder.
set -euo pipefail

system=${1:-debian}
skip() { echo "skipped: $*"; exit 4; }
fail() { echo "FAILED: $*" >&2; exit 1; }

case $system in
  debian) suite=bookworm components=main keyring=debian-archive-keyring ;;
  ubuntu) suite=noble components=main,universe keyring=ubuntu-archive-keyring ;;
  *) echo "usage: fresh_machine.sh [debian|ubuntu]" >&2; exit 2 ;;
esac
((EUID == 0)) || skip "making a fresh $system needs root"
type -P debootstrap >/dev/null || skip "debootstrap is not installed"
recipe=/usr/share/debootstrap/scripts/$suite
if [[ ! -e $recipe ]]; then recipe=/usr/share/debootstrap/scripts/gutsy; fi  # all later Ubuntus use that recipe

# Uses a mount namespace of its own, so that all mounts below disappear when this process ends, however it ends.
if [[ -z ${FRESH_MACHINE_INSIDE:-} ]]; then
  unshare --mount true 2>/dev/null || skip "this machine allows no mount namespaces"
  FRESH_MACHINE_INSIDE=1 exec unshare --mount --propagation private bash "${BASH_SOURCE[0]}" "$system"
fi

root=$(git -C "$(dirname -- "${BASH_SOURCE[0]}")" rev-parse --show-toplevel)
folder=$(mktemp -d "${TMPDIR:-/tmp}/roofwalk-$system.XXXXXX")
machine=$folder/root
clean_up() {
  umount "$machine/proc" "$machine/dev/pts" "$machine/dev" 2>/dev/null || true
  if [[ -z ${KEEP:-} ]]; then rm -rf --one-file-system "$folder"; else echo "kept: $folder"; fi
}
trap clean_up EXIT

# Only signed packages may be run as root. Most machines that do not run Ubuntu lack Ubuntu's keys; these are then taken
# from Ubuntu's package of keys, whose hash below is from noble's index.
keys=/usr/share/keyrings/$keyring.gpg
if [[ ! -f $keys ]]; then
  [[ $system == ubuntu ]] || skip "the keyring of $system's archive ($keyring) is not installed"
  wget -q -T 60 -O "$folder/keys.deb" \
    http://archive.ubuntu.com/ubuntu/pool/main/u/ubuntu-keyring/ubuntu-keyring_2023.11.28.1_all.deb ||
    skip "the keyring of $system's archive is neither installed nor can it be fetched"
  sha256sum --quiet --check <<<"36de43b15853ccae0028e9a767613770c704833f82586f28eb262f0311adb8a8  $folder/keys.deb" >&2 ||
    fail "the fetched keyring of $system's archive is not the one that it should be"
  dpkg-deb -x "$folder/keys.deb" "$folder/keys"
  keys=$folder/keys$keys
fi

# Uses the host's own mirror if the host runs the same release, else debootstrap's default.
mirror=$(apt-get indextargets --format '$(CODENAME) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
  awk -v suite="$suite" '$1 == suite { print $2; exit }')
debootstrap --variant=minbase --keyring="$keys" --components="$components" --include=git \
  "$suite" "$machine" "$mirror" "$recipe" >"$folder/debootstrap.log" 2>&1 || {
  grep -qE 'Failed getting release file|Invalid Release' "$folder/debootstrap.log" &&
    skip "no mirror of $system $suite can be reached"
  tail -n 5 "$folder/debootstrap.log" >&2
  fail "debootstrap $suite"
}

# The fresh machine reaches the network as the host does: same name resolution, same proxies and certificates for apt
# and pip.
cp -L /etc/resolv.conf /etc/hosts "$machine/etc/"
apt-config dump | grep '^Acquire::' >"$machine/etc/apt/apt.conf.d/99host" || true
settings=()
mapfile -t settings < <(env |
  grep -iE '^(http|https|no|all)_proxy=|^PIP_(INDEX_URL|EXTRA_INDEX_URL|TRUSTED_HOST|DEFAULT_TIMEOUT|PROXY)=' || true)
certificates=${PIP_CERT:-$(python3 -m pip config get global.cert 2>/dev/null || true)}
if [[ -n $certificates && -f $certificates ]]; then
  cp -L "$certificates" "$machine/etc/host-certificates.crt"
  settings+=(PIP_CERT=/etc/host-certificates.crt)
fi
if [[ -f /etc/pip.conf ]]; then grep -vE '^ *cert *=' /etc/pip.conf >"$machine/etc/pip.conf" || true; fi
mount --bind /proc "$machine/proc"
mount --bind /dev "$machine/dev"
mount --bind /dev/pts "$machine/dev/pts"  # terminals

system_path=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
# inside PATH COMMAND: runs a shell command in the clone; of the host's environment it keeps only the network settings.
inside() {
  chroot "$machine" /usr/bin/env -i HOME=/root TERM=dumb LANG=C.UTF-8 PATH="$1" ${settings[@]+"${settings[@]}"} \
    bash -c "cd /root/roofwalk && { $2; }" </dev/null
}
# expect CODE PATH COMMAND: runs the command inside; shows its output and fails if the exit code is not CODE.
expect() {
  local wanted=$1 code=0 begin=$SECONDS
  shift
  inside "$@" >"$folder/output" 2>&1 || code=$?
  echo "$2: exit $code after $((SECONDS - begin)) s: $(tail -n 1 "$folder/output")"
  if ((code != wanted)); then
    tail -n 60 "$folder/output" >&2
    fail "$2: exit $code, wanted $wanted"
  fi
}
expect_output() { grep -qE "$1" "$folder/output" || { cat "$folder/output" >&2; fail "the output lacks /$1/"; }; }
expect_dot() {  # PATH
  expect 1 "$1" './roofwalk run vector-add --yes'
  expect_output 'vector-add'
  expect_output 'FLOP/B'
  expect 1 "$1" './roofwalk run vector-add --format json'
  expect_output '"correct": ?true'
}
expect_tests() {  # PATH [CTEST-ARGUMENTS]
  expect 0 "$1" "./roofwalk test ${2:-}"
  tail -n 1 "$folder/output" | grep -qE '^[1-9][0-9]* passed, 0 failed(, [0-9]+ skipped)?$' ||
    fail "no count at the end"
}

typed="-R '^(EndToEnd|Book|setup|dev_check|correctness)'"

git -C "$root" bundle create -q "$machine/root/roofwalk.bundle" HEAD
chroot "$machine" git -c advice.detachedHead=false clone -q /root/roofwalk.bundle /root/roofwalk

echo "== $system $suite: nothing installed"
expect 2 "$system_path" './roofwalk run vector-add'
expect_output '^roofwalk: missing: [0-9]+ apt packages \((up to )?[0-9]+ MB to fetch\) and the CUDA 13\.0 toolkit \([0-9]+ MB'
expect_output 'about [0-9]+ minutes on two cores and (up to )?[0-9.]+ GB of disk\. .*apt-get install .*g\+\+.*python3-venv'
named=$(sed -n 's/.* apt packages (\(up to \)\?\([0-9]*\) MB to fetch).*/\2/p' "$folder/output")
expect_dot "$system_path"
fetched=$(sed -n 's/^Fetched \([0-9]*\)[0-9.]* MB in .*/\1/p' "$machine/root/roofwalk/build/setup/install.log" | tail -n 1)
echo "apt: $named MB named, ${fetched:-?} MB fetched"
((fetched > 0 && 4 * named >= 3 * fetched && 4 * named <= 5 * fetched)) || fail "the question named $named MB for apt"
expect_tests "$system_path"

echo "== the book"
expect 2 "$system_path" './roofwalk book'
expect_output 'Sphinx'
expect 0 "$system_path" './roofwalk book --yes'
expect 0 "$system_path" 'grep -q README.html build/book/index.html && test -s build/book/book/README.html'

echo "== an old nvcc 12 first on the PATH, and no toolkit installed yet"
mkdir -p "$machine/opt/old/bin"
printf '#!/bin/sh\necho "Cuda compilation tools, release 12.0, V12.0.140"\n' >"$machine/opt/old/bin/nvcc"
cp "$machine/opt/old/bin/nvcc" "$machine/opt/old/bin/ptxas"
chmod +x "$machine"/opt/old/bin/*
rm -rf "$machine/root/roofwalk/.venv" "$machine/root/roofwalk/build/setup"
expect_dot "/opt/old/bin:$system_path"
expect_tests "/opt/old/bin:$system_path" "$typed"

echo "== a solved checkout"
for solutions in "$machine"/root/roofwalk/solutions/*-*/; do
  name=$(basename "$solutions")
  last=$(printf '%s\n' "$solutions"step*.cu | sort -V | tail -n 1)
  mkdir -p "$machine/root/roofwalk/my"
  cp "$last" "$machine/root/roofwalk/my/${name#*-}.cu"
done
expect 0 "$system_path" './roofwalk run vector-add'
expect_tests "$system_path" "$typed"
echo "$system $suite: all as promised"
