// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Any bytes as an entry record. The sum would stop a fuzzer at the door, so it is put right first; what parses is
// written back byte for byte.
#include "smelt/schema/entry_record.hpp"

#include <cstdlib>

using namespace smelt;
using namespace smelt::schema;

namespace {

void check(const std::string& text) {
  const auto record = parse_entry_record(as_bytes(text));
  if (!record) return;
  const auto again = write_entry_record(*record);
  if (!again || *again != text) std::abort();
  if (statement(*record).empty()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  check(text);
  const size_t sum = text.rfind("sum ");
  if (sum == std::string::npos) return 0;
  text.resize(sum);
  check(text + "sum " + to_hex(sha256(as_bytes(text))) + "\n");
  return 0;
}
