#!/usr/bin/env bash
# gpus_here.sh [FOLDER]: prints CMake's arguments for a build of hipops for only the GPUs of this machine. FOLDER is the
# folder in which amdgpu lists its devices.
set -euo pipefail
nodes=${1:-/sys/class/kfd/kfd/topology/nodes}

# Targets as "gfx90a;gfx1100". The driver's numbers for them are 90010 and 110000, with two decimal digits each for
# minor and stepping.
amd_targets() {
  { cat "$nodes"/*/properties 2>/dev/null || true; } |
    awk '$1 == "gfx_target_version" && $2 > 0 {printf "gfx%d%x%x\n", $2 / 10000, $2 / 100 % 100, $2 % 100}' | sort -u | paste -sd ';'
}

# Architectures as "sm_80;sm_90".
cuda_architectures() {
  command -v nvidia-smi >/dev/null || return 0
  { nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null || true; } | sed -n 's/^\([0-9]*\)\.\([0-9]\)$/sm_\1\2/p' | sort -u |
    paste -sd ';'
}

amd=$(amd_targets)
cuda=$(cuda_architectures)
if [ -n "$amd" ]; then amd=-DHIPOPS_AMD_TARGETS=$amd; else amd=-DHIPOPS_AMD=OFF; fi
if [ -n "$cuda" ]; then cuda=-DHIPOPS_CUDA_ARCHITECTURES=$cuda; else cuda=-DHIPOPS_CUDA=OFF; fi
echo "$amd $cuda"
