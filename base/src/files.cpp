// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/base/files.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>

namespace smelt {
namespace {

tl::unexpected<Error> fail_errno(const std::filesystem::path& path, const char* verb, int error) {
  const Errc code = error == ENOENT ? Errc::file_not_found : error == ENOMEM ? Errc::out_of_memory : Errc::io;
  return fail(code, "{}: cannot {}: {}", path.string(), verb, std::strerror(error));
}

// Of what does not say how long it is: more than any input of ours, less than what a machine has. /dev/zero has no end.
constexpr size_t kMostFromStream = size_t{1} << 30;

struct Descriptor {
  int fd = -1;
  ~Descriptor() {
    if (fd > STDERR_FILENO) ::close(fd);
  }
};

Result<void> write_all(int fd, ByteView bytes, const std::filesystem::path& path) {
  while (!bytes.empty()) {
    const ssize_t wrote = ::write(fd, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return fail_errno(path, "write", errno);
    bytes = bytes.subspan(static_cast<size_t>(wrote));
  }
  return {};
}

}  // namespace

namespace {

Result<Bytes> read_all(int fd, const std::filesystem::path& path) {
  struct stat status{};
  if (::fstat(fd, &status) != 0) return fail_errno(path, "stat", errno);
  if (S_ISDIR(status.st_mode)) return fail_errno(path, "read", EISDIR);
  const bool regular = S_ISREG(status.st_mode);
  Bytes bytes;
  if (regular) bytes.reserve(static_cast<size_t>(status.st_size) + 1);
  for (;;) {
    const size_t have = bytes.size();
    if (!regular && have > kMostFromStream)
      return fail(Errc::io, "{}: no end after {} bytes; pass longer input as a file", path.string(), kMostFromStream);
    bytes.resize(std::max(bytes.capacity(), have + 65536));
    const ssize_t got = ::read(fd, bytes.data() + have, bytes.size() - have);
    const int error = errno;
    bytes.resize(have + static_cast<size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && error == EINTR) continue;
    if (got < 0) return fail_errno(path, "read", error);
    if (got == 0) return bytes;
  }
}

}  // namespace

Result<Bytes> read_file(const std::filesystem::path& path) {
  Descriptor file{path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.fd < 0) return fail_errno(path, "open", errno);
  try {
    return read_all(file.fd, path);
  } catch (const std::bad_alloc&) {
    return fail_errno(path, "read", ENOMEM);
  }
}

Result<void> write_file(const std::filesystem::path& path, ByteView bytes) {
  if (path == "-") return write_all(STDOUT_FILENO, bytes, path);
  // A device or pipe (/dev/stdout, a fifo) must be written, not replaced by a regular file.
  struct stat status{};
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    Descriptor device{::open(path.c_str(), O_WRONLY | O_CLOEXEC)};
    if (device.fd < 0) return fail_errno(path, "open", errno);
    return write_all(device.fd, bytes, path);
  }
  std::string temporary = path.string() + ".XXXXXX";
  Descriptor file{::mkostemp(temporary.data(), O_CLOEXEC)};
  if (file.fd < 0) return fail_errno(path, "create", errno);
  const mode_t mask = ::umask(0);
  ::umask(mask);
  auto written = write_all(file.fd, bytes, path);
  if (written && ::fchmod(file.fd, 0666 & ~mask) != 0) written = fail_errno(path, "set the mode of", errno);
  if (written && ::rename(temporary.c_str(), path.c_str()) != 0) written = fail_errno(path, "rename to", errno);
  if (!written) ::unlink(temporary.c_str());
  return written;
}

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::filesystem::path& path) {
  Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.fd < 0) return fail_errno(path, "open", errno);
  struct stat status{};
  if (::fstat(file.fd, &status) != 0) return fail_errno(path, "stat", errno);
  if (!S_ISREG(status.st_mode)) return fail_errno(path, "map", S_ISDIR(status.st_mode) ? EISDIR : ENODEV);
  const auto size = static_cast<size_t>(status.st_size);
  if (size == 0) return std::shared_ptr<const MappedFile>(new MappedFile({}));
  void* at = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.fd, 0);
  if (at == MAP_FAILED) return fail_errno(path, "map", errno);
  return std::shared_ptr<const MappedFile>(new MappedFile({static_cast<const std::byte*>(at), size}));
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace smelt
