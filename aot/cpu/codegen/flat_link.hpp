// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The linker of CPU slices: one relocatable ELF object in, one blob of code and constants out that needs no relocation
// wherever it is put (at a multiple of 4096). docs/design/cpu-code.md 3: anything that would need the world outside (a
// library call, a GOT, writable data, thread-local storage) is an error, so a stray libcall is found when the package
// is made and not when it is run.
#pragma once

#include "smelt/base/bytes.hpp"

#include <string_view>

namespace smelt::aot::cpu {

struct FlatCode {
  Bytes bytes;
  uint64_t entry_offset = 0;
};

/// `object` is ELF64 little-endian for x86-64 or AArch64 with one defined symbol `entry`. Deterministic.
Result<FlatCode> flat_link(ByteView object, std::string_view entry);

}  // namespace smelt::aot::cpu
