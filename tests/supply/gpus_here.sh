#!/usr/bin/env bash
# gpus_here.sh SOURCE SCRATCH: runs tools/gpus_here.sh with the files and programs of other machines.
set -euo pipefail
source=$1 scratch=$2
rm -rf "$scratch"
mkdir -p "$scratch/bin" "$scratch/none" "$scratch/two/0" "$scratch/two/1" "$scratch/two/2" "$scratch/two/3"

expect() {  # its output for a folder of nodes is the arguments
  local got
  got=$(PATH="$scratch/bin:/usr/bin:/bin" "$source/tools/gpus_here.sh" "$scratch/$2")
  [ "$got" = "$1" ] || { echo "of $2: $got, expected $1"; exit 1; }
}
nvidia_smi() { printf '#!/bin/sh\n%s\n' "$1" > "$scratch/bin/nvidia-smi"; chmod +x "$scratch/bin/nvidia-smi"; }

# A processor, two equal cards, and another card.
echo "cpu_cores_count 16
gfx_target_version 0" > "$scratch/two/0/properties"
for node in 1 2; do echo "gfx_target_version 90010
simd_count 416" > "$scratch/two/$node/properties"; done
echo "gfx_target_version 110501" > "$scratch/two/3/properties"

nvidia_smi 'exit 9'  # a driver that is broken or missing
expect "-DHIPOPS_AMD=OFF -DHIPOPS_CUDA=OFF" none
expect "-DHIPOPS_AMD=OFF -DHIPOPS_CUDA=OFF" missing
expect "-DHIPOPS_AMD_TARGETS=gfx1151;gfx90a -DHIPOPS_CUDA=OFF" two
nvidia_smi 'printf "9.0\n9.0\n12.0\n"'
expect "-DHIPOPS_AMD=OFF -DHIPOPS_CUDA_ARCHITECTURES=sm_120;sm_90" none
nvidia_smi 'echo "No devices were found"'
expect "-DHIPOPS_AMD=OFF -DHIPOPS_CUDA=OFF" none
echo "all as expected"
