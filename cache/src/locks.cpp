#include "locks.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace smelt::cache {
namespace {

struct flock range(short type, uint64_t byte) {
  struct flock lock{};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(byte);
  lock.l_len = 1;
  return lock;
}

}  // namespace

Result<int> open_lock_file(const std::filesystem::path& folder) {
  const auto path = folder / "locks";
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return fail(Errc::io, "{}: cannot open: {}", path.string(), std::strerror(errno));
  return fd;
}

bool lock_byte(int fd, uint64_t byte, bool wait) {
  for (;;) {
    struct flock lock = range(F_WRLCK, byte);
    if (::fcntl(fd, wait ? F_OFD_SETLKW : F_OFD_SETLK, &lock) == 0) return true;
    if (errno != EINTR) return false;
  }
}

void unlock_byte(int fd, uint64_t byte) {
  struct flock lock = range(F_UNLCK, byte);
  ::fcntl(fd, F_OFD_SETLK, &lock);
}

}  // namespace smelt::cache
