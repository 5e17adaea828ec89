// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// air.* operations of one thread -> plain LLVM IR that the CPU back ends can compile without a single external symbol.
//
// What is one thread's own business is lowered here: math, conversions, integer operations, atomics, fences, packing.
// What lanes do together (collectives.hpp) is left as air.* calls for the region loop and the lane vectoriser, as are
// `air.is_function_constant_defined` and `air.os_log`, which belong to the pipeline. Anything else is an error that
// names the operation. Names and meanings: docs/formats/air.md section 3, docs/formats/metal-language.md sections 3
// and 4.
#pragma once

#include "smelt/base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace smelt::aot::cpu {

/// When half and bfloat arithmetic, computed in float, is rounded back (docs/design/cpu-lanes.md section 7).
enum class SmallFloatRounding : uint8_t {
  per_operation,   ///< as the IR says
  per_expression,  ///< once per expression: for modules with air.compile.fast_math_enable
};

struct LowerOptions {
  SmallFloatRounding small_floats = SmallFloatRounding::per_operation;
  bool expand_memory = true;   ///< memory intrinsics of unknown length become loops
  bool check_tensors = false;  ///< what products of tensors touch is looked at before
  bool wide_vectors = false;   ///< the processor has vectors of 64 bytes
  bool wide_products = false;  ///< integers of 128 bits may be multiplied: no lanes are made of the code
  bool name_texels = false;    ///< a texel that is read or written has its address first, null outside of the texture
};

/// ptr (ptr), with LowerOptions::name_texels: marks the handle of a texture or sampler, which checked code looks up
/// before it uses it.
inline constexpr char kTextureHandle[] = "smelt.texture", kSamplerHandle[] = "smelt.sampler";

/// Who deals with a function of this name.
enum class Support : uint8_t {
  lowered,      ///< lower_air_operations makes plain IR of it
  collective,   ///< parse_collective describes it
  pipeline,     ///< left alone: function constants, logging
  unsupported,  ///< `reason` says why
};
struct SupportAnswer {
  Support support = Support::unsupported;
  std::string reason;  ///< why not, empty when supported
};
/// Answers for any function name. Names that are neither `air.*` nor one of the `llvm.*` that need lowering count as
/// `pipeline`: nobody here objects to them.
SupportAnswer support_of(std::string_view name);

/// Lowers every call in `module`, links the runtime math that the calls need (as internal, always-inline functions),
/// guards integer division, expands frem and memory intrinsics of unknown length, and takes half and bfloat arithmetic
/// to float. On error the module is half lowered and good for nothing. The result is deterministic.
///
/// Threadgroup atomics become atomicrmw, cmpxchg, load and store of syncscope("singlethread"), so that a vectoriser can
/// see them for what they are; plain_single_thread_atomics takes them apart at the end of the pipeline.
///
/// The code generator must run with FPOpFusion::Standard: the runtime contains error-free transformations, which
/// contraction outside `contract` flags would break. It is right with denormals flushed and with denormals kept.
Result<void> lower_air_operations(llvm::Module& module, const LowerOptions& options = {});

/// Turns the atomics of syncscope("singlethread") into plain volatile accesses: threadgroup memory and private copies
/// of buffers (private_buffers.hpp) are seen by one OS thread, which runs one thread of the kernel after another. Call
/// it when nothing after it runs several lanes at once.
void plain_single_thread_atomics(llvm::Function& function);

/// Part of lower_air_operations; public for code that is made after it (reductions, matrices). Leaves half and bfloat
/// only where values are moved, and `fpext`/`fptrunc` between half and float.
void lower_small_floats(llvm::Function& function, SmallFloatRounding rounding);

/// Part of lower_air_operations; to be run once more before code is generated, because optimisers bring bfloat phis and
/// selects back, and on x86 those need a library call; likewise comparisons, minima and maxima of half, which are
/// widened again. Leaves matrices (<64 x bfloat>) alone.
void move_bfloats_as_integers(llvm::Function& function);

}  // namespace smelt::aot::cpu
