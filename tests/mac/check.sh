#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# check.sh SOURCE: the sources that a Mac compiles, read by Clang for arm64-apple-macos14. Apple's headers are not here: C
# and C++ come from Debian's cross compilers for the same processor, with what a Mac lacks taken away, and Metal from the
# declarations in include/, written by us. So it finds Linux's calls, wrong types and misspelt methods; not what Apple's
# headers say otherwise. Exit 77: skipped, no such compiler or headers.
set -euo pipefail
source=$1
here=$(cd "$(dirname "$0")" && pwd)
cross=/usr/aarch64-linux-gnu/include
clang=$(command -v clang++-19 || true)
if [ -z "$clang" ] || [ ! -d $cross/c++/12 ]; then
  echo "SKIPPED: needs clang-19 and libstdc++-12-dev-arm64-cross"
  exit 77
fi
cd "$source"
flags=(--target=arm64-apple-macos14 -fsyntax-only -std=c++20 -Wall -Wextra -Werror -Wno-missing-field-initializers
  -Wno-unused-command-line-argument -Wno-elaborated-enum-base -Wno-deprecated-declarations
  -nostdinc -isystem "$here/include" -isystem "$($clang -print-resource-dir)/include"
  -isystem $cross/c++/12 -isystem $cross/c++/12/aarch64-linux-gnu -isystem $cross -idirafter /usr/include
  -U__nonnull -D_GNU_SOURCE '-DSMELT_VERSION=""' '-DSMELT_LLVM_VERSION=""'
  -Ibase/include -Ischema/metallib/include -Ischema/package/include -Ischema/store/include -Ischema/remote/include -Isigning/include
  -Icache/remote/include -Iloader/include -Iloader/src
  -Icache/include -Icache/src -Iservice/stored/include -Iservice/include -Iservice/sandbox/include -Iaot/include -Itools/smelt/src -Itools/selftest
  -Itools/toolchain/include -Iservice/c_api/include)
# What the loader, the store and the programs that need no compiler consist of.
mapfile -t files < <(ls base/src/*.cpp schema/metallib/src/*.cpp schema/package/src/*.cpp schema/remote/src/*.cpp signing/src/*.cpp cache/src/*.cpp
  find loader/src -name '*.cpp' ! -name no_metal.cpp
  # Not log.cpp: spdlog's own code for a Mac wants the system's pthread.h.
  find tools/smelt/src -name '*.cpp'
  ls tools/toolchain/src/*.cpp service/c_api/*.cpp service/src/*.cpp service/stored/src/*.cpp tools/selftest/*.cpp | grep -v service/src/log.cpp)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=$work/failures
touch "$failures"
"$clang" "${flags[@]/-fsyntax-only/-c}" -x c++-header "$here/include/poison.h" -o "$work/poison.pch"
# Ten files of a folder at once, as the preset release compiles them: most of the time is their headers'.
number=0 folder=
for file in "${files[@]}"; do
  if [ "$(dirname "$file")" != "$folder" ] || [ $((++within)) = 10 ]; then
    folder=$(dirname "$file") within=0 number=$((number + 1))
  fi
  echo "#include \"$source/$file\"" >> "$work/unit$number.cpp"
done
ls "$work"/unit*.cpp | xargs -P 2 -I{} bash -c '"$@" {} || sed -n "s/#include //p" {} >> '"$failures" _ "$clang" "${flags[@]}" \
  -include-pch "$work/poison.pch"
"$clang" "${flags[@]}" -include "$here/include/poison.h" -x objective-c++ -fobjc-arc -fblocks loader/src/device/metal.mm || echo metal.mm >> "$failures"
if [ -s "$failures" ]; then
  echo "not for a Mac: $(tr '\n' ' ' < "$failures")" >&2
  exit 1
fi
echo "${#files[@]} files and metal.mm"
