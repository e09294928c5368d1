# Sourced by ./roofwalk when the last set-up is no longer valid: finds missing packages, asks once, and installs them.
# Uses root, state, program, setup_stamp, yes, say and stop from there, and waiting.sh. The output of all called tools
# goes to build/setup/install.log.

install_log=$state/install.log
venv=$root/.venv
venv_cuda=$venv/cuda  # a link to the wheels' toolkit, made last, so it exists only after a complete installation
requirements=$root/tools/cuda-requirements.txt

# Measured figures that the question shows: MB to download for the wheels of cuda-requirements.txt (x86_64; 108 MB on
# aarch64), MB of .venv with them, MB of build/ with the program; minutes for all of it from nothing on two cores, and
# minutes for the tests.
wheels_mb=115
venv_mb=340
build_mb=280
minutes=5
tests_minutes=10

# Prints the packages of apt-packages.txt that are neither installed nor replaced by a command on the PATH.
missing_packages() {
  local package command installed
  installed=" $(dpkg-query -W -f='${binary:Package} ${db:Status-Status}\n' 2>/dev/null |
    awk '$2 == "installed" { sub(/:.*/, "", $1); printf "%s ", $1 }')"
  while read -r package command; do
    case $package in '' | '#'*) continue ;; esac
    if [[ $installed == *" $package "* ]]; then continue; fi
    if [[ -n $command ]] && type -P "$command" >/dev/null; then continue; fi
    printf '%s ' "$package"
  done <"$root/tools/apt-packages.txt"
}

# True for a folder with nvcc 13.0 or later, ptxas, and the headers of the runtime, the driver and CUPTI, which many
# packaged toolkits leave out. An older nvcc, however early on the PATH, is skipped.
toolkit_is_usable() {
  local folder=$1 version header place found
  [[ -x $folder/bin/nvcc && -x $folder/bin/ptxas ]] || return 1
  version=$(timeout 20 "$folder/bin/nvcc" --version 2>/dev/null) || return 1
  [[ $version =~ release\ ([0-9]+)\. ]] && ((BASH_REMATCH[1] >= 13)) || return 1
  for header in cuda_runtime.h cuda.h cupti_range_profiler.h; do
    found=
    for place in "$folder"/{include,targets/*/include,extras/CUPTI/include}; do
      if [[ -f $place/$header ]]; then found=1; fi
    done
    [[ -n $found ]] || return 1
  done
}

# Prints the folder of the first usable toolkit: the caller's choice, then the PATH, the usual places, the project's
# own.
find_toolkit() {
  local folder nvcc
  local -a candidates=("${ROOFWALK_CUDA:-}")
  while IFS= read -r nvcc; do
    [[ -n $nvcc ]] && nvcc=$(readlink -f -- "$nvcc") || continue
    candidates+=("${nvcc%/bin/*}")
  done <<<"$(type -aP nvcc)"
  candidates+=("${CUDA_HOME:-}" "${CUDA_PATH:-}" /usr/local/cuda /usr/local/cuda-13* /opt/cuda)
  if cmp -s "$requirements" "$venv/cuda-requirements.txt"; then candidates+=("$venv_cuda"); fi
  for folder in "${candidates[@]}"; do
    if [[ -n $folder ]] && toolkit_is_usable "$folder"; then
      printf '%s\n' "$folder"
      return
    fi
  done
  return 1
}

# Prints one line with the cause of a failed installation, found at the end of its log, and what to do about it.
explain_failure() {
  local what=$1 text
  text=$(tail -n 60 "$install_log")
  case $text in
    *'No space left'* | *'enough free space'*)
      stop 3 "$what: the disk is full; free about 1 GB and run this again" ;;
    *'ould not get lock'* | *'is another process using it'*)
      stop 3 "$what: another program is using apt; run this again when it has finished" ;;
    *'emporary failure resolving'* | *'ould not resolve'* | *'Could not connect'* | *'NewConnectionError'* | \
      *'etwork is unreachable'* | *'Connection refused'* | *'onnection timed out'* | *'name resolution'*)
      stop 3 "$what: no network; connect, then run this again" ;;
    *'Unable to locate package'* | *'has no installation candidate'*)
      text=$(grep -oE 'Unable to locate package .*|Package .* has no installation candidate' <<<"$text" | head -n 1)
      stop 3 "$what: Debian 12 or Ubuntu 24.04 (with universe) is needed ($text)" ;;
    *CERTIFICATE_VERIFY_FAILED*)
      stop 3 "$what: the server's certificate is not trusted here; behind a company proxy, set PIP_CERT to its bundle" ;;
    *'DO NOT MATCH THE HASHES'*)
      stop 3 "$what: a download does not have the expected checksum; it was not installed. Try again later" ;;
    *)
      stop 3 "$what failed: $(grep -E '^(E:|ERROR|Error|sudo:)' <<<"$text" | tail -n 1) (log: $install_log)" ;;
  esac
}

log_install() { printf '%s\n' "$1" >>"$install_log"; }

# Finds missing parts; sets `cuda` or `needs_wheels`, and `packages`.
find_missing() {
  needs_wheels=
  packages=()
  cuda=$(find_toolkit) || needs_wheels=1
  if type -P apt-get >/dev/null; then
    read -ra packages <<<"$(missing_packages)"
    if [[ -n $needs_wheels ]]; then
      python3 -c 'import ensurepip, venv' 2>/dev/null || packages+=(python3-venv)
      [[ -e /etc/ssl/certs/ca-certificates.crt ]] || packages+=(ca-certificates)
    fi
  fi
  if [[ -n $needs_wheels ]]; then
    case $(uname -m) in
      x86_64 | aarch64) ;;
      *) stop 3 "no CUDA toolkit 13 found, and there are no wheels of it for $(uname -m)" ;;
    esac
  fi
}

# Prints the MB of `packages`: to download, and once installed. apt needs no root for this, but it needs its package
# lists. Without them, as in a fresh container, it fails, or takes a name such as g++ for a pattern and finds nothing.
weigh_packages() {
  { LC_ALL=C apt-get install --print-uris -y --no-install-recommends "${packages[@]}" 2>/dev/null || true; } |
    awk -v quote="'" '
      substr($0, 1, 1) == quote { fetch += $(NF - 1) / 1e6 }  # fields of a line: quoted URI, file, bytes, hash
      / newly installed/ { count = $1 + $3 }
      /^After this operation, .* used/ {
        gsub(",", "", $4)
        disk = $4 * ($5 == "GB" ? 1000 : $5 == "MB" ? 1 : 0)
      }
      END { if (count) printf "%.0f %.0f\n", fetch, disk }'
}

need_root() {
  if ((EUID != 0)) && ! type -P sudo >/dev/null; then
    stop 3 "$(count_packages) missing, and there is neither root nor sudo here;" \
      "ask an administrator for: apt-get install ${packages[*]}"
  fi
}

# Lists everything that is missing, before anything is downloaded, and asks whether to continue.
ask_for_missing() {
  local up_to='' fetch=0 disk=0 free='' text='' missing='' total='' command=''
  if [[ -z $needs_wheels ]] && ((${#packages[@]} == 0)); then return; fi
  if ((${#packages[@]})); then
    need_root
    command="apt-get install ${packages[*]}"
    if ((EUID != 0)); then command="sudo $command"; fi
    read -r fetch disk <<<"$(weigh_packages)" || true
    if [[ -z $fetch ]]; then
      read -r fetch disk < <(sed -n 's/^# bare: \([0-9]*\) MB to fetch, \([0-9]*\) MB installed$/\1 \2/p' \
        "$root/tools/apt-packages.txt")
      up_to='up to '
    fi
    missing="$(count_packages) ($up_to$fetch MB to fetch)"
    text+="  $(count_packages): ${packages[*]:0:3}"
    if ((${#packages[@]} > 3)); then text+=" and $((${#packages[@]} - 3)) more"; fi
    text+=", $up_to$fetch MB"$'\n'
    # apt keeps the files that it downloaded.
    if [[ $(stat -c %d "$root") == "$(stat -c %d /usr)" ]]; then disk=$((disk + fetch)); else disk=0; fi
  fi
  if [[ -n $needs_wheels ]]; then
    missing+="${missing:+ and }the CUDA 13.0 toolkit ($wheels_mb MB to fetch)"
    text+="  the CUDA 13.0 toolkit: wheels from PyPI into .venv, $wheels_mb MB"$'\n'
    disk=$((disk + venv_mb + wheels_mb))  # pip keeps the files that it downloaded
  fi
  if [[ ! -x $program ]]; then disk=$((disk + build_mb)); fi
  { read -r _ && read -r free; } < <(df -BMB --output=avail "$root" 2>/dev/null) || true
  if [[ -n $free ]] && ((${free%MB} < disk)); then
    stop 3 "$(amount "$disk") of disk space is needed, and $root has $(amount "${free%MB}") free;" \
      "free some, then run this again"
  fi
  total="$up_to$(amount "$disk") of disk"
  if [[ ! -x $program ]]; then total="about $minutes minutes on two cores and $total"; fi
  if [[ ${arguments[0]-} == test ]]; then total+=", the tests up to $tests_minutes minutes more"; fi
  text+="Then comes the build. All of it takes $total."$'\n'
  if [[ $command == sudo* ]]; then text+=$'apt runs with sudo, which may ask for your password.\n'; fi
  ask "$text" "$missing" "the installation and the build take $total" "$command"
}

# amount MB: prints "1.3 GB" or "280 MB".
amount() {
  local tenths=$((($1 + 50) / 100))
  if ((tenths < 10)); then printf '%d MB' "$1"; else printf '%d.%d GB' $((tenths / 10)) $((tenths % 10)); fi
}

count_packages() {
  printf '%d apt package' ${#packages[@]}
  if ((${#packages[@]} > 1)); then printf s; fi
}

# ask TEXT MISSING TAKES COMMAND: asks one question about everything that TEXT lists. Without a terminal, nobody can
# answer, so only --yes lets the installation continue.
ask() {
  local text=$1 missing=$2 takes=$3 command=$4 answer=
  if [[ -n $yes ]]; then return; fi
  if [[ ! -t 0 ]]; then
    stop 2 "missing: $missing. Run with --yes to install it; $takes${command:+. Or run yourself: $command}"
  fi
  printf 'roofwalk: missing, and installed once:\n%sInstall now? [Y/n] ' "$text" >&2
  read -r answer || answer=n
  case $answer in
    '' | [yY]*) ;;
    *) stop 2 "nothing installed${command:+; to do it yourself: $command}" ;;
  esac
}

apt_line() {
  if [[ $1 =~ ^dlstatus:.*:([0-9]+)\.[0-9]*: ]]; then
    progress "fetching $(count_packages), ${BASH_REMATCH[1]} %"
  elif [[ $1 =~ ^pmstatus:.*:([0-9]+)\.[0-9]*: ]]; then
    progress "installing $(count_packages), ${BASH_REMATCH[1]} %"
  fi
}

# run_apt TEXT ACTION WORD...: runs apt-get. It reports percentages on descriptor 3, which become the output of this
# command; its other output goes to the log. sudo passes on only descriptors 0 to 2, so inside it the percentages use 1
# and all other output uses 2.
run_apt() {
  local text=$1
  shift
  watch "$text" apt_line sh -c 'exec "$@" 2>>"$0"' "$install_log" "${as_root[@]}" sh -c 'exec "$@" 3>&1 1>&2' apt \
    env DEBIAN_FRONTEND=noninteractive "$@"
}

install_packages() {
  local -a as_root=() get=(apt-get -q -y -o APT::Status-Fd=3 -o DPkg::Lock::Timeout=60)
  local -a install=("${get[@]}" install --no-install-recommends "${packages[@]}")
  if ((EUID != 0)); then
    as_root=(sudo)
    if [[ ! -t 0 ]]; then
      as_root+=(-n)
    else  # asks for the password now: later the progress line would overwrite the prompt
      sudo -v || stop 3 "sudo failed; ask an administrator to run: apt-get install ${packages[*]}"
    fi
  fi
  say "installing $(count_packages) with apt-get ..."
  # If the lists cannot be refreshed (one broken third-party source is enough), continue: the old lists may suffice.
  run_apt "refreshing apt's lists" "${get[@]}" update || true
  if run_apt "installing $(count_packages)" "${install[@]}"; then return; fi
  # Repairs packages that a power failure or a kill left half-configured.
  if grep -q '^E: dpkg was interrupted' "$install_log"; then
    run_apt "finishing an interrupted installation" dpkg --configure -a &&
      run_apt "installing $(count_packages)" "${install[@]}" && return
  fi
  explain_failure "apt-get install"
}

pip_line() {
  log_install "$1"
  if [[ $1 == Collecting\ * ]]; then
    wheels_begun=$((wheels_begun + 1))
    progress "fetching wheel $wheels_begun of $wheels"
  elif [[ $1 == 'Installing collected packages'* ]]; then
    progress "unpacking $wheels wheels"
  fi
}

# install_wheels WHAT REQUIREMENTS: installs into .venv. pip cannot uninstall the files of an interrupted attempt, so
# --ignore-installed lets it overwrite them.
install_wheels() {
  local what=$1 file=$2 wheels wheels_begun=0
  wheels=$(grep -c '==' "$file")
  watch "fetching wheels" pip_line "$venv/bin/python" -m pip install --disable-pip-version-check --no-input \
    --progress-bar off --ignore-installed --no-deps --only-binary :all: --require-hashes -r "$file" ||
    explain_failure "$what"
}

make_venv() { watch "making .venv" log_install python3 -m venv "$venv" --clear || explain_failure "python3 -m venv"; }

install_toolkit() {
  local site
  say "installing the CUDA 13.0 toolkit into .venv ..."
  rm -f "$venv_cuda"
  make_venv
  install_wheels "the CUDA toolkit's wheels" "$requirements"
  site=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  toolkit_is_usable "$site/nvidia/cu13" || stop 3 "the CUDA toolkit in .venv does not run (log: $install_log)"
  ln -s "${site#"$venv/"}/nvidia/cu13" "$venv_cuda" && cp "$requirements" "$venv/cuda-requirements.txt" ||
    stop 3 "cannot write in $venv: free some space or check its owner"
}

# On a terminal, asks first and then waits for another call that may be installing here. Without a terminal, nothing can
# be asked, and the other call may install what is missing, so it waits first.
ask_and_install() {
  local asked= cuda='' needs_wheels=''
  local -a packages=()
  if [[ -t 0 && -z $yes ]]; then
    find_missing
    ask_for_missing
    asked=1
  fi
  locked install_missing
}

install_missing() {
  if setup_holds; then return; fi  # another call has set it up
  : >"$install_log" || stop 3 "cannot write $install_log: free some space or check the folder's owner"
  if [[ -z $asked || -n $waited ]]; then find_missing; fi
  if [[ -z $asked ]]; then ask_for_missing; fi
  if ((${#packages[@]})); then install_packages; fi
  if [[ -n $needs_wheels ]]; then
    install_toolkit
    cuda=$venv_cuda
  fi
  rm -f "$state"/built-*  # another toolkit, library or folder: let ninja check again
  printf '%s\n%s\n' "$root" "$cuda" >"$setup_stamp.new" && mv "$setup_stamp.new" "$setup_stamp" ||
    stop 3 "cannot write $setup_stamp: free some space or check the folder's owner"
  export ROOFWALK_CUDA=$cuda
}
