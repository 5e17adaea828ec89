// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "llvm_support/deep_stack.hpp"

#include "smelt/aot/limits.hpp"

#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <unistd.h>
#ifdef __linux__
#include <malloc.h>
#include <sys/syscall.h>
#endif

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <exception>
#include <utility>

namespace smelt::aot {
namespace {

// Only pages that are touched cost memory.
constexpr size_t kStackBytes = size_t{256} << 20;
thread_local bool on_deep_stack = false;

struct Call {
  const std::function<void()>& work;
  std::exception_ptr thrown;
  const Watch* watch = current_watch();
  std::atomic<bool> left = false;
  sem_t done{};
  char* top = nullptr;  // of the thread's stack, nearly
};
thread_local Call* current_call = nullptr;

void* run(void* argument) {
  Call& call = *static_cast<Call*>(argument);
  on_deep_stack = true;
  current_call = &call;
  char here = 0;
  call.top = &here;
  const Inherited limits(call.watch);
  try {
    call.work();
  } catch (...) {
    call.thrown = std::current_exception();
  }
  ::sem_post(&call.done);
  return nullptr;
}

}  // namespace

void run_deep(const std::function<void()>& work) {
  if (on_deep_stack) return work();
  run_apart(work);
}

// Not llvm::thread, which ends the process when there is no thread to be had.
bool run_apart(const std::function<void()>& work) {
  Call call{.work = work};
  ::sem_init(&call.done, 0, 0);
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_t thread{};
  const bool started = ::pthread_create(&thread, &attributes, run, &call) == 0;
  ::pthread_attr_destroy(&attributes);
  if (!started) {
    Call* const outer = std::exchange(current_call, nullptr);
    work();  // on the stack that there is, which is enough for what compilers write
    current_call = outer;
    return true;
  }
  while (::sem_wait(&call.done) != 0 && errno == EINTR) {
  }
  if (call.left) {
    ::pthread_detach(thread);
#ifdef __GLIBC__
    // The memory that the thread allocated from counts against how many there may be; at that number threads share the
    // program's own, which must not be the next to be locked for ever.
    static const int raised = ::mallopt(M_ARENA_MAX, 1 << 16);
    (void)raised;
#endif
    return false;
  }
  ::pthread_join(thread, nullptr);
  ::sem_destroy(&call.done);
  if (call.thrown) std::rethrow_exception(call.thrown);
  return true;
}

void leave_thread() {
#ifdef SMELT_SANITIZED
  return;  // a sanitizer keeps books of threads, and has an allocator of its own
#endif
  Call* const call = current_call;
  if (call == nullptr) return;
  // Above and below is what the C library keeps there, or this function needs; a fault leaves it far behind.
  constexpr size_t kKept = 1 << 20;
  const auto page = [](char* address) { return address - reinterpret_cast<uintptr_t>(address) % 65536; };
  char* const from = page(call->top - kStackBytes + kKept + 65536);
  ::munmap(from, static_cast<size_t>(page(call->top - kKept) - from));
  call->left = true;
  ::sem_post(&call->done);  // from here on `call` may be gone
#ifdef __linux__
  ::syscall(SYS_exit, 0);  // the kernel's thread alone; pthread_exit() would free what the thread has
#endif
  for (;;) ::pause();
}

}  // namespace smelt::aot
