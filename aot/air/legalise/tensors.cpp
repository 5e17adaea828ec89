// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors as Apple's compiler writes them (docs/formats/air.md 3.14). The headers (msl/include/smelt/tensor.h) call
//
//   smelt.tensor.memory(object, rank, index bytes)
//   smelt.tensor.cooperative_memory(operand, descriptor, object, 3 types, threads)
//   smelt.tensor.run(descriptor, left, kind, right, kind, destination, kind, threads, 3 times: space, type)
//   smelt.tensor.cooperative_{store, load}(operand, descriptor, object, tensor, kind, 3 types, threads, space, type)
//
// with a descriptor as seven numbers. The first two give an object the memory that the GPU's compiler says. A product's
// name holds spaces and types; it reads its descriptor from a copy of a constant in space 0. This runs late, so that no
// other pass sees memory of unknown size or a constant there.
#include "legalise/tensors.hpp"

#include "kernel_ir/tensor_names.hpp"
#include "legalise/support.hpp"

#include "llvm/IR/Module.h"

#include <map>
#include <optional>

namespace smelt::aot::air {
namespace {

using llvm::CallInst;
using llvm::Value;

constexpr unsigned kDescriptorFields = 7;
constexpr unsigned kDescriptorBytes = 20;

/// Itanium's name of a template argument that is a descriptor: zeros at its end are left out.
std::string descriptor_name(llvm::ArrayRef<int64_t> fields) {
  constexpr const char* kTypes[kDescriptorFields] = {"i", "i", "i", "b", "b", "b", "NS1_4modeE"};
  std::string name = "_ZTAXtlN3mpp10tensor_ops19matmul2d_descriptorE";
  size_t count = fields.size();
  while (count != 0 && fields[count - 1] == 0) --count;
  for (size_t i = 0; i < count; ++i)
    name += fmt::format("L{}{}{}E", kTypes[i], fields[i] < 0 ? "n" : "", fields[i] < 0 ? -fields[i] : fields[i]);
  return name + "EE";
}

class TensorWriter {
 public:
  explicit TensorWriter(PassContext& context) : context_(context), module_(context.module) {}

  Result<void> write() {
    SMELT_TRY_VOID(each("smelt.tensor.memory", &TensorWriter::give_memory));
    SMELT_TRY_VOID(each("smelt.tensor.cooperative_memory", &TensorWriter::give_cooperative_memory));
    SMELT_TRY_VOID(each("smelt.tensor.run", &TensorWriter::run));
    SMELT_TRY_VOID(each("smelt.tensor.cooperative_store", &TensorWriter::store));
    SMELT_TRY_VOID(each("smelt.tensor.cooperative_load", &TensorWriter::load));
    for (llvm::Function& function : module_)
      if (function.isDeclaration() && kernel_ir::is_tensor_operation(function.getName())) dress(function);
    return {};
  }

 private:
  using Step = Result<void> (TensorWriter::*)(CallInst& call);

  Result<void> each(llvm::StringRef name, Step step) {
    llvm::Function* function = module_.getFunction(name);
    if (function == nullptr) return {};
    for (llvm::User* user : llvm::make_early_inc_range(function->users())) {
      auto* call = llvm::dyn_cast<CallInst>(user);
      if (call == nullptr) continue;
      SMELT_TRY_VOID((this->*step)(*call));
      call->eraseFromParent();
    }
    function->eraseFromParent();
    return {};
  }

  static Result<int64_t> number(const CallInst& call, unsigned index) {
    const auto* value = llvm::dyn_cast<llvm::ConstantInt>(call.getArgOperand(index));
    if (value == nullptr)
      return refuse(call, "a product's shape, kind or type is not known when the kernel is compiled");
    return value->getSExtValue();
  }

  // ---- Memory

  Result<llvm::AllocaInst*> object_of(const CallInst& call, unsigned index) {
    auto* object = llvm::dyn_cast<llvm::AllocaInst>(call.getArgOperand(index)->stripPointerCasts());
    if (object == nullptr)
      return refuse(call, "a tensor is part of another object; AIR has tensors as variables of their own");
    return object;
  }

  /// The function that asks for a size; null: it is there already.
  llvm::Function* size_function(const std::string& name) {
    if (module_.getFunction(name) != nullptr) return nullptr;
    auto* type = llvm::FunctionType::get(llvm::Type::getInt64Ty(module_.getContext()), false);
    auto* function = llvm::Function::Create(type, llvm::GlobalValue::LinkOnceODRLinkage, name, module_);
    function->setVisibility(llvm::GlobalValue::HiddenVisibility);
    function->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Local);
    for (const auto kind : {llvm::Attribute::MustProgress, llvm::Attribute::NoFree, llvm::Attribute::NoSync,
                            llvm::Attribute::Speculatable, llvm::Attribute::WillReturn})
      function->addFnAttr(kind);
    function->setDoesNotAccessMemory();
    function->addFnAttr(kernel_ir::kDeferredSize);
    llvm::BasicBlock::Create(module_.getContext(), "", function);
    return function;
  }

  Result<void> replace_memory(const CallInst& call, llvm::AllocaInst& object, const std::string& size_name) {
    if (const auto* made = llvm::dyn_cast<CallInst>(object.getArraySize())) {  // by another call for the same object
      if (made->getCalledFunction()->getName() == size_name) return {};
      return refuse(call, "two tensors of different kinds share one variable");
    }
    llvm::Function& function = *object.getFunction();
    llvm::IRBuilder<> builder(&function.getEntryBlock(), after_allocas(function));
    CallInst*& size = sizes_[{&function, size_name}];
    if (size == nullptr) {
      size = builder.CreateCall(module_.getFunction(size_name));
      size->setTailCall();
      size->setDoesNotThrow();
    } else {
      builder.SetInsertPoint(size->getNextNode());
    }
    auto* memory = builder.Insert(new llvm::AllocaInst(builder.getInt8Ty(), kThread, size, object.getAlign()));
    memory->takeName(&object);
    object.replaceAllUsesWith(memory);
    object.eraseFromParent();
    return {};
  }

  Result<void> give_memory(CallInst& call) {
    SMELT_TRY(llvm::AllocaInst * object, object_of(call, 0));
    SMELT_TRY(const int64_t rank, number(call, 1));
    SMELT_TRY(const int64_t index_bytes, number(call, 2));
    const std::string name = fmt::format("tensor.{}.i{}.MTL_SIZEAS", rank, index_bytes * 8);
    if (llvm::Function* function = size_function(name)) {
      llvm::IRBuilder<> builder(&function->getEntryBlock());
      SMELT_TRY(CallInst * bytes, call_air(builder, context_, "air.get_descriptor_size_tensor",
                                           {call.getArgOperand(1), call.getArgOperand(2)}));
      builder.CreateRet(builder.CreateZExt(bytes, builder.getInt64Ty()));
    }
    return replace_memory(call, *object, name);
  }

  /// How many SIMD-groups of threads; 0: one thread.
  static Result<uint64_t> groups(const CallInst& call, unsigned index) {
    const Value* threads = call.getArgOperand(index);
    const auto is_size = [](const Value* value) {
      const auto* size = llvm::dyn_cast<CallInst>(value);
      return size != nullptr && size->getCalledFunction() != nullptr &&
             size->getCalledFunction()->getName() == "air.get_simdgroup_size.i32";
    };
    if (is_size(threads)) return 1;
    if (const auto* one = llvm::dyn_cast<llvm::ConstantInt>(threads); one != nullptr && one->isOne()) return 0;
    if (const auto* product = llvm::dyn_cast<llvm::BinaryOperator>(threads); product && is_size(product->getOperand(0)))
      if (const auto* factor = llvm::dyn_cast<llvm::ConstantInt>(product->getOperand(1))) {
        if (product->getOpcode() == llvm::Instruction::Shl) return uint64_t{1} << factor->getZExtValue();
        if (product->getOpcode() == llvm::Instruction::Mul) return factor->getZExtValue();
      }
    return refuse(call, "the number of threads of a product is not known when the kernel is compiled");
  }

  Result<void> give_cooperative_memory(CallInst& call) {
    constexpr unsigned kObject = 8, kTypes = 9, kThreads = 12;
    SMELT_TRY(llvm::AllocaInst * object, object_of(call, kObject));
    SMELT_TRY(const uint64_t count, groups(call, kThreads));
    std::string name = "cooperative_tensor";
    llvm::SmallVector<Value*, 12> operands;
    for (unsigned i = 0; i < kThreads; ++i) {
      if (i == kObject) continue;
      SMELT_TRY(const int64_t value, number(call, i));
      const kernel_ir::TensorElement* const element =
          i < kTypes ? nullptr : kernel_ir::tensor_element(static_cast<uint64_t>(value));
      name += i < kTypes           ? fmt::format(".{}", value)
              : element != nullptr ? fmt::format(".{}", element->name.str())
                                   : ".none";
      operands.push_back(call.getArgOperand(i));
    }
    name += fmt::format(".{}.MTL_SIZEAS", count);
    if (llvm::Function* function = size_function(name)) {
      llvm::IRBuilder<> builder(&function->getEntryBlock());
      Value* threads = builder.getInt32(1);
      if (count != 0) {
        SMELT_TRY(CallInst * size, call_air(builder, context_, "air.get_simdgroup_size.i32", {}));
        threads = builder.CreateMul(size, builder.getInt32(static_cast<uint32_t>(count)));
      }
      operands.push_back(threads);
      builder.CreateRet(
          emit(builder, "__tensorops_impl_matmul2d_op_cooperative_tensor_data_size", builder.getInt64Ty(), operands));
    }
    return replace_memory(call, *object, name);
  }

  // ---- Products

  static CallInst* as_operation(CallInst* call) {
    for (const auto kind : {llvm::Attribute::Convergent, llvm::Attribute::NoBuiltin, llvm::Attribute::NoUnwind})
      call->addFnAttr(kind);
    call->addFnAttr(llvm::Attribute::get(call->getContext(), "no-builtins"));
    return call;
  }

  CallInst* emit(llvm::IRBuilderBase& builder, const std::string& name, llvm::Type* result,
                 llvm::ArrayRef<Value*> operands) {
    llvm::SmallVector<llvm::Type*, 16> types;
    for (const Value* operand : operands) types.push_back(operand->getType());
    const llvm::FunctionCallee callee =
        module_.getOrInsertFunction(name, llvm::FunctionType::get(result, types, false));
    return as_operation(builder.CreateCall(callee, operands));
  }

  Result<std::string> typed(const CallInst& call, unsigned type) {
    SMELT_TRY(const int64_t code, number(call, type));
    if (const auto* element = kernel_ir::tensor_element(static_cast<uint64_t>(code))) return element->name.str();
    return refuse(call, "AIR has no product of these elements");
  }
  /// "dv_f16": where a tensor's elements are, and of which type.
  Result<std::string> placed(const CallInst& call, unsigned space) {
    SMELT_TRY(const int64_t number_of_space, number(call, space));
    SMELT_TRY(const std::string type, typed(call, space + 1));
    return (number_of_space == kThreadgroup ? "tg_" : "dv_") + type;
  }

  /// The address of a copy, in the call's function.
  Result<Value*> descriptor(llvm::IRBuilderBase& builder, const CallInst& call) {
    llvm::LLVMContext& context = module_.getContext();
    llvm::StructType* type = llvm::StructType::getTypeByName(context, kernel_ir::kMatmulDescriptor);
    llvm::Type* const i32 = builder.getInt32Ty();
    llvm::Type* const i8 = builder.getInt8Ty();
    if (type == nullptr)
      type = llvm::StructType::create({i32, i32, i32, i8, i8, i8, i32}, kernel_ir::kMatmulDescriptor);
    llvm::SmallVector<int64_t, kDescriptorFields> values;
    llvm::SmallVector<llvm::Constant*, kDescriptorFields> fields;
    for (unsigned i = 0; i < kDescriptorFields; ++i) {
      SMELT_TRY(const int64_t value, number(call, i));
      values.push_back(value);
      fields.push_back(llvm::ConstantInt::getSigned(type->getElementType(i), value));
    }
    const std::string name = descriptor_name(values);
    llvm::GlobalVariable* constant = module_.getGlobalVariable(name, true);
    if (constant == nullptr) {
      constant = new llvm::GlobalVariable(module_, type, true, llvm::GlobalValue::LinkOnceODRLinkage,
                                          llvm::ConstantStruct::get(type, fields), name);
      constant->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Local);
    }
    llvm::AllocaInst*& copy = copies_[{call.getFunction(), constant}];
    if (copy == nullptr) {
      copy = make_alloca(*const_cast<llvm::Function*>(call.getFunction()), type, "");
      copy->setAlignment(llvm::Align(4));
    }
    builder.CreateMemCpy(copy, llvm::Align(4), constant, llvm::Align(4), kDescriptorBytes);
    return copy;
  }

  /// An operand that threads hold is its elements' address and has a type alone.
  Result<void> run(CallInst& call) {
    constexpr unsigned kObjects = 7, kThreads = 13, kSpaces = 14;
    constexpr int64_t kHeld = 3;
    llvm::IRBuilder<> builder(&call);
    SMELT_TRY(Value * told, descriptor(builder, call));
    llvm::SmallVector<Value*, 8> operands{told};
    bool is_cooperative = false;
    std::string name;
    for (unsigned i = 0; i < 3; ++i) {
      SMELT_TRY(const int64_t kind, number(call, kObjects + 2 * i + 1));
      SMELT_TRY(const std::string operand,
                kind == kHeld ? typed(call, kSpaces + 2 * i + 1) : placed(call, kSpaces + 2 * i));
      name += (i == 0 ? "" : "_") + operand;
      operands.push_back(call.getArgOperand(kObjects + 2 * i));
      if (kind != kHeld) operands.push_back(call.getArgOperand(kObjects + 2 * i + 1));
      is_cooperative |= kind == kHeld;
    }
    operands.push_back(call.getArgOperand(kThreads));
    CallInst* made = emit(builder, kernel_ir::kTensorRun.str() + (is_cooperative ? "cooperative_" : "") + name,
                          builder.getVoidTy(), operands);
    made->setDebugLoc(call.getDebugLoc());
    return {};
  }

  Result<void> store(CallInst& call) { return move_elements(call, "store"); }
  Result<void> load(CallInst& call) { return move_elements(call, "load"); }
  Result<void> move_elements(CallInst& call, const std::string& what) {
    constexpr unsigned kThreads = 14, kSpace = 15;
    SMELT_TRY(const std::string tensor, placed(call, kSpace));
    llvm::IRBuilder<> builder(&call);
    llvm::SmallVector<Value*, 16> operands(call.arg_begin(), call.arg_begin() + kThreads + 1);
    CallInst* made = emit(builder, "__tensorops_impl_matmul2d_op_cooperative_tensor_" + what + "_" + tensor,
                          builder.getVoidTy(), operands);
    made->setDebugLoc(call.getDebugLoc());
    return {};
  }

  // ---- As Apple's compiler declares them

  static bool is_run(const llvm::Function& function) { return function.getName().starts_with(kernel_ir::kTensorRun); }

  template <class Target>
  static void dress_operands(Target& target, const llvm::Function& function) {
    // The seven numbers of a descriptor are parts of one operand to Clang, which it says nothing about.
    const unsigned from = is_run(function) ? 0 : 1, to = is_run(function) ? 0 : 1 + kDescriptorFields;
    for (unsigned i = 0; i < function.arg_size(); ++i) {
      if (i < from || i >= to) target.addParamAttr(i, llvm::Attribute::NoUndef);
      if (function.getArg(i)->getType()->isIntegerTy(16)) target.addParamAttr(i, llvm::Attribute::ZExt);
    }
    llvm::Type* const result = function.getReturnType();
    if (result->isIntegerTy(16) || result->isIntegerTy(1)) target.addRetAttr(llvm::Attribute::ZExt);
    if (!is_run(function)) return;
    llvm::LLVMContext& context = function.getContext();
    target.addParamAttr(0, llvm::Attribute::get(context, llvm::Attribute::NonNull));
    target.addParamAttr(0, llvm::Attribute::getWithAlignment(context, llvm::Align(4)));
    target.addParamAttr(0, llvm::Attribute::getWithDereferenceableBytes(context, kDescriptorBytes));
  }

  static void dress(llvm::Function& function) {
    function.setAttributes({});
    function.addFnAttr(llvm::Attribute::Convergent);
    function.setSection(kernel_ir::kTensorSection);
    function.setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Local);
    function.setCallingConv(llvm::CallingConv::C);
    dress_operands(function, function);
    for (llvm::User* user : function.users())
      if (auto* call = llvm::dyn_cast<CallInst>(user)) {
        call->setAttributes({});
        as_operation(call);
        dress_operands(*call, function);
      }
  }

  PassContext& context_;
  llvm::Module& module_;
  std::map<std::pair<llvm::Function*, std::string>, CallInst*> sizes_;
  std::map<std::pair<const llvm::Function*, const llvm::GlobalVariable*>, llvm::AllocaInst*> copies_;
};

}  // namespace

Result<void> tensors(PassContext& context) {
  return TensorWriter(context).write();
}

}  // namespace smelt::aot::air
