// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "index.hpp"

#include "smelt/base/platform.hpp"
#include "smelt/schema/store_schema.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace smelt::cache {

struct Index::Header {
  uint32_t magic;
  uint32_t format;
  uint32_t slots_log2;
  uint32_t schema;
  uint64_t store_id;
  int64_t boot_time;  // seconds since 1970
  uint64_t used;      // slots ever taken, dead ones included; writer lock
  std::atomic<uint32_t> superseded;
  std::atomic<uint32_t> pending;
  uint32_t saved_hour;  // of the last round that was finished; writer lock, like the next
  uint32_t boot;        // a hash of the kernel's boot id, 0 when there is none
  uint64_t save_next;   // slot
  std::atomic<uint64_t> counters[kIndexCounters];
};

struct Index::Slot {
  std::byte key[32];
  std::atomic<uint64_t> at;  // and hits
  std::atomic<uint64_t> check;
  std::atomic<uint32_t> pack;
  std::atomic<uint32_t> bytes;
  std::atomic<uint32_t> state;
  std::atomic<uint32_t> used;
};

namespace {

constexpr uint32_t kIndexMagic = 0x58494d53;  // "SMIX"
constexpr uint32_t kIndexFormat = 6;
constexpr uint32_t kEmpty = 0, kLive = 1, kDead = 2, kStateMask = 3;
constexpr uint32_t kUnsaved = uint32_t{1} << 31, kHourMask = kUnsaved - 1;
constexpr uint64_t kHit = uint64_t{1} << 40, kAtMask = kHit - 1, kMostHits = (uint64_t{1} << 24) - 1;
constexpr uint64_t kLeadUnit = 64, kMostLead = (uint64_t{1} << 30) - 1;
constexpr int64_t kClockSlack = 5;  // seconds: both clocks are adjusted while the machine runs

uint32_t boot_id() {
  std::array<std::byte, 36> text{};
  const int fd = ::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  const ssize_t got = fd < 0 ? 0 : ::read(fd, text.data(), text.size());
  if (fd >= 0) ::close(fd);
  return got == static_cast<ssize_t>(text.size()) ? static_cast<uint32_t>(XXH3_64bits(text.data(), text.size())) | 1U
                                                  : 0;
}

int64_t boot_time() {
  return static_cast<int64_t>(::time(nullptr)) - platform::seconds_since_boot();
}

}  // namespace

uint32_t current_hour() {
  return static_cast<uint32_t>(::time(nullptr) / 3600);
}

std::unique_ptr<Index> Index::map(const std::string& path, bool writable) {
  static_assert(sizeof(Header) == 128 && sizeof(Slot) == 64);
  const int fd = ::open(path.c_str(), (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC);
  if (fd < 0) return nullptr;
  struct stat status{};
  uint64_t bytes = 0;
  void* base = MAP_FAILED;
  if (::fstat(fd, &status) == 0 && static_cast<size_t>(status.st_size) >= sizeof(Header)) {
    bytes = static_cast<uint64_t>(status.st_size);
    base = ::mmap(nullptr, bytes, PROT_READ | (writable ? PROT_WRITE : 0), MAP_SHARED, fd, 0);
  }
  ::close(fd);
  if (base == MAP_FAILED) return nullptr;
  std::unique_ptr<Index> index(new Index);
  index->header_ = static_cast<Header*>(base);
  index->mapped_ = bytes;
  index->writable_ = writable;
  index->pages_.emplace(base, bytes);
  const Header& header = *index->header_;
  if (header.magic != kIndexMagic) return nullptr;
  // Of another layout only the beginning, up to `superseded`, means what it means here.
  if (header.format != kIndexFormat || header.schema != schema::store_migrations().size() || header.slots_log2 > 40 ||
      bytes != sizeof(Header) + (sizeof(Slot) << header.slots_log2))
    return index;
  index->slots_ = reinterpret_cast<Slot*>(index->header_ + 1);
  index->mask_ = (uint64_t{1} << header.slots_log2) - 1;
  return index;
}

std::unique_ptr<Index> Index::open(const std::string& path, bool writable) {
  auto index = map(path, writable);
  if (!index || !index->slots_ || index->superseded() || index->lost()) return nullptr;
  // Reading the id costs a third of opening: only where the clock says something else.
  const Header& header = *index->header_;
  if (std::abs(header.boot_time - boot_time()) > kClockSlack && (header.boot == 0 || header.boot != boot_id()))
    return nullptr;
  return index;
}

std::unique_ptr<Index> Index::open_outdated(const std::string& path) {
  return map(path, true);
}

Result<std::unique_ptr<Index>> Index::create(const std::string& path, uint64_t store_id, uint64_t entries,
                                             FileLayer& files) {
  const auto log2 = static_cast<uint32_t>(std::bit_width(std::max<uint64_t>(entries * 2, 1024) - 1));
  const uint64_t bytes = sizeof(Header) + (sizeof(Slot) << log2);
  const std::string temporary = path + fmt::format(".{}", ::getpid());
  const int fd = files.open(temporary.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return fail(Errc::io, "{}: cannot create: {}", temporary, std::strerror(errno));
  void* base = MAP_FAILED;
  // Room is taken now: a store into a hole of a full disk would be a SIGBUS later.
  const int no_room = platform::reserve_file(fd, bytes);
  if (no_room == 0) base = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  const int error = no_room ? no_room : errno;
  ::close(fd);
  std::unique_ptr<Index> index(new Index);
  if (base != MAP_FAILED) {
    index->header_ = static_cast<Header*>(base);
    index->mapped_ = bytes;
    index->pages_.emplace(base, bytes);
  }
  if (base == MAP_FAILED || files.rename(temporary.c_str(), path.c_str()) != 0) {
    const int why = base == MAP_FAILED ? error : errno;
    files.unlink(temporary.c_str());
    return fail(Errc::io, "{}: cannot create: {}", path, std::strerror(why));
  }
  index->slots_ = reinterpret_cast<Slot*>(index->header_ + 1);
  index->mask_ = (uint64_t{1} << log2) - 1;
  index->writable_ = true;
  Header& header = *index->header_;
  header.slots_log2 = log2;
  header.pending.store(1, std::memory_order_relaxed);
  header.store_id = store_id;
  header.boot_time = boot_time();
  header.boot = boot_id();
  header.format = kIndexFormat;
  header.schema = static_cast<uint32_t>(schema::store_migrations().size());
  std::atomic_thread_fence(std::memory_order_release);
  header.magic = kIndexMagic;
  return index;
}

Index::~Index() {
  pages_.reset();
  if (header_) ::munmap(header_, mapped_);
}

bool Index::superseded() const {
  return header_->superseded.load(std::memory_order_acquire) != 0;
}
void Index::supersede() {
  if (writable_) header_->superseded.store(1, std::memory_order_release);
}
bool Index::complete() const {
  return header_->pending.load(std::memory_order_acquire) == 0 && !superseded() && !lost();
}
bool Index::pending() const {
  return header_->pending.load(std::memory_order_relaxed) != 0;
}
void Index::set_pending(bool pending) {
  header_->pending.store(pending ? 1 : 0);  // in one order with the slots
}
uint64_t Index::store_id() const {
  return header_->store_id;
}

Index::Slot* Index::locate(const Digest& key) const {
  uint64_t at = load_le<uint64_t>(key.bytes.data()) & mask_;
  for (uint64_t probes = 0; probes <= mask_; ++probes, at = (at + 1) & mask_) {
    Slot& slot = slots_[at];
    const uint32_t state = slot.state.load(std::memory_order_acquire) & kStateMask;
    if (state == kEmpty) return nullptr;
    if (state == kLive && std::memcmp(slot.key, key.bytes.data(), key.bytes.size()) == 0) return &slot;
  }
  return nullptr;
}

void Index::use(Slot& slot, uint32_t hour) {
  if (writable_ && (slot.used.load(std::memory_order_relaxed) & kHourMask) != hour)
    slot.used.store(hour | kUnsaved, std::memory_order_relaxed);
}

std::optional<Place> Index::find(const Digest& key, uint32_t hour) {
  Slot* slot = locate(key);
  if (!slot) return std::nullopt;
  const uint64_t at = slot->at.load(std::memory_order_relaxed);
  Place place{slot->pack.load(std::memory_order_relaxed), at & kAtMask, slot->bytes.load(std::memory_order_relaxed),
              slot->check.load(std::memory_order_relaxed),
              (slot->state.load(std::memory_order_relaxed) >> 2) * kLeadUnit};
  if (!writable_) return place;
  use(*slot, hour);
  // Half of what fits, so that threads that look at the same time stay within it.
  if (at / kHit < kMostHits / 2) slot->at.fetch_add(kHit, std::memory_order_relaxed);
  return place;
}

bool Index::has(const Digest& key) const {
  return locate(key) != nullptr;
}

bool Index::has_at(const Digest& key, const Place& place, uint32_t hour) {
  Slot* slot = locate(key);
  if (!slot || slot->pack.load(std::memory_order_relaxed) != place.pack ||
      (slot->at.load(std::memory_order_relaxed) & kAtMask) != place.at)
    return false;
  use(*slot, hour);
  return true;
}

bool Index::insert(const Digest& key, const Place& place, uint32_t hour, bool saved, uint32_t hits) {
  erase(key);
  if ((header_->used + 1) * 10 > (mask_ + 1) * 6) return false;  // keep probes short
  uint64_t at = load_le<uint64_t>(key.bytes.data()) & mask_;
  // Empty as locate() sees it, by the same two bits: behind such a slot it does not look.
  for (uint64_t probes = 0; (slots_[at].state.load(std::memory_order_relaxed) & kStateMask) != kEmpty;
       at = (at + 1) & mask_)
    if (++probes > mask_) return false;  // full, whatever the head says
  // A dead slot is not used again: a reader may be in the middle of it.
  Slot& slot = slots_[at];
  std::memcpy(slot.key, key.bytes.data(), key.bytes.size());
  slot.pack.store(static_cast<uint32_t>(place.pack), std::memory_order_relaxed);
  slot.at.store(place.at | std::min<uint64_t>(hits, kMostHits) * kHit, std::memory_order_relaxed);
  slot.bytes.store(static_cast<uint32_t>(place.bytes), std::memory_order_relaxed);
  slot.check.store(place.check, std::memory_order_relaxed);
  slot.used.store(saved ? hour : hour | kUnsaved, std::memory_order_relaxed);
  const auto lead = static_cast<uint32_t>(std::min(place.lead / kLeadUnit, kMostLead));
  slot.state.store(kLive | lead << 2, std::memory_order_release);
  ++header_->used;
  return true;
}

Result<std::unique_ptr<Index>> Index::grow(const std::string& path, FileLayer& files) {
  uint64_t live = 0;
  for (uint64_t at = 0; at <= mask_; ++at)
    live += (slots_[at].state.load(std::memory_order_relaxed) & kStateMask) == kLive ? 1 : 0;
  // Twice as large where most slots are live: the put that grows it writes no more than it has to.
  SMELT_TRY(auto larger, create(path, store_id(), live + live / 4, files));
  for (uint64_t at = 0; at <= mask_; ++at) {
    const Slot& slot = slots_[at];
    const uint32_t state = slot.state.load(std::memory_order_relaxed);
    if ((state & kStateMask) != kLive) continue;
    Digest key;
    std::memcpy(key.bytes.data(), slot.key, key.bytes.size());
    const uint64_t place = slot.at.load(std::memory_order_relaxed);
    const uint32_t used = slot.used.load(std::memory_order_relaxed);
    larger->insert(
        key,
        {slot.pack.load(std::memory_order_relaxed), place & kAtMask, slot.bytes.load(std::memory_order_relaxed),
         slot.check.load(std::memory_order_relaxed), (state >> 2) * kLeadUnit},
        used & kHourMask, (used & kUnsaved) == 0, static_cast<uint32_t>(place / kHit));
  }
  larger->add_counters(counters());
  larger->header_->saved_hour = header_->saved_hour;
  supersede();
  return larger;
}

uint64_t Index::used_bytes() const {
  return header_->used * sizeof(Slot);
}

void Index::erase(const Digest& key) {
  if (Slot* slot = locate(key)) slot->state.store(kDead, std::memory_order_release);
}

std::array<uint64_t, kIndexCounters> Index::counters() const {
  std::array<uint64_t, kIndexCounters> values{};
  if (!slots_) return values;
  for (size_t i = 0; i < kIndexCounters; ++i) values[i] = header_->counters[i].load(std::memory_order_relaxed);
  return values;
}

void Index::add_counters(const std::array<uint64_t, kIndexCounters>& values) {
  if (!writable_) return;
  for (size_t i = 0; i < kIndexCounters; ++i)
    if (values[i] != 0) header_->counters[i].fetch_add(values[i], std::memory_order_relaxed);
}

void Index::reset_counters() {
  for (size_t i = 0; i < kIndexCounters; ++i) header_->counters[i].store(0, std::memory_order_relaxed);
}

uint32_t Index::hour_of(const Digest& key) const {
  const Slot* slot = slots_ ? locate(key) : nullptr;
  const uint32_t hour = slot ? slot->used.load(std::memory_order_relaxed) & kHourMask : 0;
  return hour <= current_hour() ? hour : 0;
}

uint32_t Index::hits_of(const Digest& key) const {
  const Slot* slot = slots_ ? locate(key) : nullptr;
  return slot ? static_cast<uint32_t>(slot->at.load(std::memory_order_relaxed) / kHit) : 0;
}

bool Index::save_due(uint32_t hour) const {
  return writable_ && header_->saved_hour != hour;
}

Index::Unsaved Index::next_unsaved(uint32_t hour, size_t slots, size_t uses) {
  Unsaved found;
  uint64_t at = std::min(header_->save_next, mask_ + 1);
  for (const uint64_t end = std::min(at + slots, mask_ + 1); at < end && found.uses.size() < uses; ++at) {
    const Slot& slot = slots_[at];
    const uint32_t used = slot.used.load(std::memory_order_relaxed);
    const auto hits = static_cast<uint32_t>(slot.at.load(std::memory_order_relaxed) / kHit);
    if ((slot.state.load(std::memory_order_acquire) & kStateMask) != kLive) continue;
    if ((used & kUnsaved) == 0 && hits == 0) continue;
    Unsaved::Use& use = found.uses.emplace_back();
    std::memcpy(use.key.bytes.data(), slot.key, use.key.bytes.size());
    use.hour = used & kHourMask;
    use.hits = hits;
  }
  header_->save_next = at;
  if (at <= mask_) return found;
  header_->save_next = 0;
  header_->saved_hour = hour;
  found.counters = counters();
  return found;
}

void Index::set_saved(const Unsaved& what) {
  for (const Unsaved::Use& use : what.uses)
    if (Slot* slot = locate(use.key)) {
      uint32_t marked = use.hour | kUnsaved;
      slot->used.compare_exchange_strong(marked, use.hour, std::memory_order_relaxed);
      slot->at.fetch_sub(use.hits * kHit, std::memory_order_relaxed);
    }
  for (size_t i = 0; i < kIndexCounters; ++i)
    header_->counters[i].fetch_sub(what.counters[i], std::memory_order_relaxed);
}

}  // namespace smelt::cache
