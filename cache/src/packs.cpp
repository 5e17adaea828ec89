// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "packs.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <new>

namespace smelt::cache {

PackFile::PackFile(const std::string& path, FileLayer& files)
    : files_(&files), fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  struct stat status{};
  if (fd_ >= 0 && ::fstat(fd_, &status) == 0) size_ = static_cast<uint64_t>(status.st_size);
}

PackFile::~PackFile() {
  if (fd_ >= 0) ::close(fd_);
}

bool PackFile::read(uint64_t at, std::span<std::byte> into) const {
  if (!reaches(at, into.size())) return false;
  while (!into.empty()) {
    const ssize_t got = files_->pread(fd_, into.data(), into.size(), static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += static_cast<uint64_t>(got);
    into = into.subspan(static_cast<size_t>(got));
  }
  return true;
}

std::string Packs::path(uint64_t pack) const {
  // Not by fmt: the first find of a process would fault in five pages of that library for six digits.
  std::string name = std::to_string(pack);
  name.insert(0, name.size() < 6 ? 6 - name.size() : 0, '0');
  return folder_ + "/" + name + ".pack";
}

std::optional<Copied> Packs::copy(uint64_t pack, uint64_t at, uint64_t bytes) const {
  const PackFile file(path(pack), *files_);
  // Asked before memory is: a number that is damaged may be any.
  if (!file.reaches(at, bytes)) return std::nullopt;
  // Aligned as it lies in the pack. Not by `new`, which in libstdc++ counts the bits of an alignment: the first find of
  // a process would look that function up in all libraries.
  const std::shared_ptr<std::byte[]> owner(
      static_cast<std::byte*>(std::aligned_alloc(kPackAlignment, aligned(std::max<uint64_t>(bytes, 1)))), std::free);
  if (!owner) throw std::bad_alloc();
  if (!file.read(at, {owner.get(), bytes})) return std::nullopt;
  const ByteView view(owner.get(), bytes);
  return Copied{owner, view};
}

std::optional<Copied> Packs::copy_whole(uint64_t pack, uint64_t at, uint64_t bytes, const Checksum& sum) const {
  auto copied = copy(pack, at, bytes);
  if (copied && checksum(copied->bytes) != sum) copied.reset();
  return copied;
}

std::vector<uint64_t> Packs::ids() const {
  std::vector<uint64_t> found;
  std::error_code error;
  std::filesystem::directory_iterator entries(folder_, error);
  for (; !error && entries != std::filesystem::directory_iterator(); entries.increment(error)) {
    const std::string name = entries->path().filename().string();
    uint64_t id = 0;
    const auto [end, wrong] = std::from_chars(name.data(), name.data() + name.size(), id);
    if (wrong == std::errc{} && std::string_view(end) == ".pack") found.push_back(id);
  }
  return found;
}

uint64_t Packs::largest_id() const {
  const std::vector<uint64_t> present = ids();
  return present.empty() ? 0 : *std::max_element(present.begin(), present.end());
}

uint64_t Packs::size(uint64_t pack) const {
  struct stat status{};
  return ::stat(path(pack).c_str(), &status) == 0 ? static_cast<uint64_t>(status.st_size) : 0;
}

Result<void> Packs::write(uint64_t pack, uint64_t at, ByteView bytes) {
  if (writer_fd_ < 0 || writer_pack_ != pack) {
    close_writer();
    writer_fd_ = files_->open(path(pack).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (writer_fd_ < 0) return fail(Errc::io, "{}: cannot open: {}", path(pack), std::strerror(errno));
    writer_pack_ = pack;
  }
  while (!bytes.empty()) {
    const ssize_t wrote = files_->pwrite(writer_fd_, bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0)
      return fail(Errc::io, "{}: cannot write {} bytes: {}; the entry was not published", path(pack), bytes.size(),
                  std::strerror(errno));
    at += static_cast<uint64_t>(wrote);
    bytes = bytes.subspan(static_cast<size_t>(wrote));
  }
  return {};
}

Result<void> Packs::sync(uint64_t pack) {
  if (writer_fd_ >= 0 && writer_pack_ == pack && files_->fdatasync(writer_fd_) != 0)
    return fail(Errc::io, "{}: cannot sync: {}; the entry was not published", path(pack), std::strerror(errno));
  return {};
}

void Packs::cut(uint64_t pack, uint64_t size) {
  if (writer_fd_ >= 0 && writer_pack_ == pack) files_->ftruncate(writer_fd_, static_cast<off_t>(size));
}

void Packs::remove(uint64_t pack) {
  if (writer_pack_ == pack) close_writer();
  files_->unlink(path(pack).c_str());
}

void Packs::close_writer() {
  if (writer_fd_ >= 0) ::close(writer_fd_);
  writer_fd_ = -1;
  writer_pack_ = 0;
}

}  // namespace smelt::cache
