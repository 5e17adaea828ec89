#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# debian.sh BUILD PACKAGE [chroot]: the Debian packages of build folder BUILD. Unpacked into an empty folder, a C program is
# built against them and runs a kernel of PACKAGE, and so do Python and the command; what each binary needs is among its
# package's dependencies. With `chroot` (root, mmdebstrap and a mirror are needed) apt installs them into a new Debian of the same number, where
# nothing else is, and the same is done there.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$1 package=$2 where=${3:-folder}
scratch=$(mktemp -d)
trap 'rm -rf --one-file-system "$scratch"' EXIT  # a killed mmdebstrap leaves its mounts
run() { "$@" > "$scratch/log" 2>&1 || { echo "failed: $*" >&2; cat "$scratch/log" >&2; exit 1; }; }
run cpack --config "$build/CPackConfig.cmake" -B "$scratch/packages"
packages=("$scratch"/packages/*.deb)
[ "${#packages[@]}" -eq 6 ] || { echo "packages: ${packages[*]}" >&2; exit 1; }

cat > "$scratch/use.sh" <<'END'
set -euo pipefail
cd "$1"  # holds run.c and kernels.smelt
read -ra flags <<< "$(pkg-config --cflags --libs smelt)"
cc -std=gnu11 run.c -o run "${flags[@]}"
./run kernels.smelt
python3 - <<'PYTHON'
import smelt
assert "dist-packages" in smelt.__file__, smelt.__file__
x, y = bytearray(b"\0\0\x80\x3f" * 4), bytearray(16)
kernel = """kernel void add(device const float* x, device float* y, uint i [[thread_position_in_grid]]) { y[i] = x[i] + 1; }"""
smelt.compile_shader(kernel).add(x, y, threads=4)
assert y == bytearray(b"\0\0\0\x40" * 4), y
PYTHON
smelt --version
smelt-selftest > selftest.txt
END
cp "$here/run.c" "$scratch/"
cp "$package" "$scratch/kernels.smelt"

if [ "$where" = chroot ]; then
  # apt finds what ours depend on; gcc and pkg-config are what the check itself needs.
  run mmdebstrap --variant=apt --include="gcc,libc6-dev,pkg-config,$(IFS=,; echo "${packages[*]}")" \
    --hook-dir=/usr/share/mmdebstrap/hooks/file-mirror-automount "$(. /etc/os-release && echo "$VERSION_CODENAME")" "$scratch/system"
  mkdir "$scratch/system/use"
  cp "$scratch"/{run.c,kernels.smelt,use.sh} "$scratch/system/use/"
  run chroot "$scratch/system" env HOME=/use bash /use/use.sh /use
  tail -1 "$scratch/system/use/selftest.txt"
  exit
fi

for one in "${packages[@]}"; do
  name=$(dpkg-deb -f "$one" Package)
  dpkg-deb -x "$one" "$scratch/$name"
  dpkg-deb -x "$one" "$scratch/system"
  depends=" $(dpkg-deb -f "$one" Depends | sed 's/([^)]*)//g; s/,/ /g') "
  while read -r file; do
    for library in $(ldd "$file" | sed -n 's/.* => \(\/[^ ]*\) .*/\1/p'); do
      readelf -d "$file" | grep -q "NEEDED.*\[$(basename "$library")\]" || continue
      owner=$(dpkg -S "$library" "$(readlink -f "$library")" "${library/#\/usr/}" 2> /dev/null | head -1 | cut -d: -f1 || true)
      found=
      for other in $owner $(dpkg-query -W -f='${Provides}' "$owner" | sed 's/([^)]*)//g; s/,/ /g'); do
        [[ $depends != *" $other "* ]] || found=1
      done
      [ -n "$found" ] || { echo "$name: $(basename "$file") needs $library of '$owner'; it depends on$depends" >&2; exit 1; }
    done
  done < <(find "$scratch/$name" -type f \( -name '*.so*' -o -perm -u+x \) -exec sh -c 'head -c4 "$1" | grep -q ELF' _ {} \; -print)
done
python3 -B "$here/search_paths.py" "$scratch/system"
prefix=$scratch/system/usr
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig LD_LIBRARY_PATH=$prefix/lib PYTHONPATH=$prefix/lib/python3/dist-packages PATH=$prefix/bin:$PATH
export HOME=$scratch SMELT_STORE=$scratch/store
run bash "$scratch/use.sh" "$scratch"
code=0
python3 -B "$here/traced.py" "$here/../../SECURITY.md" "$prefix/bin/smelt" /usr/bin/python3 || code=$?
[ "$code" = 0 ] || [ "$code" = 77 ] || exit 1
tail -1 "$scratch/selftest.txt"
