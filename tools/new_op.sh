#!/usr/bin/env bash
# new_op.sh NAME: the files of a new op, of a template that doubles its input, which builds and passes as it is. What it then
# needs to become the op that it is named after: docs/guide/add-an-op.md.
set -euo pipefail
cd "$(dirname "$0")/.."
op=${1:-}
[[ $op =~ ^[a-z][a-z0-9]*(_[a-z0-9]+)*$ ]] || { echo "usage: tools/new_op.sh NAME, of small letters, digits and _" >&2; exit 2; }
pascal=$(sed -E 's/(^|_)([a-z0-9])/\u\2/g' <<< "$op")

# made TEMPLATE FILE: the file, of the template.
made() {
  mkdir -p "$(dirname "$2")"
  sed -e "s/@op@/$op/g; s/@Op@/$pascal/g; s/@OP@/${op^^}/g" "tools/new_op/$1" > "$2"
  echo "made    $2"
}
# inserted FILE BEFORE TEXT: the text, before the last line of the file that has BEFORE in it.
inserted() {
  local line
  line=$(grep -nF -- "$2" "$1" | tail -1 | cut -d: -f1)
  printf '%s\n' "$3" | sed -i "$((line - 1))r /dev/stdin" "$1"
  echo "changed $1"
}
# Whether these can do it, asked before anything is touched: what several ops share lies beside them, as capi/api.cpp.
can_be_made() { [ ! -e "$2" ] || { echo "$2 is there already" >&2; exit 2; }; }
can_be_inserted() { grep -qF -- "$2" "$1" || { echo "$1 has no line with: $2" >&2; exit 1; }; }

# with MADE INSERTED: the files, by these two.
with() {
  "$1" kernel.h "kernels/$op.h"
  "$1" kernel.hip "kernels/$op.hip"
  "$1" launcher.cpp "capi/$op.cpp"
  "$1" golden.py "parity/golden/ops/$op.py"
  "$1" test.cpp "tests/move/test_$op.cpp"
  "$1" page.md "docs/ops/$op.md"
  "$2" CMakeLists.txt "  strided_copy)" "  $op"
  "$2" include/hipops/hipops.h "/* ---- About this library" "/* y = 2 * x, rank 0 to 8, f32, f16, bf16 and f64. y has x's shape and dtype, and may be x itself. */
HIPOPS_API hipops_status hipops_$op(const hipops_tensor* y, const hipops_tensor* x, void* stream);
"
  "$2" parity/ops.cpp "  };" "      {\"$op\",
       kFloats,
       {kY},
       {kX},
       {},
       [](const Arguments& a) { return hipops_$op(a[\"y\"], a[\"x\"], a.stream()); }},"
  "$2" parity/golden/ops/__init__.py "OPS = {" "from ops import $op
"
  "$2" parity/golden/ops/__init__.py '       "strided_copy"' "       \"$op\": $op,"
}
with can_be_made can_be_inserted
with made inserted
cat <<TEXT

next, as docs/guide/add-an-op.md says:
  python3 parity/golden/generate.py --op $op
  HIPOPS_CMAKE_ARGS="-DHIPOPS_AMD=OFF -DHIPOPS_CUDA=OFF -DHIPOPS_OPS=$op" tools/run test
  tools/run parity --op $op
TEXT
