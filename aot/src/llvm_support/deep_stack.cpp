#include "llvm_support/deep_stack.hpp"

// clang-format off: LLVM's header needs <utility> in front of it, and does not include it.
#include <optional>
#include <utility>
#include "llvm/Support/thread.h"
// clang-format on

namespace smelt::aot {
namespace {

// Only pages that are touched cost memory.
constexpr unsigned kStackBytes = 256u << 20;
thread_local bool on_deep_stack = false;

}  // namespace

void run_deep(const std::function<void()>& work) {
  if (on_deep_stack) return work();
  llvm::thread worker(std::optional<unsigned>(kStackBytes), [&] {
    on_deep_stack = true;
    work();
  });
  worker.join();
}

}  // namespace smelt::aot
