#!/usr/bin/env bash
# Prints CMake's arguments for a build of hipops for the GPUs of this machine alone: tools/gpus_here.sh [FOLDER]
# FOLDER: where amdgpu tells of its devices.
set -euo pipefail
nodes=${1:-/sys/class/kfd/kfd/topology/nodes}

# As "gfx90a;gfx1100": the driver has 90010 and 110000 for them, two decimal digits each of minor and stepping.
amd_targets() {
  { cat "$nodes"/*/properties 2>/dev/null || true; } |
    awk '$1 == "gfx_target_version" && $2 > 0 {printf "gfx%d%x%x\n", $2 / 10000, $2 / 100 % 100, $2 % 100}' | sort -u | paste -sd ';'
}

# As "sm_80;sm_90".
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
