// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dispatch_objects.hpp"

#include <cstdio>
#include <cstdlib>
#include <memory>

@implementation OS_dispatch_object
@end

namespace smelt::dispatch {

std::chrono::steady_clock::time_point time_point(dispatch_time_t when) {
  if (when == DISPATCH_TIME_NOW) return std::chrono::steady_clock::now();
  return std::chrono::steady_clock::time_point(std::chrono::nanoseconds(when));
}

Work from_block(dispatch_block_t block) {
  std::shared_ptr<void> kept(_Block_copy(block), [](void* copy) { _Block_release(copy); });
  return [kept] { reinterpret_cast<dispatch_block_t>(kept.get())(); };
}

void fatal(const char* what, const char* label) {
  fprintf(stderr, "smelt dispatch: %s%s%s\n", what, label ? ": " : "", label ? label : "");
  abort();
}

}  // namespace smelt::dispatch
