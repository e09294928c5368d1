#!/usr/bin/env bash
# A Slurm cluster of two nodes on this machine, for tests. Debian's packages are unpacked into a folder of their own, so
# nothing is installed. Exits with 4 and a reason if they cannot be had.
#
#   slurm_cluster.sh start FOLDER PACKAGES    PACKAGES: a folder in which the unpacked packages stay
#   slurm_cluster.sh stop FOLDER
#   slurm_cluster.sh kill FOLDER DAEMON       DAEMON: slurmctld, slurmd-node1 or slurmd-node2; by SIGKILL
#   slurm_cluster.sh restart FOLDER DAEMON
#   slurm_cluster.sh env FOLDER               prints what a shell has to set to use the cluster
set -euo pipefail

skip() { echo "skipped: $*"; exit 4; }
verb=$1
folder=$(realpath -m "$2")

unpack() {  # unpack PACKAGES
  local packages=$1 file
  if [[ -e $packages/complete ]]; then return; fi
  type -P apt-get dpkg-deb >/dev/null || skip "Slurm's packages are unpacked by apt-get and dpkg-deb, which are not here"
  rm -rf "$packages"
  mkdir -p "$packages/debs/partial" "$packages/root"
  apt-get install -y --download-only --no-install-recommends -o Dir::Cache::archives="$packages/debs" \
    -o Debug::NoLocking=1 slurmctld slurmd slurm-client munge >"$packages/log" 2>&1 ||
    skip "apt-get cannot download Slurm: $(tail -n 1 "$packages/log")"
  for file in "$packages"/debs/*.deb; do dpkg-deb -x "$file" "$packages/root"; done
  touch "$packages/complete"
}

write_configuration() {  # write_configuration ROOT PORT
  local root=$1 port=$2 user host
  user=$(id -un)
  host=$(hostname)
  cat >"$folder/slurm.conf" <<CONF
ClusterName=roofwalk
SlurmctldHost=$host(127.0.0.1)
SlurmUser=$user
SlurmdUser=$user
SlurmctldPort=$port
AuthType=auth/munge
AuthInfo=socket=$folder/munge.socket
CredType=cred/munge
PluginDir=$root/usr/lib/x86_64-linux-gnu/slurm-wlm
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool-%n
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd-%n.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd-%n.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
MpiDefault=none
JobCompType=jobcomp/none
SchedulerParameters=sched_interval=1,sched_min_interval=0,batch_sched_delay=0,bf_interval=1
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
SlurmctldTimeout=10
SlurmdTimeout=10
KillWait=2
MaxArraySize=1001
NodeName=node1 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 1)) CPUs=1 RealMemory=1000 State=UNKNOWN
NodeName=node2 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 2)) CPUs=1 RealMemory=1000 State=UNKNOWN
PartitionName=lab Nodes=node[1-2] Default=YES MaxTime=01:00:00 State=UP
CONF
}

write_environment() {  # write_environment ROOT
  local root=$1
  cat >"$folder/env" <<ENV
export PATH=$root/usr/bin:$root/usr/sbin:\$PATH
export LD_LIBRARY_PATH=$root/usr/lib/x86_64-linux-gnu:$root/usr/lib/x86_64-linux-gnu/slurm-wlm\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}
export SLURM_CONF=$folder/slurm.conf
cluster_root=$root
ENV
}

# Debian's programs end in -wlm; its alternatives give them their names.
program_of() {
  local file
  for file in "$cluster_root/usr/sbin/$1"{,-wlm}; do
    if [[ -x $file ]]; then echo "$file" && return; fi
  done
  skip "the packages hold no $1"
}

start_daemon() {
  case $1 in
    munged)
      munged --force --key-file="$folder/munge.key" --socket="$folder/munge.socket" --pid-file="$folder/munged.pid" \
        --log-file="$folder/munged.log" --seed-file="$folder/munged.seed" >>"$folder/daemons.log" 2>&1
      ;;
    slurmctld) "$(program_of slurmctld)" -f "$SLURM_CONF" >>"$folder/daemons.log" 2>&1 ;;
    slurmd-*)
      "$(program_of slurmd)" -N "${1#slurmd-}" -f "$SLURM_CONF" -d "$(program_of slurmstepd)" \
        >>"$folder/daemons.log" 2>&1
      ;;
  esac
}

stop_all() {
  for daemon in slurmd-node1 slurmd-node2 slurmctld munged; do end_daemon "$daemon" TERM; done
}

pid_of() { cat "$folder/$1.pid" 2>/dev/null; }

end_daemon() {  # end_daemon NAME SIGNAL
  local pid
  pid=$(pid_of "$1") || return 0
  kill "-$2" "$pid" 2>/dev/null || return 0
  for _ in {1..100}; do
    kill -0 "$pid" 2>/dev/null || return 0
    sleep 0.1
  done
}

case $verb in
  start)
    packages=$(realpath -m "$3")
    unpack "$packages"
    stop_all
    rm -rf "$folder"
    mkdir -p "$folder/state" "$folder/spool-node1" "$folder/spool-node2"
    (umask 077 && head -c 1024 /dev/urandom >"$folder/munge.key")
    write_configuration "$packages/root" $((20000 + $$ % 10000))
    write_environment "$packages/root"
    source "$folder/env"
    for daemon in munged slurmctld slurmd-node1 slurmd-node2; do
      start_daemon "$daemon" || { cat "$folder/daemons.log"; stop_all; skip "$daemon does not start"; }
    done
    for _ in {1..60}; do
      [[ $(sinfo -h -N -o %T 2>/dev/null | sort -u) == idle ]] && exit 0
      sleep 0.5
    done
    sinfo -N -l || true
    stop_all
    skip "the nodes do not become idle"
    ;;
  stop)
    [[ -e $folder/env ]] || exit 0
    stop_all
    ;;
  kill) end_daemon "$3" KILL ;;
  restart)
    source "$folder/env"
    start_daemon "$3"
    ;;
  env) cat "$folder/env" ;;
  *) echo "usage: slurm_cluster.sh start|stop|kill|restart|env FOLDER ..." >&2 && exit 2 ;;
esac
