// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "llvm_support/deep_stack.hpp"

#include "smelt/aot/limits.hpp"

#include <pthread.h>

#include <exception>

namespace smelt::aot {
namespace {

// Only pages that are touched cost memory.
constexpr size_t kStackBytes = size_t{256} << 20;
thread_local bool on_deep_stack = false;

struct Call {
  const std::function<void()>& work;
  std::exception_ptr thrown;
  const Watch* watch = current_watch();
};

void* run(void* argument) {
  Call& call = *static_cast<Call*>(argument);
  on_deep_stack = true;
  const Inherited limits(call.watch);
  try {
    call.work();
  } catch (...) {
    call.thrown = std::current_exception();
  }
  return nullptr;
}

}  // namespace

// Not llvm::thread, which ends the process when there is no thread to be had.
void run_deep(const std::function<void()>& work) {
  if (on_deep_stack) return work();
  Call call{work, nullptr};
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_t thread{};
  const bool started = ::pthread_create(&thread, &attributes, run, &call) == 0;
  ::pthread_attr_destroy(&attributes);
  if (!started) return work();  // on the stack that there is, which is enough for what compilers write
  ::pthread_join(thread, nullptr);
  if (call.thrown) std::rethrow_exception(call.thrown);
}

}  // namespace smelt::aot
