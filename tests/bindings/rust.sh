#!/usr/bin/env bash
# rust.sh RUST_FOLDER PAGE LIBRARY FOLDER: checks the crates of a copy of RUST_FOLDER. Runs their tests and examples on
# the CPU backend, and the first example on PAGE. rustdoc, clippy and rustfmt, if installed, give no warning. A program
# that does not find the library prints a message.
set -euo pipefail
command -v cargo > /dev/null || { echo "skipped: no cargo"; exit 77; }
source=$1 page=$2 library=$3 folder=$4
rm -rf "$folder"
mkdir -p "$folder"
cp -r "$source"/. "$folder"
cd "$folder"
export CARGO_NET_OFFLINE=true CARGO_TARGET_DIR="$folder/target" HIPOPS_LIBRARY="$library"
mkdir hipops/examples
awk '/^```rust$/ && !done { inside = 1; next } /^```/ { done = done || inside; inside = 0 } inside' "$page" > hipops/examples/page.rs
cargo test --quiet
printed=$(cargo run --quiet --example page)
[ "$printed" = "$(sed -n 's|.*println.*; // ||p' hipops/examples/page.rs)" ] || { echo "$page: its example printed '$printed'"; exit 1; }
RUSTDOCFLAGS="-D warnings" cargo doc --quiet --no-deps
if cargo clippy --version > /dev/null 2>&1; then cargo clippy --quiet --all-targets -- -D warnings; fi
if cargo fmt --version > /dev/null 2>&1; then
  cargo fmt --check
  # hipops-candle is not compiled here, because it would have to fetch candle-core.
  rustfmt --check --edition 2021 hipops-candle/src/lib.rs hipops-candle/tests/ops.rs
fi

code=0
HIPOPS_LIBRARY=/nowhere/libhipops.so cargo test --quiet --test ops what_there_is > log 2>&1 || code=$?
[ "$code" != 0 ] && grep -q "hipops cannot be loaded: /nowhere/libhipops.so: cannot open" log || { echo "without the library:"; cat log; exit 1; }
