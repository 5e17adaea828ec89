#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# bare_wheels.sh SUITE BUILD: the wheels of build folder BUILD, installed by pip into a new Debian of that suite that has python3-venv
# and nothing else; then kernels are compiled and run there. Needs root, mmdebstrap and a mirror.
set -euo pipefail
suite=$1 build=$2
source=$(cd "$(dirname "$0")/../.." && pwd)
system=$(mktemp -d)
clean() {
  mountpoint -q "$system/proc" && umount -l "$system/proc"
  rm -rf --one-file-system "$system"
}
trap clean EXIT
mmdebstrap --quiet --variant=apt --include=python3-venv "$suite" "$system"
mount -t proc proc "$system/proc"
mkdir "$system/use"
/usr/bin/python3 "$source/bindings/python/wheels.py" "$build" "$system/use/wheels"
cp "$source/tests/python/any_python.py" "$source/examples/saxpy.metal" "$system/use/"
chroot "$system" env -i HOME=/use PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 bash -euc '
cd /use
python3 -m venv env
env/bin/pip install --quiet --no-index --find-links wheels smelt smelt-compiler
env/bin/python any_python.py
env/bin/python -m smelt.compat.doctor
env/bin/smelt compile saxpy.metal -o saxpy.smelt
env/bin/smelt --version
'
