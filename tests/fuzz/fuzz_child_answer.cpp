// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Any bytes as what a compiling child sends: complete or not, and then an outcome or an error that says why not. What
// is read is written again as it was, but for what would steer a terminal.
#include "smelt/base/text.hpp"

#include "child_protocol.hpp"

#include <cstdlib>

using namespace smelt;
using namespace smelt::service;

namespace {

void check_outcome(ByteView bytes) {
  const auto outcome = read_outcome(bytes);
  if (!outcome) {
    if (outcome.error().code == Errc::ok || printable(outcome.error().message) != outcome.error().message) std::abort();
    return;
  }
  for (const std::string& warning : outcome->warnings)
    if (printable(warning) != warning) std::abort();
  const auto again = read_outcome(write_outcome(outcome));
  if (!again || again->package != outcome->package || again->warnings != outcome->warnings ||
      again->kernels != outcome->kernels)
    std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const ByteView bytes(reinterpret_cast<const std::byte*>(data), size);
  if (is_complete(bytes)) check_outcome(unframed(bytes));
  check_outcome(bytes);
  (void)read_job(bytes);
  return 0;
}
