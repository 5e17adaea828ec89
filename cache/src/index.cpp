// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "index.hpp"

#include "smelt/base/platform.hpp"
#include "smelt/schema/store_schema.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <numeric>

namespace smelt::cache {

struct Index::Header {
  uint32_t magic;
  uint32_t format;
  std::atomic<uint32_t> segments;
  uint32_t schema;
  uint64_t store_id;
  int64_t boot_time;  // seconds since 1970
  uint64_t free_segments;
  std::atomic<uint32_t> superseded;
  uint32_t noted;
  uint32_t saved_hour;  // of the last round that was finished; writer lock, like the next
  uint32_t boot;        // a hash of the kernel's boot id, 0 when there is none
  uint64_t save_next;   // slot, counted from the head on
  std::atomic<uint64_t> counters[kIndexCounters];
  std::atomic<uint64_t> state;      // kPending, kFilling, and kMended for each time that it was mended
  std::atomic<uint64_t> directory;  // segment 4, depth 2, check 2
  int64_t filled;
  uint32_t first_free;
  uint32_t version;
  uint64_t given_back_segments;
  uint64_t live;
  uint32_t first_given_back;
  uint32_t reserved[19];
};

struct Index::Slot {
  std::atomic<uint64_t> key[4];
  std::atomic<uint64_t> at;  // and hits
  std::atomic<uint64_t> check;
  std::atomic<uint32_t> pack;
  std::atomic<uint32_t> bytes;
  std::atomic<uint32_t> state;
  std::atomic<uint32_t> used;
};

namespace {

constexpr uint32_t kIndexMagic = 0x58494d53;  // "SMIX"
constexpr uint32_t kIndexFormat = 8;
constexpr uint32_t kEmpty = 0, kLive = 1, kDead = 2, kHead = 3, kStateMask = 3;
constexpr uint32_t kUnsaved = uint32_t{1} << 31, kHourMask = kUnsaved - 1;
constexpr uint64_t kHit = uint64_t{1} << 40, kAtMask = kHit - 1, kMostHits = (uint64_t{1} << 24) - 1;
constexpr uint64_t kLeadUnit = 64, kMostLead = (uint64_t{1} << 30) - 1;
constexpr uint64_t kPending = 1, kFilling = 2, kMended = 4;
constexpr int64_t kClockSlack = 5;  // seconds: both clocks are adjusted while the machine runs

constexpr uint64_t kSegmentBytes = 65536, kSlots = 1024;
constexpr uint32_t kMostTaken = 716;    // of a segment's slots, dead ones included: keeps probes short
constexpr uint32_t kMostMerged = 430;   // so that what was merged is not split by the next keys
constexpr uint64_t kKeptOfFree = 4096;  // bytes
constexpr uint64_t kFreeSegments = 8;   // that are kept, so that few puts take room
constexpr uint32_t kFirstDepth = 2, kDepthInHead = 11, kMostDepth = 20;
constexpr uint64_t kDirectories = 256, kNotes = 36864, kMostNoted = (kSegmentBytes - kNotes) / 32;
constexpr uint64_t kFilters = 33024, kFiltersInHead = (kNotes - kFilters) / 8;  // segments of filters
constexpr uint64_t kFilterWords = 128, kFiltersInSegment = kSegmentBytes / (8 * kFilterWords);
constexpr uint32_t kFilterDepth = 6;  // a smaller table lies in the caches as it is
constexpr uint64_t kFilterMade = uint64_t{1} << 63;
constexpr uint64_t kMostFiltered = 1024;  // keys that were added to a filter, those included that have gone
constexpr int kLooks = 64;                // of a reader, while the segment it looks at is replaced each time

// A segment of slots says in its first slot which it is.
constexpr uint64_t kSlotsMagic = 0x73746f6c73474553, kFreeMagic = 0x6565726673474553,
                   kGivenBackMagic = 0x6b63616273474553;

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

struct Key {
  uint64_t words[4];
  explicit Key(const Digest& key) {
    for (size_t i = 0; i < 4; ++i) words[i] = load_le<uint64_t>(key.bytes.data() + 8 * i);
  }
  /// All bytes of the key count: how well the caller hashed decides nothing here.
  uint64_t hash() const {
    uint64_t mixed = words[0] * 0x9e3779b97f4a7c15 + words[1] * 0xc2b2ae3d27d4eb4f + words[2] * 0x165667b19e3779f9 +
                     words[3] * 0xd6e8feb86659fd93;
    mixed = (mixed ^ mixed >> 32) * 0x9fb21c651e98df25;
    return mixed ^ mixed >> 29;
  }
};

template <class Slot>
Key key_in(const Slot& slot) {
  Key key{Digest()};
  for (size_t i = 0; i < 4; ++i) key.words[i] = slot.key[i].load(std::memory_order_relaxed);
  return key;
}

template <class Slot>
Digest digest_in(const Slot& slot) {
  Digest key;
  for (size_t i = 0; i < 4; ++i)
    store_le<uint64_t>(key.bytes.data() + 8 * i, slot.key[i].load(std::memory_order_relaxed));
  return key;
}

template <class Slot>
bool is(const Slot& slot, const Key& key) {
  for (size_t i = 0; i < 4; ++i)
    if (slot.key[i].load(std::memory_order_relaxed) != key.words[i]) return false;
  return true;
}

template <class Slot>
uint32_t state_of(const Slot& slot) {
  return slot.state.load(std::memory_order_acquire) & kStateMask;
}

template <class Slot>
uint32_t live_in(const Slot* segment) {
  uint32_t live = 0;
  for (uint64_t i = 0; i < kSlots; ++i) live += state_of(segment[i]) == kLive ? 1 : 0;
  return live;
}

// A flipped bit of a cell would hide a whole segment: 16 bits vouch for the other 48.
constexpr uint64_t kWordMask = (uint64_t{1} << 48) - 1;
uint64_t checked(uint64_t word) {
  const uint64_t mixed = ((word & kWordMask) + 0x51ed27) * 0x9fb21c651e98df25;
  return (word & kWordMask) | (mixed ^ mixed >> 31) >> 48 << 48;
}

uint64_t cell_of(uint64_t hash, uint32_t depth) {
  return hash >> (64 - depth);
}

// The bits between those that choose the slot and those that choose the cell.
uint64_t filter_word(uint64_t hash) {
  return hash >> 10 & (kFilterWords - 1);
}
uint64_t filter_bits(uint64_t hash) {
  uint64_t bits = kFilterMade;
  for (const int at : {17, 23, 29, 35}) bits |= uint64_t{1} << (hash >> at & 63);
  return bits;
}

}  // namespace

uint32_t current_hour() {
  return static_cast<uint32_t>(::time(nullptr) / 3600);
}

std::unique_ptr<Index> Index::map(int fd, uint64_t bytes, bool writable) {
  static_assert(sizeof(Header) == 256 && sizeof(Slot) == 64);
  // Pages behind the end are there once the file has grown: who has mapped it follows without mapping it again. A small
  // table stays below 2 MB: what is larger the kernel puts where it needs page tables of its own.
  uint64_t length = bytes * 4;
  const int rights = PROT_READ | (writable ? PROT_WRITE : 0);
  void* base = ::mmap(nullptr, length, rights, MAP_SHARED, fd, 0);
  if (base == MAP_FAILED) base = ::mmap(nullptr, length = bytes, rights, MAP_SHARED, fd, 0);
  if (base == MAP_FAILED) return nullptr;
  std::unique_ptr<Index> index(new Index);
  index->base_ = static_cast<std::byte*>(base);
  index->header_ = static_cast<Header*>(base);
  index->mapped_ = length;
  index->mapped_segments_ = length / kSegmentBytes;
  index->writable_ = writable;
  index->pages_.emplace(base, length);
  return index;
}

std::unique_ptr<Index> Index::map(const std::string& path, bool writable) {
  const int fd = ::open(path.c_str(), (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC);
  if (fd < 0) return nullptr;
  struct stat status{};
  std::unique_ptr<Index> index;
  if (::fstat(fd, &status) == 0 && static_cast<size_t>(status.st_size) >= sizeof(Header))
    index = map(fd, static_cast<uint64_t>(status.st_size), writable);
  if (index && writable)
    index->fd_ = fd;
  else
    ::close(fd);
  if (!index) return nullptr;
  const Header& header = *index->header_;
  if (header.magic != kIndexMagic) return nullptr;
  // Of another layout only the beginning, up to `superseded`, means what it means here.
  const uint64_t segments = header.segments.load(std::memory_order_relaxed);
  if (header.format != kIndexFormat || header.schema != schema::store_migrations().size() || segments == 0 ||
      static_cast<uint64_t>(status.st_size) / kSegmentBytes < segments)
    return index;
  index->readable_ = index->directory(header.directory.load(std::memory_order_acquire)).cells != nullptr;
  return index;
}

std::unique_ptr<Index> Index::open(const std::string& path, bool writable) {
  auto index = map(path, writable);
  if (!index || !index->readable_ || index->superseded() || index->lost()) return nullptr;
  // Reading the id costs a third of opening: only where the clock says something else.
  const Header& header = *index->header_;
  if (std::abs(header.boot_time - boot_time()) > kClockSlack && (header.boot == 0 || header.boot != boot_id()))
    return nullptr;
  return index;
}

std::unique_ptr<Index> Index::open_outdated(const std::string& path) {
  return map(path, true);
}

Result<std::unique_ptr<Index>> Index::create(const std::string& path, uint64_t store_id, FileLayer& files) {
  constexpr uint64_t kSegments = 1 + (1 << kFirstDepth), kBytes = kSegments * kSegmentBytes;
  const std::string temporary = path + fmt::format(".{}", ::getpid());
  const int fd = files.open(temporary.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return fail(Errc::io, "{}: cannot create: {}", temporary, std::strerror(errno));
  // Room is taken now: a store into a hole of a full disk would be a SIGBUS later.
  int error = platform::reserve_file(fd, kBytes);
  std::unique_ptr<Index> index;
  if (error == 0) {
    index = map(fd, kBytes, true);
    if (!index) error = errno;
  }
  if (!index)
    ::close(fd);
  else
    index->fd_ = fd;
  if (index && files.rename(temporary.c_str(), path.c_str()) != 0) {
    error = errno;
    index.reset();
  }
  if (!index) {
    files.unlink(temporary.c_str());
    return fail(Errc::io, "{}: cannot create: {}", path, std::strerror(error));
  }
  index->readable_ = true;
  Header& header = *index->header_;
  header.state.store(kPending | kFilling, std::memory_order_relaxed);
  header.store_id = store_id;
  header.boot_time = boot_time();
  header.boot = boot_id();
  header.format = kIndexFormat;
  header.schema = static_cast<uint32_t>(schema::store_migrations().size());
  header.segments.store(1, std::memory_order_relaxed);
  header.directory.store(checked(uint64_t{kFirstDepth} << 32), std::memory_order_relaxed);
  const Directory directory = index->directory(header.directory.load(std::memory_order_relaxed));
  for (uint64_t i = 0; i < kSegments - 1; ++i) {
    const uint64_t number = index->new_segment();
    index->slots_at(number)->key[0].store(kSlotsMagic, std::memory_order_relaxed);
    directory.cells[i].store(index->new_cell(number), std::memory_order_relaxed);
  }
  std::atomic_thread_fence(std::memory_order_release);
  header.magic = kIndexMagic;
  return index;
}

Index::~Index() {
  pages_.reset();
  if (header_) ::munmap(header_, mapped_);
  if (fd_ >= 0) ::close(fd_);
}

bool Index::superseded() const {
  return header_->superseded.load(std::memory_order_acquire) != 0;
}
void Index::supersede() {
  if (writable_) header_->superseded.store(1, std::memory_order_release);
}
bool Index::outgrown() const {
  return header_->segments.load(std::memory_order_relaxed) > mapped_segments_;
}
bool Index::filling() const {
  return (header_->state.load(std::memory_order_acquire) & kFilling) != 0;
}
bool Index::pending() const {
  return (header_->state.load(std::memory_order_relaxed) & kPending) != 0;
}
void Index::set_pending(bool pending) {
  const uint64_t now = header_->state.load(std::memory_order_relaxed);
  if (pending) header_->noted = 0;
  header_->state.store(pending ? now | kPending : now & ~kPending);  // in one order with the slots
}
void Index::set_mended() {
  header_->state.store(header_->state.load(std::memory_order_relaxed) + kMended);
}
int64_t Index::filled() const {
  return filling() ? header_->filled : kFilled;
}
void Index::set_filled(int64_t row) {
  header_->filled = row;
  const uint64_t now = header_->state.load(std::memory_order_relaxed);
  if (row == kFilled)
    header_->state.store((now & ~kFilling) + kMended);
  else if ((now & kFilling) == 0)
    header_->state.store(now | kFilling);
}
void Index::note(const Digest& key) {
  if (header_->noted >= kMostNoted) {
    header_->noted = static_cast<uint32_t>(kMostNoted) + 1;
    return;
  }
  std::memcpy(base_ + kNotes + header_->noted * key.bytes.size(), key.bytes.data(), key.bytes.size());
  std::atomic_thread_fence(std::memory_order_release);
  ++header_->noted;
}
std::optional<std::vector<Digest>> Index::noted() const {
  if (header_->noted > kMostNoted) return std::nullopt;
  std::vector<Digest> keys(header_->noted);
  for (size_t i = 0; i < keys.size(); ++i)
    std::memcpy(keys[i].bytes.data(), base_ + kNotes + i * sizeof(Digest::bytes), sizeof(Digest::bytes));
  return keys;
}
uint64_t Index::store_id() const {
  return header_->store_id;
}

Index::Directory Index::directory(uint64_t word) const {
  const uint64_t number = word & UINT32_MAX;
  const auto depth = static_cast<uint32_t>(word >> 32 & 0xffff);
  if (checked(word) != word || depth == 0 || depth > kMostDepth || (number == 0) != (depth <= kDepthInHead)) return {};
  const uint64_t bytes = uint64_t{8} << depth, at = number == 0 ? kDirectories + bytes : number * kSegmentBytes;
  if (at + bytes > mapped_segments_ * kSegmentBytes) return {};
  return {reinterpret_cast<std::atomic<uint64_t>*>(base_ + at), depth};
}

Index::Slot* Index::slots_at(uint64_t number) const {
  return reinterpret_cast<Slot*>(base_ + number * kSegmentBytes);
}

Index::Slot* Index::segment(uint64_t cell) const {
  const uint64_t number = cell & UINT32_MAX;
  if (checked(cell) != cell || number == 0 || number >= mapped_segments_ ||
      number >= header_->segments.load(std::memory_order_relaxed))
    return nullptr;
  return slots_at(number);
}

std::atomic<uint64_t>* Index::filter(uint64_t number) const {
  if (number / kFiltersInSegment >= kFiltersInHead) return nullptr;
  const uint64_t word =
      reinterpret_cast<const std::atomic<uint64_t>*>(base_ + kFilters)[number / kFiltersInSegment].load(
          std::memory_order_acquire);
  const uint64_t where = word & kWordMask;
  if (where == 0 || where >= mapped_segments_ || checked(word) != word) return nullptr;
  return reinterpret_cast<std::atomic<uint64_t>*>(base_ + where * kSegmentBytes) +
         number % kFiltersInSegment * kFilterWords;
}

bool Index::may_have(uint64_t number, uint64_t hash) const {
  const std::atomic<uint64_t>* const words = filter(number);
  const uint64_t word = words ? words[filter_word(hash)].load(std::memory_order_acquire) : 0;
  return (word & kFilterMade) == 0 || (~word & filter_bits(hash)) == 0;
}

Index::Looked Index::look(const Digest& digest, By by) const {
  const Key key(digest);
  const uint64_t hash = key.hash();
  for (int attempt = 0; attempt < kLooks; ++attempt) {
    const uint64_t word = header_->directory.load(std::memory_order_acquire);
    const Directory cells = directory(word);
    const std::atomic<uint64_t>* const cell = cells.cells ? cells.cells + cell_of(hash, cells.depth) : nullptr;
    const uint64_t leads_to = cell ? cell->load(std::memory_order_acquire) : 0;
    Slot* const slots = cell ? segment(leads_to) : nullptr;
    uint64_t at = hash & (kSlots - 1);
    bool search = slots != nullptr;
    // Not with a prefetch of the slot beside it: that costs a miss more than a hit gains.
    if (search && by == By::filter && cells.depth >= kFilterDepth) search = may_have(leads_to & UINT32_MAX, hash);
    if (search) {
      for (uint64_t probes = 0; probes < kSlots; ++probes, at = (at + 1) & (kSlots - 1)) {
        const uint32_t state = state_of(slots[at]);
        if (state == kEmpty) break;
        if (state == kLive && is(slots[at], key)) return {&slots[at], true};
      }
    }
    // The segment may have been replaced, and even used again, since.
    if (header_->directory.load(std::memory_order_acquire) != word) continue;
    if (cell && cell->load(std::memory_order_acquire) != leads_to) continue;
    if (!slots && !outgrown()) broken();
    return {nullptr, slots != nullptr};
  }
  return {};
}

void Index::use(Slot& slot, uint32_t hour) {
  if (writable_ && (slot.used.load(std::memory_order_relaxed) & kHourMask) != hour)
    slot.used.store(hour | kUnsaved, std::memory_order_relaxed);
}

Index::Found Index::find(const Digest& key, uint32_t hour) {
  const uint64_t before = header_->state.load(std::memory_order_acquire);
  const auto [slot, sure] = look(key, By::filter);
  if (!slot) {
    const bool whole =
        (before & (kPending | kFilling)) == 0 && header_->state.load(std::memory_order_acquire) == before;
    return {std::nullopt, sure && whole && !superseded() && !lost()};
  }
  const uint64_t at = slot->at.load(std::memory_order_relaxed);
  Place place{slot->pack.load(std::memory_order_relaxed), at & kAtMask, slot->bytes.load(std::memory_order_relaxed),
              slot->check.load(std::memory_order_relaxed),
              (slot->state.load(std::memory_order_relaxed) >> 2) * kLeadUnit};
  if (!writable_) return {place};
  use(*slot, hour);
  // Half of what fits, so that threads that look at the same time stay within it.
  if (at / kHit < kMostHits / 2) slot->at.fetch_add(kHit, std::memory_order_relaxed);
  return {place};
}

bool Index::has(const Digest& key) const {
  return look(key, By::filter).slot != nullptr;
}

bool Index::has_at(const Digest& key, const Place& place, uint32_t hour) {
  Slot* slot = look(key, By::filter).slot;
  if (!slot || slot->pack.load(std::memory_order_relaxed) != place.pack ||
      (slot->at.load(std::memory_order_relaxed) & kAtMask) != place.at ||
      slot->check.load(std::memory_order_relaxed) != place.check)
    return false;
  use(*slot, hour);
  return true;
}

uint64_t Index::allocate(uint64_t count) {
  const uint64_t first = header_->segments.load(std::memory_order_relaxed), last = first + count;
  struct stat status{};
  if (last > mapped_segments_ || last > UINT32_MAX || fd_ < 0 || ::fstat(fd_, &status) != 0) return 0;
  if (const auto size = static_cast<uint64_t>(status.st_size); last * kSegmentBytes > size) {
    // A few more, so that few puts take room.
    const uint64_t wanted = std::min(last + std::max<uint64_t>(last / 8, 7), mapped_segments_);
    if (platform::extend_file(fd_, size, wanted * kSegmentBytes) != 0 &&
        platform::extend_file(fd_, size, last * kSegmentBytes) != 0)
      return 0;
  }
  header_->segments.store(static_cast<uint32_t>(last), std::memory_order_release);
  return first;
}

uint64_t Index::first_of(uint32_t list, uint64_t magic) const {
  const bool is_there = list != 0 && list < header_->segments.load(std::memory_order_relaxed) &&
                        list < mapped_segments_ && slots_at(list)->key[0].load(std::memory_order_relaxed) == magic;
  return is_there ? list : 0;
}

uint64_t Index::new_segment() {
  uint64_t number = first_of(header_->first_free, kFreeMagic);
  if (number != 0) {
    header_->first_free = slots_at(number)->pack.load(std::memory_order_relaxed);
    header_->free_segments -= header_->free_segments != 0;
  } else if (number = first_of(header_->first_given_back, kGivenBackMagic); number != 0) {
    if (platform::extend_file(fd_, number * kSegmentBytes, (number + 1) * kSegmentBytes) != 0) return 0;
    header_->first_given_back = slots_at(number)->pack.load(std::memory_order_relaxed);
    header_->given_back_segments -= header_->given_back_segments != 0;
  } else {
    number = allocate(1);
  }
  if (number == 0) return 0;
  Slot* const slots = slots_at(number);
  // Whoever is late in what it was before searches its slots, and then sees that the cell leads elsewhere.
  if (std::atomic<uint64_t>* const words = filter(number))
    for (uint64_t i = 0; i < kFilterWords; ++i) words[i].store(0, std::memory_order_release);
  for (uint64_t i = 1; i < kSlots; ++i) slots[i].state.store(kEmpty, std::memory_order_release);
  slots[0].bytes.store(0, std::memory_order_relaxed);
  slots[0].check.store(0, std::memory_order_relaxed);
  slots[0].key[0].store(0, std::memory_order_relaxed);
  slots[0].state.store(kHead, std::memory_order_release);
  return number;
}

void Index::set_free(uint64_t number) {
  Slot& head = *slots_at(number);
  head.pack.store(header_->first_free, std::memory_order_relaxed);
  head.key[0].store(kFreeMagic, std::memory_order_release);
  header_->first_free = static_cast<uint32_t>(number);
  ++header_->free_segments;
}

void Index::give_back() {
  while (header_->free_segments > kFreeSegments) {
    const uint64_t number = first_of(header_->first_free, kFreeMagic);
    if (number == 0 || fd_ < 0) return;
    // Its first page has the list.
    if (platform::free_file_range(fd_, number * kSegmentBytes + kKeptOfFree, (number + 1) * kSegmentBytes) != 0) return;
    Slot& head = *slots_at(number);
    header_->first_free = head.pack.load(std::memory_order_relaxed);
    --header_->free_segments;
    head.pack.store(header_->first_given_back, std::memory_order_relaxed);
    head.key[0].store(kGivenBackMagic, std::memory_order_release);
    header_->first_given_back = static_cast<uint32_t>(number);
    ++header_->given_back_segments;
  }
  // What was taken ahead lies behind everything that anybody looks at.
  struct stat status{};
  const uint64_t wanted = header_->segments.load(std::memory_order_relaxed) * kSegmentBytes;
  if (fd_ >= 0 && ::fstat(fd_, &status) == 0 && static_cast<uint64_t>(status.st_size) > wanted)
    (void)!::ftruncate(fd_, static_cast<off_t>(wanted));
}

uint64_t Index::new_cell(uint64_t number) {
  // A version, so that a reader sees a cell change that leads to where it led before.
  return checked(number | uint64_t{++header_->version & 0xffffU} << 32);
}

bool Index::grow_directory() {
  const Directory now = directory(header_->directory.load(std::memory_order_relaxed));
  const uint32_t depth = now.depth + 1;
  if (!now.cells || depth > kMostDepth) return false;
  uint64_t number = 0;
  if (depth > kDepthInHead) {
    // Never where slots were: a find that is late would count its hit there.
    number = allocate(((uint64_t{8} << depth) + kSegmentBytes - 1) / kSegmentBytes);
    if (number == 0) return false;
  }
  const uint64_t word = checked(number | uint64_t{depth} << 32);
  const Directory larger = directory(word);
  if (!larger.cells) return false;
  for (uint64_t i = 0; i < uint64_t{1} << depth; ++i)
    larger.cells[i].store(now.cells[i / 2].load(std::memory_order_relaxed), std::memory_order_relaxed);
  header_->directory.store(word, std::memory_order_release);
  return true;
}

void Index::copy_slots(const Slot* from, Slot* to, const std::vector<uint64_t>& cells, const Directory& directory) {
  uint32_t taken = to[0].bytes.load(std::memory_order_relaxed);
  for (uint64_t i = 0; i < kSlots; ++i) {
    const Slot& slot = from[i];
    const uint32_t state = slot.state.load(std::memory_order_relaxed);
    if ((state & kStateMask) != kLive || taken == kMostTaken) continue;
    const uint64_t hash = key_in(slot).hash();
    if (!std::binary_search(cells.begin(), cells.end(), cell_of(hash, directory.depth))) continue;
    uint64_t at = hash & (kSlots - 1);
    while ((to[at].state.load(std::memory_order_relaxed) & kStateMask) != kEmpty) at = (at + 1) & (kSlots - 1);
    Slot& copy = to[at];
    for (size_t word = 0; word < 4; ++word)
      copy.key[word].store(slot.key[word].load(std::memory_order_relaxed), std::memory_order_relaxed);
    copy.at.store(slot.at.load(std::memory_order_relaxed), std::memory_order_relaxed);
    copy.check.store(slot.check.load(std::memory_order_relaxed), std::memory_order_relaxed);
    copy.pack.store(slot.pack.load(std::memory_order_relaxed), std::memory_order_relaxed);
    copy.bytes.store(slot.bytes.load(std::memory_order_relaxed), std::memory_order_relaxed);
    copy.used.store(slot.used.load(std::memory_order_relaxed), std::memory_order_relaxed);
    copy.state.store(state, std::memory_order_release);
    ++taken;
  }
  to[0].bytes.store(taken, std::memory_order_relaxed);
}

void Index::publish(uint64_t number, const std::vector<uint64_t>& cells, const Directory& directory) {
  if (directory.depth >= kFilterDepth) make_filter(number);
  const uint64_t cell = new_cell(number);
  for (const uint64_t i : cells) directory.cells[i].store(cell, std::memory_order_release);
  slots_at(number)->key[0].store(kSlotsMagic, std::memory_order_relaxed);
}

void Index::make_filter(uint64_t number) {
  const uint64_t block = number / kFiltersInSegment;
  if (block >= kFiltersInHead) return;
  std::atomic<uint64_t>* words = filter(number);
  if (!words) {
    const uint64_t where = allocate(1);
    if (where == 0) return;  // a full disk: its slots are searched
    reinterpret_cast<std::atomic<uint64_t>*>(base_ + kFilters)[block].store(checked(where), std::memory_order_release);
    words = filter(number);
  }
  std::array<uint64_t, kFilterWords> made;
  made.fill(kFilterMade);
  Slot* const slots = slots_at(number);
  uint64_t keys = 0;
  for (uint64_t i = 0; i < kSlots; ++i) {
    if (state_of(slots[i]) != kLive) continue;
    const uint64_t hash = key_in(slots[i]).hash();
    made[filter_word(hash)] |= filter_bits(hash);
    ++keys;
  }
  for (uint64_t i = 0; i < kFilterWords; ++i) words[i].store(made[i], std::memory_order_release);
  slots[0].check.store(keys, std::memory_order_relaxed);
}

void Index::add_to_filter(uint64_t number, uint64_t hash) {
  std::atomic<uint64_t>* const words = filter(number);
  if (!words) return;
  std::atomic<uint64_t>& word = words[filter_word(hash)];
  if ((word.load(std::memory_order_relaxed) & kFilterMade) == 0) return;
  word.fetch_or(filter_bits(hash), std::memory_order_release);
}

bool Index::split(uint64_t hash) {
  Directory now = directory(header_->directory.load(std::memory_order_relaxed));
  if (!now.cells) return false;
  const uint64_t old = now.cells[cell_of(hash, now.depth)].load(std::memory_order_relaxed);
  Slot* const from = segment(old);
  if (!from) return false;
  // All cells that lead there, wherever they are: damage may have made others.
  std::vector<uint64_t> cells;
  const auto find_cells = [&] {
    cells.clear();
    for (uint64_t i = 0; i < uint64_t{1} << now.depth; ++i)
      if (now.cells[i].load(std::memory_order_relaxed) == old) cells.push_back(i);
  };
  find_cells();
  const uint32_t live = live_in(from);
  const bool halves = live > kMostTaken / 2;
  if (halves && cells.size() == 1) {
    if (!grow_directory()) return false;
    now = directory(header_->directory.load(std::memory_order_relaxed));
    find_cells();
  }
  // Both before anything changes: on a full disk the table stays as it is.
  const uint64_t first = new_segment(), second = first != 0 && halves ? new_segment() : 0;
  if (first == 0) return false;
  if (halves && second == 0) {
    set_free(first);
    return false;
  }
  const auto middle = cells.begin() + static_cast<std::ptrdiff_t>(halves ? cells.size() / 2 : cells.size());
  const auto move_to = [&](uint64_t number, const std::vector<uint64_t>& some) {
    copy_slots(from, slots_at(number), some, now);
    publish(number, some, now);
  };
  // Whoever dies here leaves no slot in two segments for next_unsaved().
  from[0].key[0].store(0, std::memory_order_relaxed);
  move_to(first, {cells.begin(), middle});
  if (halves) move_to(second, {middle, cells.end()});
  set_free(old & UINT32_MAX);
  return true;
}

bool Index::merge(const Directory& now, uint64_t first, uint64_t count) {
  const uint64_t left = now.cells[first].load(std::memory_order_relaxed),
                 right = now.cells[first + count].load(std::memory_order_relaxed);
  Slot *const one = segment(left), *const other = segment(right);
  if (!one || !other || one == other) return false;
  // These cells and no others: who died in a split or here may have left some that lead to the old segment.
  for (uint64_t i = 0; i < uint64_t{1} << now.depth; ++i) {
    const uint64_t cell = now.cells[i].load(std::memory_order_relaxed);
    if ((cell == left) != (i - first < count) || (cell == right) != (i - first - count < count)) return false;
  }
  if (live_in(one) + live_in(other) > kMostMerged) return false;
  const uint64_t number = new_segment();
  if (number == 0) return false;
  std::vector<uint64_t> cells(2 * count);
  std::iota(cells.begin(), cells.end(), first);
  // Whoever dies here leaves no slot in two segments for next_unsaved().
  one[0].key[0].store(0, std::memory_order_relaxed);
  other[0].key[0].store(0, std::memory_order_relaxed);
  copy_slots(one, slots_at(number), cells, now);
  copy_slots(other, slots_at(number), cells, now);
  publish(number, cells, now);
  set_free(left & UINT32_MAX);
  set_free(right & UINT32_MAX);
  return true;
}

std::optional<uint64_t> Index::shrink(uint64_t from, size_t segments) {
  const Directory now = directory(header_->directory.load(std::memory_order_relaxed));
  if (!now.cells) return std::nullopt;
  const uint64_t end = uint64_t{1} << now.depth;
  const auto all_lead_to_one = [&](uint64_t first, uint64_t count) {
    for (uint64_t i = 1; i < count; ++i)
      if (now.cells[first + i].load(std::memory_order_relaxed) != now.cells[first].load(std::memory_order_relaxed))
        return false;
    return true;
  };
  uint64_t first = cell_of(from, now.depth);
  for (size_t looked = 0; first < end && looked < segments; ++looked) {
    uint64_t count = 1;  // of the cells that lead where this one leads
    while (count < end && all_lead_to_one(first & ~(2 * count - 1), 2 * count)) count *= 2;
    first &= ~(count - 1);
    // With what is before it, and both with what is before them.
    for (; (first & count) != 0 && merge(now, first - count, count); count *= 2) first -= count;
    first += count;
  }
  give_back();
  return first < end ? std::optional(first << (64 - now.depth)) : std::nullopt;
}

bool Index::insert(const Digest& digest, const Place& place, uint32_t hour, bool saved, uint32_t hits) {
  if (Slot* const old = locate(digest)) set_dead(*old);
  const Key key(digest);
  const uint64_t hash = key.hash();
  for (uint32_t attempt = 0; attempt < 2 * kMostDepth; ++attempt) {
    const Directory now = directory(header_->directory.load(std::memory_order_relaxed));
    const uint64_t cell = now.cells ? now.cells[cell_of(hash, now.depth)].load(std::memory_order_relaxed) : 0;
    Slot* const slots = now.cells ? segment(cell) : nullptr;
    if (!slots) {
      if (!outgrown()) broken();
      return false;
    }
    const uint32_t taken = slots[0].bytes.load(std::memory_order_relaxed);
    uint64_t at = hash & (kSlots - 1), probes = 0;
    for (; probes < kSlots; ++probes, at = (at + 1) & (kSlots - 1))
      if (const uint32_t state = state_of(slots[at]); state == kEmpty || state == kDead) break;
    const bool again = probes < kSlots && state_of(slots[at]) == kDead;
    if (probes == kSlots || (!again && taken >= kMostTaken)) {
      if (!split(hash)) return false;
      continue;
    }
    Slot& slot = slots[at];
    for (size_t word = 0; word < 4; ++word) slot.key[word].store(key.words[word], std::memory_order_relaxed);
    slot.pack.store(static_cast<uint32_t>(place.pack), std::memory_order_relaxed);
    slot.at.store(place.at | std::min<uint64_t>(hits, kMostHits) * kHit, std::memory_order_relaxed);
    slot.bytes.store(static_cast<uint32_t>(place.bytes), std::memory_order_relaxed);
    slot.check.store(place.check, std::memory_order_relaxed);
    slot.used.store(saved ? hour : hour | kUnsaved, std::memory_order_relaxed);
    add_to_filter(cell & UINT32_MAX, hash);
    const auto lead = static_cast<uint32_t>(std::min(place.lead / kLeadUnit, kMostLead));
    slot.state.store(kLive | lead << 2, std::memory_order_release);
    ++header_->live;
    if (!again) slots[0].bytes.store(taken + 1, std::memory_order_relaxed);
    if (const uint64_t added = slots[0].check.fetch_add(1, std::memory_order_relaxed); added >= kMostFiltered) {
      slots[0].check.store(0, std::memory_order_relaxed);
      if (now.depth >= kFilterDepth) make_filter(cell & UINT32_MAX);
    }
    return true;
  }
  return false;
}

uint64_t Index::used_bytes() const {
  const uint64_t segments = header_->segments.load(std::memory_order_relaxed),
                 given_back = std::min(segments, header_->given_back_segments),
                 free = std::min(segments - given_back, header_->free_segments);
  return (segments - free - given_back) * kSegmentBytes + given_back * kKeptOfFree;
}

uint64_t Index::needed_bytes() const {
  // Two segments that are not merged have more keys than that together.
  const uint64_t used = used_bytes(), live = std::min(header_->live, used);
  return std::min(used, live * (kSegmentBytes / (kMostMerged / 2)));
}

void Index::erase(const Digest& key) {
  note(key);
  if (Slot* slot = locate(key)) set_dead(*slot);
}

void Index::set_dead(Slot& slot) {
  slot.state.store(kDead, std::memory_order_release);
  header_->live -= header_->live != 0;
}

std::array<uint64_t, kIndexCounters> Index::counters() const {
  std::array<uint64_t, kIndexCounters> values{};
  if (!readable_) return values;
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
  const Slot* slot = readable_ ? locate(key) : nullptr;
  const uint32_t hour = slot ? slot->used.load(std::memory_order_relaxed) & kHourMask : 0;
  return hour <= current_hour() ? hour : 0;
}

uint32_t Index::hits_of(const Digest& key) const {
  const Slot* slot = readable_ ? locate(key) : nullptr;
  return slot ? static_cast<uint32_t>(slot->at.load(std::memory_order_relaxed) / kHit) : 0;
}

bool Index::save_due(uint32_t hour) const {
  return writable_ && header_->saved_hour != hour;
}

Index::Unsaved Index::next_unsaved(uint32_t hour, size_t slots, size_t uses) {
  Unsaved found;
  const uint64_t segments = std::min<uint64_t>(header_->segments.load(std::memory_order_relaxed), mapped_segments_);
  const uint64_t last = segments * kSlots;
  uint64_t at = std::max(kSlots, std::min(header_->save_next, last));
  for (size_t looked = 0; at < last && looked < slots && found.uses.size() < uses; ++looked) {
    const Slot* const segment = slots_at(at / kSlots);
    if (segment->key[0].load(std::memory_order_relaxed) != kSlotsMagic) {  // free, or of a directory
      at = (at / kSlots + 1) * kSlots;
      continue;
    }
    const Slot& slot = segment[at++ % kSlots];
    const uint32_t used = slot.used.load(std::memory_order_relaxed);
    const auto hits = static_cast<uint32_t>(slot.at.load(std::memory_order_relaxed) / kHit);
    if (state_of(slot) != kLive) continue;
    if ((used & kUnsaved) == 0 && hits == 0) continue;
    found.uses.push_back({digest_in(slot), used & kHourMask, hits});
  }
  header_->save_next = at;
  if (at < last) return found;
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
      const uint64_t hits = slot->at.load(std::memory_order_relaxed) / kHit;
      slot->at.fetch_sub(std::min<uint64_t>(hits, use.hits) * kHit, std::memory_order_relaxed);
    }
  for (size_t i = 0; i < kIndexCounters; ++i)
    header_->counters[i].fetch_sub(what.counters[i], std::memory_order_relaxed);
}

}  // namespace smelt::cache
