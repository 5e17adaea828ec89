// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which bits of threadgroup memory and of threads' own arrays nobody has written: a byte of shadow for each byte, ones
// for bits that nobody wrote. Other memory counts as written.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>

namespace smelt::loader {

class ValueShadow {
 public:
  static constexpr unsigned kPageBits = 12;
  static constexpr uint64_t kPageBytes = uint64_t{1} << kPageBits;

  /// Shadow of `bytes` bytes: to be read, or to be written. Good until the next call.
  std::byte* at(uint64_t address, uint64_t bytes, bool is_write);
  /// Nobody has written them.
  void forget(uint64_t address, uint64_t bytes);

 private:
  static constexpr uint64_t kMostBytes = 4096;
  using Page = std::array<std::byte, kPageBytes>;

  Page* page(uint64_t number) {
    if (number != last_) {
      const auto found = pages_.find(number);
      last_ = number;
      last_page_ = found != pages_.end() ? found->second.get() : nullptr;
    }
    return last_page_;
  }
  void put_back();

  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages_;
  uint64_t last_ = ~uint64_t{0};
  Page* last_page_ = nullptr;
  std::array<std::byte, kMostBytes> across_{};  // shadow of what lies on two pages, or on none
  uint64_t across_at_ = 0;
  uint64_t across_bytes_ = 0;  // that are to be put back before the next call
};

}  // namespace smelt::loader
