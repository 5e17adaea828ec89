#include "msl/safely.hpp"

#include "cpu/fatal_guard.hpp"
#include "input/deep_stack.hpp"

// clang-format off: LLVM's header needs <utility> in front of it, and does not include it.
#include <utility>
#include "llvm/Support/CrashRecoveryContext.h"
// clang-format on

#include <mutex>

namespace smelt::aot::msl {
namespace {

/// Signal handlers are in place only while some thread compiles: they belong to the program, not to us.
class Handlers {
 public:
  Handlers() {
    const std::lock_guard guard(lock());
    if (count()++ == 0) llvm::CrashRecoveryContext::Enable();
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

}  // namespace

Result<void> run_safely(std::string_view what, const std::function<void()>& work) {
  Result<void> contained;
  bool survived = false;
  input::run_deep([&] {
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
