// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bulk_read.hpp"

#include "smelt/base/platform.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

namespace smelt::cache {
namespace {

constexpr size_t kFewest = 32;                      // entries
constexpr uint64_t kSmallest = uint64_t{2} << 20;   // bytes; below it faults are cheaper than huge pages
constexpr uint64_t kLargest = uint64_t{256} << 20;  // bytes; more private memory than that is not ours to take
constexpr uint64_t kGap = 4096;                     // copied rather than skipped
constexpr uint64_t kHugePage = uint64_t{2} << 20;

bool huge_pages() {
  static const bool there = [] {
    char text[64] = {};  // "always [madvise] never"
    const int fd = ::open("/sys/kernel/mm/transparent_hugepage/enabled", O_RDONLY | O_CLOEXEC);
    const ssize_t got = fd < 0 ? 0 : ::read(fd, text, sizeof text - 1);
    if (fd >= 0) ::close(fd);
    return got > 0 && std::string_view(text).find("[never]") == std::string_view::npos;
  }();
  return there;
}

}  // namespace

std::shared_ptr<BulkRead> BulkRead::read(const Packs& packs, const std::vector<Place>& places) {
  if (places.size() < kFewest || !huge_pages()) return nullptr;
  std::shared_ptr<BulkRead> bulk(new BulkRead);
  std::vector<Range> wanted;
  for (const Place& place : places)
    wanted.push_back({place.pack, place.at - std::min(place.lead, place.at), place.at + place.bytes, 0});
  std::sort(wanted.begin(), wanted.end(),
            [](const Range& a, const Range& b) { return a.pack != b.pack ? a.pack < b.pack : a.first < b.first; });
  uint64_t total = 0;
  for (const Range& range : wanted) {
    if (!bulk->ranges_.empty()) {
      Range& before = bulk->ranges_.back();
      if (before.pack == range.pack && range.first <= before.last + kGap) {
        before.last = std::max(before.last, range.last);
        continue;
      }
    }
    bulk->ranges_.push_back(range);
  }
  for (Range& range : bulk->ranges_) {
    range.offset = total;
    total += aligned(range.last - range.first);
  }
  if (total < kSmallest || total > kLargest) return nullptr;
  // Huge pages begin at multiples of their size, so one more is asked for; what is not touched costs nothing.
  bulk->reserved_ = round_up(total, kHugePage) + kHugePage;
  void* memory =
      ::mmap(nullptr, bulk->reserved_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  bulk->base_ = static_cast<std::byte*>(memory);
  const auto address = reinterpret_cast<uintptr_t>(memory);
  const uint64_t shift = (kHugePage - address % kHugePage) % kHugePage;
  platform::advise_huge_pages(bulk->base_ + shift, bulk->reserved_ - kHugePage);
  std::optional<PackFile> pack;
  uint64_t opened = 0;
  for (Range& range : bulk->ranges_) {
    if (!pack || opened != range.pack) pack.emplace(packs.path(opened = range.pack), packs.files());
    range.offset += shift;
    if (!pack->read(range.first, {bulk->base_ + range.offset, range.last - range.first})) return nullptr;
  }
  return bulk;
}

BulkRead::~BulkRead() {
  if (base_) ::munmap(base_, reserved_);
}

std::optional<ByteView> BulkRead::view(uint64_t pack, uint64_t at, uint64_t bytes) const {
  auto after =
      std::upper_bound(ranges_.begin(), ranges_.end(), std::pair(pack, at), [](const auto& place, const Range& range) {
        return place.first != range.pack ? place.first < range.pack : place.second < range.first;
      });
  if (after == ranges_.begin()) return std::nullopt;
  const Range& range = *--after;
  if (range.pack != pack || at >= range.last || bytes > range.last - at) return std::nullopt;
  return ByteView(base_ + range.offset + (at - range.first), bytes);
}

}  // namespace smelt::cache
