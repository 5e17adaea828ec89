#include "msl/safely.hpp"

#include "llvm_support/deep_stack.hpp"
#include "llvm_support/fatal_guard.hpp"

// clang-format off: LLVM's header needs <utility> in front of it, and does not include it.
#include <utility>
#include "llvm/Support/CrashRecoveryContext.h"
// clang-format on

#include <csignal>
#include <memory>
#include <mutex>

namespace smelt::aot::msl {
namespace {

/// Signal handlers are in place only while some thread compiles: they belong to the program, not to us.
class Handlers {
 public:
  Handlers() {
    const std::lock_guard guard(lock());
    if (count()++ != 0) return;
    llvm::CrashRecoveryContext::Enable();
    for (const int signal : {SIGSEGV, SIGBUS}) {
      struct sigaction action{};
      sigaction(signal, nullptr, &action);
      action.sa_flags |= SA_ONSTACK;
      sigaction(signal, &action, nullptr);
    }
  }
  ~Handlers() {
    const std::lock_guard guard(lock());
    if (--count() == 0) llvm::CrashRecoveryContext::Disable();
  }
  Handlers(const Handlers&) = delete;
  Handlers& operator=(const Handlers&) = delete;

 private:
  static std::mutex& lock() {
    static std::mutex mutex;
    return mutex;
  }
  static int& count() {
    static int users = 0;
    return users;
  }
};

/// Where a signal is handled on a thread that has used up its own stack: Clang recurses without end on some sources.
class SpareStack {
 public:
  SpareStack() {
    stack_t stack{};
    stack.ss_sp = memory_.get();
    stack.ss_size = kBytes;
    sigaltstack(&stack, &before_);
  }
  ~SpareStack() { sigaltstack(&before_, nullptr); }
  SpareStack(const SpareStack&) = delete;
  SpareStack& operator=(const SpareStack&) = delete;

 private:
  static constexpr size_t kBytes = 64 << 10;
  std::unique_ptr<char[]> memory_ = std::make_unique<char[]>(kBytes);
  stack_t before_{};
};

}  // namespace

Result<void> run_safely(std::string_view what, const std::function<void()>& work) {
  Result<void> contained;
  bool survived = false;
  input::run_deep([&] {
    const SpareStack spare;
    const Handlers handlers;
    llvm::CrashRecoveryContext recovery;
    survived = recovery.RunSafely([&] { contained = cpu::contain_fatal_errors(work); });
  });
  if (!survived)
    return fail(Errc::compile_failed,
                "{}: the compiler crashed on this source; please report it with the source that does it", what);
  if (!contained) return tl::unexpected(std::move(contained).error().in(what));
  return {};
}

}  // namespace smelt::aot::msl
