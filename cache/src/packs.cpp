// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "packs.hpp"

#include "smelt/base/platform.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <mutex>

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22  // Linux 5.14; refused by older kernels, which is harmless
#endif

namespace smelt::cache {

Result<std::shared_ptr<MappedPack>> MappedPack::open(const std::string& path, uint64_t reserve) {
  std::shared_ptr<MappedPack> pack(new MappedPack);
  pack->fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (pack->fd_ < 0) return fail(Errc::io, "{}: cannot open: {}", path, std::strerror(errno));
  struct stat status{};
  if (::fstat(pack->fd_, &status) != 0) return fail(Errc::io, "{}: {}", path, std::strerror(errno));
  const auto size = static_cast<uint64_t>(status.st_size);
  reserve = round_up(std::max(reserve, size), uint64_t{4096});
  void* base = ::mmap(nullptr, reserve, PROT_READ, MAP_SHARED, pack->fd_, 0);
  if (base == MAP_FAILED) return fail(Errc::io, "{}: cannot map: {}", path, std::strerror(errno));
  pack->base_ = static_cast<const std::byte*>(base);
  pack->reserved_ = reserve;
  pack->size_ = size;
  pack->checked_ = std::vector<std::atomic<CheckedTable*>>(reserve / kTableBytes + 1);
  return pack;
}

MappedPack::~MappedPack() {
  for (const auto& table : checked_) delete table.load();
  if (base_) ::munmap(const_cast<std::byte*>(base_), reserved_);
  if (fd_ >= 0) ::close(fd_);
}

std::optional<ByteView> MappedPack::view(uint64_t at, uint64_t bytes) {
  if (at > reserved_ || bytes > reserved_ - at) return std::nullopt;
  if (at + bytes > size_.load(std::memory_order_relaxed)) {
    struct stat status{};
    if (::fstat(fd_, &status) != 0 || static_cast<uint64_t>(status.st_size) < at + bytes) return std::nullopt;
    size_.store(static_cast<uint64_t>(status.st_size), std::memory_order_relaxed);
  }
  // One call instead of a fault per 64 KB (the kernel maps the neighbours too); only for what has not been read before.
  if (bytes >= 262144 && !checked(at)) {
    const uint64_t first = at / 4096 * 4096;
    platform::advise_populate(base_ + first, at + bytes - first);
  }
  return ByteView(base_ + at, bytes);
}

bool MappedPack::copy(uint64_t at, std::span<std::byte> into) {
  while (!into.empty()) {
    const ssize_t got = ::pread(fd_, into.data(), into.size(), static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += static_cast<uint64_t>(got);
    into = into.subspan(static_cast<size_t>(got));
  }
  return true;
}

bool MappedPack::checked(uint64_t at) const {
  const CheckedTable* table = checked_[at / kTableBytes].load(std::memory_order_acquire);
  if (!table) return false;
  const uint64_t bit = at % kTableBytes / kPackAlignment;
  return (table->bits[bit / 64].load(std::memory_order_relaxed) >> (bit % 64) & 1) != 0;
}

void MappedPack::set_checked(uint64_t at) {
  std::atomic<CheckedTable*>& slot = checked_[at / kTableBytes];
  CheckedTable* table = slot.load(std::memory_order_acquire);
  if (!table) {
    auto fresh = std::make_unique<CheckedTable>();
    if (slot.compare_exchange_strong(table, fresh.get(), std::memory_order_acq_rel)) table = fresh.release();
  }
  const uint64_t bit = at % kTableBytes / kPackAlignment;
  table->bits[bit / 64].fetch_or(uint64_t{1} << (bit % 64), std::memory_order_relaxed);
}

std::string Packs::path(uint64_t pack) const {
  // Not by fmt: the first find of a process would fault in five pages of that library for six digits.
  std::string name = std::to_string(pack);
  name.insert(0, name.size() < 6 ? 6 - name.size() : 0, '0');
  return folder_ + "/" + name + ".pack";
}

std::vector<Packs::Mapped>::iterator Packs::at(uint64_t pack) {
  return std::lower_bound(mapped_.begin(), mapped_.end(), pack,
                          [](const Mapped& mapped, uint64_t id) { return mapped.first < id; });
}

std::shared_ptr<MappedPack> Packs::find(uint64_t pack) {
  {
    std::shared_lock lock(mutex_);
    if (const auto found = at(pack); found != mapped_.end() && found->first == pack) return found->second;
  }
  std::unique_lock lock(mutex_);
  const auto found = at(pack);
  if (found != mapped_.end() && found->first == pack) return found->second;
  auto opened = MappedPack::open(path(pack), segment_bytes_);
  if (!opened) return nullptr;
  return mapped_.emplace(found, pack, std::move(*opened))->second;
}

void Packs::forget(uint64_t pack) {
  std::unique_lock lock(mutex_);
  if (const auto found = at(pack); found != mapped_.end() && found->first == pack) mapped_.erase(found);
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

void Packs::remove(uint64_t pack) {
  if (writer_pack_ == pack) close_writer();
  forget(pack);
  files_->unlink(path(pack).c_str());
}

void Packs::clear() {
  close_writer();
  std::unique_lock lock(mutex_);
  mapped_.clear();
}

void Packs::close_writer() {
  if (writer_fd_ >= 0) ::close(writer_fd_);
  writer_fd_ = -1;
  writer_pack_ = 0;
}

}  // namespace smelt::cache
