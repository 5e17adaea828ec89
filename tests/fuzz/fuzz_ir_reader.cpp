// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Any bytes as LLVM IR, text or bitcode: a module that verifies, or an error that says something.
//
// Text is expected to hold. LLVM's bitcode reader is not made for hostile input; what is closed in front of it and what
// is not is in docs/reference/inputs.md, "Not guaranteed".
#include "ir_reader/parse.hpp"
#include "llvm_support/deep_stack.hpp"

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

#include <cstdlib>
#include <random>

using namespace smelt;
using namespace smelt::aot;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const ByteView bytes(reinterpret_cast<const std::byte*>(data), size);
  run_deep([&] {
    const auto module = input::parse_module(bytes, "input");
    if (!module && module.error().message.empty()) std::abort();
  });
  return 0;
}

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

// Bitcode is a stream of bits: a byte more or less makes nonsense of all that follows, and the walk in front of LLVM
// refuses it. Most mutations therefore only flip bits, which often changes one number of one record.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  std::minstd_rand random(seed);
  const bool bitcode = size > 16 && data[0] == 'B' && data[1] == 'C';
  if (!bitcode || random() % 8 == 0) return LLVMFuzzerMutate(data, size, max_size);
  for (size_t flips = 1 + random() % 4; flips > 0; --flips) {
    const size_t bit = 32 + random() % (size * 8 - 32);
    data[bit / 8] ^= static_cast<uint8_t>(1u << (bit % 8));
  }
  return size;
}
