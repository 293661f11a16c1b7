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
