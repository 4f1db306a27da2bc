#!/usr/bin/env bash
# Starts a Slurm cluster of this machine alone, runs a command beside it, and ends it.
#
#   python/clusters/slurm_cluster.sh COMMAND...
#
# Needs root, and slurmctld, slurmd, slurm-client and munge from Debian. Everything is in a temporary folder.
set -euo pipefail

work=$(mktemp -d)
chmod 755 "$work"
export SLURM_CONF=$work/slurm.conf
host=$(hostname -s)
started=()
finish() {
  scancel --quiet --user root 2>/dev/null || true
  for ((i = ${#started[@]} - 1; i >= 0; i--)); do
    kill "${started[i]}" 2>/dev/null || true
    wait "${started[i]}" 2>/dev/null || true
  done
  rm -rf "$work"
}
trap finish EXIT

mkdir -m 700 "$work/munge" && mkdir "$work/state" "$work/spool"
(umask 077 && head -c 1024 /dev/urandom >"$work/munge/key")
munged --foreground --force --key-file="$work/munge/key" --socket="$work/munge.socket" \
  --pid-file="$work/munge/pid" --log-file="$work/munge/log" --seed-file="$work/munge/seed" &
started+=($!)

cat >"$SLURM_CONF" <<CONF
ClusterName=one
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=16817
SlurmdPort=16818
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$work/munge.socket
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) RealMemory=$(awk '/^MemTotal/ { print int($2 / 1024) }' /proc/meminfo) State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
CONF
slurmctld -D &
started+=($!)
slurmd -D &
started+=($!)
for _ in $(seq 60); do
  [ "$(sinfo --noheader --format=%t 2>/dev/null)" = idle ] && break
  sleep 1
done
sinfo
"$@"
