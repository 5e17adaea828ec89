// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/cache/flight.hpp"

#include "locks.hpp"

#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

namespace smelt::cache {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kBeat{250}, kLook{50}, kSilent{1000};

}  // namespace

/// Shows those who wait that this process runs: takes the key's other byte and gives it back, in turn.
struct Flight::Beat {
  Beat(int fd, uint64_t byte) : thread([this, fd, byte] { run(fd, byte); }) {}
  ~Beat() {
    {
      const std::lock_guard lock(mutex);
      ended = true;
    }
    changed.notify_all();
    thread.join();
  }
  void run(int fd, uint64_t byte) {
    bool taken = false;
    std::unique_lock lock(mutex);
    while (!changed.wait_for(lock, kBeat, [&] { return ended; })) {
      if (taken) unlock_byte(fd, byte);
      taken = !taken && lock_byte(fd, byte);
    }
    if (taken) unlock_byte(fd, byte);
  }
  std::mutex mutex;
  std::condition_variable changed;
  bool ended = false;
  std::thread thread;
};

Result<Flight> Flight::acquire(const std::filesystem::path& folder, const Digest& key,
                               std::chrono::milliseconds timeout, const std::function<bool()>& ready,
                               const std::function<void()>& waits) {
  Flight flight;
  SMELT_TRY(flight.fd_, open_lock_file(folder));
  const uint64_t byte = load_le<uint64_t>(key.bytes.data()) % kFlightBytes;
  flight.byte_ = byte;
  flight.process_ = ::getpid();
  // A blocking lock cannot time out, so poll: cheap at first because a compile may be nearly done, then every 0.5 ms,
  // which keeps the hand-over after a death below a millisecond at about 0.2 % of a core per waiter.
  const auto start = Clock::now();
  auto looked = start, moved = start;  // at the holder, and when it was last seen to run
  bool beat = false, said = false;
  auto pause = std::chrono::microseconds(20);
  for (;;) {
    if (lock_byte(flight.fd_, byte)) {
      flight.held_ = true;
      flight.beat_ = new Beat(flight.fd_, kBeatByte + byte);
      return flight;
    }
    flight.waited_ = true;
    const auto now = Clock::now();
    if (now - start >= timeout) return flight;
    if (ready && ready()) return flight;
    if (waits && !said && now - start >= kSilent) {
      said = true;
      waits();
    }
    if (now - looked >= kLook) {
      looked = now;
      if (beat != is_locked(flight.fd_, kBeatByte + byte)) {
        beat = !beat;
        moved = now;
      }
      if (now - moved >= kStopped) return flight;
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::microseconds(500));
  }
}

Flight::Flight(Flight&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      held_(std::exchange(other.held_, false)),
      waited_(other.waited_),
      byte_(other.byte_),
      process_(other.process_),
      beat_(std::exchange(other.beat_, nullptr)) {}

Flight& Flight::operator=(Flight&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(held_, other.held_);
  std::swap(waited_, other.waited_);
  std::swap(byte_, other.byte_);
  std::swap(process_, other.process_);
  std::swap(beat_, other.beat_);
  return *this;
}

Flight::~Flight() {
  if (process_ != ::getpid()) return;  // in a forked child, which has neither lock nor descriptor of it
  delete beat_;
  // Closing alone would leave the lock to a child that is forked this moment.
  if (held_) unlock_byte(fd_, byte_);
  close_lock_file(fd_);
}

}  // namespace smelt::cache
