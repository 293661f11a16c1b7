#!/usr/bin/env bash
# new_op.sh SOURCE FOLDER PYTHON CC CXX [files]: runs the commands of docs/guide/add-an-op.md in a copy of the source, except
# commands that need a GPU or its compiler. Makes ops from both templates and builds them for the CPU; they pass, and fail after a
# change of their kernels. A name with existing files, or a file without the expected line, is refused and no file changes.
# `files`: builds nothing. The page's patch applies, and each file of the new ops compiles.
set -euo pipefail
source=$1 folder=$2 python=$3 cc=$4 cxx=$5
"$python" -c 'import numpy' 2> /dev/null || { echo "skipped: $python has no NumPy"; exit 77; }
command -v git > /dev/null || { echo "skipped: no git"; exit 77; }
rm -rf "$folder"
mkdir -p "$folder"
cp -r "$source"/{CMakeLists.txt,README.md,LICENSE,CHANGELOG.md,CONTRIBUTING.md,capi,docs,include,kernels,parity,tests,tools} "$folder"
cd "$folder"
find parity/golden -name '*.json' ! -path '*/rms_norm/smoke.json' -delete
quietly() { "$@" > log 2>&1 || { echo "failed: $*"; cat log; exit 1; }; }

refused() {
  touch stamp
  if tools/new_op.sh "$1" > log 2>&1 || ! grep -qF "$2" log; then echo "$1: expected '$2'"; cat log; exit 1; fi
  touched=$(find . -newer stamp ! -name log ! -name .)
  [ -z "$touched" ] || { echo "$1: refused, but touched $touched"; exit 1; }
}
refused api "capi/api.cpp is there already"
refused softmax "kernels/softmax.h is there already"
sed -i.kept '/^HIPOPS_CALL strided_copy(/d' include/hipops/hipops.hpp
refused twice_as_much "include/hipops/hipops.hpp has no line with: HIPOPS_CALL strided_copy("
mv include/hipops/hipops.hpp.kept include/hipops/hipops.hpp

if [ "${6:-}" = files ]; then
  quietly tools/new_op.sh leaky_relu
  GIT_CEILING_DIRECTORIES=$PWD/.. quietly git apply docs/guide/leaky_relu.diff
  grep -q slope capi/leaky_relu.cpp  # git skips a patch for a folder that it believes to be outside of its tree
  quietly tools/new_op.sh twice_as_much
  quietly tools/new_op.sh --rows log_softmax_again
  quietly "$python" tools/ffi.py
  for op in leaky_relu twice_as_much log_softmax_again; do
    quietly "$python" parity/golden/generate.py --op $op --no-torch
    for file in kernels/$op.hip capi/$op.cpp parity/ops/$op.cpp tests/*/test_$op.cpp; do
      quietly "$cxx" -x c++ -std=c++17 -DHIPOPS_CPU_WAVE=64 -I. -Icapi -Ikernels -Iinclude -Itests -fsyntax-only "$file"
    done
  done
  quietly "$python" tools/ffi.py --check
  quietly "$python" tests/doc_links.py .
  exit
fi

# The page's commands use this Python, no git repository, and one unoptimized build with the other ops of this test.
mkdir shims
printf '#!/bin/sh\nexec "%s" "$@"\n' "$python" > shims/python3
cat > tools/run <<'RUN'
#!/usr/bin/env bash
set -euo pipefail
command=$1
shift
if [ ! -f build/release/build.ninja ]; then
  tools/ffi.py --check  # the next line corrects it
  tools/new_op.sh twice_as_much
  tools/new_op.sh --rows log_softmax_again
  for op in twice_as_much log_softmax_again; do python3 parity/golden/generate.py --op $op --no-torch; done
  words=$(xargs printf '%s\n' <<< "${HIPOPS_CMAKE_ARGS/leaky_relu/leaky_relu;twice_as_much;log_softmax_again;rms_norm}")
  mapfile -t arguments <<< "$words"
  cmake -G Ninja -S . -B build/release -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0 "${arguments[@]}"
fi
case $command in
  build) cmake --build build/release --target "$@" ;;
  parity) cmake --build build/release --target hipops-parity && build/release/bin/hipops-parity "$@" ;;
  test) tools/ffi.py --check && python3 tests/doc_links.py . ;;
esac
RUN
chmod +x shims/python3 tools/run
export PATH=$PWD/shims:$PATH CC=$cc CXX=$cxx GIT_CEILING_DIRECTORIES=$PWD/.. PYTHONDONTWRITEBYTECODE=1
page=docs/guide/add-an-op.md

awk '/^```cpp$/ { inside = 1; next } /^```/ { inside = 0 } inside' $page > kernels/rms_norm.hip
awk '/^```/ { fenced = !fenced } !fenced && /^    / && !/gfx942|--backend hip/' $page | sed 's/ && /\n/' > commands
quietly bash -euxo pipefail commands
for line in '^+ tools/new_op.sh leaky_relu' '^+ git apply' '^+ tools/run test' "$(sed -n 's/^    python3 -c.*    # \[\(.*\)\]$/^\\[\1\\]$/p' $page)"; do
  grep -q -- "$line" log || { echo "$page: the output of its commands has no line $line"; cat log; exit 1; }
done
# The op's files: the script's, two of tools/ffi.py, the golden files, README.md and CHANGELOG.md.
files=$(sed -nE 's/^(made|changed) +([^ ]+)$/\2/p' log | grep -v 'twice_as_much\|log_softmax_again' | sort -u | wc -l)
files=$((files + 2 + $(ls parity/golden/leaky_relu | wc -l) + 2))
[ $files -le 25 ] || { echo "a new op touches $files files, expected 25 at most"; exit 1; }
grep -q '^| leaky_relu | f32, f16, bf16, f64 | - |$' README.md
quietly bash -euo pipefail -c "$(grep -o "tools/run parity [^\`]*--op rms_norm [^\`]*" $page)"

quietly cmake --build build/release --target test_twice_as_much test_log_softmax_again
quietly ctest --test-dir build/release -R '^test_twice_as_much$' --no-tests=error
quietly build/release/bin/test_log_softmax_again '*refuses*,*short rows*,*every rank*'  # the other tests need minutes
quietly build/release/bin/hipops-fuzz --op log_softmax_again --count 50
for op in twice_as_much log_softmax_again; do
  build/release/bin/hipops-parity --backend cpu --wave 32 --op $op | tail -1
  build/release/bin/hipops-parity --backend cpu --wave 64 --op $op --topic smoke | tail -1
done

# Their functions in Python, C++ and Rust.
HIPOPS_LIBRARY=build/release/lib/libhipops.so PYTHONPATH=capi/python quietly python3 -c 'if True:
  import hipops, numpy as np
  x = np.array([[-2.0, 0.5, 3.0]])
  assert (hipops.twice_as_much(x) == 2 * x).all() and "log_softmax_again" in hipops.__all__
  assert np.allclose(np.exp(hipops.log_softmax_again(x)).sum(), 1)'
echo '#include <hipops/hipops.hpp>
void all(const hipops::tensor& y, const hipops::const_tensor& x) {
  hipops::leaky_relu(y, x, 0.25);
  hipops::twice_as_much(y, x);
  hipops::log_softmax_again(y, x);
}' | quietly "$cxx" -x c++ -std=c++17 -Wall -Werror -I include -fsyntax-only -
if command -v cargo > /dev/null; then
  mkdir capi/rust/hipops/examples
  echo 'use hipops::*;
fn main() -> Result<()> {
    let (x, mut y, stream) = ([-2f32], [0f32], Stream::DEFAULT);
    let (x, y) = (View::of(&x, &[1])?, ViewMut::of(&mut y, &[1])?);
    leaky_relu(&y, &x, 0.25, stream)?;
    twice_as_much(&y, &x, stream)?;
    log_softmax_again(&y, &x, 0, stream)
}' > capi/rust/hipops/examples/new_ops.rs
  CARGO_NET_OFFLINE=true CARGO_TARGET_DIR=$PWD/target quietly cargo check --quiet --manifest-path capi/rust/Cargo.toml -p hipops --examples
fi

sed -i 's/2 \* widen/3 * widen/' kernels/twice_as_much.hip
sed -i 's/p.sum \* scale/p.sum + scale/' kernels/log_softmax_again.hip
quietly cmake --build build/release --target hipops-parity
for wrong in "twice_as_much smoke" "log_softmax_again sizes"; do
  status=0
  build/release/bin/hipops-parity --backend cpu --op ${wrong% *} --topic ${wrong#* } > log || status=$?
  [ "$status" = 1 ] || { echo "$wrong: a wrong kernel ended with $status, expected 1"; exit 1; }
done
