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

#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <set>

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

bool lock_own_file(int fd, uint64_t byte, bool wait) {
  const auto lock_file = platform::path_of(fd);
  if (!lock_file) return false;
  // Flights share 4096 files, so that a long-lived store does not fill with them.
  const std::string path = fmt::format("{}.{:x}", lock_file->string(), byte < kFlightBytes ? byte % 4096 : byte);
  const int own = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (own < 0) return false;
  int locked = 0;
  do locked = ::flock(own, wait ? LOCK_EX : LOCK_EX | LOCK_NB);
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

bool lock_byte(int fd, uint64_t byte, bool wait) {
#if defined(F_OFD_SETLK)
  for (;;) {
    struct flock lock = range(F_WRLCK, byte);
    if (::fcntl(fd, wait ? F_OFD_SETLKW : F_OFD_SETLK, &lock) == 0) return true;
    if (errno == EINVAL) break;
    if (errno != EINTR) return false;
  }
#endif
  return lock_own_file(fd, byte, wait);
}

void unlock_byte(int fd, uint64_t byte) {
#if defined(F_OFD_SETLK)
  struct flock lock = range(F_UNLCK, byte);
  if (::fcntl(fd, F_OFD_SETLK, &lock) == 0 || errno != EINVAL) return;
#endif
  unlock_own_file(fd, byte);
}

WriterLock::WriterLock(int fd, int64_t& contended) : fd_(fd) {
  // Asking costs a put 2 us: not where nobody else writes.
  constexpr int64_t kMilliseconds = 100;
  const int64_t now = platform::coarse_milliseconds();
  if (now - contended < kMilliseconds) slices_.emplace();
  held_ = lock_byte(fd, kWriterByte, false);
  if (held_) return;
  contended = now;
  if (!slices_) slices_.emplace();
  held_ = lock_byte(fd, kWriterByte, true);
}

WriterLock::~WriterLock() {
  if (held_) unlock_byte(fd_, kWriterByte);
}

}  // namespace smelt::cache
