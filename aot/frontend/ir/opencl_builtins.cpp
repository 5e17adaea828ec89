// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// OpenCL C's builtin functions, as Clang declares them for spir and spirv: Itanium names, _Z13get_global_idj. What AIR
// has a word for becomes that word; the rest stays a call, which the legaliser refuses by name.
#include "ir/builtin_calls.hpp"
#include "ir/dialect.hpp"

#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Module.h"

#include <optional>

namespace smelt::aot::input {
namespace {

/// _Z<length><base><parameters>
struct Mangled {
  llvm::StringRef base;
  llvm::StringRef parameters;
  /// OpenCL's integer letters: c s i l signed, h t j m unsigned. The last one decides: operands of one builtin agree.
  bool is_signed() const {
    const size_t letter = parameters.find_last_of("csilhtjm");
    return letter == llvm::StringRef::npos || llvm::StringRef("csil").contains(parameters[letter]);
  }
};

std::optional<Mangled> parse(llvm::StringRef name) {
  size_t length = 0;
  if (!name.consume_front("_Z") || name.consumeInteger(10, length) || length == 0 || length > name.size())
    return std::nullopt;
  return Mangled{name.take_front(length), name.drop_front(length)};
}

struct Value {
  std::string_view name;
  std::string_view attribute;
  uint64_t otherwise = 0;  ///< for dimensions past the third
};
constexpr Value kByDimension[] = {
    {"get_global_id", "thread_position_in_grid", 0},
    {"get_global_size", "threads_per_grid", 1},
    {"get_local_id", "thread_position_in_threadgroup", 0},
    {"get_local_size", "threads_per_threadgroup", 1},
    {"get_enqueued_local_size", "dispatch_threads_per_threadgroup", 1},
    {"get_group_id", "threadgroup_position_in_grid", 0},
    {"get_num_groups", "threadgroups_per_grid", 1},
};
constexpr Value kScalarValues[] = {
    {"get_local_linear_id", "thread_index_in_threadgroup"},  {"get_sub_group_id", "simdgroup_index_in_threadgroup"},
    {"get_sub_group_local_id", "thread_index_in_simdgroup"}, {"get_sub_group_size", "threads_per_simdgroup"},
    {"get_max_sub_group_size", "threads_per_simdgroup"},     {"get_num_sub_groups", "simdgroups_per_threadgroup"},
};
/// SPIR-V's own builtins as functions: _Z28__spirv_GlobalInvocationId_xv.
constexpr Value kSpirv[] = {
    {"__spirv_GlobalInvocationId", "thread_position_in_grid"},
    {"__spirv_GlobalSize", "threads_per_grid"},
    {"__spirv_LocalInvocationId", "thread_position_in_threadgroup"},
    {"__spirv_WorkgroupSize", "threads_per_threadgroup"},
    {"__spirv_WorkgroupId", "threadgroup_position_in_grid"},
    {"__spirv_NumWorkgroups", "threadgroups_per_grid"},
};

constexpr std::string_view kMath[] = {
    "sqrt",  "rsqrt", "sin",   "cos",   "tan",  "asin", "acos",  "atan", "sinh",  "cosh",  "tanh", "asinh", "acosh",
    "atanh", "exp",   "exp2",  "exp10", "log",  "log2", "log10", "ceil", "floor", "trunc", "rint", "round", "fabs",
    "sinpi", "cospi", "tanpi", "sign",  "fmin", "fmax", "pow",   "powr", "atan2", "fma",   "mix",  "ldexp", "dot"};

/// Subgroup operations of one operand, and of an operand and a lane.
struct LaneOperation {
  std::string_view name, air;
  bool takes_lane;
};
constexpr LaneOperation kLaneOperations[] = {
    {"sub_group_reduce_add", "simd_sum", false},
    {"sub_group_reduce_min", "simd_min", false},
    {"sub_group_reduce_max", "simd_max", false},
    {"sub_group_scan_inclusive_add", "simd_prefix_inclusive_sum", false},
    {"sub_group_scan_exclusive_add", "simd_prefix_exclusive_sum", false},
    {"sub_group_broadcast", "simd_broadcast", true},
    {"sub_group_shuffle", "simd_shuffle", true},
    {"sub_group_shuffle_xor", "simd_shuffle_xor", true},
    {"sub_group_shuffle_up", "simd_shuffle_up", true},
    {"sub_group_shuffle_down", "simd_shuffle_down", true},
};

struct Atomic {
  std::string_view name;
  llvm::AtomicRMWInst::BinOp as_signed, as_unsigned;
};
constexpr Atomic kAtomics[] = {
    {"add", llvm::AtomicRMWInst::Add, llvm::AtomicRMWInst::Add},
    {"sub", llvm::AtomicRMWInst::Sub, llvm::AtomicRMWInst::Sub},
    {"xchg", llvm::AtomicRMWInst::Xchg, llvm::AtomicRMWInst::Xchg},
    {"min", llvm::AtomicRMWInst::Min, llvm::AtomicRMWInst::UMin},
    {"max", llvm::AtomicRMWInst::Max, llvm::AtomicRMWInst::UMax},
    {"and", llvm::AtomicRMWInst::And, llvm::AtomicRMWInst::And},
    {"or", llvm::AtomicRMWInst::Or, llvm::AtomicRMWInst::Or},
    {"xor", llvm::AtomicRMWInst::Xor, llvm::AtomicRMWInst::Xor},
    {"inc", llvm::AtomicRMWInst::Add, llvm::AtomicRMWInst::Add},
    {"dec", llvm::AtomicRMWInst::Sub, llvm::AtomicRMWInst::Sub},
};

bool lower_hardware(Replacement& to, llvm::StringRef base) {
  for (const Value& row : kByDimension)
    if (base == llvm::StringRef(row.name) && to.call().arg_size() == 1) {
      to.finish(to.hardware_at(row.attribute, to.argument(0), row.otherwise, to.type()));
      return true;
    }
  for (const Value& row : kScalarValues)
    if (base == llvm::StringRef(row.name)) {
      to.finish(to.hardware(row.attribute, 0, to.type()));
      return true;
    }
  for (const Value& row : kSpirv) {
    llvm::StringRef rest = base;
    if (!rest.consume_front(llvm::StringRef(row.name)) || rest.size() != 2 || rest[0] != '_') continue;
    to.finish(to.hardware(row.attribute, rest[1], to.type()));
    return true;
  }
  if (base == "get_work_dim")
    to.finish(llvm::ConstantInt::get(to.type(), 3));
  else if (base == "get_global_offset")
    to.finish(llvm::ConstantInt::get(to.type(), 0));
  else
    return false;
  return true;
}

/// CLK_LOCAL_MEM_FENCE 1, CLK_GLOBAL_MEM_FENCE 2, CLK_IMAGE_MEM_FENCE 4 to AIR's 2, 1, 4.
bool lower_opencl_barrier(Replacement& to, llvm::StringRef base) {
  const bool simdgroup = base == "sub_group_barrier";
  if (!simdgroup && base != "barrier" && base != "work_group_barrier") return false;
  const auto* flags = llvm::dyn_cast<llvm::ConstantInt>(to.argument(0));
  const uint64_t given = flags ? flags->getZExtValue() : 3;
  to.barrier(simdgroup, (given & 1 ? 2u : 0u) | (given & 2 ? 1u : 0u) | (given & 4 ? 4u : 0u));
  to.finish(nullptr);
  return true;
}

bool lower_float(Replacement& to, const Mangled& name) {
  llvm::Type* type = to.call().arg_size() > 0 ? to.argument(0)->getType() : nullptr;
  if (!type || !type->isFPOrFPVectorTy()) return false;
  llvm::StringRef base = name.base;
  const bool relaxed =
      (base.consume_front("native_") || base.consume_front("half_")) && type->getScalarType()->isFloatTy();
  std::vector<llvm::Value*> arguments(to.call().arg_begin(), to.call().arg_end());
  const std::string suffix = air_suffix(type, true, false);
  if (suffix.empty()) return false;
  if (base == "min") base = "fmin";
  if (base == "max") base = "fmax";
  for (llvm::Value*& argument : arguments)  // clamp(v, 0.0f, 1.0f), fmax(v, s): scalars stand for vectors
    if (base != "ldexp" && argument->getType() != type && type->getScalarType() == argument->getType())
      argument = to.ir().CreateVectorSplat(llvm::cast<llvm::FixedVectorType>(type)->getNumElements(), argument);
  if (base == "mad") {
    to.finish(to.ir().CreateIntrinsic(llvm::Intrinsic::fmuladd, {type}, arguments));
  } else if (base == "copysign") {
    to.finish(to.ir().CreateIntrinsic(llvm::Intrinsic::copysign, {type}, arguments));
  } else if (base == "fmod") {
    to.finish(to.ir().CreateFRem(arguments[0], arguments[1]));
  } else if (base == "recip" || base == "divide") {
    llvm::Value* above = base == "recip" ? llvm::ConstantFP::get(type, 1.0) : arguments[0];
    to.finish(to.ir().CreateFDiv(above, arguments.back()));
  } else if (base == "clamp") {
    llvm::Value* low = to.air("air.fmax." + suffix, type, {arguments[0], arguments[1]}, false);
    to.finish(to.air("air.fmin." + suffix, type, {low, arguments[2]}, false));
  } else {
    const bool known = std::find(std::begin(kMath), std::end(kMath), std::string_view(base)) != std::end(kMath);
    if (!known) return false;
    to.finish(to.air(fmt::format("air.{}{}.{}", relaxed ? "fast_" : "", std::string_view(base), suffix), to.type(),
                     arguments, false));
  }
  return true;
}

bool lower_integer(Replacement& to, const Mangled& name) {
  llvm::Type* type = to.call().arg_size() > 0 ? to.argument(0)->getType() : nullptr;
  if (!type || !type->isIntOrIntVectorTy() || type != to.type()) return false;
  const bool is_signed = name.is_signed();
  llvm::IRBuilder<>& ir = to.ir();
  const auto binary = [&](llvm::Intrinsic::ID id, llvm::Value* a, llvm::Value* b) {
    return ir.CreateBinaryIntrinsic(id, a, b);
  };
  const auto smallest = is_signed ? llvm::Intrinsic::smin : llvm::Intrinsic::umin;
  const auto largest = is_signed ? llvm::Intrinsic::smax : llvm::Intrinsic::umax;
  const llvm::StringRef base = name.base;
  const unsigned count = to.call().arg_size();
  for (unsigned i = 1; i < count; ++i)
    if (to.argument(i)->getType() != type) return false;
  llvm::Value* a = to.argument(0);
  llvm::Value* b = count > 1 ? to.argument(1) : nullptr;
  llvm::Value* result = nullptr;
  if (base == "min" && count == 2) result = binary(smallest, a, b);
  if (base == "max" && count == 2) result = binary(largest, a, b);
  if (base == "clamp" && count == 3) result = binary(smallest, binary(largest, a, b), to.argument(2));
  if (base == "abs") result = is_signed ? binary(llvm::Intrinsic::abs, a, ir.getFalse()) : a;
  if (base == "clz") result = binary(llvm::Intrinsic::ctlz, a, ir.getFalse());
  if (base == "popcount") result = ir.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, a);
  if (base == "add_sat") result = binary(is_signed ? llvm::Intrinsic::sadd_sat : llvm::Intrinsic::uadd_sat, a, b);
  if (base == "sub_sat") result = binary(is_signed ? llvm::Intrinsic::ssub_sat : llvm::Intrinsic::usub_sat, a, b);
  if (base == "rotate") result = ir.CreateIntrinsic(llvm::Intrinsic::fshl, {type}, {a, a, b});
  if (base == "mul24") result = ir.CreateMul(a, b);
  if (base == "mad24" && count == 3) result = ir.CreateAdd(ir.CreateMul(a, b), to.argument(2));
  if (base == "mul_hi" && type->getScalarSizeInBits() <= 32) {
    llvm::Type* wide = type->getExtendedType();
    const auto widened = [&](llvm::Value* v) { return is_signed ? ir.CreateSExt(v, wide) : ir.CreateZExt(v, wide); };
    result = ir.CreateTrunc(ir.CreateLShr(ir.CreateMul(widened(a), widened(b)), type->getScalarSizeInBits()), type);
  }
  if (!result) return false;
  to.finish(result);
  return true;
}

/// convert_T without saturation or rounding mode.
bool lower_conversion(Replacement& to, const Mangled& name) {
  llvm::StringRef target = name.base;
  if (!target.consume_front("convert_") || target.contains('_') || to.call().arg_size() != 1) return false;
  llvm::Value* value = to.argument(0);
  const bool from_float = value->getType()->isFPOrFPVectorTy();
  const bool to_float = to.type()->isFPOrFPVectorTy();
  const bool signed_source = name.is_signed();
  const bool signed_target = !target.starts_with("u");
  llvm::IRBuilder<>& ir = to.ir();
  if (from_float && to_float) {
    to.finish(ir.CreateFPCast(value, to.type()));
  } else if (from_float) {
    to.finish(signed_target ? ir.CreateFPToSI(value, to.type()) : ir.CreateFPToUI(value, to.type()));
  } else if (to_float) {
    to.finish(signed_source ? ir.CreateSIToFP(value, to.type()) : ir.CreateUIToFP(value, to.type()));
  } else {
    to.finish(ir.CreateIntCast(value, to.type(), signed_source));
  }
  return true;
}

bool lower_lanes(Replacement& to, const Mangled& name) {
  llvm::StringRef base = name.base;
  if (!base.starts_with("sub_group_")) return false;
  for (const LaneOperation& row : kLaneOperations) {
    if (base != llvm::StringRef(row.name) || to.call().arg_size() != (row.takes_lane ? 2 : 1)) continue;
    // The lane's own letter comes last: the value's sign is the letter before it.
    const Mangled value{base, row.takes_lane ? name.parameters.drop_back() : name.parameters};
    const std::string suffix = air_suffix(to.type(), value.is_signed(), true);
    if (suffix.empty()) return false;
    std::vector<llvm::Value*> arguments{to.argument(0)};
    if (row.takes_lane) arguments.push_back(to.lane(to.argument(1)));
    to.finish(to.air(fmt::format("air.{}.{}", row.air, suffix), to.type(), arguments, true));
    return true;
  }
  if (base == "sub_group_all" || base == "sub_group_any") {
    llvm::Value* predicate = to.ir().CreateIsNotNull(to.argument(0));
    llvm::Value* result =
        to.air(base == "sub_group_all" ? "air.simd_all" : "air.simd_any", to.ir().getInt1Ty(), {predicate}, true);
    to.finish(to.ir().CreateZExt(result, to.type()));
    return true;
  }
  return false;
}

bool lower_atomic(Replacement& to, const Mangled& name) {
  llvm::StringRef base = name.base;
  if (!base.consume_front("atomic_") && !base.consume_front("atom_")) return false;
  const unsigned count = to.call().arg_size();
  if (count == 0 || !to.argument(0)->getType()->isPointerTy() || !to.type()->isIntegerTy()) return false;
  llvm::IRBuilder<>& ir = to.ir();
  const llvm::MaybeAlign align;
  const auto order = llvm::AtomicOrdering::Monotonic;
  if (base == "cmpxchg" && count == 3) {
    llvm::Value* pair = ir.CreateAtomicCmpXchg(to.argument(0), to.argument(1), to.argument(2), align, order, order);
    to.finish(ir.CreateExtractValue(pair, 0));
    return true;
  }
  for (const Atomic& row : kAtomics) {
    if (base != llvm::StringRef(row.name)) continue;
    const bool by_one = row.name == "inc" || row.name == "dec";
    if (count != (by_one ? 1u : 2u)) return false;
    llvm::Value* operand = by_one ? llvm::ConstantInt::get(to.type(), 1) : to.argument(1);
    to.finish(
        ir.CreateAtomicRMW(name.is_signed() ? row.as_signed : row.as_unsigned, to.argument(0), operand, align, order));
    return true;
  }
  return false;
}

}  // namespace

void lower_opencl(llvm::Module& module) {
  lower_calls(module, "_Z", [](Replacement& to, const llvm::Function& callee) {
    const auto name = parse(callee.getName());
    if (!name) return;
    lower_hardware(to, name->base) || lower_opencl_barrier(to, name->base) || lower_lanes(to, *name) ||
        lower_atomic(to, *name) || lower_conversion(to, *name) || lower_float(to, *name) || lower_integer(to, *name);
  });
}

}  // namespace smelt::aot::input
