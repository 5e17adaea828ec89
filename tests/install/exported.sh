#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# exported.sh LIBRARY HEADER: the shared library gives out exactly the functions that its header declares, under a
# versioned name, and needs none of what only the compiler and the store stand on.
set -euo pipefail
library=$1 header=$2
found=$(nm -D --defined-only "$library" | awk '$2 !~ /^[Abdrt]$/ { sub(/@.*/, "", $3); print $3 }' | sort)
wanted=$(tr '\n' ' ' < "$header" | grep -oE 'SMELT_API [^;(]*\(' | grep -oE 'smelt_[a-z0-9_]+\(' | tr -d '(' | sort -u)
if ! diff <(echo "$wanted") <(echo "$found") > /tmp/exported.$$; then
  echo "declared (<) and exported (>) differ:" >&2
  cat /tmp/exported.$$ >&2
  rm -f /tmp/exported.$$
  exit 1
fi
rm -f /tmp/exported.$$
name=$(readelf -d "$library" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
[[ $name =~ \.so\.[0-9]+$ ]] || { echo "the library is called $name: no version" >&2; exit 1; }
if [ "$(basename "$header")" = smelt.h ]; then
  needed=$(readelf -d "$library" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p')
  foreign=$(grep -vE '^(libfmt|libnettle|libstdc\+\+|libgcc_s|libm|libc|ld-linux)' <<< "$needed" || true)
  [ -z "$foreign" ] || { echo "the loader needs $foreign" >&2; exit 1; }
fi
echo "$(wc -l <<< "$found") functions of $name"
