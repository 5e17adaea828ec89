// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/cache/flight.hpp"

#include "locks.hpp"

#include <unistd.h>

#include <algorithm>
#include <thread>
#include <utility>

namespace smelt::cache {

Result<Flight> Flight::acquire(const std::filesystem::path& folder, const Digest& key,
                               std::chrono::milliseconds timeout, const std::function<bool()>& ready) {
  Flight flight;
  SMELT_TRY(flight.fd_, open_lock_file(folder));
  const uint64_t byte = load_le<uint64_t>(key.bytes.data()) % kFlightBytes;
  flight.byte_ = byte;
  flight.process_ = ::getpid();
  // A blocking lock cannot time out, so poll: cheap at first because a compile may be nearly done, then every 0.5 ms,
  // which keeps the hand-over after a death below a millisecond at about 0.2 % of a core per waiter.
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  auto pause = std::chrono::microseconds(20);
  for (;;) {
    if (lock_byte(flight.fd_, byte, false)) {
      flight.held_ = true;
      return flight;
    }
    flight.waited_ = true;
    if (std::chrono::steady_clock::now() >= deadline) return flight;
    if (ready && ready()) return flight;
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::microseconds(500));
  }
}

Flight::Flight(Flight&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      held_(std::exchange(other.held_, false)),
      waited_(other.waited_),
      byte_(other.byte_),
      process_(other.process_) {}

Flight& Flight::operator=(Flight&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(held_, other.held_);
  std::swap(waited_, other.waited_);
  std::swap(byte_, other.byte_);
  std::swap(process_, other.process_);
  return *this;
}

Flight::~Flight() {
  if (process_ != ::getpid()) return;  // in a forked child, which has neither lock nor descriptor of it
  // Closing alone would leave the lock to a child that is forked this moment.
  if (held_) unlock_byte(fd_, byte_);
  close_lock_file(fd_);
}

}  // namespace smelt::cache
