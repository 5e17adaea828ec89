// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "msl/kernel/mesh_outputs.hpp"

#include "msl/kernel/value_type.hpp"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

#include <fmt/format.h>

#include <algorithm>

namespace smelt::aot::msl {
namespace {

/// "v4f32", as AIR ends the names of operations on a type.
std::string suffix(const ValueShape& shape) {
  return fmt::format("{}{}{}", shape.lanes > 1 ? fmt::format("v{}", shape.lanes) : "", shape.is_float ? 'f' : 'i',
                     shape.bits);
}

class Writer {
 public:
  Writer(llvm::Module& module, llvm::CallInst& call)
      : module_(module), call_(call), builder_(&call), mesh_(call.getArgOperand(0)), index_(call.getArgOperand(1)) {}

  void write(const ResultFact& member) {
    const std::string& kind = member.words[0];
    const uint64_t offset = member.offset.value_or(0);
    if (kind == "air.clip_distance") {
      ValueShape one = member.value;
      one.count = 0;
      for (unsigned i = 0; i < std::max(member.value.count, 1u); ++i)
        emit("air.set_clip_distance_mesh",
             {mesh_, builder_.getInt32(i), index_, load(one, offset + i * sizeof(float))});
      return;
    }
    llvm::Value* value = load(member.value, offset);
    if (kind == "air.mesh_vertex_data" || kind == "air.mesh_primitive_data") {
      unsigned slot = 0;
      (void)llvm::StringRef(member.words[1]).drop_front().getAsInteger(10, slot);
      emit(fmt::format("air.set_{}_mesh.{}", kind == "air.mesh_vertex_data" ? "vertex_data" : "primitive_data",
                       suffix(member.value)),
           {mesh_, builder_.getInt32(slot), index_, value});
      return;
    }
    std::string name = fmt::format("air.set_{}_mesh", kind.substr(4));
    if (kind == "air.render_target_array_index" || kind == "air.viewport_array_index")
      name += "." + suffix(member.value);
    emit(name, {mesh_, index_, value});
  }

 private:
  llvm::Value* load(const ValueShape& shape, uint64_t offset) {
    llvm::Type* const type = value_type(module_.getContext(), shape);
    llvm::Value* from = builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), call_.getArgOperand(2), offset);
    if (!type->isIntegerTy(1)) return builder_.CreateLoad(type, from);
    return builder_.CreateTrunc(builder_.CreateLoad(builder_.getInt8Ty(), from), type);
  }

  void emit(const std::string& name, llvm::ArrayRef<llvm::Value*> operands) {
    std::vector<llvm::Type*> types;
    for (const llvm::Value* operand : operands) types.push_back(operand->getType());
    llvm::FunctionCallee callee =
        module_.getOrInsertFunction(name, llvm::FunctionType::get(builder_.getVoidTy(), types, false));
    auto* function = llvm::cast<llvm::Function>(callee.getCallee());
    function->setOnlyAccessesArgMemory();
    function->addParamAttr(0, llvm::Attribute::NoCapture);
    for (const auto kind : {llvm::Attribute::MustProgress, llvm::Attribute::NoUnwind, llvm::Attribute::WillReturn})
      function->addFnAttr(kind);
    builder_.CreateCall(callee, operands);
  }

  llvm::Module& module_;
  llvm::CallInst& call_;
  llvm::IRBuilder<> builder_;
  llvm::Value *mesh_, *index_;
};

}  // namespace

Result<void> write_mesh_outputs(llvm::Module& module, const KernelFact& kernel) {
  const auto mesh = std::find_if(kernel.parameters.begin(), kernel.parameters.end(), [](const ParameterFact& one) {
    return !one.words.empty() && one.words[0] == "air.mesh";
  });
  for (const bool is_vertex : {true, false}) {
    llvm::Function* neutral = module.getFunction(is_vertex ? "smelt.air.mesh_vertex" : "smelt.air.mesh_primitive");
    if (neutral == nullptr) continue;
    for (llvm::User* user : llvm::make_early_inc_range(neutral->users())) {
      auto* call = llvm::cast<llvm::CallInst>(user);
      if (mesh == kernel.parameters.end())
        return fail(Errc::compile_failed, "{} function '{}' writes a mesh, which it is not given",
                    stage_word(kernel.stage), kernel.name);
      Writer writer(module, *call);
      for (const ResultFact& member : is_vertex ? mesh->vertices : mesh->primitives) writer.write(member);
      call->eraseFromParent();
    }
    neutral->eraseFromParent();
  }
  return {};
}

}  // namespace smelt::aot::msl
