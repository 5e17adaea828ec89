#include "llvm_support/fatal_guard.hpp"

#include "llvm/Support/ErrorHandling.h"

#include <csetjmp>
#include <mutex>
#include <string>

namespace smelt::aot::cpu {
namespace {

struct Guard {
  std::jmp_buf back;
  std::string message;
};
thread_local Guard* current_guard = nullptr;

/// Outside any guard: returns, and LLVM goes on to end the process as it always does.
void on_fatal_error(void*, const char* reason, bool) {
  Guard* guard = current_guard;
  if (guard == nullptr) return;
  guard->message = reason != nullptr ? reason : "unknown";
  std::longjmp(guard->back, 1);
}

}  // namespace

Result<void> contain_fatal_errors(const std::function<void()>& work) {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::remove_fatal_error_handler();
    llvm::install_fatal_error_handler(on_fatal_error);
  });
  Guard guard;
  current_guard = &guard;
  if (setjmp(guard.back) == 0) {
    work();
    current_guard = nullptr;
    return {};
  }
  current_guard = nullptr;
  return fail(Errc::compile_failed, "LLVM: {}", guard.message);
}

}  // namespace smelt::aot::cpu
