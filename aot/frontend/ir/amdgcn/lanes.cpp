// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Moves between the lanes of a wave, as AIR's shuffles (docs/formats/triton-amdgcn.md 4.1, 5 and 5.2). A move whose map
// is constant takes the cheapest form that says it; constant exclusive-or maps stay recognisable as such.
#include "ir/amdgcn/lane_map.hpp"
#include "ir/amdgcn/site.hpp"

#include "llvm/IR/Constants.h"

namespace smelt::aot::input::amdgcn {
namespace {

/// What a lane gets when its source is off or outside.
struct Fallback {
  llvm::Value* when_off = nullptr;      ///< null: the operation would read a register that no value stands for
  llvm::Value* when_outside = nullptr;  ///< null: there is no such lane
};

/// The type that a shuffle moves in place of `type`, of the same bits; null when there is none. AIR moves numbers of 8,
/// 16 and 32 bits; those of 64 are split later (legalise/lane_values).
llvm::Type* carrier_of(llvm::Type* type, const llvm::DataLayout& layout) {
  if (type->isFloatTy() || type->isHalfTy() || type->isBFloatTy()) return type;
  if (!type->isIntOrIntVectorTy() && !type->isFPOrFPVectorTy() && !type->isPointerTy()) return nullptr;
  const uint64_t bits = layout.getTypeSizeInBits(type).getFixedValue();
  for (const unsigned width : {8u, 16u, 32u, 64u})
    if (bits == width || (type->isIntegerTy() && bits < width))
      return llvm::IntegerType::get(type->getContext(), width);
  return nullptr;
}

llvm::Type* carrier_of(Site& site, const llvm::Value* value) {
  return carrier_of(value->getType(), site.call().getModule()->getDataLayout());
}

std::string shuffle_name(std::string_view operation, llvm::Type* type) {
  return fmt::format("air.simd_{}.{}", operation, air_suffix(type, false, true));
}

/// air.simd_<operation>(value, lane), in the carrier's clothing.
llvm::Value* move_by(Site& site, std::string_view operation, llvm::Value* value, llvm::Value* lane) {
  llvm::IRBuilder<>& ir = site.ir();
  llvm::Type* const type = value->getType();
  llvm::Type* const carrier = carrier_of(site, value);
  llvm::Value* carried = value;
  if (type->isPointerTy())
    carried = ir.CreatePtrToInt(value, carrier);
  else if (type->isIntegerTy())
    carried = ir.CreateZExt(value, carrier);
  else
    carried = ir.CreateBitCast(value, carrier);
  llvm::SmallVector<llvm::Value*, 2> operands{carried};
  if (lane) operands.push_back(lane);
  llvm::Value* const moved = site.air(shuffle_name(operation, carrier), carrier, operands, true);
  if (type->isPointerTy()) return ir.CreateIntToPtr(moved, type);
  return type->isIntegerTy() ? ir.CreateTrunc(moved, type) : ir.CreateBitCast(moved, type);
}

llvm::Value* shuffle(Site& site, llvm::Value* value, llvm::Value* from) {
  return move_by(site, "shuffle", value, site.lane(from));
}

/// Bit l of `mask`, in lane l.
llvm::Value* bit_of_lane(Site& site, uint32_t mask) {
  llvm::IRBuilder<>& ir = site.ir();
  return ir.CreateTrunc(ir.CreateLShr(ir.getInt32(mask), site.lane_id()), ir.getInt1Ty());
}

/// The source lane by the formula, i32.
llvm::Value* source_lane(Site& site, const LaneFormula& formula) {
  llvm::IRBuilder<>& ir = site.ir();
  using Kind = LaneFormula::Kind;
  switch (formula.kind) {
    case Kind::same:
      return site.lane_id();
    case Kind::exclusive_or:
      return ir.CreateXor(site.lane_id(), formula.a);
    case Kind::broadcast:
      return ir.getInt32(formula.a);
    case Kind::bits:
      return ir.CreateXor(ir.CreateAnd(site.lane_id(), formula.a), formula.b);
    case Kind::offset:
      return ir.CreateAnd(ir.CreateAdd(site.lane_id(), ir.getInt32(formula.a)), kLanes - 1);
    case Kind::table:
      break;
  }
  llvm::Value* lane = ir.getInt32(0);
  for (unsigned bit = 0; bit < formula.planes.size(); ++bit) {
    if (formula.planes[bit] == 0) continue;
    llvm::Value* one = ir.CreateAnd(ir.CreateLShr(ir.getInt32(formula.planes[bit]), site.lane_id()), 1);
    lane = ir.CreateOr(lane, ir.CreateShl(one, bit));
  }
  return lane;
}

/// The moved value, as if every lane were on and every source inside.
llvm::Value* move(Site& site, llvm::Value* value, const LaneFormula& formula) {
  using Kind = LaneFormula::Kind;
  const auto constant = [&](std::string_view operation) {
    return move_by(site, operation, value, site.ir().getInt16(static_cast<uint16_t>(formula.a)));
  };
  if (formula.kind == Kind::same) return value;
  if (formula.kind == Kind::exclusive_or) return constant("shuffle_xor");
  if (formula.kind == Kind::broadcast) return constant("broadcast");
  return shuffle(site, value, source_lane(site, formula));
}

/// `moved` where lane `from` is on.
Result<llvm::Value*> guard(Site& site, llvm::Value* moved, llvm::Value* from, llvm::Value* otherwise) {
  if (!site.maybe_partial()) return moved;
  if (!otherwise)
    return site.refuse(
        "may run while some lanes of a wave are off, and reads the registers of those lanes, which have no defined "
        "value");
  llvm::IRBuilder<>& ir = site.ir();
  llvm::Value* active = site.air("air.simd_active_threads_mask.i64", ir.getInt64Ty(), {}, true);
  llvm::Value* is_on = ir.CreateTrunc(ir.CreateLShr(active, ir.CreateZExt(from, ir.getInt64Ty())), ir.getInt1Ty());
  return ir.CreateSelect(is_on, moved, otherwise);
}

Result<llvm::Value*> by_map(Site& site, llvm::Value* value, const LaneMap& map, const Fallback& fallback) {
  if (!carrier_of(site, value)) return site.refuse("no shuffle moves values of its type");
  const LaneFormula formula = formula_of(map);
  SMELT_TRY(llvm::Value * result,
            guard(site, move(site, value, formula), site.maybe_partial() ? source_lane(site, formula) : nullptr,
                  fallback.when_off));
  const uint32_t inside = inside_mask(map);
  if (inside == ~0u || !fallback.when_outside || llvm::isa<llvm::UndefValue>(fallback.when_outside)) return result;
  return site.ir().CreateSelect(bit_of_lane(site, inside), result, fallback.when_outside);
}

/// ds.swizzle(v, offset)
Result<llvm::Value*> swizzle(Site& site) {
  const auto offset = site.constant(1);
  const auto map = offset ? swizzle_map(static_cast<uint32_t>(*offset)) : std::nullopt;
  if (!map) return site.refuse("pattern {:#x} is neither a bit mask nor a quad pattern of GFX10", offset.value_or(0));
  return by_map(site, site.argument(0), *map, {llvm::Constant::getNullValue(site.type()), nullptr});
}

/// ds.bpermute(byte index, v)
Result<llvm::Value*> bpermute(Site& site) {
  llvm::IRBuilder<>& ir = site.ir();
  llvm::Value* from = ir.CreateAnd(ir.CreateLShr(site.argument(0), 2), kLanes - 1);
  return guard(site, shuffle(site, site.argument(1), from), from, llvm::Constant::getNullValue(site.type()));
}

/// permlane16, permlanex16(old, v, low, high, fetch inactive, bound control)
Result<llvm::Value*> permlane(Site& site, bool across) {
  if (site.call().arg_size() != 6) return site.refuse("it takes six operands, the call has {}", site.call().arg_size());
  const auto low = site.constant(2), high = site.constant(3), fetch = site.constant(4), bound = site.constant(5);
  if (!low || !high || !fetch || !bound) return site.refuse("the selectors must be constants");
  const LaneMap map = permlane_map(static_cast<uint32_t>(*low), static_cast<uint32_t>(*high), across);
  llvm::Value* off = *fetch ? nullptr : *bound ? llvm::Constant::getNullValue(site.type()) : site.argument(0);
  return by_map(site, site.argument(1), map, {off, nullptr});
}

/// update.dpp(old, v, control, row mask, bank mask, bound control); mov.dpp is the same without `old`.
Result<llvm::Value*> dpp(Site& site, unsigned first, llvm::Value* old) {
  const auto control = site.constant(first + 1), rows = site.constant(first + 2), banks = site.constant(first + 3),
             bound = site.constant(first + 4);
  if (!control || !rows || !banks || !bound) return site.refuse("the operands must be constants");
  const auto map = dpp_map(static_cast<uint32_t>(*control));
  if (!map) return site.refuse("control {:#x} does not exist from GFX10 on", *control);
  llvm::Value* const missing = *bound ? llvm::Constant::getNullValue(site.type()) : old;
  SMELT_TRY(llvm::Value* const fetched, by_map(site, site.argument(first), *map, {missing, missing}));
  const uint32_t written = dpp_written(static_cast<uint32_t>(*rows), static_cast<uint32_t>(*banks));
  if (written == ~0u || llvm::isa<llvm::UndefValue>(old)) return fetched;
  if (written == 0) return old;
  return site.ir().CreateSelect(bit_of_lane(site, written), fetched, old);
}

/// readlane(v, lane): one lane's register, whether that lane is on or not.
Result<llvm::Value*> read_lane(Site& site) {
  llvm::Value* const value = site.argument(0);
  if (!carrier_of(site, value)) return site.refuse("no shuffle moves values of its type");
  if (const auto lane = site.constant(1)) {
    LaneFormula formula{.kind = LaneFormula::Kind::broadcast, .a = static_cast<uint32_t>(*lane % kLanes)};
    return guard(site, move(site, value, formula), nullptr, nullptr);
  }
  llvm::Value* const from = site.ir().CreateAnd(site.argument(1), kLanes - 1);
  return guard(site, shuffle(site, value, from), from, nullptr);
}

Result<llvm::Value*> read_first_lane(Site& site) {
  llvm::Value* const value = site.argument(0);
  if (!carrier_of(site, value)) return site.refuse("no shuffle moves values of its type");
  return move_by(site, "broadcast_first", value, nullptr);
}

/// writelane(v, lane, old)
Result<llvm::Value*> write_lane(Site& site) {
  llvm::IRBuilder<>& ir = site.ir();
  llvm::Value* is_it = ir.CreateICmpEQ(site.lane_id(), ir.CreateAnd(site.argument(1), kLanes - 1));
  return ir.CreateSelect(is_it, site.argument(0), site.argument(2));
}

/// ballot: bit l is lane l's condition, 0 for lanes that are off.
Result<llvm::Value*> ballot(Site& site) {
  llvm::IRBuilder<>& ir = site.ir();
  llvm::Value* votes = site.air("air.simd_ballot.i64", ir.getInt64Ty(), {site.argument(0)}, true);
  return ir.CreateZExtOrTrunc(votes, site.type());
}

constexpr Row kLaneRows[] = {
    {"ds.swizzle", swizzle},
    {"ds.bpermute", bpermute},
    {"permlane16", [](Site& site) { return permlane(site, false); }},
    {"permlanex16", [](Site& site) { return permlane(site, true); }},
    {"update.dpp", [](Site& site) { return dpp(site, 1, site.argument(0)); }},
    {"mov.dpp", [](Site& site) { return dpp(site, 0, llvm::PoisonValue::get(site.type())); }},
    {"readlane", read_lane},
    {"readfirstlane", read_first_lane},
    {"writelane", write_lane},
    {"ballot", ballot},
};

}  // namespace

std::span<const Row> lane_rows() {
  return kLaneRows;
}

}  // namespace smelt::aot::input::amdgcn
