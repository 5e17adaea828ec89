// air.* operations that one thread does alone become plain LLVM IR, without calls that would need a library.
#pragma once

#include "smelt/base/result.hpp"

namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace smelt::aot::cpu {

struct LowerOptions {
  bool fast_math = false;            ///< the module says air.compile.fast_math_enable
  bool has_half_arithmetic = false;  ///< the target computes in half natively (aarch64)
};

/// Replaces every call to an air.* operation that is not a sync site (lower/collectives.hpp) in every function of the
/// module, links the runtime functions it needs (internal, alwaysinline) and lowers generic intrinsics that the code
/// generator would turn into library calls (llvm.exp, llvm.sin, frem, half and bfloat arithmetic, ...).
/// What stays for the caller: sync sites, air.is_function_constant_defined, air.os_log.
/// Relaxed atomics: device -> atomicrmw/cmpxchg/atomic load/store monotonic; threadgroup -> the same with
/// syncscope("singlethread"), since one OS thread runs a whole threadgroup.
/// Errors: Errc::unsupported, naming the operation ("air.sample_texture_2d.v4f32: not on the CPU").
Result<void> lower_air_operations(llvm::Module& module, const LowerOptions& options);

}  // namespace smelt::aot::cpu
