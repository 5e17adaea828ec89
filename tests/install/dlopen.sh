#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# dlopen.sh BUILD PACKAGE: a C program that links nothing of ours opens the installed library and runs a kernel.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
package=$2
source "$here/installed.sh" "$1"
cc -std=gnu11 -DBY_DLOPEN -I"$prefix/include" "$here/run.c" -o "$work/run" -ldl
if ldd "$work/run" | grep libsmelt; then
  echo "the program is linked to what it is to open"
  exit 1
fi
"$work/run" "$package" "$library_folder/libsmelt.so.1"
