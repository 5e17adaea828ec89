#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# wheels.sh SOURCE BUILD PYTHON PACKAGE: the wheels of a build, each installed by pip into an empty environment. The
# loader's is small, runs a kernel and says what the compiler needs; the compiler's adds compiling and the command. Exit 77:
# skipped, no pip or venv. The wheels have the modules of every Python that the build made them for (SMELT_PYTHONS); in each of these the
# same is held.
set -euo pipefail
source=$1 build=$2 python=$3 package=$4
if ! "$python" -c 'import venv, ensurepip' 2> /dev/null; then
  echo "SKIPPED: needs python3-venv"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset PYTHONPATH
export SMELT_STORE=$work/store
"$python" "$source/bindings/python/wheels.py" "$build" "$work/wheels"
"$python" -m venv "$work/env"
cd "$work"
bin=$work/env/bin
install() { "$bin/pip" install --quiet --no-index --find-links "$work/wheels" "$1" > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }; }

install smelt
# One file by this name, which pip then takes.
set -- "$work"/wheels/smelt-*.whl
[ $# = 1 ] || { echo "several wheels of smelt: $*" >&2; exit 1; }
tags=$(basename "$1" | cut -d- -f3)
pythons=$(tr . '\n' <<< "$tags" | wc -l)
size=$(stat -c %s "$1")
[ "$size" -lt $((1500000 + 2000000 * pythons)) ] || { echo "the wheel of the loader has $size bytes for $pythons Pythons" >&2; exit 1; }
size=$(stat -c %s "$work"/wheels/smelt_compiler-*.whl)
[ "$size" -lt $((43500000 + 1300000 * pythons)) ] || { echo "the wheel of the compiler has $size bytes for $pythons Pythons" >&2; exit 1; }
cat > run.py <<'P'
import array, sys, smelt
x, y = array.array("f", range(1000)), array.array("f", [1] * 1000)
smelt.load_metallib(sys.argv[1]).saxpy(x, y, array.array("f", [2.0]))
assert y.tolist() == [2 * i + 1 for i in range(1000)]
print("smelt", smelt.__version__, smelt.__file__)
P
"$bin/python" run.py "$package"
"$bin/python" -c 'import smelt, importlib.metadata as m; assert smelt.__version__ == m.version("smelt")'
"$bin/python" - <<'P'
import os, smelt
smelt.Store(os.environ["SMELT_STORE"]).put("ab" * 32, {"part": b"bytes"})
try:
    smelt.compile("define void @f() { ret void }")
except smelt.ToolchainError as error:
    assert "smelt_compiler-*.whl" in str(error) and "pip install" not in str(error), error
else:
    raise SystemExit("compiled without a compiler")
P
# The wheel in Python alone fits every system; pip takes the other one from an index, which fits better here.
pure=$(echo "$work"/wheels/mac/smelt-*-py3-none-any.whl)
size=$(stat -c %s "$pure")
[ "$size" -le 170000 ] || { echo "the wheel in Python alone has $size bytes, want 170,000 at most" >&2; exit 1; }
"$bin/python" -c 'import smelt; assert smelt.edition == "native"'
all_pythons=("$python" "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.{9,1[0-9]}.*/bin/python)
for other in "${all_pythons[@]}"; do
  [ -x "$other" ] || continue
  "$other" -m pip --version > /dev/null 2>&1 || continue
  rm -rf alone && "$other" -m pip install --quiet --no-index --target alone "$pure" 2> /dev/null
  said=$(cd / && PYTHONPATH=$work/alone "$other" -m smelt inspect "$package"; PYTHONPATH=$work/alone "$other" -m smelt.selftest 2>&1 || true)
  grep -q 'kernel saxpy' <<< "$said" && grep -q device_unavailable <<< "$said" || { echo "$other: $said" >&2; exit 1; }
  ! said=$(cd / && PYTHONPATH=$work/alone "$other" -m smelt.compat.doctor) || { echo "$other: $said" >&2; exit 1; }
  grep -q 'smelt_compiler-\*-manylinux_\*.whl' <<< "$said" || { echo "$other: $said" >&2; exit 1; }
done
# Signatures are checked by what the wheel brings.
"$bin/python" - "$package" <<'P'
import sys, smelt
try:
    smelt.load_metallib(sys.argv[1], trust="signed", trusted_keys="me:11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=")
except smelt.TrustError as error:
    assert "nobody signed it" in str(error), error
maps = open("/proc/self/maps").read()
assert "/smelt/_libs/libhogweed.so.6" in maps and "/smelt/_libs/libgmp.so.10" in maps, "not those of the wheel"
P
install smelt-remote
# Two machines and a folder between them. What waits to be sent is sent when a process ends.
mkdir mirror
export SMELT_REMOTE=file://$work/mirror SMELT_TRUST=any
"$bin/python" -c 'import smelt; smelt.Store("first").put("cd" * 32, {"part": b"bytes"})'
"$bin/python" -c 'import smelt; assert smelt.Store("second").get("cd" * 32)["part"] == b"bytes"'
unset SMELT_REMOTE SMELT_TRUST
! "$bin/smelt" --version 2> "$work/said"
grep -q 'smelt_compiler-\*.whl' "$work/said" || { cat "$work/said"; exit 1; }
# What the modules use comes from the wheel, where it has it.
libraries=$(ldd "$work"/env/lib/python*/site-packages/smelt/_loader*.so)
grep -q 'libnettle.* => .*/smelt/_libs/' <<< "$libraries" || { echo "$libraries" >&2; exit 1; }

install smelt-compiler
"$bin/smelt" --version
"$bin/smelt" compile "$source/examples/saxpy.ll" --target macos14 -o saxpy.smelt
"$bin/python" -c '
import array, smelt
x, y = array.array("f", range(10)), array.array("f", [1] * 10)
smelt.load_metallib("saxpy.smelt").saxpy(x, y, 2.0, 10, arg_casts={3: "int32"})
assert y.tolist() == [2 * i + 1 for i in range(10)]
assert smelt.compile_shader("kernel void one(device float* x, uint i [[thread_position_in_grid]]) { x[i] = 1; }").one'

code=0
"$python" -B "$source/tests/install/traced.py" "$source/SECURITY.md" "$bin/smelt" "$bin/python" || code=$?
[ "$code" = 0 ] || [ "$code" = 77 ] || exit 1
"$python" -B "$source/tests/install/search_paths.py" "$work"/env/lib/python*/site-packages/smelt
# No library is another distribution's: what the files need is glibc's, libstdc++, or in a wheel.
for file in "$work"/env/lib/python*/site-packages/smelt/{*.so,_libs/*,_bin/*}; do
  others=$(ldd "$file" | awk '$3 ~ /^\// { print $1, $3 }' | grep -vE "/site-packages/smelt/|^(libc|libm|libstdc\+\+|libgcc_s|libdl|libpthread|librt)\.so" || true)
  [ -z "$others" ] || { echo "$file: $others" >&2; exit 1; }
done
"$bin/python" -m smelt.compat.doctor
# The same two wheels in each Python that they have modules for.
cp "$source"/tests/python/any_python.py .
tried=0
for other in "${all_pythons[@]}"; do
  [ -x "$other" ] || continue
  "$other" -m pip --version > /dev/null 2>&1 || continue
  [[ .$tags. == *.$("$other" -c 'import sys; print("cp%d%d" % sys.version_info[:2])').* ]] || continue
  rm -rf both && "$other" -m pip install --quiet --no-index --find-links "$work/wheels" --target both smelt smelt-compiler 2> /dev/null
  PYTHONPATH=both "$other" any_python.py || { echo "$other" >&2; exit 1; }
  tried=$((tried + 1))
done
echo "held in $tried installations, with modules for $pythons Pythons"
