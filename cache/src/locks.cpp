// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Some kernels have no open-file-description locks (macOS; gVisor, which GPU containers often run on, answers EINVAL).
// There a byte is a file of its own beside the lock file, under flock: it excludes the same holders, and dies with them
// too.
#include "locks.hpp"

#include "smelt/base/platform.hpp"

#include "store_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

namespace smelt::cache {
namespace {

#if defined(F_OFD_SETLK)
struct flock range(short type, uint64_t byte) {
  struct flock lock{};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(byte);
  lock.l_len = 1;
  return lock;
}
#endif

std::mutex open_mutex;
std::set<int>& open_files() {
  static auto& files = *new std::set<int>;
  return files;
}

std::mutex held_mutex;
/// (descriptor of the lock file, byte) -> descriptor of the byte's own file; only where there are no OFD locks.
std::map<std::pair<int, uint64_t>, int>& held_files() {
  static auto& files = *new std::map<std::pair<int, uint64_t>, int>;
  return files;
}

bool lock_own_file(int fd, uint64_t byte) {
  const auto lock_file = platform::path_of(fd);
  if (!lock_file) return false;
  // Flights share 4096 files, so that a long-lived store does not fill with them.
  uint64_t number = byte;
  if (byte < kFlightBytes) number = byte % 4096;
  if (byte >= kBeatByte) number = kBeatByte + (byte - kBeatByte) % 4096;
  const std::string path = fmt::format("{}.{:x}", lock_file->string(), number);
  const int own = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (own < 0) return false;
  int locked = 0;
  do locked = ::flock(own, LOCK_EX | LOCK_NB);
  while (locked != 0 && errno == EINTR);
  if (locked != 0) {
    ::close(own);
    return false;
  }
  const std::lock_guard lock(held_mutex);
  held_files()[{fd, byte}] = own;
  return true;
}

void unlock_own_file(int fd, uint64_t byte) {
  const std::lock_guard lock(held_mutex);
  const auto found = held_files().find({fd, byte});
  if (found == held_files().end()) return;
  ::close(found->second);
  held_files().erase(found);
}

}  // namespace

std::string lock_file_path(const std::filesystem::path& folder) {
  return file_of(folder, "locks");
}

Result<int> open_lock_file(const std::filesystem::path& folder) {
  const std::string path = lock_file_path(folder);
  const std::lock_guard lock(open_mutex);
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return fail(Errc::io, "{}: cannot open: {}", path, std::strerror(errno));
  open_files().insert(fd);
  return fd;
}

void close_lock_file(int fd) {
  if (fd < 0) return;
  const std::lock_guard lock(open_mutex);
  if (open_files().erase(fd) != 0) ::close(fd);
}

void hold_lock_files() {
  open_mutex.lock();
  held_mutex.lock();
}

void release_lock_files(bool in_child) {
  if (in_child) {
    for (const int fd : open_files()) ::close(fd);
    open_files().clear();
    for (const auto& [byte, fd] : held_files()) ::close(fd);
    held_files().clear();
  }
  held_mutex.unlock();
  open_mutex.unlock();
}

bool lock_byte(int fd, uint64_t byte) {
#if defined(F_OFD_SETLK)
  for (;;) {
    struct flock lock = range(F_WRLCK, byte);
    if (::fcntl(fd, F_OFD_SETLK, &lock) == 0) return true;
    if (errno == EINVAL) break;
    if (errno != EINTR) return false;
  }
#endif
  return lock_own_file(fd, byte);
}

bool is_locked(int fd, uint64_t byte) {
#if defined(F_OFD_SETLK)
  struct flock lock = range(F_WRLCK, byte);
  if (::fcntl(fd, F_OFD_GETLK, &lock) == 0) return lock.l_type != F_UNLCK;
#endif
  if (!lock_byte(fd, byte)) return true;
  unlock_byte(fd, byte);
  return false;
}

namespace {

/// The kernel's queue of waiters is fair, and has no way to leave it. So a thread waits there, which may be left
/// behind.
struct Queued {
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<int> error;  // 0: got it
};

std::shared_ptr<Queued> queue_up([[maybe_unused]] int fd, [[maybe_unused]] uint64_t byte) {
#if defined(F_OFD_SETLK)
  auto queued = std::make_shared<Queued>();
  // No signal of the program's is for that thread, nor ends its wait.
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread([queued, fd, byte] {
      struct flock lock = range(F_WRLCK, byte);
      const int error = ::fcntl(fd, F_OFD_SETLKW, &lock) == 0 ? 0 : errno;
      const std::lock_guard held(queued->mutex);
      queued->error = error;
      queued->changed.notify_all();
    }).detach();
  } catch (const std::system_error&) {
    queued = nullptr;
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return queued;
#else
  return nullptr;
#endif
}

}  // namespace

bool lock_byte_within(int fd, uint64_t byte, std::chrono::milliseconds most, const std::function<void()>& waits) {
  using WaitClock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kQuiet{1000}, kPoll{2};
  const auto start = WaitClock::now();
  const auto queued = queue_up(fd, byte);
  const auto wait_until = [&](WaitClock::time_point until) {
    if (queued) {
      std::unique_lock lock(queued->mutex);
      queued->changed.wait_until(lock, until, [&] { return queued->error.has_value(); });
      if (queued->error != EINVAL) return queued->error == 0;
    }
    for (;; std::this_thread::sleep_for(kPoll)) {
      if (lock_byte(fd, byte)) return true;
      if (WaitClock::now() >= until) return false;
    }
  };
  if (wait_until(start + std::min(most, kQuiet))) return true;
  if (most <= kQuiet) return false;
  if (waits) waits();
  return wait_until(start + most);
}

void unlock_byte(int fd, uint64_t byte) {
#if defined(F_OFD_SETLK)
  struct flock lock = range(F_UNLCK, byte);
  if (::fcntl(fd, F_OFD_SETLK, &lock) == 0 || errno != EINVAL) return;
#endif
  unlock_own_file(fd, byte);
}

WriterLock::WriterLock(int& fd, WriterWait& wait) : fd_(fd) {
  // Asking costs a put 2 us: not where nobody else writes.
  constexpr int64_t kMilliseconds = 100;
  constexpr std::chrono::milliseconds kMoment{100};
  const int64_t now = platform::coarse_milliseconds();
  if (now - wait.contended < kMilliseconds) slices_.emplace();
  held_ = fd >= 0 && lock_byte(fd, kWriterByte);
  if (!held_ && fd >= 0) {
    wait.contended = now;
    if (!slices_) slices_.emplace();
    held_ = lock_byte_within(fd, kWriterByte, wait.in_vain ? std::min(kMoment, wait.most) : wait.most, wait.waits);
    if (!held_) close_lock_file(std::exchange(fd, -1));
  }
  wait.in_vain = !held_;
}

WriterLock::~WriterLock() {
  if (held_) unlock_byte(fd_, kWriterByte);
}

}  // namespace smelt::cache
