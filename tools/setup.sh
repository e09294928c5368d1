# Read by ./roofwalk when the last set-up no longer holds: finds what is missing, asks once, installs it. Uses root,
# state, setup_stamp, yes, say and stop from there. All output of the tools it calls goes to build/setup/install.log.

install_log=$state/install.log
venv=$root/.venv
venv_cuda=$venv/cuda  # a link to the wheels' toolkit, made last: it exists only when the installation is whole
requirements=$root/tools/cuda-requirements.txt

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

# True for a folder with nvcc 13.0 or later, ptxas and the headers: the runtime's, the driver's and CUPTI's, which many
# packaged toolkits leave out. An older nvcc, however early on the PATH, is passed.
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

# Prints the folder of the first usable toolkit: the caller's choice, the PATH, the usual places, the project's own.
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

# Names the cause of a failed installation from the end of its log, in one line, and what to do about it.
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

install_packages() {
  local -a as_root=() packages=("$@")
  if ((EUID != 0)); then
    type -P sudo >/dev/null ||
      stop 3 "root is needed, and there is no sudo here; as root run: apt-get install ${packages[*]}"
    as_root=(sudo)
    if [[ ! -t 0 ]]; then as_root+=(-n); fi
  fi
  say "installing ${#packages[@]} packages with apt-get ..."
  # A list that cannot be refreshed (one broken third-party source is enough) is no reason to stop: the old one may do.
  "${as_root[@]}" apt-get -q -o DPkg::Lock::Timeout=60 update >>"$install_log" 2>&1 </dev/null || true
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=60 install \
    --no-install-recommends "${packages[@]}" >>"$install_log" 2>&1 </dev/null ||
    explain_failure "apt-get install"
}

install_toolkit() {
  local site
  say "installing the CUDA 13.0 toolkit into .venv ..."
  rm -f "$venv_cuda"
  {
    python3 -m venv "$venv" &&
      "$venv/bin/python" -m pip install --disable-pip-version-check --no-input --progress-bar off --force-reinstall \
        --no-deps --only-binary :all: --require-hashes -r "$requirements"
  } >>"$install_log" 2>&1 </dev/null || explain_failure "the CUDA toolkit's wheels"
  site=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  toolkit_is_usable "$site/nvidia/cu13" || stop 3 "the CUDA toolkit in .venv does not run (log: $install_log)"
  ln -s "${site#"$venv/"}/nvidia/cu13" "$venv_cuda" && cp "$requirements" "$venv/cuda-requirements.txt" ||
    stop 3 "cannot write in $venv: free some space or check its owner"
}

# One question for everything. Without a terminal nothing is installed unless --yes says so.
ask() {
  local what=$1 command=$2 answer=
  if [[ -n $yes ]]; then return; fi
  if [[ ! -t 0 ]]; then
    stop 2 "missing: $what. Run with --yes to install it${command:+, or yourself: $command}"
  fi
  printf 'Roofwalk needs: %s\nInstall now? [Y/n] ' "$what" >&2
  read -r answer || answer=n
  case $answer in
    '' | [yY]*) ;;
    *) stop 2 "nothing installed${command:+; to do it yourself: $command}" ;;
  esac
}

install_missing() {
  local cuda='' what='' command='' needs_wheels=
  local -a packages=()
  : >"$install_log" || stop 3 "cannot write $install_log: free some space or check the folder's owner"
  cuda=$(find_toolkit) || needs_wheels=1
  if type -P apt-get >/dev/null; then
    read -ra packages <<<"$(missing_packages)"
    if [[ -n $needs_wheels ]]; then
      python3 -c 'import ensurepip, venv' 2>/dev/null || packages+=(python3-venv)
      [[ -e /etc/ssl/certs/ca-certificates.crt ]] || packages+=(ca-certificates)
    fi
  fi
  if ((${#packages[@]})); then
    what="apt packages (${packages[*]})"
    command="apt-get install ${packages[*]}"
    if ((EUID != 0)); then command="sudo $command"; fi
  fi
  if [[ -n $needs_wheels ]]; then
    case $(uname -m) in
      x86_64 | aarch64) ;;
      *) stop 3 "no CUDA toolkit 13 found, and there are no wheels of it for $(uname -m)" ;;
    esac
    what+="${what:+ and }the CUDA 13.0 toolkit (wheels, 110 MB to fetch, 320 MB in .venv)"
  fi
  if [[ -n $what ]]; then ask "$what" "$command"; fi
  if ((${#packages[@]})); then install_packages "${packages[@]}"; fi
  if [[ -n $needs_wheels ]]; then
    install_toolkit
    cuda=$venv_cuda
  fi
  rm -f "$state"/built-*  # another toolkit, library or folder: let ninja look again
  printf '%s\n%s\n' "$root" "$cuda" >"$setup_stamp.new" && mv "$setup_stamp.new" "$setup_stamp" ||
    stop 3 "cannot write $setup_stamp: free some space or check the folder's owner"
  export ROOFWALK_CUDA=$cuda
}
