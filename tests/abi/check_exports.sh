#!/bin/sh
# check_exports.sh LIBRARY HEADER: the library exports exactly the functions that the header declares, with the version
# HIPOPS_0.
set -eu
library=$1
header=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# A declaration begins with HIPOPS_API. The first name before a parenthesis is the function.
sed -n 's/^HIPOPS_API [^(]*[ *]\(hipops_[a-z0-9_]*\)(.*/T \1@@HIPOPS_0/p' "$header" | sort > "$work/declared"
# The version itself is listed as an absolute symbol.
nm -D --defined-only "$library" | awk '!($2 == "A" && $3 == "HIPOPS_0") { print $2, $3 }' | sort > "$work/exported"

declared=$(wc -l < "$work/declared")
if [ "$declared" -ne "$(grep -c '^HIPOPS_API ' "$header")" ] || [ "$declared" -eq 0 ]; then
  echo "not every HIPOPS_API declaration of $header was understood: $declared of them" >&2
  exit 1
fi
if ! diff "$work/declared" "$work/exported" >&2; then
  echo "< is declared in $header only, > is exported by $library only" >&2
  exit 1
fi
