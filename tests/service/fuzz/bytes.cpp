// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bytes.hpp"

#include <algorithm>
#include <cstring>

namespace smelt::test {

uint32_t hostile_word(std::mt19937_64& random) {
  static constexpr uint32_t kWords[] = {0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffffe};
  return kWords[random() % std::size(kWords)];
}

void change_bytes(Bytes& bytes, std::mt19937_64& random) {
  const auto at = [&](size_t size) { return static_cast<size_t>(random() % std::max<size_t>(1, bytes.size() - size)); };
  const auto times = 1 + random() % 6;
  for (uint64_t i = 0; i < times && bytes.size() > 32; ++i) {
    switch (random() % 8) {
      case 0:
        bytes[at(1)] = static_cast<std::byte>(random());
        break;
      case 1: {
        const uint32_t word = hostile_word(random);
        std::memcpy(bytes.data() + (at(4) & ~size_t{3}), &word, sizeof(word));
        break;
      }
      case 2: {
        const size_t size = 1 + random() % 16, source = at(size), target = at(size);
        std::memmove(bytes.data() + target, bytes.data() + source,
                     std::min(size, bytes.size() - std::max(source, target)));
        break;
      }
      case 3:
        if (random() % 8 == 0) bytes.resize(16 + random() % (bytes.size() - 16));
        break;
      default:
        bytes[at(1)] ^= std::byte{1} << (random() % 8);
    }
  }
}

}  // namespace smelt::test
