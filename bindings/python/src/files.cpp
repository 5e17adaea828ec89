// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>

namespace smelt::python {
namespace {

class File {
 public:
  explicit File(int fd) : fd_(fd) {}
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  File(File&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  File& operator=(File&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  int fd() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_;
};

tl::unexpected<Error> io(const std::string& folder, std::string_view name, std::string_view doing) {
  const std::error_code why(errno, std::generic_category());
  return fail(Errc::io, "{}/{}: {}: {}", folder, name, doing, why.message());
}

Result<File> open_folder(const std::string& folder) {
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
  File opened(::open(folder.c_str(), kFlags));
  if (opened) return opened;
  std::error_code made;
  std::filesystem::create_directories(folder, made);
  opened = File(::open(folder.c_str(), kFlags));
  if (!opened) return io(folder, "", "cannot make or open the folder");
  return opened;
}

time_t stamp_seconds(uint64_t stamp) {
  return static_cast<time_t>(1'000'000'000 + (stamp & 0x1fff'ffff));
}

bool bears_stamp(const File& folder, const std::string& name, size_t bytes, uint64_t stamp) {
  struct stat found{};
  return ::fstatat(folder.fd(), name.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(found.st_mode) &&
         static_cast<size_t>(found.st_size) == bytes && found.st_mtime == stamp_seconds(stamp);
}

Result<void> write_all(const File& file, ByteView bytes, const std::string& folder, std::string_view name) {
  while (!bytes.empty()) {
    const ssize_t wrote = ::write(file.fd(), bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return io(folder, name, "cannot write");
    bytes = bytes.subspan(static_cast<size_t>(wrote));
  }
  return {};
}

Result<void> write_in(const File& folder, const std::string& path, const std::string& name, ByteView bytes,
                      uint64_t stamp) {
  // A new file is written in place: until it bears its stamp, at the end, nobody takes it for whole.
  static std::atomic<uint64_t> count{0};
  std::string temporary;
  File file(::openat(folder.fd(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!file) {
    temporary = fmt::format(".{}.{}.tmp", ::getpid(), count.fetch_add(1));
    file = File(::openat(folder.fd(), temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  }
  if (!file) return io(path, name, "cannot write");
  auto written = write_all(file, bytes, path, name);
  const timespec times[2] = {{stamp_seconds(stamp), 0}, {stamp_seconds(stamp), 0}};
  if (written && ::futimens(file.fd(), times) != 0) written = io(path, name, "cannot set its time");
  if (written && !temporary.empty() && ::renameat(folder.fd(), temporary.c_str(), folder.fd(), name.c_str()) != 0)
    written = io(path, name, "cannot put it in place");
  if (!written) ::unlinkat(folder.fd(), temporary.empty() ? name.c_str() : temporary.c_str(), 0);
  return written;
}

}  // namespace

// Not a digest: it tells accidents, at the speed of memory.
uint64_t stamp_of(ByteView bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

Bytes stamps_of(const std::vector<cache::PartIn>& parts) {
  ByteWriter stamps;
  for (const cache::PartIn& part : parts) stamps.put(stamp_of(part.bytes));
  return stamps.take();
}

bool is_file_name(std::string_view name) {
  return !name.empty() && name.front() != '.' && name.find('/') == name.npos && name.find('\0') == name.npos;
}

Result<std::string> write_stamped(const std::string& folder, std::string_view name, ByteView bytes) {
  if (!is_file_name(name)) return fail(Errc::invalid_argument, "'{}' cannot be the name of a file", name);
  SMELT_TRY(const File opened, open_folder(folder));
  const std::string text(name);
  const uint64_t stamp = stamp_of(bytes);
  if (!bears_stamp(opened, text, bytes.size(), stamp)) SMELT_TRY_VOID(write_in(opened, folder, text, bytes, stamp));
  return folder + "/" + text;
}

Result<std::vector<std::pair<std::string, std::string>>> materialise(const cache::Entry& entry,
                                                                     const std::string& folder) {
  SMELT_TRY(const File opened, open_folder(folder));
  const auto stamps = entry.part(kStampsPart);
  const bool stamped = stamps && stamps->size() == (entry.parts().size() - 1) * sizeof(uint64_t);
  std::vector<std::pair<std::string, std::string>> files;
  size_t index = 0;
  for (const cache::Entry::Part& part : entry.parts()) {
    if (part.name == kStampsPart) continue;
    const size_t at = index++ * sizeof(uint64_t);
    if (!is_file_name(part.name)) continue;
    const uint64_t stamp = stamped ? load_le<uint64_t>(stamps->data() + at) : stamp_of(part.bytes);
    std::string name(part.name);
    if (!bears_stamp(opened, name, part.bytes.size(), stamp)) {
      if (stamped && stamp_of(part.bytes) != stamp)
        return fail(Errc::digest_mismatch, "part '{}': its bytes in the store are not those that were put", name);
      SMELT_TRY_VOID(write_in(opened, folder, name, part.bytes, stamp));
    }
    files.emplace_back(std::move(name), folder + "/" + std::string(part.name));
  }
  return files;
}

}  // namespace smelt::python
