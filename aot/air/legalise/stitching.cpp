// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "legalise/stitching.hpp"

#include "interface/entry.hpp"
#include "kernel_ir/stitching.hpp"
#include "legalise/support.hpp"

#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

#include <map>

namespace smelt::aot::air {
namespace {

using kernel_ir::StitchType;
using kernel_ir::StitchValue;

/// The four functions of one type, in the order of its node.
struct Access {
  llvm::Function *load = nullptr, *store = nullptr, *destroy = nullptr, *copy = nullptr;
};

class Stitching {
 public:
  explicit Stitching(llvm::Function& function)
      : function_(function), module_(*function.getParent()), context_(function.getContext()) {}

  llvm::MDNode* info(const std::vector<StitchValue>& values) {
    std::map<std::string, const StitchValue*> types;  // Apple's order is that of the names
    for (const StitchValue& value : values) types.emplace(value.mangled, &value);
    for (const auto& [mangled, value] : types) make_access(mangled, *value);
    llvm::appendToCompilerUsed(module_, used_);
    NodeBuilder node(context_);
    node.text("air.stitching_info");
    for (const StitchValue& value : values) {
      llvm::MDNode* type = type_node(value);
      if (!value.name.empty())
        type = NodeBuilder(context_).text("air.stitching_argument").metadata(type).text(value.name).finish();
      node.metadata(type);
    }
    return node.finish();
  }

 private:
  /// The parameters that make up the value; of the result its type.
  std::vector<llvm::Type*> parts(const StitchValue& value) const {
    if (value.count == 0) return {function_.getReturnType()};
    std::vector<llvm::Type*> types;
    for (unsigned i = value.first; i < value.first + value.count && i < function_.arg_size(); ++i)
      types.push_back(function_.getArg(i)->getType());
    return types;
  }

  llvm::Function* make(const std::string& mangled, const std::string& method, llvm::Type* result,
                       llvm::ArrayRef<llvm::Type*> parameters) {
    auto* made =
        llvm::Function::Create(llvm::FunctionType::get(result, parameters, false), llvm::GlobalValue::InternalLinkage,
                               fmt::format("_ZN5metal22_stitching_traits_implI{}E{}", mangled, method), module_);
    for (const auto kind : {llvm::Attribute::AlwaysInline, llvm::Attribute::MustProgress, llvm::Attribute::NoUnwind})
      made->addFnAttr(kind);
    for (const char* key : {"no-trapping-math", "unsafe-fp-math", "no-infs-fp-math", "no-nans-fp-math"})
      if (const llvm::Attribute of_function = function_.getFnAttribute(key); of_function.isValid())
        made->addFnAttr(of_function);
    llvm::BasicBlock::Create(context_, "", made);
    used_.push_back(made);
    return made;
  }

  void make_access(const std::string& mangled, const StitchValue& value) {
    const std::vector<llvm::Type*> types = parts(value);
    llvm::Type* const nothing = llvm::Type::getVoidTy(context_);
    auto* const pointer = llvm::PointerType::get(context_, kThread);
    auto* const constant = llvm::PointerType::get(context_, kConstant);
    const bool is_structure = value.type.kind == "struct";
    llvm::Type* const whole =
        is_structure ? llvm::StructType::create(context_, types, "struct." + value.type.name) : types[0];
    Access& access = access_[mangled];

    access.load = make(mangled, "13load_argumentEPv", whole, {pointer});
    llvm::IRBuilder<> load(&access.load->back());
    if (is_structure) {
      llvm::Value* all = llvm::PoisonValue::get(whole);
      for (unsigned i = 0; i < types.size(); ++i)
        all = load.CreateInsertValue(all, load_part(load, types[i], access.load->getArg(0), value.type.inside[i]), i);
      load.CreateRet(all);
    } else {
      load.CreateRet(load.CreateAlignedLoad(whole, access.load->getArg(0), llvm::Align(value.type.align)));
    }

    access.copy = make(mangled, "16copy_from_bufferEPvPU11MTLconstantKv", nothing, {pointer, constant});
    llvm::IRBuilder<> copy(&access.copy->back());
    const llvm::Align align(value.type.align);
    if (is_structure || whole->isPointerTy())
      copy.CreateMemCpy(access.copy->getArg(0), align, access.copy->getArg(1), align, value.type.size);
    else
      copy.CreateAlignedStore(copy.CreateAlignedLoad(whole, access.copy->getArg(1), align), access.copy->getArg(0),
                              align);
    copy.CreateRetVoid();

    std::vector<llvm::Type*> stored{pointer};
    stored.insert(stored.end(), types.begin(), types.end());
    access.store = make(mangled, "18store_return_valueEPv" + by_substitution(mangled), nothing, stored);
    llvm::IRBuilder<> store(&access.store->back());
    for (unsigned i = 0; i < types.size(); ++i)
      store_part(store, access.store->getArg(i + 1), access.store->getArg(0),
                 is_structure ? value.type.inside[i] : value.type);
    store.CreateRetVoid();

    access.destroy = make(mangled, "7destroyEPv", nothing, {pointer});
    llvm::IRBuilder<>(&access.destroy->back()).CreateRetVoid();
    for (llvm::Function* one : {access.load, access.copy, access.store, access.destroy})
      for (llvm::Argument& argument : one->args())
        if (argument.getArgNo() == 0 || argument.getType()->isPointerTy() || !is_structure)
          argument.addAttr(llvm::Attribute::NoUndef);
  }

  /// How C++ names the type again that the class has as its argument: what is named before it is counted.
  static std::string by_substitution(const std::string& mangled) {
    if (mangled.size() == 1 || mangled == "Dh") return mangled;
    unsigned named = 0;
    if (mangled[0] == 'N') {
      llvm::StringRef rest = llvm::StringRef(mangled).drop_front();
      for (unsigned length = 0; !rest.consumeInteger(10, length) && length <= rest.size(); ++named)
        rest = rest.drop_front(length);
    } else {
      named = 1;
    }
    return fmt::format("S{}_", named);
  }

  llvm::Value* place(llvm::IRBuilder<>& builder, llvm::Value* base, uint64_t offset) const {
    return offset == 0 ? base : builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), base, offset);
  }

  llvm::Value* load_part(llvm::IRBuilder<>& builder, llvm::Type* type, llvm::Value* base, const StitchType& member) {
    if (auto* array = llvm::dyn_cast<llvm::ArrayType>(type)) {
      llvm::Value* all = llvm::PoisonValue::get(array);
      for (unsigned i = 0; i < array->getNumElements(); ++i)
        all = builder.CreateInsertValue(all, load_part(builder, array->getElementType(), base, element(member, i)), i);
      return all;
    }
    const llvm::Align align(member.align);
    if (!type->isStructTy()) return builder.CreateAlignedLoad(type, place(builder, base, member.offset), align);
    llvm::Value* handle =
        builder.CreateAlignedLoad(type->getStructElementType(0), place(builder, base, member.offset), align);
    return builder.CreateInsertValue(llvm::PoisonValue::get(type), handle, 0);
  }

  void store_part(llvm::IRBuilder<>& builder, llvm::Value* value, llvm::Value* base, const StitchType& member) {
    if (auto* array = llvm::dyn_cast<llvm::ArrayType>(value->getType())) {
      for (unsigned i = 0; i < array->getNumElements(); ++i)
        store_part(builder, builder.CreateExtractValue(value, i), base, element(member, i));
      return;
    }
    if (value->getType()->isStructTy()) value = builder.CreateExtractValue(value, 0);
    builder.CreateAlignedStore(value, place(builder, base, member.offset), llvm::Align(member.align));
  }

  static StitchType element(const StitchType& array, uint64_t index) {
    StitchType one = array.inside[0];
    one.offset = array.offset + index * one.size;
    return one;
  }

  llvm::MDNode* type_node(const StitchValue& value) {
    const Access& access = access_[value.mangled];
    NodeBuilder node(context_);
    node.text("air.stitching_type").metadata(type_node(value.type));
    for (llvm::Function* one : {access.load, access.store, access.destroy, access.copy})
      node.metadata(llvm::ValueAsMetadata::get(one));
    return node.finish();
  }

  llvm::MDNode* type_node(const StitchType& type) {
    NodeBuilder node(context_);
    node.text(fmt::format("air.{}_type", type.kind)).number(type.size).number(type.align).metadata(nullptr);
    if (type.kind == "struct") {
      std::vector<llvm::Metadata*> members;
      for (const StitchType& member : type.inside)
        members.push_back(NodeBuilder(context_)
                              .text("air.record_field")
                              .number(member.offset)
                              .number(member.align)
                              .metadata(type_node(member))
                              .text(member.member)
                              .metadata(nullptr)
                              .finish());
      return node.text(type.name).metadata(llvm::MDNode::get(context_, members)).finish();
    }
    for (const StitchType& inside : type.inside) node.metadata(type_node(inside));
    if (type.count != 0) node.number(type.count);
    if (!type.name.empty()) node.text(type.name);
    return node.finish();
  }

  llvm::Function& function_;
  llvm::Module& module_;
  llvm::LLVMContext& context_;
  std::map<std::string, Access> access_;
  llvm::SmallVector<llvm::GlobalValue*, 16> used_;
};

}  // namespace

Result<llvm::MDNode*> with_stitching(llvm::Function& function, const llvm::MDNode& entry) {
  const llvm::StringRef text = function.getFnAttribute(kernel_ir::kStitching).getValueAsString();
  const auto values = kernel_ir::parse_stitching({text.data(), text.size()});
  if (!values)
    return fail(Errc::compile_failed, "'{}' is stitchable, but its attribute does not say how", function.getName());
  llvm::SmallVector<llvm::Metadata*, 8> operands(entry.op_begin(), entry.op_end());
  operands.push_back(Stitching(function).info(*values));
  return llvm::MDNode::get(function.getContext(), operands);
}

}  // namespace smelt::aot::air
