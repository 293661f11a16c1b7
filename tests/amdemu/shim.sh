#!/usr/bin/env bash
# shim.sh LIB TEST: tests of the HIP runtime in the folder LIB, by the program TEST (shim_test.cpp). Prints one line a test and
# 'N passed, M failed'. HIPC compiles, BUNDLER is clang-offload-bundler, OUT is for files, ARCHS are the targets of the cases
# that run on each.
set -u
here=$(cd "$(dirname "$0")" && pwd)
lib=$1 test=$2 archs=$ARCHS out=$OUT
all="gfx90a gfx942 gfx950 gfx1030 gfx1100 gfx1201"
files=$out/files
mkdir -p "$files"
unset AMDEMU_ARCH AMDEMU_LOG AMDEMU_FAIL AMDEMU_GUARD AMDEMU_POISON AMDEMU_MEM_MB AMDEMU_HIP_VERSION   # set by the tests

# Code objects: one ELF for each target and each generic target, then bundles of them.
compile() { [ "$files/$1.co" -nt "$here/kernels.hip" ] || "$HIPC" "$1" "$here/kernels.hip" "$files/$1.co" || exit 1; }
bundle() {   # bundle OUT "extra flags" TARGET...; the file of "gfx942:xnack-" is gfx942.co
  local target=$1 extra=$2 ids="host-x86_64-unknown-linux-gnu-" inputs=(-input=/dev/null) t; shift 2
  for t in "$@"; do ids+=",hipv4-amdgcn-amd-amdhsa--$t"; inputs+=(-input="$files/${t%%:*}.co"); done
  # shellcheck disable=SC2086
  "$BUNDLER" -type=o -bundle-align=4096 $extra -targets="$ids" "${inputs[@]}" -output="$files/$target" || exit 1
}
generic="gfx9-generic gfx9-4-generic gfx10-3-generic gfx11-generic gfx12-generic"
for a in $all gfx906 $generic; do compile "$a"; done
[ "$files/xnackon.co" -nt "$here/kernels.hip" ] || "$HIPC" gfx942:xnack+ "$here/kernels.hip" "$files/xnackon.co" || exit 1
# shellcheck disable=SC2086
{
  bundle all.bundle "" $all
  bundle all.ccob -compress $all
  COMPRESSED_BUNDLE_FORMAT_VERSION=2 bundle bundler_v2.ccob -compress $all
  COMPRESSED_BUNDLE_FORMAT_VERSION=3 bundle bundler_v3.ccob -compress $all
  bundle generic.bundle "" $generic
  bundle mixed.bundle "" gfx9-4-generic gfx942
  bundle mixed2.bundle "" gfx942 gfx9-4-generic
  bundle foreign.bundle "" gfx906
  bundle foreign.ccob -compress gfx906
  bundle xnack.bundle "" gfx942:xnack- gfx90a:sramecc+:xnack-
}
for v in 1 2 3; do for m in zlib zstd; do
  python3 "$here/make_ccob.py" $v $m "$files/all.bundle" "$files/v$v$m.ccob" || exit 1
done; done
cp "$files/gfx906.co" "$files/foreign.co"

passed=0 failed=0
t() {   # t NAME CASE [VAR=VALUE...]
  local name=$1 case=$2 log; shift 2
  log=$(env LD_LIBRARY_PATH="$lib" "$@" timeout 300 "$test" "$case" "$files" 2>"$out/stderr"); status=$?
  if [ $status -eq 0 ]; then
    passed=$((passed + 1)); echo "ok   $name"
  else
    failed=$((failed + 1)); echo "FAIL $name (status $status)"; printf '%s\n' "$log" | head -n 40; head -n 20 "$out/stderr"
  fi
}

for a in $archs; do
  for c in basics memory kernels limits containers streams graphs fault; do t "$c $a" $c AMDEMU_ARCH="$a"; done
  t "log $a" log AMDEMU_ARCH="$a" AMDEMU_LOG=1
done
t "threads" threads
t "guard" guard
t "no_guard" no_guard AMDEMU_GUARD=0 AMDEMU_POISON=0
t "inject_third" inject_third AMDEMU_FAIL=hipModuleLaunchKernel:3:719
t "inject_each" inject_each "AMDEMU_FAIL=*:2:2,hipFree:1:17"
t "inject_all" inject_all AMDEMU_FAIL=all:3:999
t "two_devices" two_devices AMDEMU_ARCH=gfx942,gfx1100
t "misc" misc AMDEMU_MEM_MB=8
t "no_device" no_device AMDEMU_ARCH=none
t "library name .so" basics SONAME=libamdhip64.so
t "library name .so.6" streams SONAME=libamdhip64.so.6
t "library name .so.5" generation_5 SONAME=libamdhip64.so.5

# Selection: device, bundle, and the entry that must be chosen (none: error 209).
s() {
  local want=0; [ "$3" = none ] && want=209
  t "selection $1 from $2: $3" selection AMDEMU_ARCH="$1" SELECT="$2" WANT=$want AMDEMU_LOG=1
  if [ $want -eq 0 ] && [ $status -eq 0 ] && ! grep -q "hipModuleLoad: $3 for device" "$out/stderr"; then
    passed=$((passed - 1)) failed=$((failed + 1)); echo "FAIL the entry was not $3"; grep hipModuleLoad "$out/stderr"
  fi
}
s gfx942 generic.bundle gfx9-4-generic
s gfx950 generic.bundle gfx9-4-generic
s gfx1030 generic.bundle gfx10-3-generic
s gfx1036 generic.bundle gfx10-3-generic
s gfx1100 generic.bundle gfx11-generic
s gfx1103 generic.bundle gfx11-generic
s gfx1151 generic.bundle gfx11-generic
s gfx1201 generic.bundle gfx12-generic
s gfx1200 generic.bundle gfx12-generic
s gfx906 generic.bundle gfx9-generic
s gfx900 generic.bundle gfx9-generic
s gfx90a generic.bundle none
s gfx908 generic.bundle none
s gfx1010 generic.bundle none
s gfx942 mixed.bundle gfx942
s gfx942 mixed2.bundle gfx942
s gfx950 mixed.bundle gfx9-4-generic
s gfx90a mixed.bundle none
s gfx942 gfx9-4-generic.co gfx9-4-generic
s gfx90a gfx9-4-generic.co none
s gfx1102 gfx1100.co none
s gfx942 xnack.bundle gfx942:xnack-
s gfx942:sramecc+:xnack+ xnack.bundle none
s gfx90a xnack.bundle gfx90a:sramecc+:xnack-
s gfx90a:sramecc-:xnack- xnack.bundle none
s gfx942 xnackon.co none
s gfx942:sramecc+:xnack+ xnackon.co gfx942:xnack+

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
