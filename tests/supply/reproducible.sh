#!/bin/sh
# reproducible.sh SOURCE FOLDER [CMAKE-ARGUMENT...]: builds the library twice, from two copies of the source in folders
# of different names. Ends with 0 if both have the same bytes, and a second build has nothing to do. Without the
# compiler's cache, which would return the same object twice.
set -eu
source=$1
work=$2
shift 2
export CCACHE_DISABLE=1
rm -rf "$work"
first=$work/a/src
second="$work/another folder/with-a-longer-name/sources"
for copy in "$first" "$second"; do
  mkdir -p "$copy"
  for part in CMakeLists.txt CMakePresets.json LICENSE README.md CHANGELOG.md include capi kernels tools; do
    cp -R "$source/$part" "$copy"
  done
  cmake -S "$copy" -B "$copy/../build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DHIPOPS_TOOLS=OFF -DHIPOPS_TESTS=OFF "$@" \
    > /dev/null
  cmake --build "$copy/../build" > "$copy/../log" || { cat "$copy/../log" >&2; exit 1; }
  cmake --build "$copy/../build" -- -d explain > "$copy/../log" 2>&1
  grep -q 'no work to do' "$copy/../log" || { echo "$copy: built anew:" >&2; cat "$copy/../log" >&2; exit 1; }
done
failed=0
for file in libhipops.so libhipops.a; do
  if cmp "$first/../build/lib/$file" "$second/../build/lib/$file"; then
    sha256sum "$first/../build/lib/$file"
  else
    failed=1
  fi
done
if strings -a "$first/../build/lib/libhipops.so" | grep -F "$(cd "$work" && pwd)"; then
  echo "libhipops.so: names the folder that it was built in" >&2
  failed=1
fi
[ $failed -ne 0 ] || rm -rf "$work"
exit $failed
