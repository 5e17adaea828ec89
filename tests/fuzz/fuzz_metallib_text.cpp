// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Any text: refused, or bytes; and what can be read of those has a text that gives the same bytes.
#include "smelt/metallib/reader.hpp"
#include "smelt/metallib/text.hpp"

#include <cstdlib>

using namespace smelt;
using namespace smelt::metallib;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = from_text({reinterpret_cast<const char*>(data), size});
  if (!bytes) return 0;
  const auto library = read(*bytes, {.check_hashes = false});
  if (!library) return 0;
  const auto text = to_text(*library);
  if (!text || from_text(*text).value_or(Bytes{}) != *bytes) std::abort();
  return 0;
}
