#!/usr/bin/env bash
# new_op.sh [--rows] NAME: makes the files of a new op, and its functions in C++, Python and Rust, from a template.
# The new op builds and passes its tests. It doubles its input; with --rows it computes log(softmax(x)) of rows.
# docs/guide/add-an-op.md has the next steps.
set -euo pipefail
cd "$(dirname "$0")/.."
templates=tools/new_op family=move
if [ "${1:-}" = --rows ]; then templates=tools/new_op/rows family=rows; shift; fi
op=${1:-}
[[ $op =~ ^[a-z][a-z0-9]*(_[a-z0-9]+)*$ ]] || { echo "usage: tools/new_op.sh [--rows] NAME, of small letters, digits and _" >&2; exit 2; }
pascal=$(sed -E 's/(^|_)([a-z0-9])/\u\2/g' <<< "$op")

# make_file TEMPLATE FILE: makes the file from the template. The contract and the launcher of a row op are copies of
# softmax's.
make_file() {
  mkdir -p "$(dirname "$2")"
  text_of "$1" > "$2"
  echo "made    $2"
}
text_of() {
  case $family/$1 in
    rows/kernel.h) as_softmax kernels/softmax.h ;;
    rows/launcher.cpp) as_softmax capi/softmax.cpp ;;
    rows/test.cpp) as_op tools/new_op/test.cpp ;;
    *) as_op "$templates/$1" ;;
  esac
}
as_op() { sed -e "s/@op@/$op/g; s/@Op@/$pascal/g; s/@OP@/${op^^}/g" "$1"; }
# python_of_softmax BEGINNING FILE: the statement of the file with that beginning, with softmax replaced by the op. So
# the bindings may change without a change of the template. Only row ops have softmax's flag.
python_of_softmax() {
  awk -v begins="^$1" '/^[^ ]/ { inside = $0 ~ begins } inside' "$2" | sed "s/softmax/$op/g" |
    if [ "$flags" ]; then cat; else sed 's/ batch_invariant: bool = False,//; s/, flags=_flags([^)]*)//'; fi
}
as_softmax() { sed -e "s/softmax/$op/g; s/Softmax/$pascal/g; s/SOFTMAX/${op^^}/g" "$1"; }
# insert FILE BEFORE TEXT: inserts the text before the last line of the file that contains BEFORE.
insert() {
  local line
  line=$(grep -nF -- "$2" "$1" | tail -1 | cut -d: -f1)
  printf '%s\n' "$3" | sed -i "$((line - 1))r /dev/stdin" "$1"
  echo "changed $1"
}
# Checks before the first change. A file may exist without an op of its name, such as capi/api.cpp.
check_absent() { [ ! -e "$2" ] || { echo "$2 is there already" >&2; exit 2; }; }
check_line() { grep -qF -- "$2" "$1" || { echo "$1 has no line with: $2" >&2; exit 1; }; }

# for_each_file NEW OLD: calls function NEW for each new file, and OLD for each file that changes.
for_each_file() {
  "$1" kernel.h "kernels/$op.h"
  "$1" kernel.hip "kernels/$op.hip"
  "$1" launcher.cpp "capi/$op.cpp"
  "$1" parity.cpp "parity/ops/$op.cpp"
  "$1" golden.py "parity/golden/ops/$op.py"
  "$1" test.cpp "tests/$family/test_$op.cpp"
  "$1" page.md "docs/ops/$op.md"
  "$2" CMakeLists.txt "  strided_copy)" "  $op"
  "$2" include/hipops/hipops.h "$section" "/* $formula */
HIPOPS_API hipops_status hipops_$op(const hipops_tensor* y, const hipops_tensor* x,${flags:+ uint32_t flags,} void* stream);
"
  "$2" include/hipops/hipops.hpp "HIPOPS_CALL strided_copy(" "HIPOPS_CALL $op(const tensor& y, const const_tensor& x,${flags:+ uint32_t flags = 0,} void* stream = nullptr) {
  return check(hipops_$op(&y, &x,${flags:+ flags,} stream));
}"
  "$2" capi/rust/hipops/src/lib.rs "/// \`hipops_strided_copy\`" "/// \`hipops_$op\`
pub fn $op(y: &ViewMut<'_>, x: &View<'_>,${flags:+ flags: u32,} stream: Stream) -> Result<()> {
    call!(hipops_$op(&y.view.raw, &x.raw,${flags:+ flags,} stream.0))
}"
  "$2" capi/python/hipops/_ops.py "def strided_copy(" "$(python_of_softmax 'def softmax\(' capi/python/hipops/_ops.py | sed "s|\"\"\".*\"\"\"|\"\"\"$formula\"\"\"|")

"
  "$2" capi/python/hipops/_ops.py '           "strided_copy",' "           \"$op\","
  "$2" docs/ops/README.md "| [strided_copy]" "| [$op]($op.md) | ${formula%%[.,] *} |"
  "$2" docs/guide/python.md "| \`strided_copy(x)\`" "| \`$op(x)\` | |"
  "$2" capi/python/hipops/torch/__init__.py '_define("strided_copy"' "_define(\"$op\", \"Tensor x${flags:+, bool batch_invariant=False}\", \"Tensor\", $result)"
}
if [ "$family" = rows ]; then
  section="/* ---- Rotary embedding" result=_contiguous flags=yes
  formula="y = x - max(x) - log(sum(exp(x - max(x)))). A row that is all -inf, or that holds a NaN or +inf, gives NaN."
else
  section="/* ---- About this library" result="lambda x, *rest: _as_elementwise(x)" flags=
  formula="y = 2 * x, rank 0 to 8, f32, f16, bf16 and f64. y has x's shape and dtype, and may be x itself."
fi
for_each_file check_absent check_line
for_each_file make_file insert
tools/ffi.py
echo "changed capi/rust/hipops-sys/src/ffi.rs and capi/python/hipops/_abi.py, by tools/ffi.py"
cat <<TEXT

next (docs/guide/add-an-op.md):
  python3 parity/golden/generate.py --op $op --no-torch
  export HIPOPS_CMAKE_ARGS="-DHIPOPS_AMD=OFF -DHIPOPS_CUDA=OFF -DHIPOPS_OPS=$op"
  tools/run build test_$op && build/release/bin/test_$op
  tools/run parity --backend cpu --op $op
TEXT
