// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "msl/kernel/entry_points.hpp"

#include "air/entry.hpp"
#include "air/intrinsics.hpp"
#include "air/texture_operation.hpp"
#include "kernel_ir/attributes.hpp"
#include "kernel_ir/builtins.hpp"
#include "llvm_support/diagnostics.hpp"
#include "msl/kernel/describe_entry.hpp"
#include "msl/kernel/optimise.hpp"
#include "msl/kernel/thread_variables.hpp"
#include "msl/safely.hpp"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/AttributeMask.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MemoryBuffer.h"

#include <fmt/format.h>

#include <optional>
#include <set>

namespace smelt::aot::msl {
namespace {

/// Clang takes every function for one that lanes must call together. Of AIR's operations those are few, and what is
/// none of them may be moved and joined like other arithmetic.
bool is_convergent(llvm::StringRef operation) {
  const std::vector<air::Signature> forms = air::forms(operation);
  return forms.empty() || std::any_of(forms.begin(), forms.end(), [](const air::Signature& form) {
           switch (form.effect) {
             case air::Effect::pure:
             case air::Effect::atomic:
             case air::Effect::out_argument:
             case air::Effect::texture_read:
             case air::Effect::texture_write:
               return form.family_only;
             default:
               return true;
           }
         });
}

/// Attributes as AIR's own functions have them: bool is a plain i1 there.
void clean_declarations(llvm::Module& module) {
  llvm::AttributeMask extensions;
  for (const auto kind : {llvm::Attribute::ZExt, llvm::Attribute::SExt, llvm::Attribute::NoUndef})
    extensions.addAttribute(kind);
  for (llvm::Function& function : module) {
    const bool is_neutral = function.getName().starts_with(air::kNeutralPrefix);
    if (!function.isDeclaration() || (!is_neutral && !function.getName().starts_with("air."))) continue;
    const bool convergent = !is_neutral && is_convergent(function.getName());
    if (!convergent) function.removeFnAttr(llvm::Attribute::Convergent);
    function.removeRetAttrs(extensions);
    for (llvm::Argument& argument : function.args()) function.removeParamAttrs(argument.getArgNo(), extensions);
    for (llvm::User* user : function.users())
      if (auto* call = llvm::dyn_cast<llvm::CallBase>(user)) {
        if (!convergent) call->removeFnAttr(llvm::Attribute::Convergent);
        call->removeRetAttrs(extensions);
        for (unsigned i = 0; i < call->arg_size(); ++i) call->removeParamAttrs(i, extensions);
      }
  }
}

llvm::Type* builtin_type(llvm::LLVMContext& context, unsigned bits, unsigned lanes) {
  llvm::Type* scalar = llvm::Type::getIntNTy(context, bits);
  return lanes == 1 ? scalar : llvm::FixedVectorType::get(scalar, lanes);
}

bool is_vector(std::string_view builtin) {
  const kernel_ir::BuiltinRow* row = kernel_ir::find_builtin(builtin);
  return row && row->is_vector;
}

/// Hardware values that helpers of the library read by call, which the kernel does not have as parameters: they become
/// parameters behind its own.
void add_called_builtins(const llvm::Module& module, KernelFact& kernel) {
  std::set<std::string> attributes;
  for (const llvm::Function& function : module)
    if (const auto call = kernel_ir::parse_builtin_call(function.getName())) attributes.insert(call->attribute.str());
  for (const std::string& attribute : attributes) {
    const auto same = [&](const ParameterFact& one) { return one.builtin == attribute; };
    if (std::any_of(kernel.parameters.begin(), kernel.parameters.end(), same)) continue;
    ParameterFact fact;
    fact.binding = std::nullopt;
    fact.name = fact.builtin = attribute;
    unsigned lanes = 0;
    for (const ParameterFact& other : kernel.parameters)
      if (!other.binding && is_vector(other.builtin)) lanes = std::max(lanes, other.lanes);
    fact.lanes = is_vector(attribute) ? (lanes == 0 ? 3 : lanes) : 1;
    fact.type_name = fact.lanes == 1 ? "uint" : fmt::format("uint{}", fact.lanes);
    kernel.parameters.push_back(std::move(fact));
  }
}

/// The entry: AIR's parameters, handed to Clang's function in the shape that it expects. Vectors are classes to Clang
/// and arrive behind a pointer.
Result<llvm::Function*> make_entry(llvm::Module& module, const KernelFact& kernel, size_t own_parameters) {
  llvm::LLVMContext& context = module.getContext();
  llvm::Function* body = module.getFunction(kernel.symbol);
  if (body == nullptr) return fail(Errc::corrupt, "kernel '{}' is not there", kernel.name);
  std::vector<llvm::Type*> types;
  for (const ParameterFact& parameter : kernel.parameters)
    types.push_back(!parameter.binding ? builtin_type(context, parameter.bits, parameter.lanes)
                                       : static_cast<llvm::Type*>(llvm::PointerType::get(context, parameter.space)));
  if (body->getName() == kernel.name) body->setName(body->getName() + ".body");
  auto* entry = llvm::Function::Create(llvm::FunctionType::get(llvm::Type::getVoidTy(context), types, false),
                                       llvm::GlobalValue::ExternalLinkage, kernel.name, module);
  if (entry->getName() != kernel.name)
    return fail(Errc::compile_failed, "kernel '{}' has the name of another function of the source", kernel.name);
  entry->addFnAttr(kernel_ir::kKernel);
  entry->addFnAttr(llvm::Attribute::NoUnwind);
  entry->addFnAttr(llvm::Attribute::MustProgress);
  entry->setMetadata(kernel_ir::kPointees, body->getMetadata(kernel_ir::kPointees));
  if (kernel.max_threads) kernel_ir::set_max_threads(*entry, *kernel.max_threads);
  if (body->arg_size() != own_parameters)
    return fail(Errc::compile_failed, "kernel '{}': Clang passes {} parameters as {}", kernel.name, own_parameters,
                body->arg_size());
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "", entry));
  std::vector<llvm::Value*> values;
  for (unsigned i = 0; i < kernel.parameters.size(); ++i) {
    const ParameterFact& parameter = kernel.parameters[i];
    llvm::Argument* argument = entry->getArg(i);
    argument->setName(parameter.name);
    const bool is_bound = is_handle(parameter);
    if (!is_bound) entry->addParamAttr(i, llvm::Attribute::NoUndef);
    if (parameter.binding && parameter.is_reference && parameter.size != 0) {
      entry->addParamAttr(i, llvm::Attribute::getWithAlignment(context, llvm::Align(parameter.align)));
      entry->addParamAttr(i, llvm::Attribute::getWithDereferenceableBytes(context, parameter.size));
    }
    if (i >= own_parameters) continue;
    llvm::Type* wanted = body->getArg(i)->getType();
    if (wanted == argument->getType()) {
      values.push_back(argument);
    } else if (llvm::Type* memory = body->getArg(i)->getParamByValType(); memory != nullptr && wanted->isPointerTy()) {
      llvm::AllocaInst* copy = builder.CreateAlloca(memory);
      copy->setAlignment(llvm::Align(16));
      // Behind a sampler's handle is its state, which an argument's is not known by.
      if (is_bound) builder.CreateStore(llvm::Constant::getNullValue(memory), copy);
      builder.CreateStore(argument, copy);
      values.push_back(copy);
    } else {
      return fail(Errc::compile_failed, "kernel '{}': parameter '{}' arrives in an unexpected form", kernel.name,
                  parameter.name);
    }
  }
  llvm::CallInst* call = builder.CreateCall(body, values);
  call->setAttributes(llvm::AttributeList());
  for (unsigned i = 0; i < own_parameters; ++i)
    if (llvm::Type* memory = body->getArg(i)->getParamByValType())
      call->addParamAttr(i, llvm::Attribute::getWithByValType(context, memory));
  builder.CreateRetVoid();
  return entry;
}

void replace_builtin_calls(llvm::Function& entry, const KernelFact& kernel) {
  llvm::Module& module = *entry.getParent();
  for (llvm::Function& function : llvm::make_early_inc_range(module)) {
    const auto asked = kernel_ir::parse_builtin_call(function.getName());
    if (!asked) continue;
    for (llvm::User* user : llvm::make_early_inc_range(function.users())) {
      auto* call = llvm::dyn_cast<llvm::CallInst>(user);
      if (call == nullptr || call->getFunction() != &entry) continue;
      for (unsigned i = 0; i < kernel.parameters.size(); ++i) {
        if (kernel.parameters[i].builtin != asked->attribute) continue;
        llvm::IRBuilder<> builder(call);
        llvm::Value* value = entry.getArg(i);
        const unsigned lane = asked->component == "y" ? 1 : asked->component == "z" ? 2 : 0;
        if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType()))
          value = lane < vector->getNumElements()
                      ? builder.CreateExtractElement(value, builder.getInt64(lane))
                      : static_cast<llvm::Value*>(builder.getIntN(kernel.parameters[i].bits, 0));
        else if (lane != 0)
          value = builder.getIntN(kernel.parameters[i].bits, 0);
        call->replaceAllUsesWith(builder.CreateZExtOrTrunc(value, call->getType()));
        call->eraseFromParent();
        break;
      }
    }
    if (function.use_empty()) function.eraseFromParent();
  }
}

/// What Clang passes by a pointer to a copy that the call makes: here the function makes it, as the attribute that asks
/// the call for it is not for calls between modules of AIR.
void copy_values(llvm::Function& function) {
  llvm::IRBuilder<> builder(&*function.getEntryBlock().getFirstInsertionPt());
  for (llvm::Argument& argument : function.args()) {
    llvm::Type* type = argument.getParamByValType();
    if (type == nullptr || argument.use_empty()) continue;
    llvm::AllocaInst* copy = builder.CreateAlloca(type);
    const llvm::Align align = argument.getParamAlign().valueOrOne();
    copy->setAlignment(align);
    argument.replaceAllUsesWith(copy);
    builder.CreateMemCpy(copy, align, &argument, align,
                         function.getDataLayout().getTypeAllocSize(type).getFixedValue());
  }
}

/// Functions of other objects, and this one for them: plain calls, without what Clang says to its own back ends.
void clean_externals(llvm::Module& module, const llvm::Function* own) {
  llvm::AttributeMask abi;
  for (const auto kind : {llvm::Attribute::ByVal, llvm::Attribute::StructRet, llvm::Attribute::ZExt,
                          llvm::Attribute::SExt, llvm::Attribute::NoUndef})
    abi.addAttribute(kind);
  for (llvm::Function& function : module) {
    const llvm::StringRef name = function.getName();
    if (kernel_ir::is_operation(name) || (!function.isDeclaration() && &function != own)) continue;
    function.setCallingConv(llvm::CallingConv::C);
    function.removeRetAttrs(abi);
    for (llvm::Argument& argument : function.args()) function.removeParamAttrs(argument.getArgNo(), abi);
    for (llvm::User* user : function.users())
      if (auto* call = llvm::dyn_cast<llvm::CallBase>(user)) {
        call->setCallingConv(llvm::CallingConv::C);
        call->removeRetAttrs(abi);
        for (unsigned i = 0; i < call->arg_size(); ++i) call->removeParamAttrs(i, abi);
      }
  }
}

/// A function that other objects may call. Its list stands for its entry until the object is made
/// (smelt/aot/object.hpp).
Result<void> build_external(llvm::Module& module, const MslKernel& source) {
  llvm::Function* function = module.getFunction(source.fact.symbol);
  if (function == nullptr) return fail(Errc::corrupt, "function '{}' is not there", source.fact.name);
  copy_values(*function);
  make_internal(module, *function);
  for (llvm::Function& one : module) prepare_operations(one);
  inline_all(module);
  SMELT_TRY_VOID(bind_constants(module, source.constants, *function));
  SMELT_TRY_VOID(own_address_tables(module));
  clean_externals(module, function);
  optimise(module);
  describe_constants(module, source.fact, source.constants);
  llvm::LLVMContext& context = module.getContext();
  module.getOrInsertNamedMetadata(fmt::format("air.{}", air::kExternalStage))
      ->addOperand(llvm::MDNode::get(context, {llvm::ConstantAsMetadata::get(function)}));
  return {};
}

Result<KernelModule> build_kernel(const MslKernel& source) {
  KernelModule result;
  result.context = std::make_unique<llvm::LLVMContext>();
  const auto message = std::make_shared<std::string>();
  install_diagnostics(*result.context, message);
  auto read = llvm::parseBitcodeFile(llvm::MemoryBufferRef(as_text(source.bitcode), ""), *result.context);
  if (!read) return fail(Errc::compile_failed, "{}", llvm::toString(read.takeError()));
  result.module = std::move(*read);
  llvm::Module& module = *result.module;

  clean_declarations(module);
  if (source.fact.is_external) {
    SMELT_TRY_VOID(build_external(module, source));
    if (!message->empty()) return fail(Errc::compile_failed, "{}", *message);
    return result;
  }
  KernelFact fact = source.fact;
  add_called_builtins(module, fact);
  SMELT_TRY(llvm::Function * entry, make_entry(module, fact, source.fact.parameters.size()));
  make_internal(module, *entry);
  clean_externals(module, nullptr);
  for (llvm::Function& function : module) prepare_operations(function);
  inline_all(module);
  replace_builtin_calls(*entry, fact);
  SMELT_TRY_VOID(bind_constants(module, source.constants, *entry));
  SMELT_TRY_VOID(own_address_tables(module));
  optimise(module);
  entry->addFnAttr(kernel_ir::kSimplified);
  describe_entry(*entry, fact, source.constants);
  describe_constants(module, fact, source.constants);
  if (!message->empty()) return fail(Errc::compile_failed, "{}", *message);
  return result;
}

}  // namespace

Result<KernelModule> make_kernel(const MslKernel& source) {
  std::optional<Result<KernelModule>> made;
  SMELT_TRY_VOID(run_safely(source.fact.name, [&] { made = build_kernel(source); }));
  return std::move(*made);
}

}  // namespace smelt::aot::msl
