// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Any bytes: refused, or read and written back as they were; the same for universal files; nothing found twice wrong.
#include "smelt/metallib/check.hpp"
#include "smelt/metallib/inspect.hpp"
#include "smelt/metallib/reader.hpp"
#include "smelt/metallib/universal.hpp"
#include "smelt/metallib/writer.hpp"

#include <cstdlib>

using namespace smelt;
using namespace smelt::metallib;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const ByteView image(reinterpret_cast<const std::byte*>(data), size);
  if (const auto library = read(image, {.check_hashes = false})) {
    const auto written = write(*library);
    if (!written || *written != to_bytes(image)) std::abort();
    if (!inspect(*library)) std::abort();
  }
  if (const auto universal = read_universal(image))
    if (write_universal(*universal).value_or(Bytes{}) != to_bytes(image)) std::abort();
  check_file(image);
  return 0;
}
