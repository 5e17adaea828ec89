// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifdef __linux__

#include "sandboxed.hpp"

#include "smelt/base/platform.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <new>
#include <thread>

namespace smelt::service {
namespace {

constexpr std::chrono::milliseconds kLook{2};
/// The stacks of the compiler's threads, and what the C library keeps for each, are mapped whole and used little.
constexpr uint64_t kStacks = uint64_t{32} << 30;

void limit(int what, rlim_t soft, rlim_t hard) {
  const rlimit bounds{soft, hard};
  ::setrlimit(static_cast<__rlimit_resource>(what), &bounds);
}

Bytes& shortage() {
  static auto* const answer = new Bytes;  // lives as long as the process
  return *answer;
}

/// C code that does not look at what malloc gives, and a stack that cannot grow, end here.
void on_fault(int number) {
  if (is_memory_used_up()) give_up();
  ::signal(number, SIG_DFL);  // and once more, to die of it
}

/// In both copies of the C++ runtime where there are two: a command that carries its own opens libraries that have the
/// system's (cmake/smelt_runtime.cmake).
void give_up_without_memory() {
  std::set_new_handler(give_up);
  void* const others = ::dlopen("libstdc++.so.6", RTLD_NOW | RTLD_NOLOAD);
  if (others == nullptr) return;
  void* const set = ::dlsym(others, "_ZSt15set_new_handlerPFvvE");
  if (set != nullptr) reinterpret_cast<decltype(&std::set_new_handler)>(set)(give_up);
}

}  // namespace

bool write_all(int to, ByteView bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::send(to, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    bytes = bytes.subspan(static_cast<size_t>(put));
  }
  return true;
}

void keep_only(int socket) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::dup2(socket, 0) < 0 || ::close_range(1, ~0u, 0) != 0) ::_exit(kNoDescriptors);
  limit(RLIMIT_CORE, 0, 0);
}

void enter_sandbox(ChildBounds bounds, scmp_filter_ctx filter) {
  limit(RLIMIT_NOFILE, 1, 1);
  limit(RLIMIT_FSIZE, 0, 0);
  const auto seconds = static_cast<rlim_t>((bounds.time.count() / 1000 + 1) * std::max(bounds.threads, 1u));
  limit(RLIMIT_CPU, seconds, seconds + 1);
  shortage() = std::move(bounds.shortage);
  give_up_without_memory();
  static std::array<std::byte, 1 << 16> stack;
  stack_t other{};
  other.ss_sp = stack.data();
  other.ss_size = stack.size();
  ::sigaltstack(&other, nullptr);
  struct sigaction action{};
  action.sa_handler = on_fault;
  action.sa_flags = SA_ONSTACK;
  for (const int number : {SIGSEGV, SIGBUS}) ::sigaction(number, &action, nullptr);
  limit(RLIMIT_AS, bounds.mapped + bounds.memory_bytes, bounds.mapped + bounds.memory_bytes);
  // Open since the filter was made, before this process was forked.
  const auto library = seccomp_library();
  if (!library || (*library)->load(filter) != 0) ::_exit(kNoFilter);
}

void watch(ChildBounds bounds, Bytes late) {
  shortage() = std::move(bounds.shortage);
  give_up_without_memory();
  const uint64_t most = bounds.mapped + 2 * bounds.memory_bytes + kStacks;
  limit(RLIMIT_AS, most, most);
  // Descriptors 1 and 2 are closed: nothing that is opened may become what others print to.
  for (const int number : {1, 2})
    if (::open("/dev/null", O_WRONLY) != number) ::_exit(kNoDescriptors);
  std::thread([bounds = std::move(bounds), late = std::move(late)] {
    const auto until = std::chrono::steady_clock::now() + bounds.time;
    for (;; std::this_thread::sleep_for(kLook)) {
      if (platform::memory_use().resident > bounds.memory_bytes) give_up();
      if (std::chrono::steady_clock::now() > until) answer_and_end(late);
    }
  }).detach();
}

void answer_and_end(ByteView answer) {
  static std::atomic_flag given = ATOMIC_FLAG_INIT;
  if (given.test_and_set())
    for (;;) ::sched_yield();  // another thread is at it
  ::_exit(write_all(0, answer) ? 0 : kNoAnswer);
}

void give_up() {
  answer_and_end(shortage());
}

bool is_memory_used_up() {
  constexpr size_t kFair = size_t{4} << 20;
  void* const probe = ::mmap(nullptr, kFair, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (probe == MAP_FAILED) return true;
  ::munmap(probe, kFair);
  return false;
}

}  // namespace smelt::service

#endif
