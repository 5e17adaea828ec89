// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads and stores of lanes that are constants apart (pieces.hpp), for the case that all lanes are on.
#include "lanes/access.hpp"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/Instructions.h"

#include <algorithm>

namespace smelt::aot::cpu::lanes {
namespace {

constexpr unsigned kWindowBytes = 64;  // of a register
constexpr unsigned kMostWindows = 8;
// More cost more to compile in large kernels than they save.
constexpr size_t kFewPieces = 16;

/// Shuffles of what two registers hold, and what joins their results.
size_t cost_of_window(const Pieces& pieces, unsigned count, unsigned lanes) {
  const uint64_t windows = (pieces.span() + kWindowBytes - 1) / kWindowBytes;
  const unsigned groups = std::max(1u, lanes * pieces.element_bytes / kWindowBytes);
  return windows + count * groups * windows;
}

bool uses_window(const GangContext& gang, const Pieces& pieces, unsigned count) {
  // A shuffle moves whole elements: all must lie at a multiple of their size from the first.
  for (const int64_t at : pieces.at)
    if ((at - pieces.begin()) % pieces.element_bytes != 0) return false;
  // Two registers' elements in any order are one instruction in AVX-512, for 16 bits and more.
  return pieces.element_bytes >= 2 && pieces.span() <= uint64_t{kWindowBytes} * kMostWindows &&
         cost_of_window(pieces, count, gang.options.lanes) < pieces.at.size();
}

// All bytes from the first element to the last, a register at a time, and for each pair of registers one shuffle. What
// lies between elements is read and means nothing; it is on pages that hold elements.
Parts load_window(GangContext& gang, const Access& access, const Pieces& pieces) {
  llvm::IRBuilder<>& builder = gang.builder;
  const auto count = static_cast<unsigned>(access.layout.fields.size());
  const unsigned each = kWindowBytes / pieces.element_bytes;
  llvm::Type* integer = builder.getIntNTy(8 * pieces.element_bytes);
  const auto total = static_cast<unsigned>(pieces.span() / pieces.element_bytes);
  llvm::Value* base = builder.CreateConstGEP1_64(builder.getInt8Ty(), gang.scalar(access.pointer),
                                                 static_cast<uint64_t>(pieces.begin()));
  const llvm::Align align = llvm::commonAlignment(access.align, pieces.element_bytes);
  llvm::SmallVector<llvm::Value*, kMostWindows> windows;
  llvm::SmallVector<unsigned, kMostWindows> begins;
  for (unsigned at = 0; at < total; at += each) {
    begins.push_back(total < each ? 0 : std::min(at, total - each));
    auto* type = llvm::FixedVectorType::get(integer, std::min(each, total));
    llvm::Value* from = builder.CreateConstGEP1_64(integer, base, begins.back());
    llvm::Value* loaded = builder.CreateAlignedLoad(type, from, align);
    if (total < each) {
      llvm::SmallVector<int, 64> padded(each, -1);
      for (unsigned i = 0; i < total; ++i) padded[i] = static_cast<int>(i);
      loaded = builder.CreateShuffleVector(loaded, padded);
    }
    windows.push_back(loaded);
  }
  if (windows.size() % 2 != 0) windows.push_back(windows.back());
  const unsigned together = std::min(each, gang.options.lanes);
  Parts result;
  for (unsigned field = 0; field < count; ++field) {
    llvm::SmallVector<llvm::Value*, 4> groups;
    for (unsigned first = 0; first < gang.options.lanes; first += together) {
      llvm::Value* group = nullptr;
      for (size_t pair = 0; pair < begins.size(); pair += 2) {
        llvm::SmallVector<int, 64> from(together, -1);
        llvm::SmallVector<int, 64> joined;
        bool some = false;
        for (unsigned i = 0; i < together; ++i) {
          const uint64_t place = pieces.place_of(pieces.element[(first + i) * count + field]) / pieces.element_bytes;
          const size_t window = std::min<size_t>(place / each, begins.size() - 1);
          joined.push_back(static_cast<int>(i));
          if (window / 2 * 2 != pair) continue;
          from[i] = static_cast<int>((window - pair) * each + place - begins[window]);
          joined.back() += static_cast<int>(together);
          some = true;
        }
        if (!some) continue;
        llvm::Value* taken = builder.CreateShuffleVector(windows[pair], windows[pair + 1], from);
        group = group ? builder.CreateShuffleVector(group, taken, joined) : taken;
      }
      groups.push_back(group);
    }
    result.push_back(
        builder.CreateBitCast(llvm::concatenateVectors(builder, groups), gang.wide(access.layout.fields[field].type)));
  }
  return result;
}

}  // namespace

std::optional<Pieces> pieces_to_move(const GangContext& gang, const Access& access, bool loads) {
  // AVX2 puts elements of 16 bits in order by dozens of instructions: twice the code, three times the time to make it.
  if (!gang.options.narrow_masked_moves) return std::nullopt;
  if (!access.layout.is_array || !access.shape.has_offsets() || gang.some_lane_is_off()) return std::nullopt;
  const auto count = static_cast<unsigned>(access.layout.fields.size());
  llvm::Type* element = access.layout.fields.front().type;
  if (!element->isIntegerTy(8 * static_cast<unsigned>(access.layout.element_bytes)) && !element->isFloatingPointTy())
    return std::nullopt;
  // The kernel's own arrays may become registers yet, and nothing says what lies between elements of a table.
  const llvm::Value* object = llvm::getUnderlyingObject(access.pointer, 0);
  if (llvm::isa<llvm::AllocaInst>(object) || llvm::isa<llvm::GlobalVariable>(object)) return std::nullopt;
  auto pieces = pieces_of(access.shape, gang.options.lanes, count, static_cast<unsigned>(access.layout.element_bytes));
  if (!pieces || (!loads && pieces->shared)) return std::nullopt;
  // Under a mask there are both ways: only where the other one goes lane by lane.
  const bool one_by_one = access.layout.element_bytes < 4 || count > 1 || !gang.options.native_gather;
  if (gang.mask() && !one_by_one) return std::nullopt;
  // Lanes that are on in a gang that has not all of them are never all.
  if (gang.mask() && gang.entry_mask() && !gang.whole()) return std::nullopt;
  const size_t most = std::max<size_t>(kFewPieces, size_t{gang.options.lanes} * count / 4);
  if (gang.options.calls && pieces->at.size() > most && !(loads && uses_window(gang, *pieces, count)))
    return std::nullopt;
  return pieces;
}

Parts where_all_are_on(GangContext& gang, llvm::function_ref<Parts()> fast, llvm::function_ref<Parts()> slow) {
  if (!gang.mask()) return fast();
  llvm::Value* all = gang.whole() && gang.mask() == gang.entry_mask() ? gang.whole() : gang.every(gang.mask());
  return gang.choose_all_on(all, fast, slow);
}

Parts load_pieces(GangContext& gang, const Access& access, const Pieces& pieces) {
  llvm::IRBuilder<>& builder = gang.builder;
  const auto count = static_cast<unsigned>(access.layout.fields.size());
  if (uses_window(gang, pieces, count)) return load_window(gang, access, pieces);
  llvm::Type* integer = builder.getIntNTy(8 * pieces.element_bytes);
  const bool words = pieces.bytes <= 8;
  const unsigned each = pieces.bytes / pieces.element_bytes;
  llvm::Type* piece = builder.getIntNTy(8 * pieces.bytes);
  if (!words) piece = llvm::FixedVectorType::get(integer, each);
  const llvm::Align align = llvm::commonAlignment(access.align, pieces.element_bytes);
  llvm::Value* all = words ? llvm::PoisonValue::get(llvm::FixedVectorType::get(piece, pieces.at.size())) : nullptr;
  llvm::SmallVector<llvm::Value*, 32> loaded;
  for (size_t i = 0; i < pieces.at.size(); ++i) {
    llvm::Value* from = builder.CreateConstGEP1_64(builder.getInt8Ty(), gang.scalar(access.pointer),
                                                   static_cast<uint64_t>(pieces.at[i]));
    loaded.push_back(builder.CreateAlignedLoad(piece, from, align));
    if (words) all = builder.CreateInsertElement(all, loaded.back(), i);
  }
  if (!words) all = llvm::concatenateVectors(builder, loaded);
  all = builder.CreateBitCast(all, llvm::FixedVectorType::get(integer, pieces.elements()));
  Parts result;
  for (unsigned field = 0; field < count; ++field) {
    llvm::Value* lanes =
        gang.shuffle(all, [&](unsigned lane) { return static_cast<int>(pieces.element[lane * count + field]); });
    result.push_back(builder.CreateBitCast(lanes, gang.wide(access.layout.fields[field].type)));
  }
  return result;
}

void store_pieces(GangContext& gang, const Access& access, const Pieces& pieces, const Parts& values) {
  llvm::IRBuilder<>& builder = gang.builder;
  const auto count = static_cast<unsigned>(values.size());
  llvm::Type* integer = builder.getIntNTy(8 * pieces.element_bytes);
  llvm::SmallVector<llvm::Value*, 4> integers;
  for (llvm::Value* value : values) integers.push_back(builder.CreateBitCast(value, gang.wide(integer)));
  llvm::SmallVector<int, 128> order(pieces.elements());
  for (unsigned lane = 0; lane < gang.options.lanes; ++lane)
    for (unsigned field = 0; field < count; ++field)
      order[pieces.element[lane * count + field]] = static_cast<int>(field * gang.options.lanes + lane);
  llvm::Value* all = builder.CreateShuffleVector(llvm::concatenateVectors(builder, integers), order);
  const bool words = pieces.bytes <= 8;
  const unsigned each = pieces.bytes / pieces.element_bytes;
  if (words)
    all = builder.CreateBitCast(all, llvm::FixedVectorType::get(builder.getIntNTy(8 * pieces.bytes), pieces.at.size()));
  const llvm::Align align = llvm::commonAlignment(access.align, pieces.element_bytes);
  for (size_t i = 0; i < pieces.at.size(); ++i) {
    llvm::SmallVector<int, 64> mine;
    for (unsigned k = 0; k < each; ++k) mine.push_back(static_cast<int>(i * each + k));
    llvm::Value* piece = words ? builder.CreateExtractElement(all, i) : builder.CreateShuffleVector(all, mine);
    llvm::Value* to = builder.CreateConstGEP1_64(builder.getInt8Ty(), gang.scalar(access.pointer),
                                                 static_cast<uint64_t>(pieces.at[i]));
    builder.CreateAlignedStore(piece, to, align);
  }
}

}  // namespace smelt::aot::cpu::lanes
