#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# debian.sh BUILD PACKAGE [chroot]: the Debian packages of build folder BUILD. Unpacked into an empty folder, a C program is
# built against them and runs a kernel of PACKAGE, and so do Python and the command; what each binary needs is among its
# package's dependencies. With `chroot` (root, mmdebstrap and a mirror are needed) apt installs them into a new Debian, where
# nothing else is, and the same is done there.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$1 package=$2 where=${3:-folder}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
run() { "$@" > "$work/log" 2>&1 || { echo "failed: $*" >&2; cat "$work/log" >&2; exit 1; }; }
run cpack --config "$build/CPackConfig.cmake" -B "$work/packages"
packages=("$work"/packages/*.deb)
[ "${#packages[@]}" -eq 6 ] || { echo "packages: ${packages[*]}" >&2; exit 1; }

cat > "$work/use.sh" <<'END'
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
cp "$here/run.c" "$package" "$work/"
mv "$work/$(basename "$package")" "$work/kernels.smelt" 2> /dev/null || true

if [ "$where" = chroot ]; then
  # apt finds what ours depend on; gcc and pkg-config are what the check itself needs.
  run mmdebstrap --variant=apt --include="gcc,libc6-dev,pkg-config,$(IFS=,; echo "${packages[*]}")" \
    --hook-dir=/usr/share/mmdebstrap/hooks/file-mirror-automount bookworm "$work/root"
  mkdir "$work/root/use"
  cp "$work"/{run.c,kernels.smelt,use.sh} "$work/root/use/"
  run chroot "$work/root" env HOME=/use bash /use/use.sh /use
  tail -1 "$work/root/use/selftest.txt"
  exit
fi

for one in "${packages[@]}"; do
  name=$(dpkg-deb -f "$one" Package)
  dpkg-deb -x "$one" "$work/$name"
  dpkg-deb -x "$one" "$work/root"
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
  done < <(find "$work/$name" -type f \( -name '*.so*' -o -perm -u+x \) -exec sh -c 'head -c4 "$1" | grep -q ELF' _ {} \; -print)
done
root=$work/root/usr
export PKG_CONFIG_PATH=$root/lib/pkgconfig LD_LIBRARY_PATH=$root/lib PYTHONPATH=$root/lib/python3/dist-packages PATH=$root/bin:$PATH
export HOME=$work SMELT_STORE=$work/store
run bash "$work/use.sh" "$work"
tail -1 "$work/selftest.txt"
