// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "race_shadow.hpp"

#include "smelt/base/sort.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

namespace smelt::loader {
namespace {

constexpr uint64_t kGrain = 64;                      // of addresses at which ranges begin
constexpr uint64_t kCellBytes = 8;                   // of one word of a cell
constexpr uint64_t kKeptBytes = uint64_t{64} << 20;  // of each of the three words that a thread keeps
constexpr uint64_t kPage = uint64_t{64} << 10;

/// Addresses for all cells that a launch may need; memory comes where they are touched.
class Reserved {
 public:
  Reserved() = default;
  Reserved(const Reserved&) = delete;
  Reserved& operator=(const Reserved&) = delete;
  ~Reserved() { release(); }

  bool reserve(uint64_t bytes) {
    if (bytes <= bytes_) return true;
    release();
#ifdef MAP_NORESERVE
    constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
#else
    constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS;
#endif
    void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, kFlags, -1, 0);
    if (at == MAP_FAILED) return false;
    at_ = static_cast<unsigned char*>(at);
    bytes_ = bytes;
    return true;
  }
  unsigned char* at() const { return at_; }
  uint64_t bytes() const { return bytes_; }

  /// They are zeros again, and their memory is the system's.
  void give_back(uint64_t from, uint64_t to) {
    if (from >= to) return;
#ifdef __linux__
    if (::madvise(at_ + from, to - from, MADV_DONTNEED) == 0) return;
#endif
    void* const at =
        ::mmap(at_ + from, to - from, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (at == MAP_FAILED) std::fill(at_ + from, at_ + to, static_cast<unsigned char>(0));
  }

  uint32_t era = 0;  ///< the last that was given

 private:
  void release() {
    if (at_ != nullptr) ::munmap(at_, bytes_);
    at_ = nullptr;
    bytes_ = 0;
    era = 0;
  }
  unsigned char* at_ = nullptr;
  uint64_t bytes_ = 0;
};

thread_local Reserved reserved;

uint64_t round_up(uint64_t value, uint64_t to) {
  return (value + to - 1) / to * to;
}

}  // namespace

bool RaceShadow::lay_out(std::vector<Range> ranges) {
  for (Range& range : ranges) {
    range.low = range.low / kGrain * kGrain;
    range.high = round_up(range.high, kGrain);
  }
  sort_stably(ranges, [](const Range& a, const Range& b) { return a.low < b.low; });
  for (const Range& range : ranges) {
    if (!ranges_.empty() && range.low < ranges_.back().high)
      ranges_.back().high = std::max(ranges_.back().high, range.high);
    else
      ranges_.push_back(range);
  }
  // Of what code with cells of single bytes needs: which it is, is not known yet, and addresses cost nothing.
  uint64_t bytes = 0;
  for (const Range& range : ranges_) bytes += round_up((range.high - range.low) * kCellBytes, kPage);
  if (!reserved.reserve(3 * bytes)) return false;
  distance_ = reserved.bytes() / 3 / kPage * kPage / kCellBytes;
  unsigned char* at = reserved.at();
  for (Range& range : ranges_) {
    range.cells = at;
    at += round_up((range.high - range.low) * kCellBytes, kPage);
  }
  constexpr uint32_t kLate = 0xc0000000u;
  if (reserved.era >= kLate) forget();
  return true;
}

RaceShadow::~RaceShadow() {
  for (const auto& [last, words] : apart_) *last = 0;
  const uint64_t each = distance_ * kCellBytes;
  for (uint64_t word = 0; word < 3 && each > kKeptBytes; ++word)
    reserved.give_back(word * each + kKeptBytes, (word + 1) * each);
}

const RaceShadow::Range* RaceShadow::find(uint64_t address) {
  auto after = std::upper_bound(ranges_.begin(), ranges_.end(), address,
                                [](uint64_t value, const Range& range) { return value < range.low; });
  if (after == ranges_.begin()) return nullptr;
  const Range& found = *--after;
  if (address >= found.high) return nullptr;
  last_ = &found;
  return last_;
}

Cell RaceShadow::byte_of(const Cell& whole, unsigned byte) {
  std::unique_ptr<Apart>& apart = apart_[whole.last];
  if (!apart) {
    apart = std::make_unique<Apart>();
    apart->words[0].fill(*whole.last);
    apart->words[1].fill(*whole.second);
    apart->words[2].fill(*whole.write);
    *whole.last = kApart;
  }
  return {&apart->words[0][byte], &apart->words[1][byte], &apart->words[2][byte]};
}

std::array<uint64_t, 3> RaceShadow::words_at(uint64_t address, unsigned shift) {
  const Range* const range = range_of(address);
  if (range == nullptr) return {};
  const Cell whole = cell(*range, (address - range->low) >> shift);
  const auto apart = is_apart(whole) ? apart_.find(whole.last) : apart_.end();
  if (apart == apart_.end()) return {*whole.last, *whole.second, *whole.write};
  const auto& words = apart->second->words;
  const uint64_t byte = (address - range->low) & ((uint64_t{1} << shift) - 1);
  return {words[0][byte], words[1][byte], words[2][byte]};
}

void RaceShadow::each_run([[maybe_unused]] const uint64_t* words, uint64_t count,
                          const std::function<void(uint64_t, uint64_t)>& run) {
#ifdef __linux__
  // What was never touched has no memory, and reading it would get it some.
  const auto page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  const uint64_t each = page / kCellBytes;
  std::array<unsigned char, 4096> here{};
  for (uint64_t first = 0; first < count; first += here.size() * each) {
    const uint64_t end = std::min(count, first + here.size() * each);
    if (::mincore(const_cast<uint64_t*>(words + first), (end - first) * kCellBytes, here.data()) != 0) {
      run(first, end);
      continue;
    }
    for (uint64_t at = first; at < end; at += each)
      if ((here[(at - first) / each] & 1) != 0) run(at, std::min(end, at + each));
  }
#else
  run(0, count);
#endif
}

uint32_t RaceShadow::next_era() {
  return ++reserved.era;
}

void RaceShadow::forget() {
  apart_.clear();
  reserved.give_back(0, reserved.bytes());
  reserved.era = 0;
}

}  // namespace smelt::loader
