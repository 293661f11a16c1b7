#!/usr/bin/env bash
# new_op.sh SOURCE FOLDER PYTHON CC CXX: docs/guide/add-an-op.md, followed to the letter in a copy of the source: new ops of both
# templates are generated, built for the CPU alone, and pass; and fail once their kernels are wrong. What has a file already,
# or no place to go, is refused, and nothing touched.
set -euo pipefail
source=$1 folder=$2 python=$3 cc=$4 cxx=$5
"$python" -c 'import numpy' 2> /dev/null || { echo "skipped: $python has no NumPy"; exit 77; }
rm -rf "$folder"
mkdir -p "$folder"
cp -r "$source"/{CMakeLists.txt,README.md,LICENSE,CHANGELOG.md,capi,docs,include,kernels,parity,tests,tools} "$folder"
cd "$folder"
rm -rf parity/golden/*/*.json
quietly() { "$@" > log 2>&1 || { cat log; exit 1; }; }

refused() {
  touch stamp
  if tools/new_op.sh "$1" > log 2>&1 || ! grep -qF "$2" log; then echo "$1: expected '$2'"; cat log; exit 1; fi
  touched=$(find . -newer stamp ! -name log ! -name .)
  [ -z "$touched" ] || { echo "$1: refused, but touched $touched"; exit 1; }
}
refused api "capi/api.cpp is there already"
refused softmax "kernels/softmax.h is there already"
sed -i.kept '/^OPS = {/d' parity/golden/ops/__init__.py
refused twice_as_much "parity/golden/ops/__init__.py has no line with: OPS = {"
mv parity/golden/ops/__init__.py.kept parity/golden/ops/__init__.py

quietly tools/new_op.sh twice_as_much
quietly tools/new_op.sh --rows log_softmax_again
for op in twice_as_much log_softmax_again; do
  quietly env PYTHONDONTWRITEBYTECODE=1 "$python" parity/golden/generate.py --op $op --no-torch
done
quietly cmake -G Ninja -S . -B build -DCMAKE_C_COMPILER="$cc" -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0 -DHIPOPS_AMD=OFF -DHIPOPS_CUDA=OFF \
  "-DHIPOPS_OPS=twice_as_much;log_softmax_again"
quietly cmake --build build --target test_twice_as_much test_log_softmax_again hipops-parity hipops-fuzz
quietly ctest --test-dir build -R '^test_twice_as_much$' --no-tests=error
quietly build/bin/test_log_softmax_again '*refuses*,*short rows*,*every rank*'  # the others take minutes
quietly build/bin/hipops-fuzz --op log_softmax_again --count 50
build/bin/hipops-parity --backend cpu --wave 32 | tail -1
build/bin/hipops-parity --backend cpu --wave 64 --topic smoke | tail -1

sed -i 's/2 \* widen/3 * widen/' kernels/twice_as_much.hip
sed -i 's/p.sum \* scale/p.sum + scale/' kernels/log_softmax_again.hip
quietly cmake --build build --target hipops-parity
for wrong in "twice_as_much smoke" "log_softmax_again sizes"; do
  status=0
  build/bin/hipops-parity --backend cpu --op ${wrong% *} --topic ${wrong#* } > log || status=$?
  [ "$status" = 1 ] || { echo "$wrong: a wrong kernel ended with $status, expected 1"; exit 1; }
done
