// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lost_pages.hpp"

#include <sys/mman.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>

namespace smelt::cache {
namespace {

struct Watched {
  std::atomic<uintptr_t> base{0};  // last written, first cleared
  std::atomic<size_t> bytes{0};
  std::atomic<std::atomic<bool>*> lost{nullptr};
  std::atomic<bool> taken{false};
};

std::array<Watched, 256> watched;
struct sigaction before;

// Only what may be called in a signal handler.
void on_bus_error(int signal, siginfo_t* info, void* context) {
  const int error = errno;
  const auto at = reinterpret_cast<uintptr_t>(info->si_addr);
  for (const Watched& one : watched) {
    const uintptr_t base = one.base.load(std::memory_order_acquire);
    const size_t bytes = one.bytes.load(std::memory_order_relaxed);
    if (base == 0 || at < base || at - base >= bytes) continue;
    // All of it: no half of a table that others go on changing.
    void* const zeros = ::mmap(reinterpret_cast<void*>(base), bytes, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    if (zeros == MAP_FAILED) break;
    one.lost.load(std::memory_order_relaxed)->store(true);
    errno = error;
    return;
  }
  errno = error;
  if ((before.sa_flags & SA_SIGINFO) != 0 && before.sa_sigaction) return before.sa_sigaction(signal, info, context);
  if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) return before.sa_handler(signal);
  // As if we were not here: the same access is made again.
  ::sigaction(signal, &before, nullptr);
}

void install() {
  struct sigaction ours{};
  ours.sa_sigaction = on_bus_error;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
  ::sigemptyset(&ours.sa_mask);
  ::sigaction(SIGBUS, &ours, &before);
}

}  // namespace

LostPages::LostPages(void* base, size_t bytes) {
  [[maybe_unused]] static const bool installed = (install(), true);
  for (size_t i = 0; i < watched.size(); ++i) {
    Watched& one = watched[i];
    if (one.taken.exchange(true)) continue;
    one.bytes.store(bytes, std::memory_order_relaxed);
    one.lost.store(&lost_, std::memory_order_relaxed);
    one.base.store(reinterpret_cast<uintptr_t>(base), std::memory_order_release);
    slot_ = static_cast<int>(i);
    return;
  }
}

LostPages::~LostPages() {
  if (slot_ < 0) return;
  Watched& one = watched[static_cast<size_t>(slot_)];
  one.base.store(0, std::memory_order_release);
  one.taken.store(false);
}

}  // namespace smelt::cache
