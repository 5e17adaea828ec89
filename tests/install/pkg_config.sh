#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# pkg_config.sh BUILD PACKAGE: installed, a C program is compiled by what pkg-config says, against the shared library and
# against the static one, and runs a kernel. The folder is moved in between: nothing knows where it was installed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
package=$2
source "$here/installed.sh" "$1"
mv "$prefix" "$work/moved"
library_folder=${library_folder/prefix/moved}
export PKG_CONFIG_PATH=$library_folder/pkgconfig
cd "$work"
cc -std=c11 "$here/run.c" -o shared $(pkg-config --cflags --libs smelt) -Wl,-rpath,"$library_folder"
ldd shared | grep 'libsmelt.so.1 => '"$library_folder" > /dev/null
./shared "$package"
cc -std=c11 "$here/run.c" -o static $(pkg-config --cflags smelt) "$library_folder/libsmelt.a" \
  $(pkg-config --static --libs smelt | tr ' ' '\n' | grep -v -- '-lsmelt')
if ldd static | grep libsmelt; then
  echo "the static program wants the shared library"
  exit 1
fi
./static "$package"
version=$(pkg-config --modversion smelt)
./static "$package" | grep -F "smelt $version:" > /dev/null
