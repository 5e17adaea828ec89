// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "value_shadow.hpp"

#include <algorithm>
#include <cstring>

namespace smelt::loader {

void ValueShadow::put_back() {
  const uint64_t bytes = across_bytes_;
  across_bytes_ = 0;
  for (uint64_t i = 0; i < bytes; ++i)
    if (Page* const to = page((across_at_ + i) >> kPageBits)) (*to)[(across_at_ + i) % kPageBytes] = across_[i];
}

std::byte* ValueShadow::at(uint64_t address, uint64_t bytes, bool is_write) {
  if (across_bytes_ != 0) put_back();
  const uint64_t number = address >> kPageBits;
  const uint64_t place = address % kPageBytes;
  if (place + bytes <= kPageBytes)
    if (Page* const found = page(number)) return found->data() + place;
  bytes = std::min(bytes, kMostBytes);
  for (uint64_t i = 0; i < bytes; ++i) {
    const Page* const from = page((address + i) >> kPageBits);
    across_[i] = from != nullptr ? (*from)[(address + i) % kPageBytes] : std::byte{0};
  }
  across_at_ = address;
  across_bytes_ = is_write ? bytes : 0;
  return across_.data();
}

void ValueShadow::forget(uint64_t address, uint64_t bytes) {
  if (across_bytes_ != 0) put_back();
  while (bytes > 0) {
    const uint64_t number = address >> kPageBits;
    const uint64_t place = address % kPageBytes;
    const uint64_t here = std::min(bytes, kPageBytes - place);
    Page* found = page(number);
    if (found == nullptr) {
      found = pages_.emplace(number, std::make_unique<Page>()).first->second.get();
      found->fill(std::byte{0});
      last_page_ = found;
    }
    std::memset(found->data() + place, 0xff, here);
    address += here;
    bytes -= here;
  }
}

}  // namespace smelt::loader
