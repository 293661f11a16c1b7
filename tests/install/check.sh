#!/usr/bin/env bash
# check.sh CHECK: installs hipops, and uses it in other programs, outside of the source tree. See install.cmake for the
# variables.
#
# prefix: installs into an empty folder, and moves that folder.
#
# files: the files are there, and none names a folder of this machine.
#
# cmake, pkgconfig, plain: builds and runs a program with the installed files.
#
# package: makes the .deb and the .tar.gz. Runs the three checks above with the files of the .deb.
#
# subdirectory: builds hipops as a part of another project, with one op and for the CPU alone, and installs both.
set -euo pipefail
what=$1
work=$BINARY/tests/install
prefix=${PREFIX:-$work/prefix}
name=${PREFIX:+package-}$what
source=$SOURCE/tests/install/consumer
expected="hipops $VERSION: 0.365148 1.212957"
export HIPOPS_BACKEND=cpu

die() { echo "$what: $*" >&2; exit 1; }
# `check_output PROGRAM...`: its output is 1 / sqrt(7.5 + 1e-5) and 8 / sqrt(43.5 + 1e-5).
check_output() {
  local printed
  printed=$("$@")
  [ "$printed" = "$expected" ] || die "$*: printed '$printed', expected '$expected'"
}
defines_hipops_alone() {
  local others
  others=$(nm -g --defined-only "$1" | awk 'NF == 3 && $3 !~ /^hipops_/ { print $3 }')
  [ -z "$others" ] || die "$1 defines more than hipops_*: $others"
}
links_hold() { "$PYTHON" "$SOURCE/tests/doc_links.py" "$1" || die "installed pages have broken links"; }
# An empty folder for this check.
fresh() { rm -rf "${work:?}/$name"; mkdir -p "$work/$name"; echo "$work/$name"; }
# again CHECK...: runs the checks with the files in $prefix.
again() { for check in "$@"; do PREFIX=$prefix "$0" "$check"; done; }

case $what in
  prefix)
    rm -rf "$work/first" "$work/prefix"
    cmake --install "$BINARY" --prefix "$work/first" --strip > /dev/null
    mv "$work/first" "$work/prefix"
    ;;
  files)
    library=$prefix/$LIBDIR/libhipops.so
    for file in include/hipops/hipops.{h,hpp} "$LIBDIR"/libhipops.{so,so.0,a} "$LIBDIR"/pkgconfig/hipops{,-static}.pc \
      "$LIBDIR"/cmake/hipops/hipopsConfig.cmake share/doc/hipops/{README.md,LICENSE} share/hipops/golden/rms_norm/smoke.json \
      share/hipops/golden/README.md \
      {bin/hipops-{parity,bench,inspect,info,fuzz},share/man/man1/hipops-{parity,bench,inspect,info,fuzz}.1}; do
      [ -e "$prefix/$file" ] || die "$file is not there"
    done
    if [ -n "$AMD" ]; then [ -e "$prefix/$LIBDIR/hipops/code-objects/rms_norm.hipfb" ] || die "no code objects"; fi
    links_hold "$prefix/share/doc/hipops"
    "$PYTHON" "$SOURCE/tests/supply/licenses.py" "$SOURCE" "$BINARY/lib/libhipops.spdx.json" "$prefix" || die "licenses are missing"
    bytes=$(stat -L -c %s "$library")
    [ "$bytes" -lt 40000000 ] || die "libhipops.so has $bytes bytes, expected less than 40 MB"
    folders=("$SOURCE"/{capi,kernels,parity,tools,include} "$BINARY"/{lib,bin,generated})
    ! grep -rlF "${folders[@]/#/-e}" "$prefix" || die "these files name a folder of the machine that built them"
    defines_hipops_alone "$prefix/$LIBDIR/libhipops.a"
    env -u HIPOPS_GOLDEN "$prefix/bin/hipops-parity" --op rms_norm --topic smoke | grep -F "$prefix/share/hipops/golden" > /dev/null ||
      die "hipops-parity does not use the installed golden files"
    "$prefix/bin/hipops-fuzz" --count 20 --elements 100 | grep -F "all 20 cases" > /dev/null || die "hipops-fuzz does not run"
    echo "libhipops.so: $bytes bytes"
    ;;
  cmake)
    folder=$(fresh)
    cmake -S "$source" -B "$folder" -G Ninja -DHOW=find_package -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$CC" > "$folder/log"
    cmake --build "$folder" > "$folder/log" || { cat "$folder/log"; exit 1; }
    check_output "$folder/with_hipops"
    check_output "$folder/with_hipops_static"
    ! ldd "$folder/with_hipops_static" | grep hipops || die "the static one needs the shared library"
    ;;
  pkgconfig)
    folder=$(fresh)
    export PKG_CONFIG_PATH=$prefix/$LIBDIR/pkgconfig
    pkg-config --exists 'hipops >= 0.2' || die "there is no hipops of a version from 0.2 on"
    cp "$source/consumer.c" "$folder/program.c"
    # The commands of docs/guide/install.md.
    # shellcheck disable=SC2016  # the text that is searched for
    mapfile -t commands < <(grep -F '    cc program.c $(pkg-config ' "$SOURCE/docs/guide/install.md")
    [ ${#commands[@]} = 2 ] || die "docs/guide/install.md has ${#commands[@]} commands of cc and pkg-config, expected 2"
    cc() { "$CC" "$@"; }
    for command in "${commands[@]}"; do
      rm -f "$folder/a.out"
      (cd "$folder" && eval "$command")
      check_output "$folder/a.out"
    done
    ;;
  plain)
    folder=$(fresh)
    # The command of docs/guide/install.md.
    lib=$prefix/$LIBDIR
    "$CC" "$source/consumer.c" -I"$prefix/include" -L"$lib" -lhipops -Wl,-rpath,"$lib" -o "$folder/linked"
    check_output "$folder/linked"
    "$CC" "$SOURCE/tests/abi/plugin_host.c" -I"$prefix/include" -ldl -Wl,-rpath,"$lib" -o "$folder/plugin_host"
    "$folder/plugin_host" libhipops.so.0
    ;;
  package)
    folder=$(fresh)
    (cd "$folder" && cpack --config "$BINARY/CPackConfig.cmake" > log) || { cat "$folder/log"; exit 1; }
    depends=$(dpkg-deb -f "$folder"/hipops-*.deb Depends)
    if type dpkg-shlibdeps > /dev/null 2>&1; then
      [[ $depends == *"libc6 (>= 2."* ]] || die "the .deb depends on '$depends', expected a version of libc6"
    fi
    dpkg-deb -x "$folder"/hipops-*.deb "$folder/deb"
    prefix=$folder/deb/usr again files cmake pkgconfig plain
    mkdir "$folder/tar"
    tar xzf "$folder"/hipops-*.tar.gz -C "$folder/tar" --strip-components=1
    diff <(cd "$folder/deb/usr" && find . | sort) <(cd "$folder/tar" && find . | sort) || die ".deb and .tar.gz differ"
    rm -rf "$folder/tar"
    ;;
  subdirectory)
    folder=$(fresh)
    # The commands of docs/guide/install.md for a checkout.
    awk '/^```cmake$/ { inside = 1; next } /^```/ { inside = 0 } inside' "$SOURCE/docs/guide/install.md" > "$folder/fetch.cmake"
    grep -q FetchContent_Declare "$folder/fetch.cmake" || die "docs/guide/install.md has no FetchContent"
    cmake -S "$source" -B "$folder/fetched" -G Ninja -DHOW=FetchContent -DFETCH="$folder/fetch.cmake" \
      -DFETCHCONTENT_SOURCE_DIR_HIPOPS="$SOURCE" -DCMAKE_C_COMPILER="$CC" > "$folder/log"
    cmake -S "$source" -B "$folder/declared" -G Ninja -DHOW=SOURCE_DIR -DHIPOPS_SOURCE="$SOURCE" -DCMAKE_C_COMPILER="$CC" > "$folder/log"
    cmake -S "$source" -B "$folder/built" -G Ninja -DHOW=add_subdirectory -DHIPOPS_SOURCE="$SOURCE" -DCMAKE_C_COMPILER="$CC" > "$folder/log"
    cmake --build "$folder/built" > "$folder/log" || { cat "$folder/log"; exit 1; }
    check_output "$folder/built/with_hipops" rms_norm
    check_output "$folder/built/with_hipops_static" rms_norm
    defines_hipops_alone "$folder/built/hipops/lib/packed/libhipops.a"
    cmake --install "$folder/built" --prefix "$folder/installed" > "$folder/log"
    [ -e "$folder/installed/share/doc/hipops/README.md" ] || die "hipops's README.md is not in a folder of its own"
    links_hold "$folder/installed/share/doc/hipops"
    cmake -S "$source" -B "$folder/engine" -G Ninja -DHOW=engine -DCMAKE_PREFIX_PATH="$folder/installed" \
      -DCMAKE_C_COMPILER="$CC" > "$folder/log"
    cmake --build "$folder/engine" > "$folder/log" || { cat "$folder/log"; exit 1; }
    check_output "$folder/engine/with_engine" rms_norm
    ;;
  *) die "no such check" ;;
esac
