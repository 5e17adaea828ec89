#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# distribution.sh SUITE [CACHE]: README's two commands in a new Debian of that suite (bookworm, trixie, unstable), where
# nothing is but what scripts/setup installs. Warnings are errors. Needs root, mmdebstrap and a mirror; takes an hour on two
# cores. CACHE: a folder that keeps what was compiled, for whoever mends what a run has found.
set -euo pipefail
suite=$1
cache=${2:-}
source=$(cd "$(dirname "$0")/../.." && pwd)
system=$(mktemp -d)
tree=$system/src/smelt
clean() {
  for at in dev proc ccache src/shared; do mountpoint -q "$system/$at" && umount -l "$system/$at"; done
  rm -rf --one-file-system "$system"
}
trap clean EXIT
mmdebstrap --variant=apt --include=ca-certificates,git "$suite" "$system"
mount -t proc proc "$system/proc"
mount --bind /dev "$system/dev"
if [ -n "$cache" ]; then
  mkdir -p "$cache" "$system/ccache"
  mount --bind "$cache" "$system/ccache"
fi
mkdir -p "$tree"
# The committed tree, as a clone has it: with its history, since a build asks git what it is.
git clone -q --depth 1 "file://$source" "$tree"
# What the tests read beside the checkout.
if [ -d "$source/../shared" ]; then
  mkdir -p "$system/src/shared"
  mount --bind -o ro "$source/../shared" "$system/src/shared"
fi
# What scripts/fetch-corpus has fetched already, it checks and keeps.
if [ -d "$source/build/corpus" ]; then mkdir -p "$tree/build" && cp -a "$source/build/corpus" "$tree/build/"; fi
in_system() {
  chroot "$system" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 CCACHE_DIR=/ccache \
    NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt bash -euc "cd /src/smelt; $1"
}
# What this machine's administrator trusts (a proxy's certificate) is trusted there. Debian's npm reads it from the variable.
if compgen -G '/usr/local/share/ca-certificates/*.crt' > /dev/null; then
  mkdir -p "$system/usr/local/share/ca-certificates"
  cp /usr/local/share/ca-certificates/*.crt "$system/usr/local/share/ca-certificates/"
  in_system update-ca-certificates > /dev/null
fi
began=$SECONDS
in_system "./scripts/setup build; cmake --preset release -DSMELT_WERROR=ON -DSMELT_TESTS=OFF -DSMELT_BENCH=OFF > /dev/null; ./scripts/demo"
echo "distribution.sh: $suite: scripts/demo took $((SECONDS - began)) s"
began=$SECONDS
in_system "./scripts/test"
echo "distribution.sh: $suite: scripts/test took $((SECONDS - began)) s"
