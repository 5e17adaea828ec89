// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The bit writer against LLVM's own reader of bitstreams.
#include "bitcode/bit_stream.hpp"

#include "llvm/Bitstream/BitstreamReader.h"

#include <doctest/doctest.h>

using namespace smelt;
using aot::bitcode::BitWriter;

namespace {

template <class T>
T must(llvm::Expected<T> value) {
  REQUIRE(static_cast<bool>(value));
  return std::move(*value);
}

llvm::ArrayRef<uint8_t> bytes_of(const Bytes& bytes) {
  return {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()};
}

}  // namespace

TEST_CASE("fields, variable-width numbers and alignment come back") {
  BitWriter out(0);
  const uint64_t numbers[] = {0, 1, 31, 32, 33, 1023, 0xFFFFFFFF, 0x100000000, ~uint64_t{0}, uint64_t{1} << 63};
  for (const uint64_t number : numbers) out.put_vbr(number, 6);
  out.put(5, 3);
  out.put(0xFFFFFFFF, 32);
  out.put(1, 1);
  out.align_word();
  out.put(0xDEADBEEF, 32);
  const Bytes bytes = out.take();
  llvm::SimpleBitstreamCursor in(bytes_of(bytes));
  for (const uint64_t number : numbers) CHECK(must(in.ReadVBR64(6)) == number);
  CHECK(must(in.Read(3)) == 5);
  CHECK(must(in.Read(32)) == 0xFFFFFFFF);
  CHECK(must(in.Read(1)) == 1);
  in.SkipToFourByteBoundary();
  CHECK(must(in.Read(32)) == 0xDEADBEEF);
  CHECK(in.AtEndOfStream());
}

TEST_CASE("blocks, records, blobs and patches come back") {
  for (const std::string& blob : {std::string(), std::string("abc"), std::string(1000, 'x')}) {
    BitWriter out(0);
    out.enter_block(8, 3);
    out.record(7, {1, 2, uint64_t{1} << 40});
    const uint64_t at = out.fixed_record(13);
    out.enter_block(17, 4);
    out.text_record(9, "text\xff");
    out.text_record(9, "");  // nothing
    out.exit_block();
    out.blob_record(35, {3, 99}, blob);
    out.record(1, {});
    out.exit_block();
    out.patch(at, 0x12345678);
    const Bytes bytes = out.take();
    CHECK(bytes.size() % 4 == 0);

    llvm::BitstreamCursor in(bytes_of(bytes));
    llvm::SmallVector<uint64_t, 8> operands;
    llvm::StringRef found;
    auto entry = must(in.advance());
    REQUIRE(entry.Kind == llvm::BitstreamEntry::SubBlock);
    CHECK(entry.ID == 8);
    REQUIRE(!in.EnterSubBlock(8));
    auto record = [&] {
      operands.clear();
      entry = must(in.advance());
      REQUIRE(entry.Kind == llvm::BitstreamEntry::Record);
      return must(in.readRecord(entry.ID, operands, &found));
    };
    CHECK(record() == 7);
    CHECK(operands == llvm::ArrayRef<uint64_t>({1, 2, uint64_t{1} << 40}));
    CHECK(record() == 13);
    CHECK(operands == llvm::ArrayRef<uint64_t>({0x12345678}));
    entry = must(in.advance());
    CHECK(entry.Kind == llvm::BitstreamEntry::SubBlock);
    REQUIRE(!in.EnterSubBlock(17));
    CHECK(record() == 9);
    CHECK(operands == llvm::ArrayRef<uint64_t>({'t', 'e', 'x', 't', 0xff}));
    CHECK(must(in.advance()).Kind == llvm::BitstreamEntry::EndBlock);
    CHECK(record() == 35);
    CHECK(operands == llvm::ArrayRef<uint64_t>({3, 99}));
    CHECK(found == blob);
    CHECK(record() == 1);
    CHECK(operands.empty());
    CHECK(must(in.advance()).Kind == llvm::BitstreamEntry::EndBlock);
    CHECK(in.AtEndOfStream());
  }
}
