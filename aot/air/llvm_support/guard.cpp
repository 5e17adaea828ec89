// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "llvm_support/guard.hpp"

#include "smelt/aot/faults.hpp"

#include "llvm_support/deep_stack.hpp"

#include "llvm/Support/ErrorHandling.h"

// clang-format off: LLVM's header needs <utility> in front of it, and does not include it.
#include <utility>
#include "llvm/Support/CrashRecoveryContext.h"
// clang-format on

#include <pthread.h>

#include <atomic>
#include <csetjmp>
#include <csignal>
#include <memory>
#include <mutex>
#include <string>

namespace smelt::aot {
namespace {

/// Signal handlers are in place only while some thread is inside contain_crashes(): they belong to the program, not to
/// us. On with the first user, off with the last.
class Handlers {
 public:
  Handlers() {
    const std::lock_guard lock(mutex_);
    if (users_++ != 0) return;
    llvm::CrashRecoveryContext::Enable();
    for (const int signal : {SIGSEGV, SIGBUS}) {
      struct sigaction action{};
      sigaction(signal, nullptr, &action);
      action.sa_flags |= SA_ONSTACK;
      sigaction(signal, &action, nullptr);
    }
  }
  ~Handlers() {
    const std::lock_guard lock(mutex_);
    if (--users_ == 0) llvm::CrashRecoveryContext::Disable();
  }
  Handlers(const Handlers&) = delete;
  Handlers& operator=(const Handlers&) = delete;

  /// A process that forks while another thread is in here would leave the lock to a child that has nobody to give it
  /// back. So it forks when the lock is free: LLVM's own, which Enable() and Disable() take, is then free too.
  static int keep_over_forks() {
    return ::pthread_atfork([] { mutex_.lock(); }, [] { mutex_.unlock(); }, [] { mutex_.unlock(); });
  }

 private:
  static inline std::mutex mutex_;
  static inline int users_ = 0;
};
[[maybe_unused]] const int kept_over_forks = Handlers::keep_over_forks();

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

struct FatalError {
  std::jmp_buf back;
  std::string message;
  Errc code = Errc::compile_failed;
  bool from_llvm = true;
};
thread_local FatalError* current_guard = nullptr;

std::atomic<bool> fault_was_contained = false;

/// Outside any guard: returns, and LLVM goes on to end the process as it always does.
void on_fatal_error(void*, const char* reason, bool) {
  FatalError* guard = current_guard;
  if (!guard) return;
  guard->message = reason ? reason : "unknown";
  std::longjmp(guard->back, 1);
}

/// A number in a damaged module asks for more memory than there is. Outside any guard LLVM ends the process.
void on_bad_alloc(void*, const char* reason, bool) {
  if (current_guard) current_guard->code = Errc::out_of_memory;
  on_fatal_error(nullptr, reason, false);
}

}  // namespace

bool had_fault() {
  return fault_was_contained;
}

bool contain_crashes(const std::function<void()>& work) {
  const Handlers handlers;
  bool survived = false;
  // A thread for each, also inside another's: what comes after a fault is not done on the thread that had it.
  const bool stayed = run_apart([&] {
    const SpareStack spare;
    llvm::CrashRecoveryContext recovery;
    FatalError* const outer = current_guard;
    survived = recovery.RunSafely([&] { work(); });
    if (!survived) {
      fault_was_contained = true;
      leave_thread();
    }
    current_guard = outer;  // after a fault, that of a frame which is gone
  });
  return survived && stayed;
}

Result<void> contain_fatal_errors(const std::function<void()>& work) {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::remove_fatal_error_handler();
    llvm::install_fatal_error_handler(on_fatal_error);
    llvm::install_bad_alloc_error_handler(on_bad_alloc);
  });
  FatalError guard;
  FatalError* const volatile outer = current_guard;
  current_guard = &guard;
  if (setjmp(guard.back) == 0) {
    work();
    current_guard = outer;
    return {};
  }
  current_guard = outer;
  return fail(guard.code, "{}{}", guard.from_llvm ? "LLVM: " : "", guard.message);
}

void give_up(const Error& error) {
  FatalError* const guard = current_guard;
  if (!guard) return;
  guard->message = error.message;
  guard->code = error.code;
  guard->from_llvm = false;
  std::longjmp(guard->back, 1);
}

tl::unexpected<Error> crashed(std::string_view what) {
  auto error = fail(Errc::corrupt,
                    "LLVM crashed on this module: it is damaged or malicious; 'smelt verify' says more. If a compiler "
                    "wrote it like this, please report it");
  return what.empty() ? error : tl::unexpected(Error(error.value()).in(what));
}

}  // namespace smelt::aot
