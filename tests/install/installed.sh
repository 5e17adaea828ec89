# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Sourced: installs the loader of build folder $1, and the components named after it, into $work/prefix, an empty folder
# that goes when the test ends.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix
for component in loader dev "${@:2}"; do
  cmake --install "$1" --prefix "$prefix" --component "$component" > "$work/log" || { cat "$work/log"; exit 1; }
done
library_folder=$(dirname "$(find "$prefix" -name 'libsmelt.so')")
