#!/usr/bin/env bash
# new_op.sh SOURCE FOLDER PYTHON: docs/adding-an-op.md, followed to the letter in a copy of the source: a new op of the template is generated,
# built for the CPU alone, and passes; and fails once its kernel is wrong.
set -euo pipefail
source=$1 folder=$2 python=$3
"$python" -c 'import numpy' 2> /dev/null || { echo "skipped: $python has no NumPy"; exit 77; }
rm -rf "$folder"
mkdir -p "$folder"
cp -r "$source"/{CMakeLists.txt,README.md,LICENSE,CHANGELOG.md,capi,docs,include,kernels,parity,tests,tools} "$folder"
cd "$folder"
rm -rf parity/golden/*/*.json
quietly() { "$@" > log 2>&1 || { cat log; exit 1; }; }

quietly tools/new_op.sh twice_as_much
quietly env PYTHONDONTWRITEBYTECODE=1 "$python" parity/golden/generate.py --op twice_as_much --no-torch
quietly cmake -G Ninja -S . -B build -DCMAKE_BUILD_TYPE=Debug -DHIPOPS_AMD=OFF -DHIPOPS_CUDA=OFF -DHIPOPS_OPS=twice_as_much
quietly cmake --build build --target test_twice_as_much hipops-parity
quietly ctest --test-dir build -R '^test_twice_as_much$' --no-tests=error
for wave in 32 64; do build/bin/hipops-parity --backend cpu --wave $wave | tail -1; done

sed -i 's/2 \* widen/3 * widen/' kernels/twice_as_much.hip
quietly cmake --build build --target hipops-parity
status=0
build/bin/hipops-parity --backend cpu --topic smoke > log || status=$?
[ "$status" = 1 ] || { echo "a wrong kernel ended with $status, expected 1"; exit 1; }
