// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "msl/kernel/ray_tracing.hpp"

#include "msl/facts/intersection_tags.hpp"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

#include <string>

namespace smelt::aot::msl {
namespace {

using llvm::Attribute;

constexpr llvm::StringLiteral kNeutral = "smelt.air.", kIntersect = "smelt.air.intersect",
                              kOfQuery = "_intersection_query", kReset = "smelt.air.reset_intersection_query";

/// metal::__air::__tag: a bit for each of kIntersectionTags.
enum Tag : uint64_t { kInstancing = 1, kTriangleData = 2, kCurveData = 8, kPrimitiveMotion = 16, kInstanceMotion = 32 };

std::string suffix_of(uint64_t tags) {
  std::string suffix;
  for (const auto& [bit, word] : llvm::enumerate(kIntersectionTags))
    if ((tags >> bit & 1) != 0) suffix += "." + word.str();
  return suffix;
}

bool is_neutral(llvm::StringRef name) {
  return name == kIntersect || (name.starts_with(kNeutral) && name.ends_with(kOfQuery));
}

/// Where <metal_raytracing> has what a call gives: bytes from the beginning of __hit or __columns.
struct Place {
  llvm::Type* type;
  uint64_t offset;
};

class Rewriter {
 public:
  Rewriter(llvm::CallInst& call, uint64_t tags)
      : module_(*call.getModule()),
        call_(call),
        builder_(&call),
        name_(call.getCalledFunction()->getName()),
        tags_(tags) {}

  void rewrite() {
    std::vector<llvm::Value*> operands(call_.arg_begin(), std::prev(call_.arg_end()));
    if (name_ == kIntersect) return rewrite_intersect(std::move(operands));
    if (name_ == kReset) operands = without_instances(operands, 6, 16);
    if (name_.ends_with(("_transform" + kOfQuery).str())) {
      llvm::Value* const to = operands.front();
      operands.erase(operands.begin());
      const std::vector<Place> columns = {{floats(3), 0}, {floats(3), 16}, {floats(3), 32}, {floats(3), 48}};
      store(call(operands, structure(columns)), columns, to);
    } else {
      llvm::CallInst* const made = call(operands, call_.getType());
      made->takeName(&call_);
      call_.replaceAllUsesWith(made);
    }
    call_.eraseFromParent();
  }

 private:
  /// A structure without instances has neither a mask nor transforms.
  std::vector<llvm::Value*> without_instances(std::vector<llvm::Value*> operands, unsigned mask,
                                              unsigned identity) const {
    if ((tags_ & kInstancing) != 0) return operands;
    operands.erase(operands.begin() + identity);
    operands.erase(operands.begin() + mask);
    return operands;
  }

  // to, origin, direction, nearest, farthest, structure, mask, time, table, payload, its size, nine numbers, identity,
  // any
  void rewrite_intersect(std::vector<llvm::Value*> operands) {
    llvm::Value* const to = operands.front();
    llvm::Value* const time = operands[7];
    std::vector<llvm::Value*> functions(operands.begin() + 8, operands.begin() + 11);
    if (llvm::isa<llvm::ConstantPointerNull>(functions[0])) functions[0] = no_table();
    operands.erase(operands.begin() + 7, operands.begin() + 11);
    operands.erase(operands.begin());
    operands = without_instances(std::move(operands), 5, 15);
    auto at = operands.begin() + ((tags_ & kInstancing) != 0 ? 6 : 5);
    if ((tags_ & (kPrimitiveMotion | kInstanceMotion)) != 0) at = std::next(operands.insert(at, time));
    operands.insert(at, functions.begin(), functions.end());
    const std::vector<Place> found = result();
    store(call(operands, structure(found)), found, to);
    call_.eraseFromParent();
  }

  std::vector<Place> result() {
    llvm::Type* const number = builder_.getInt32Ty();
    std::vector<Place> found = {{number, 0},
                                {builder_.getFloatTy(), 4},
                                {number, 8},
                                {number, 12},
                                {llvm::PointerType::get(module_.getContext(), 1), 16}};
    if ((tags_ & kInstancing) != 0) found.insert(found.end(), {{number, 24}, {number, 28}});
    if ((tags_ & kTriangleData) != 0) found.insert(found.end(), {{floats(2), 32}, {builder_.getInt1Ty(), 40}});
    if ((tags_ & kCurveData) != 0) found.push_back({builder_.getFloatTy(), 44});
    return found;
  }

  llvm::Type* floats(unsigned lanes) { return llvm::FixedVectorType::get(builder_.getFloatTy(), lanes); }

  llvm::StructType* structure(const std::vector<Place>& places) {
    std::vector<llvm::Type*> types;
    for (const Place& place : places) types.push_back(place.type);
    return llvm::StructType::get(module_.getContext(), types);
  }

  void store(llvm::CallInst* made, const std::vector<Place>& places, llvm::Value* to) {
    for (unsigned i = 0; i < places.size(); ++i) {
      llvm::Value* value = builder_.CreateExtractValue(made, i);
      if (value->getType()->isIntegerTy(1)) value = builder_.CreateZExt(value, builder_.getInt8Ty());
      builder_.CreateStore(value, builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), to, places[i].offset));
    }
  }

  llvm::Function* declared(const std::string& name, llvm::ArrayRef<llvm::Value*> operands, llvm::Type* result) {
    std::vector<llvm::Type*> types;
    for (const llvm::Value* operand : operands) types.push_back(operand->getType());
    return llvm::cast<llvm::Function>(
        module_.getOrInsertFunction(name, llvm::FunctionType::get(result, types, false)).getCallee());
  }

  llvm::CallInst* call(const std::vector<llvm::Value*>& operands, llvm::Type* result) {
    llvm::StringRef operation = name_;
    operation.consume_front("smelt.");
    llvm::Function* const function = declared(operation.str() + suffix_of(tags_), operands, result);
    for (const auto kind : {Attribute::MustProgress, Attribute::NoUnwind, Attribute::WillReturn})
      function->addFnAttr(kind);
    if (operation.starts_with("air.get_") || operation.starts_with("air.is_")) {
      function->setOnlyReadsMemory();
      function->setOnlyAccessesArgMemory();
      function->addFnAttr(Attribute::NoFree);
      function->addParamAttr(0, Attribute::NoCapture);
      function->addParamAttr(0, Attribute::ReadOnly);
    }
    for (unsigned i = 0; i < function->arg_size(); ++i)
      if (function->getArg(i)->getType()->isPointerTy() &&
          function->getArg(i)->getType()->getPointerAddressSpace() == 1)
        function->addParamAttr(i, Attribute::ReadOnly);
    return plain_call(function, operands);
  }

  llvm::CallInst* plain_call(llvm::Function* function, llvm::ArrayRef<llvm::Value*> operands) {
    llvm::CallInst* const made = builder_.CreateCall(function, operands);
    for (const auto kind : {Attribute::NoUnwind, Attribute::WillReturn}) made->addFnAttr(kind);
    return made;
  }

  llvm::CallInst* no_table() {
    llvm::Function* const function =
        declared("air.get_null_intersection_function_table", {}, llvm::PointerType::get(module_.getContext(), 1));
    function->setMemoryEffects(llvm::MemoryEffects::inaccessibleMemOnly(llvm::ModRefInfo::Ref));
    for (const auto kind : {Attribute::MustProgress, Attribute::NoFree, Attribute::NoUnwind, Attribute::WillReturn})
      function->addFnAttr(kind);
    return plain_call(function, {});
  }

  llvm::Module& module_;
  llvm::CallInst& call_;
  llvm::IRBuilder<> builder_;
  const llvm::StringRef name_;
  const uint64_t tags_;
};

}  // namespace

Result<void> lower_ray_tracing(llvm::Module& module) {
  for (llvm::Function& function : llvm::make_early_inc_range(module)) {
    if (!is_neutral(function.getName())) continue;
    for (llvm::User* const user : llvm::make_early_inc_range(function.users())) {
      auto* const call = llvm::dyn_cast<llvm::CallInst>(user);
      const auto* const tags =
          call != nullptr ? llvm::dyn_cast<llvm::ConstantInt>(call->getArgOperand(call->arg_size() - 1)) : nullptr;
      if (tags == nullptr)
        return fail(Errc::compile_failed, "a call of '{}' without known tags", std::string_view(function.getName()));
      Rewriter(*call, tags->getZExtValue()).rewrite();
    }
    function.eraseFromParent();
  }
  return {};
}

}  // namespace smelt::aot::msl
