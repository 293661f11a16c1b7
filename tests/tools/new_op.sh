#!/usr/bin/env bash
# new_op.sh SOURCE FOLDER PYTHON: docs/guide/add-an-op.md, followed to the letter in a copy of the source: a new op of the
# template is generated, built for the CPU alone, and passes; and fails once its kernel is wrong. What has a file already,
# or no place to go, is refused, and nothing touched.
set -euo pipefail
source=$1 folder=$2 python=$3
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
quietly env PYTHONDONTWRITEBYTECODE=1 "$python" parity/golden/generate.py --op twice_as_much --no-torch
quietly cmake -G Ninja -S . -B build -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0 -DHIPOPS_AMD=OFF -DHIPOPS_CUDA=OFF -DHIPOPS_OPS=twice_as_much
quietly cmake --build build --target test_twice_as_much hipops-parity
quietly ctest --test-dir build -R '^test_twice_as_much$' --no-tests=error
for wave in 32 64; do build/bin/hipops-parity --backend cpu --wave $wave | tail -1; done

sed -i 's/2 \* widen/3 * widen/' kernels/twice_as_much.hip
quietly cmake --build build --target hipops-parity
status=0
build/bin/hipops-parity --backend cpu --topic smoke > log || status=$?
[ "$status" = 1 ] || { echo "a wrong kernel ended with $status, expected 1"; exit 1; }
