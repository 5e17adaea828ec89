// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "key_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace smelt::signing {
namespace {

constexpr size_t kMostBytes = size_t{1} << 20;

Result<Bytes> read_checked(int fd, const std::filesystem::path& file, mode_t forbidden, std::string_view others_may,
                           std::string_view remedy, bool ours) {
  struct stat facts;
  if (::fstat(fd, &facts) != 0) return fail(Errc::io, "{}: {}", file.string(), std::strerror(errno));
  if ((facts.st_mode & forbidden) != 0)
    return fail(Errc::untrusted, "{}: others may {} (mode {:o}); {}", file.string(), others_may, facts.st_mode & 0777,
                remedy);
  if (ours && facts.st_uid != ::geteuid() && facts.st_uid != 0)
    return fail(Errc::untrusted, "{}: belongs to user {}, this is user {}; it would decide whose code runs as you",
                file.string(), facts.st_uid, ::geteuid());
  Bytes bytes;
  std::array<std::byte, 4096> piece;
  for (;;) {
    const ssize_t count = ::read(fd, piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail(Errc::io, "{}: {}", file.string(), std::strerror(errno));
    if (count == 0) return bytes;
    bytes.insert(bytes.end(), piece.begin(), piece.begin() + count);
    if (bytes.size() > kMostBytes) return fail(Errc::invalid_argument, "{}: more than 1 MiB of keys", file.string());
  }
}

}  // namespace

Result<Bytes> read_key_file(const std::filesystem::path& file, mode_t forbidden, std::string_view others_may,
                            std::string_view remedy, bool ours) {
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (fd < 0)
    return fail(errno == ENOENT ? Errc::file_not_found : Errc::io, "{}: {}", file.string(), std::strerror(errno));
  auto read = read_checked(fd, file, forbidden, others_may, remedy, ours);
  ::close(fd);
  return read;
}

}  // namespace smelt::signing
