// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// AMD's device library. Triton links its bodies before it writes a module; what other compilers leave as a call by name
// is done here where AIR has the operation, or CPU code for doubles. __ocml_<function>_<f16|f32|f64>,
// __ockl_get_<what>(dimension).
#include "ir/amdgcn/site.hpp"

#include "llvm/IR/Module.h"

#include <algorithm>

namespace smelt::aot::input::amdgcn {
namespace {

struct MathRow {
  std::string_view ocml;
  std::string_view air;
  unsigned operands;
};
constexpr MathRow kMath[] = {
    {"acos", "acos", 1},
    {"acosh", "acosh", 1},
    {"asin", "asin", 1},
    {"asinh", "asinh", 1},
    {"atan", "atan", 1},
    {"atan2", "atan2", 2},
    {"atanh", "atanh", 1},
    {"ceil", "ceil", 1},
    {"cos", "cos", 1},
    {"cosh", "cosh", 1},
    {"cospi", "cospi", 1},
    {"exp", "exp", 1},
    {"exp10", "exp10", 1},
    {"exp2", "exp2", 1},
    {"fabs", "fabs", 1},
    {"floor", "floor", 1},
    {"fma", "fma", 3},
    {"fmax", "fmax", 2},
    {"fmin", "fmin", 2},
    {"fmod", "fmod", 2},
    {"fract", "fract", 1},
    {"log", "log", 1},
    {"log10", "log10", 1},
    {"log2", "log2", 1},
    {"mad", "fma", 3},
    {"native_cos", "cos", 1},
    {"native_exp", "exp", 1},
    {"native_exp2", "exp2", 1},
    {"native_log", "log", 1},
    {"native_log2", "log2", 1},
    {"native_rsqrt", "rsqrt", 1},
    {"native_sin", "sin", 1},
    {"native_sqrt", "sqrt", 1},
    {"nearbyint", "rint", 1},
    {"pow", "pow", 2},
    {"powr", "powr", 2},
    {"rint", "rint", 1},
    {"round", "round", 1},
    {"rsqrt", "rsqrt", 1},
    {"sin", "sin", 1},
    {"sinh", "sinh", 1},
    {"sinpi", "sinpi", 1},
    {"sqrt", "sqrt", 1},
    {"tan", "tan", 1},
    {"tanh", "tanh", 1},
    {"trunc", "trunc", 1},
};

/// More of double, which CPU code has (kernel_ir/cpu_only.hpp).
constexpr MathRow kDoubleMath[] = {
    {"cbrt", "cbrt", 1},   {"copysign", "copysign", 2}, {"erf", "erf", 1},     {"erfc", "erfc", 1},
    {"expm1", "expm1", 1}, {"hypot", "hypot", 2},       {"log1p", "log1p", 1}, {"nextafter", "nextafter", 2},
};

struct PlaceRow {
  std::string_view ockl;
  std::string_view attribute;
  uint64_t beyond;  ///< the answer for dimensions above 2
};
constexpr PlaceRow kPlaces[] = {
    {"__ockl_get_group_id", "threadgroup_position_in_grid", 0},
    {"__ockl_get_local_id", "thread_position_in_threadgroup", 0},
    {"__ockl_get_global_id", "thread_position_in_grid", 0},
    {"__ockl_get_num_groups", "threadgroups_per_grid", 1},
    {"__ockl_get_local_size", "threads_per_threadgroup", 1},
    {"__ockl_get_global_size", "threads_per_grid", 1},
};

bool lower_place(Replacement& to, llvm::StringRef name) {
  for (const PlaceRow& row : kPlaces) {
    if (name != llvm::StringRef(row.ockl) || to.call().arg_size() != 1) continue;
    to.finish(to.hardware_at(row.attribute, to.argument(0), row.beyond, to.type()));
    return true;
  }
  return false;
}

bool lower_math(Replacement& to, llvm::StringRef name) {
  if (!name.consume_front("__ocml_")) return false;
  llvm::Type* const type = name.consume_back("_f16")   ? to.ir().getHalfTy()
                           : name.consume_back("_f32") ? to.ir().getFloatTy()
                           : name.consume_back("_f64") ? to.ir().getDoubleTy()
                                                       : nullptr;
  if (!type || to.type() != type) return false;
  const auto find_in = [&](std::span<const MathRow> rows) -> const MathRow* {
    for (const MathRow& row : rows)
      if (name == llvm::StringRef(row.ocml) && to.call().arg_size() == row.operands) return &row;
    return nullptr;
  };
  const MathRow* row = find_in(kMath);
  if (!row && type->isDoubleTy()) row = find_in(kDoubleMath);
  const llvm::SmallVector<llvm::Value*, 3> operands(to.call().args());
  if (!row ||
      !std::all_of(operands.begin(), operands.end(), [&](const auto* value) { return value->getType() == type; }))
    return false;
  to.finish(to.air(fmt::format("air.{}.{}", row->air, air_suffix(type, false, false)), type, operands, false));
  return true;
}

/// __ockl_mul_hi_<i32|u32|i64|u64>: the upper half of the product.
bool lower_upper_half(Replacement& to, llvm::StringRef name) {
  if (!name.consume_front("__ockl_mul_hi_") || to.call().arg_size() != 2) return false;
  const bool is_signed = name.consume_front("i");
  if (!is_signed && !name.consume_front("u")) return false;
  const auto* const type = llvm::dyn_cast<llvm::IntegerType>(to.type());
  unsigned bits = 0;
  if (!type || name.getAsInteger(10, bits) || type->getBitWidth() != bits || (bits != 32 && bits != 64)) return false;
  to.finish(to.air(fmt::format("air.mul_hi.{}.i{}", is_signed ? 's' : 'u', bits), to.type(),
                   {to.argument(0), to.argument(1)}, false));
  return true;
}

}  // namespace

Result<void> lower_device_library(llvm::Module& module, const Origin& origin) {
  std::string unknown;
  lower_calls(module, "__oc", [&](Replacement& to, const llvm::Function& callee) {
    const llvm::StringRef name = callee.getName();
    if (!lower_place(to, name) && !lower_math(to, name) && !lower_upper_half(to, name) && unknown.empty())
      unknown = name.str();
  });
  if (unknown.empty()) return {};
  return fail(Errc::unsupported,
              "{}'{}' is a function of AMD's device library that AIR has no operation for; link the library's bitcode "
              "before writing the module",
              origin.line_of(unknown), unknown);
}

}  // namespace smelt::aot::input::amdgcn
