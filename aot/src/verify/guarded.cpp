#include "verify/guarded.hpp"

#include "llvm/Support/CrashRecoveryContext.h"

#include <mutex>

namespace smelt::aot::verify {
namespace {

/// LLVM's handlers are the process's: on with the first user, off with the last.
class Handlers {
 public:
  Handlers() {
    const std::lock_guard lock(mutex_);
    if (users_++ == 0) llvm::CrashRecoveryContext::Enable();
  }
  ~Handlers() {
    const std::lock_guard lock(mutex_);
    if (--users_ == 0) llvm::CrashRecoveryContext::Disable();
  }

 private:
  static inline std::mutex mutex_;
  static inline int users_ = 0;
};

}  // namespace

bool run_guarded(const std::function<void()>& work) {
  const Handlers handlers;
  llvm::CrashRecoveryContext context;
  return context.RunSafely([&] { work(); });
}

}  // namespace smelt::aot::verify
