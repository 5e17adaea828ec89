#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Stock Triton on a real GPU, keeping what it compiles in a smelt store. Needs Triton, PyTorch, a GPU that they use, and the
# package on PYTHONPATH for the same Python (of the two extension modules _store is enough). Not part of ctest; prints a
# log and exits 1 when something is not as it must be.
set -uo pipefail
cd "$(dirname "$0")"
export TRITON_CACHE_MANAGER=smelt.compat.triton:CacheManager
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TRITON_CACHE_DIR=$work/unused
python=${PYTHON:-python3}
failed=0
must() { "$@" || { echo "FAILED: $*"; failed=1; }; }
compiles() { grep -c '^compiled' "$1"; }
distinct() { grep '^compiled' "$1" | cut -d' ' -f2 | sort -u | wc -l; }

"$python" -c "import torch, triton; print('torch', torch.__version__, 'triton', triton.__version__, torch.cuda.get_device_name(0))"

echo "== an empty store: everything is compiled"
export SMELT_STORE=$work/first
must "$python" work.py "$work/log1" cold
all=$(distinct "$work/log1")
must [ "$all" -ge 25 ]

echo "== a second process: hits for all"
must "$python" work.py "$work/log2" second
must [ "$(compiles "$work/log2")" -eq 0 ]
must [ "$(grep -c '^hit' "$work/log2")" -eq "$all" ]

echo "== the store moved, its files deleted: still hits for all"
mv "$work/first" "$work/moved"
rm -rf "$work/moved/files"
SMELT_STORE=$work/moved must "$python" work.py "$work/log3" moved
must [ "$(compiles "$work/log3")" -eq 0 ]

echo "== eight processes at once, each in an order of its own: each kernel is compiled once"
export SMELT_STORE=$work/eight
for i in 1 2 3 4 5 6 7 8; do "$python" work.py "$work/log4" "p$i" "$i" > "$work/out$i" 2>&1 & done
wait
cat "$work"/out?
echo "compiled: $(compiles "$work/log4"), of which distinct: $(distinct "$work/log4"); hits: $(grep -c '^hit' "$work/log4")"
must [ "$(compiles "$work/log4")" -eq "$all" ]
must [ "$(distinct "$work/log4")" -eq "$all" ]

echo "== compilers that are killed: nothing is broken, nothing finished is compiled again"
export SMELT_STORE=$work/killed
touch "$work/log5"
for count in 1 4 9 15; do
  "$python" work.py "$work/log5" "victim$count" &
  victim=$!
  for _ in $(seq 1200); do [ "$(compiles "$work/log5")" -ge "$count" ] && break; sleep 0.05; done
  sleep 0.1
  kill -9 "$victim"
  wait "$victim" 2> /dev/null
  echo "killed victim$count after $(compiles "$work/log5") compiles in all"
done
must "$python" work.py "$work/log5" survivor
must [ "$(compiles "$work/log5")" -eq "$all" ]
must "$python" -c "import smelt, sys; damage = smelt.Store().verify(); print('store:', damage or 'sound'); sys.exit(bool(damage))"
must [ ! -e "$TRITON_CACHE_DIR" ]
[ "$failed" -eq 0 ] && echo "all as it must be"
exit "$failed"
