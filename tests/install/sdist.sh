#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# sdist.sh BUILD: in a new environment pip builds the archive that scripts/release makes, to its end, and a kernel runs. Without
# the tools of a build it says in one error which are missing.
set -euo pipefail
source=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset PYTHONPATH
"$source/scripts/release" "$work/out" --build "$build" --as-built --only source
/usr/bin/python3 -m venv "$work/env"
cd "$work"
pip=("$work/env/bin/pip" install --no-index)
if PATH=$work/env/bin "${pip[@]}" out/smelt-*.tar.gz > log 2>&1; then
  echo "built without a compiler" >&2
  exit 1
fi
grep -q 'smelt is not built: it needs cmake, ninja' log && grep -q 'scripts/setup build' log || { cat log >&2; exit 1; }
"${pip[@]}" -v out/smelt-*.tar.gz > log 2>&1 || { tail -n 50 log >&2; exit 1; }
"$work/env/bin/python" - "$build/tests/install/kernels.smelt" <<'P'
import array, sys, smelt
x, y = array.array("f", range(1000)), array.array("f", [1] * 1000)
smelt.load_metallib(sys.argv[1]).saxpy(x, y, array.array("f", [2.0]))
assert smelt.edition == "native" and y.tolist() == [2 * i + 1 for i in range(1000)]
P
