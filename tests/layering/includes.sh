#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Include roots keep our own modules apart; installed system headers slip past them. This is the word list for those, and
# for what no module may include even though its target could (ARCHITECTURE.md, table of modules).
set -euo pipefail
cd "$1"

failures=0
# check MODULE-PATHS PATTERN WHY: no #include of a file below MODULE-PATHS may match PATTERN.
check() {
  local paths=$1 pattern=$2 why=$3 found
  local existing=()
  for path in $paths; do
    if [ -d "$path" ]; then
      existing+=("$path")
    else
      echo "$path: no such folder" >&2
      failures=$((failures + 1))
    fi
  done
  found=$(grep -rnE "^[[:space:]]*#[[:space:]]*(include|import)[[:space:]]*[<\"]($pattern)" "${existing[@]}" \
    --include='*.hpp' --include='*.h' --include='*.cpp' --include='*.c' --include='*.mm' || true)
  if [ -n "$found" ]; then
    printf '%s\n  rule: %s\n' "$found" "$why" >&2
    failures=$((failures + 1))
  fi
}

llvm='llvm|clang|lld'
store='sqlite3|zstd|xxhash'
json='nlohmann|CLI|spdlog'
check "base" "$llvm|$store|$json|smelt/(metallib|schema|store|aot|cache|loader|service)" "base holds std and fmt only"
check "schema" "$llvm|$store|$json|smelt/(aot|cache|loader|service)" "schema and metallib parse bytes; no LLVM, no SQLite"
check "schema/metallib" "smelt/schema" "metallib and schema do not know each other"
check "schema/package schema/store schema/remote" "smelt/metallib" "metallib and schema do not know each other"
check "loader" "$llvm|$store|$json|smelt/(aot|cache|service)" "applications link the loader: no LLVM, SQLite, zstd, JSON"
check "aot" "smelt/(cache|loader|service)|$store" "aot compiles; it neither stores nor loads"
check "aot/include aot/keys" "$llvm" "LLVM stays inside aot's .cpp files, and out of what keys are made of"
check "aot/air aot/cpu aot/compiler" "clang/" "Clang is the front end's alone"
check "signing" "$llvm|$store|$json|smelt/(metallib|schema|aot|cache|loader|service|remote)" "signing knows keys and statements"
check "cache/remote" "$llvm|sqlite3|$json|smelt/(metallib|aot|loader|service)" "remote carries bytes; what they are is not its business"
check "cache/src cache/include loader aot base schema" "curl|hiredis|smelt/remote" "the network is remote's alone"
check "cache" "$llvm|smelt/(metallib|aot|loader|service)" "cache knows bytes and sizes, nothing else"
check "service" "$llvm|sqlite3|smelt/(cli|python)" "service joins the modules; it needs neither LLVM nor SQLite itself"
check "bindings/metal" "$llvm|sqlite3|smelt/(aot|remote|cli)|smelt/service/session" "metal loads and runs; what compiles is opened at run time"
check "base schema signing aot cache loader service tools bindings/python" "Metal/[a-zA-Z]*\.hpp|Foundation/[a-zA-Z]*\.hpp" "nothing stands on metal"
check "tools/toolchain" "$llvm|sqlite3|$json|smelt/(cache|remote|loader|cli|python)" "toolchain reads words and calls service"
check "bindings/metal/objc bindings/metal/foundation" "$llvm|$store|$json|smelt/|.*\.hpp>|Metal/" "a language's runtime and library: nothing of ours"
check "tools bindings/python" "$llvm|sqlite3" "tools and Python stand on service"

# A private header of one module included by another: only smelt/<module>/ paths cross modules.
exit "$failures"
