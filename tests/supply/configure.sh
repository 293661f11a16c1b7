#!/usr/bin/env bash
# configure.sh SOURCE FOLDER CC CXX AMD CUDA: configures with right and wrong options. AMD and CUDA are the targets that
# this machine can build, or empty.
set -euo pipefail
source=$1 folder=$2 cc=$3 cxx=$4 amd=$5 cuda=$6
rm -rf "$folder"
mkdir -p "$folder"
log=$folder/log

die() { echo "$*"; cat "$log"; exit 1; }
# configured ARGUMENT...: configures one op, for the CPU alone, unless the arguments change that.
build=$folder/build
configured() {
  cmake -G Ninja -S "$source" -B "$build" -DCMAKE_C_COMPILER="$cc" -DCMAKE_CXX_COMPILER="$cxx" \
    -DHIPOPS_OPS=softmax -DHIPOPS_AMD=OFF -DHIPOPS_CUDA=OFF -DHIPOPS_TOOLS=OFF -DHIPOPS_TESTS=OFF "$@" > "$log" 2>&1
}
# `expect_output WORDS`: the output contains them, with any line breaks.
expect_output() { tr -s ' \n' ' ' < "$log" | grep -F -- "$1" > /dev/null || die "missing in the output: $1"; }
# `accepts ARGUMENT...`: the configuration succeeds. `refuses WHY ARGUMENT...`: it fails, with the message WHY.
accepts() { configured "$@" || die "refused: $*"; }
refuses() {
  local why=$1
  shift
  ! configured "$@" || die "accepted: $*, expected: $why"
  expect_output "$why"
}
# known NAME: the value of the variable in the cache.
known() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }

# ---- A linker that cannot make the static library is not used. clang's linker may be one.
printf '#!/bin/sh\nexit 1\n' > "$folder/old-lld"
chmod +x "$folder/old-lld"
accepts -DCMAKE_LINKER="$folder/old-lld"
linker=$(known HIPOPS_PACKING_LINKER)
[ -x "$linker" ] || die "libhipops.a has no linker: '$linker'"
[ "$linker" != "$folder/old-lld" ] || die "libhipops.a has a linker that cannot make it: $linker"

# ---- The cache keeps "all" and no list of ops, so that an old build folder builds a new op, too.
accepts -DHIPOPS_OPS=all
[ "$(known HIPOPS_OPS)" = all ] || die "HIPOPS_OPS is kept as '$(known HIPOPS_OPS)', expected all"
! grep -F "built without the kernels" "$log" || die "all ops were selected"
grep -qF softmax "$build/generated/registry.cpp" || die "no softmax in all"

# ---- Unknown names.
refuses "HIPOPS_OPS has 'soft', expected all or some of" -DHIPOPS_OPS="softmax;soft"
refuses "HIPOPS_OPS is empty, expected all" -DHIPOPS_OPS=
for target in mi300 gfx90a:xnack- gfx generic gfx11-generics; do
  refuses "HIPOPS_AMD_TARGETS has '$target', expected default, tested, every" \
    -DHIPOPS_AMD=AUTO -DHIPOPS_AMD_TARGETS="gfx942;$target"
done
for architecture in 90 native sm_ sm90; do
  refuses "HIPOPS_CUDA_ARCHITECTURES has '$architecture', expected default or names as sm_90" \
    -DHIPOPS_CUDA=AUTO -DHIPOPS_CUDA_ARCHITECTURES=$architecture
done
refuses "HIPOPS_CPU_WAVES has '16', expected 32, 64 or both" -DHIPOPS_CPU_WAVES="32;16"
refuses "HIPOPS_CPU_WAVES is empty, expected 32, 64 or both" -DHIPOPS_CPU_WAVES=
accepts -DHIPOPS_CPU=OFF -DHIPOPS_CPU_WAVES= -DHIPOPS_AMD_TARGETS= -DHIPOPS_CUDA_ARCHITECTURES=  # of parts that are not built
accepts -DHIPOPS_CPU=ON -DHIPOPS_CPU_WAVES=64 -DHIPOPS_AMD_TARGETS=default -DHIPOPS_CUDA_ARCHITECTURES=default

# ---- The meaning of the words, with a compiler that accepts everything. A real compiler needs 90 seconds for each
# test.
mkdir -p "$folder/rocm/llvm/bin"
printf '#!/bin/sh\nwhile [ $# -gt 1 ]; do [ "$1" != -o ] || echo made > "$2"; shift; done\n' > "$folder/rocm/llvm/bin/clang++"
ln -s /bin/false "$folder/rocm/llvm/bin/clang-offload-bundler"
chmod +x "$folder/rocm/llvm/bin/clang++"
build=$folder/build-of-words
for word in every default; do
  ROCM_PATH=$folder/rocm accepts -DHIPOPS_AMD=ON -DHIPOPS_AMD_TARGETS=$word
  expect_output "hipops: AMD code objects by ROCm at $folder/rocm for gfx90"
  expect_output "gfx1201"
  [ "$(known HIPOPS_AMD_TARGETS)" = $word ] || die "HIPOPS_AMD_TARGETS is kept as '$(known HIPOPS_AMD_TARGETS)', expected $word"
done
build=$folder/build

# ---- A part that cannot be built is an error with ON, and is left out with AUTO.
if [ -n "$amd" ]; then
  refuses "in the build folder) cannot build gfx9999" \
    -DHIPOPS_AMD=ON -DHIPOPS_AMD_TARGETS="gfx942;gfx9999"
  [ -s "$build/probe/gfx9999.log" ] || die "the compiler's words are not there"
  accepts -DHIPOPS_AMD=AUTO -DHIPOPS_AMD_TARGETS="gfx942;gfx9999"
  expect_output "for gfx942 -- hipops: left out, as this compiler"
  accepts -DHIPOPS_AMD=ON -DHIPOPS_AMD_TARGETS=gfx942 -Dbuilt=theirs -Dmissing=theirs  # variables of a parent project
  expect_output "for gfx942 -- "
  ! grep -F theirs "$log" || die "a variable of the parent project changes ours"
  accepts -DHIPOPS_AMD=AUTO -DHIPOPS_AMD_TARGETS=gfx9999
  expect_output "hipops: none is left, as this compiler"
fi
if [ -n "$cuda" ]; then
  refuses "HIPOPS_CUDA is ON, but this nvcc does not know sm_9" \
    -DHIPOPS_CUDA=ON -DHIPOPS_CUDA_ARCHITECTURES="compute_90;sm_9"
  accepts -DHIPOPS_CUDA=ON -DHIPOPS_CUDA_ARCHITECTURES=default
  accepts -DHIPOPS_CUDA=AUTO -DHIPOPS_CUDA_ARCHITECTURES="sm_9;compute_90"
  expect_output "for compute_90 -- hipops: left out, as this nvcc does not know sm_9"
  accepts -DHIPOPS_CUDA=AUTO -DHIPOPS_CUDA_ARCHITECTURES=sm_9
  expect_output "hipops: none is left, as this nvcc does not know sm_9"
fi

# ---- A compiler launcher of the user replaces ccache.
accepts -DCMAKE_CXX_COMPILER_LAUNCHER=env
command=$(ninja -C "$build" -t commands hipops_objects | grep -F 'api.cpp.o -c')
[[ $command == env\ * ]] || die "not by the launcher env: $command"

# ---- tools/run passes arguments with spaces. Its PATH has no apt-get, so that it installs nothing.
mkdir -p "$folder/bin" "$folder/copy/tools"
cp "$source/tools/run" "$folder/copy/tools"
cp "$source/CMakePresets.json" "$folder/copy"
for program in bash cat dirname env grep mkdir nproc printf rm xargs; do ln -s "$(type -P $program)" "$folder/bin"; done
printf '#!/bin/sh\nmkdir -p build/release\nprintf "[%%s]" "$@"\necho\n' > "$folder/bin/cmake"
chmod +x "$folder/bin/cmake"
PATH=$folder/bin HIPOPS_CMAKE_ARGS="-DA=b;c '-DD=e f' -DG=\"h i\"" "$folder/copy/tools/run" build > "$log" 2>&1 || die "tools/run failed"
expect_output "[--fresh][-DA=b;c][-DD=e f][-DG=h i]"
rm -r "$folder/copy/build"
PATH=$folder/bin HIPOPS_CMAKE_ARGS="" "$folder/copy/tools/run" build > "$log" 2>&1 || die "tools/run failed"
expect_output "[--fresh] tools/run"
status=0
PATH=$folder/bin HIPOPS_PRESET=relase "$folder/copy/tools/run" build > "$log" 2>&1 || status=$?
[ $status = 2 ] || die "a preset that there is not ended with $status, expected 2"
expect_output "HIPOPS_PRESET is 'relase', expected release, debug, asan or tsan"
