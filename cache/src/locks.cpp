// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Some kernels have no open-file-description locks (macOS; gVisor, which GPU containers often run on, answers EINVAL).
// There a byte is a file of its own beside the lock file, under flock: it excludes the same holders, and dies with them
// too.
#include "locks.hpp"

#include "smelt/base/platform.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>

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

}  // namespace

std::filesystem::path lock_file_path(const std::filesystem::path& folder) {
  return folder / "locks";
}

Result<int> open_lock_file(const std::filesystem::path& folder) {
  const auto path = lock_file_path(folder);
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return fail(Errc::io, "{}: cannot open: {}", path.string(), std::strerror(errno));
  return fd;
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

void forget_byte(int fd, uint64_t byte) {
  const std::lock_guard lock(held_mutex);
  const auto found = held_files().find({fd, byte});
  if (found == held_files().end()) return;
  ::close(found->second);
  held_files().erase(found);
}

void unlock_byte(int fd, uint64_t byte) {
#if defined(F_OFD_SETLK)
  struct flock lock = range(F_UNLCK, byte);
  if (::fcntl(fd, F_OFD_SETLK, &lock) == 0 || errno != EINVAL) return;
#endif
  forget_byte(fd, byte);
}

}  // namespace smelt::cache
