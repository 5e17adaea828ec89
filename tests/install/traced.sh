#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# traced.sh BUILD SOURCE PYTHON: traced.py with what lies in the build folder, then with an installation of it.
set -euo pipefail
build=$1 source=$2 python=$3
PYTHONPATH=$build/python "$python" -B "$source/tests/install/traced.py" "$source/SECURITY.md" "$build/bin/smelt" "$python"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for component in loader command compiler debian-python debian-python-remote debian-python-compiler; do
  cmake --install "$build" --prefix "$work/prefix" --component "$component" > "$work/log" || { cat "$work/log"; exit 1; }
done
PYTHONPATH=$work/prefix/lib/python3/dist-packages "$python" -B "$source/tests/install/traced.py" "$source/SECURITY.md" "$work/prefix/bin/smelt" "$python"
