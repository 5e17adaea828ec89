// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lower/lower.hpp"

#include "lower/convert.hpp"
#include "lower/cpu_only.hpp"
#include "lower/generic.hpp"
#include "lower/lowerings.hpp"
#include "lower/refusals.hpp"
#include "lower/tensors.hpp"
#include "runtime/runtime.hpp"

namespace smelt::aot::cpu {
namespace {

using llvm::Value;

/// Why a name that nobody lowers is not on the CPU.
std::string unsupported_reason(const AirName& name, const NameAnswers* answers) {
  if (answers != nullptr && answers->answer->kind == CpuAnswer::Kind::refused)
    return std::string(answers->answer->words);
  return std::string(name.operation == "atomic" ? refusal::spaces : refusal::unknown);
}

/// Of an operation whose name says more than its type: whether the lowering knows what it says.
bool parts_are_known(const AirName& name, const Operation& operation) {
  if (operation.lower == lowering::convert) return is_conversion(name);
  if (operation.lower == lowering::texture_atomic) return name.part(0) != "i16";
  if (operation.lower == lowering::atomic)
    return name.part(0) == "global" || name.part(0) == "local" || name.part(0) == "fence";
  return true;
}

bool has_shape(const Call& call, const Operation& operation) {
  if (operation.shape == Shape::free) return true;
  llvm::Type* type = call.instruction.getType();
  const bool right_kind =
      operation.shape == Shape::integers
          ? type->isIntOrIntVectorTy() && type->getScalarSizeInBits() >= 8 && type->getScalarSizeInBits() <= 64
          : type->getScalarType()->isFloatTy() || is_small_float(type);
  const auto same = [&](const Value* operand) { return operand->getType() == type; };
  return right_kind && call.operands.size() == operation.operands && llvm::all_of(call.operands, same);
}

Result<void> lower_call(llvm::CallInst& instruction, const AirName& name, const Operation& operation,
                        const LowerOptions& options) {
  llvm::IRBuilder<> builder(&instruction);
  if (llvm::isa<llvm::FPMathOperator>(instruction)) {
    llvm::FastMathFlags flags = instruction.getFastMathFlags();
    flags.setNoNaNs(false);
    flags.setNoInfs(false);
    builder.setFastMathFlags(flags);
  }
  llvm::Type* type = instruction.getType();
  Call call{builder,
            instruction,
            name,
            llvm::SmallVector<Value*, 8>(instruction.args()),
            type,
            options.name_texels,
            options.wide_products};
  if (!has_shape(call, operation))
    return bad_call(call, operation.shape == Shape::integers ? "integers of the result's type"
                                                             : "half, bfloat or float operands of the result's type");
  const bool widened = operation.shape == Shape::floats && is_small_float(type);
  if (widened) {
    call.type = with_element(type, builder.getFloatTy());
    for (Value*& operand : call.operands) operand = emit_to_float(builder, operand);
  }
  SMELT_TRY(Value * result, operation.lower(call));
  if (result) {
    if (widened) result = emit_from_float(builder, result, type);
    instruction.replaceAllUsesWith(result);
  }
  instruction.eraseFromParent();
  return {};
}

Result<void> lower_function(llvm::Function& function, const LowerOptions& options) {
  llvm::SmallVector<llvm::CallInst*, 32> calls;
  for (llvm::BasicBlock& block : function)
    for (llvm::Instruction& instruction : block)
      if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) calls.push_back(call);
  for (llvm::CallInst* call : calls) {
    const llvm::Function* callee = call->getCalledFunction();
    if (!callee) continue;
    const auto name = parse_air_name(callee->getName());
    if (!name) continue;
    const SupportAnswer answer = support_of(std::string_view(callee->getName()));
    if (answer.support == Support::collective || answer.support == Support::pipeline) continue;
    if (answer.support == Support::unsupported)
      return fail(Errc::unsupported, "{}: {} (function '{}')", callee->getName().str(), answer.reason,
                  function.getName().str());
    const Operation* const operation = find_operation(*name);
    if (operation != nullptr) SMELT_TRY_VOID(lower_call(*call, *name, *operation, options));
  }
  return {};
}

}  // namespace

tl::unexpected<Error> bad_call(const Call& call, std::string_view wanted) {
  std::string type;
  llvm::raw_string_ostream stream(type);
  call.instruction.getFunctionType()->print(stream);
  return fail(Errc::compile_failed, "{}: called as {}, expected {}",
              call.instruction.getCalledFunction()->getName().str(), type, wanted);
}

llvm::Type* with_element(llvm::Type* shape, llvm::Type* element) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(shape);
  return vector ? llvm::FixedVectorType::get(element, vector->getNumElements()) : element;
}
bool is_small_float(const llvm::Type* type) {
  return type->getScalarType()->isHalfTy() || type->getScalarType()->isBFloatTy();
}

SupportAnswer support_of(std::string_view function) {
  const llvm::StringRef text(function.data(), function.size());
  const auto name = parse_air_name(text);
  if (!name) return {is_lowered_intrinsic(text) ? Support::lowered : Support::pipeline, {}};
  if (parse_collective(function)) return {Support::collective, {}};
  const NameAnswers* const answers = find_answers(*name);
  if (answers != nullptr && answers->answer->kind == CpuAnswer::Kind::pipeline) return {Support::pipeline, {}};
  if (answers != nullptr && answers->answer->kind == CpuAnswer::Kind::ahead) return {Support::lowered, {}};
  const Operation* const operation = find_operation(*name);
  if (operation != nullptr && parts_are_known(*name, *operation)) return {Support::lowered, {}};
  return {Support::unsupported, unsupported_reason(*name, answers)};
}

Result<void> lower_air_operations(llvm::Module& module, const LowerOptions& options) {
  if (has_tensors(module)) SMELT_TRY_VOID(lower_tensors(module, options.wide_vectors, options.check_tensors));
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    relax_float_assumptions(function);
    SMELT_TRY_VOID(lower_function(function, options));
    SMELT_TRY_VOID(lower_cpu_only(function));
    SMELT_TRY_VOID(lower_generic(function, options.expand_memory));
  }
  for (llvm::Function& function : module) {
    lower_small_floats(function, options.small_floats);
    move_bfloats_as_integers(function);
  }
  SMELT_TRY_VOID(link_runtime(module));
  // Declarations that nobody calls any more.
  for (llvm::Function& function : llvm::make_early_inc_range(module))
    if (function.isDeclaration() && function.use_empty()) function.eraseFromParent();
  return {};
}

}  // namespace smelt::aot::cpu
