#!/usr/bin/env bash
# configure.sh SOURCE FOLDER CC CXX: what the configuration makes of what it is told, right or wrong.
set -euo pipefail
source=$1 folder=$2 cc=$3 cxx=$4
rm -rf "$folder"
mkdir -p "$folder"
log=$folder/log

die() { echo "$*"; cat "$log"; exit 1; }
# configured ARGUMENT...: one op, for the CPU alone, unless the arguments say otherwise.
configured() {
  cmake -G Ninja -S "$source" -B "$folder/build" -DCMAKE_C_COMPILER="$cc" -DCMAKE_CXX_COMPILER="$cxx" \
    -DHIPOPS_OPS=softmax -DHIPOPS_AMD=OFF -DHIPOPS_CUDA=OFF -DHIPOPS_TOOLS=OFF -DHIPOPS_TESTS=OFF "$@" > "$log" 2>&1
}
# takes ARGUMENT...; refuses WHY ARGUMENT...: WHY is part of the message, whatever its lines.
takes() { configured "$@" || die "refused: $*"; }
refuses() {
  local why=$1
  shift
  ! configured "$@" || die "taken: $*, expected: $why"
  tr -s ' \n' ' ' < "$log" | grep -qF -- "$why" || die "refused: $*, but the message lacks: $why"
}
# known NAME: what the cache has of it.
known() { sed -n "s/^$1:[A-Z]*=//p" "$folder/build/CMakeCache.txt"; }

# ---- A linker that cannot make the static library is passed over: clang's may not.
printf '#!/bin/sh\nexit 1\n' > "$folder/old-lld"
chmod +x "$folder/old-lld"
takes -DCMAKE_LINKER="$folder/old-lld"
[ -x "$(known HIPOPS_PACKING_LINKER)" ] && [ "$(known HIPOPS_PACKING_LINKER)" != "$folder/old-lld" ] ||
  die "libhipops.a would be linked by '$(known HIPOPS_PACKING_LINKER)'"

# ---- The cache keeps "all", not today's ops: a new one is built in an old folder, too.
takes -DHIPOPS_OPS=all
[ "$(known HIPOPS_OPS)" = all ] || die "HIPOPS_OPS is kept as '$(known HIPOPS_OPS)', expected all"
! grep -F "built without the kernels" "$log" || die "all ops were asked for"
grep -qF softmax "$folder/build/generated/registry.cpp" || die "no softmax in all"

# ---- What is asked for by a name that none has.
refuses "HIPOPS_OPS has 'soft', expected all or some of" -DHIPOPS_OPS="softmax;soft"
refuses "HIPOPS_OPS is empty, expected all" -DHIPOPS_OPS=
for target in mi300 gfx90a:xnack- gfx generic gfx11-generics; do
  refuses "HIPOPS_AMD_TARGETS has '$target', expected default or names as gfx942" -DHIPOPS_AMD=AUTO -DHIPOPS_AMD_TARGETS="gfx942;$target"
done
for architecture in 90 native sm_ sm90; do
  refuses "HIPOPS_CUDA_ARCHITECTURES has '$architecture', expected default or names as sm_90" \
    -DHIPOPS_CUDA=AUTO -DHIPOPS_CUDA_ARCHITECTURES=$architecture
done
refuses "HIPOPS_CPU_WAVES has '16', expected 32, 64 or both" -DHIPOPS_CPU_WAVES="32;16"
refuses "HIPOPS_CPU_WAVES is empty, expected 32, 64 or both" -DHIPOPS_CPU_WAVES=
takes -DHIPOPS_CPU=OFF -DHIPOPS_CPU_WAVES= -DHIPOPS_AMD_TARGETS= -DHIPOPS_CUDA_ARCHITECTURES=  # of what is not built
takes -DHIPOPS_CPU=ON -DHIPOPS_CPU_WAVES=64 -DHIPOPS_AMD_TARGETS=default -DHIPOPS_CUDA_ARCHITECTURES=default
