// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "msl/kernel/entry_points.hpp"

#include "interface/entry.hpp"
#include "kernel_ir/attributes.hpp"
#include "kernel_ir/builtins.hpp"
#include "kernel_ir/handles.hpp"
#include "llvm_support/diagnostics.hpp"
#include "msl/kernel/describe_entry.hpp"
#include "msl/kernel/hardware_variables.hpp"
#include "msl/kernel/imageblocks.hpp"
#include "msl/kernel/keep_helpers.hpp"
#include "msl/kernel/mesh_outputs.hpp"
#include "msl/kernel/optimise.hpp"
#include "msl/kernel/ray_tracing.hpp"
#include "msl/kernel/thread_variables.hpp"
#include "msl/kernel/value_type.hpp"
#include "msl/safely.hpp"
#include "ops/intrinsics.hpp"
#include "ops/texture_operation.hpp"

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
  const air::Stages stages = air::stages_of(std::string_view(operation));
  if (stages == air::kInMeshes || stages == air::kInObjects) return false;  // what it writes is its thread's
  const std::vector<air::Signature> forms = air::forms(operation);
  return forms.empty() || std::any_of(forms.begin(), forms.end(), [](const air::Signature& form) {
           switch (form.effect) {
             case air::Effect::pure:
             case air::Effect::atomic:
             case air::Effect::out_argument:
             case air::Effect::texture_read:
             case air::Effect::texture_write:
             case air::Effect::texture_atomic:
             case air::Effect::tile_read:
             case air::Effect::tile_write:
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

bool is_vector(std::string_view builtin) {
  const kernel_ir::BuiltinRow* row = kernel_ir::find_builtin(builtin);
  return row && row->is_vector;
}

/// Hardware values that helpers of the library read by call, which the kernel does not have as parameters: they become
/// parameters behind its own, of no parameter of the source (UINT_MAX). A visible function has the parameters that its
/// callers know.
Result<void> add_called_builtins(const llvm::Module& module, KernelFact& kernel) {
  std::set<std::string> attributes;
  for (const llvm::Function& function : module)
    if (const auto call = kernel_ir::parse_builtin_call(function.getName())) attributes.insert(call->attribute.str());
  for (const std::string& attribute : attributes) {
    const auto same = [&](const ParameterFact& one) { return one.builtin == attribute; };
    if (std::any_of(kernel.parameters.begin(), kernel.parameters.end(), same)) continue;
    if (kernel.stage == Stage::visible)
      return fail(Errc::compile_failed,
                  "visible function '{}' calls a function that needs '{}', which only its callers get", kernel.name,
                  attribute);
    ParameterFact fact;
    fact.binding = std::nullopt;
    fact.name = fact.builtin = attribute;
    fact.source = UINT_MAX;
    unsigned lanes = 0;
    for (const ParameterFact& other : kernel.parameters)
      if (!other.binding && is_vector(other.builtin)) lanes = std::max(lanes, other.value.lanes);
    fact.value.lanes = is_vector(attribute) ? (lanes == 0 ? 3 : lanes) : 1;
    fact.type_name = fact.value.lanes == 1 ? "uint" : fmt::format("uint{}", fact.value.lanes);
    kernel.parameters.push_back(std::move(fact));
  }
  return {};
}

/// Of all results, packed, as Apple's compiler returns them; of a value that is no structure, that value.
llvm::Type* result_type(llvm::LLVMContext& context, const KernelFact& kernel) {
  if (kernel.results.empty()) return llvm::Type::getVoidTy(context);
  if (!kernel.results[0].offset) return value_type(context, kernel.results[0].value);
  std::vector<llvm::Type*> types;
  for (const ResultFact& result : kernel.results) types.push_back(value_type(context, result.value));
  return llvm::StructType::get(context, types, /*isPacked=*/true);
}

/// An array of textures or samplers is the address of their handles, which nobody writes (docs/formats/air.md 1.6).
void describe_array(llvm::Argument& argument, const ParameterFact& parameter) {
  llvm::LLVMContext& context = argument.getContext();
  const unsigned space = *parameter.binding == BindingClass::sampler ? 2 : 1;
  llvm::Type* const handles =
      llvm::ArrayType::get(kernel_ir::handle_type(context, parameter.type_name, space), parameter.count);
  argument.addAttr(llvm::Attribute::getWithByValType(context, handles));
  for (const auto kind : {llvm::Attribute::NoAlias, llvm::Attribute::NoCapture, llvm::Attribute::ReadOnly})
    argument.addAttr(kind);
  // Without it, what the source copies would stay a copy.
  argument.addAttr(llvm::Attribute::getWithAlignment(context, llvm::Align(8)));
}

/// The entry with AIR's signature, without a body.
Result<llvm::Function*> declare_entry(llvm::Module& module, const KernelFact& kernel, llvm::Function& body) {
  llvm::LLVMContext& context = module.getContext();
  std::vector<llvm::Type*> types;
  for (const ParameterFact& parameter : kernel.parameters)
    types.push_back(!parameter.binding ? value_type(context, parameter.value)
                                       : static_cast<llvm::Type*>(llvm::PointerType::get(context, parameter.space)));
  if (body.getName() == kernel.name) body.setName(body.getName() + ".body");
  auto* entry = llvm::Function::Create(llvm::FunctionType::get(result_type(context, kernel), types, false),
                                       llvm::GlobalValue::ExternalLinkage, kernel.name, module);
  if (entry->getName() != kernel.name)
    return fail(Errc::compile_failed, "kernel '{}' has the name of another function of the source", kernel.name);
  entry->addFnAttr(kernel_ir::kKernel);
  entry->addFnAttr(llvm::Attribute::NoUnwind);
  entry->addFnAttr(llvm::Attribute::MustProgress);
  entry->setMetadata(kernel_ir::kPointees, body.getMetadata(kernel_ir::kPointees));
  // Its pointers may be to one object: nobody promises for callers.
  if (kernel.stage == Stage::visible) entry->addFnAttr(kernel_ir::kStage, "visible");
  if (kernel.max_threads) kernel_ir::set_max_threads(*entry, *kernel.max_threads);
  for (unsigned i = 0; i < kernel.parameters.size(); ++i) {
    const ParameterFact& parameter = kernel.parameters[i];
    entry->getArg(i)->setName(parameter.name);
    // Not a buffer, whatever it is; described when the code is finished.
    if (!parameter.words.empty()) kernel_ir::set_parameter(*entry, i, kernel_ir::kStageInput, "");
    if (parameter.count != 0) describe_array(*entry->getArg(i), parameter);
    // Apple's compiler does not say that values of the stage before are there.
    const bool is_object =
        is_handle(parameter) || parameter.value.is_wrapped || (parameter.value.space && parameter.size == 0);
    if (!is_object && !parameter.offset) entry->addParamAttr(i, llvm::Attribute::NoUndef);
    if ((parameter.binding || parameter.value.space == 6) && parameter.is_reference && parameter.size != 0) {
      entry->addParamAttr(i, llvm::Attribute::getWithAlignment(context, llvm::Align(parameter.align)));
      // What a function constant takes away is not there, and a load of it may not leave its condition.
      entry->addParamAttr(i, parameter.condition.empty()
                                 ? llvm::Attribute::getWithDereferenceableBytes(context, parameter.size)
                                 : llvm::Attribute::getWithDereferenceableOrNullBytes(context, parameter.size));
    }
  }
  return entry;
}

/// Hands AIR's parameters to Clang's function in the shape that it expects, and what it returns back. Vectors and
/// structures are classes to Clang and go behind pointers.
class EntryBody {
 public:
  EntryBody(llvm::Function& entry, llvm::Function& body, const KernelFact& kernel)
      : entry_(entry),
        body_(body),
        kernel_(kernel),
        builder_(llvm::BasicBlock::Create(entry.getContext(), "", &entry)) {
    if (body.hasStructRetAttr()) result_ = make_copy(body.getParamStructRetType(0));
  }

  Result<void> make() {
    const unsigned first = result_ != nullptr ? 1 : 0;
    if (body_.arg_size() != kernel_.source_parameters + first)
      return fail(Errc::compile_failed, "kernel '{}': Clang passes {} parameters as {}", kernel_.name,
                  kernel_.source_parameters, body_.arg_size() - first);
    std::vector<llvm::Value*> values(body_.arg_size());
    if (result_ != nullptr) values[0] = result_;
    std::set<unsigned> whole;  // what the body gets as it is
    for (unsigned i = 0; i < kernel_.parameters.size(); ++i)
      if (kernel_.parameters[i].count != 0) {
        const unsigned at = kernel_.parameters[i].source + first;
        whole.insert(at);
        values[at] = entry_.getArg(i);
      }
    // A structure without members has no parameter of AIR's.
    for (unsigned i = first; i < values.size(); ++i)
      if (llvm::Type* memory = body_.getParamByValType(i); memory != nullptr && !whole.contains(i))
        values[i] = make_copy(memory);
    for (unsigned i = 0; i < kernel_.parameters.size(); ++i) {
      const ParameterFact& parameter = kernel_.parameters[i];
      if (parameter.source == UINT_MAX || parameter.count != 0) continue;
      if (!pass(parameter, *entry_.getArg(i), values[parameter.source + first]))
        return fail(Errc::compile_failed, "kernel '{}': parameter '{}' arrives in an unexpected form", kernel_.name,
                    parameter.name);
    }
    llvm::CallInst* call = builder_.CreateCall(&body_, values);
    call->setAttributes(llvm::AttributeList());
    for (unsigned i = 0; i < body_.arg_size(); ++i) {
      if (llvm::Type* memory = body_.getParamByValType(i))
        call->addParamAttr(i, llvm::Attribute::getWithByValType(entry_.getContext(), memory));
      if (llvm::Type* memory = body_.getParamStructRetType(i))
        call->addParamAttr(i, llvm::Attribute::getWithStructRetType(entry_.getContext(), memory));
    }
    return give_back(*call);
  }

 private:
  llvm::AllocaInst* make_copy(llvm::Type* memory) {
    llvm::AllocaInst* copy = builder_.CreateAlloca(memory);
    copy->setAlignment(llvm::Align(16));
    return copy;
  }

  llvm::Value* member(llvm::Value* copy, uint64_t offset) {
    return offset == 0 ? copy : builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), copy, offset);
  }

  /// `value` is what the body gets: a copy in memory, or nothing yet.
  bool pass(const ParameterFact& parameter, llvm::Argument& argument, llvm::Value*& value) {
    if (value == nullptr) {
      const unsigned at = parameter.source + (result_ != nullptr ? 1 : 0);
      llvm::Value* given = &argument;
      if (given->getType()->isStructTy()) given = builder_.CreateExtractValue(given, 0);
      if (body_.getArg(at)->getType() != given->getType()) return false;
      value = given;
      return true;
    }
    store(&argument, value, parameter.offset.value_or(0));
    return true;
  }

  /// An array element by element; of a handle's structure the handle.
  void store(llvm::Value* value, llvm::Value* copy, uint64_t offset) {
    llvm::Type* const type = value->getType();
    if (type->isStructTy()) return store(builder_.CreateExtractValue(value, 0), copy, offset);
    if (auto* array = llvm::dyn_cast<llvm::ArrayType>(type)) {
      const uint64_t size = entry_.getDataLayout().getTypeAllocSize(array->getElementType()).getFixedValue();
      for (unsigned i = 0; i < array->getNumElements(); ++i)
        store(builder_.CreateExtractValue(value, i), copy, offset + i * size);
      return;
    }
    if (type->isIntegerTy(1)) value = builder_.CreateZExt(value, builder_.getInt8Ty());
    builder_.CreateStore(value, member(copy, offset));
  }

  Result<void> give_back(llvm::CallInst& call) {
    if (entry_.getReturnType()->isVoidTy()) {
      builder_.CreateRetVoid();
      return {};
    }
    if (result_ == nullptr) {
      if (call.getType() != entry_.getReturnType())
        return fail(Errc::compile_failed, "'{}' returns its value in an unexpected form", kernel_.name);
      builder_.CreateRet(&call);
      return {};
    }
    llvm::Value* all = llvm::PoisonValue::get(entry_.getReturnType());
    for (unsigned i = 0; i < kernel_.results.size(); ++i) {
      const ResultFact& result = kernel_.results[i];
      llvm::Value* one = load(value_type(entry_.getContext(), result.value), result.offset.value_or(0));
      all = result.offset ? builder_.CreateInsertValue(all, one, i) : one;
    }
    builder_.CreateRet(all);
    return {};
  }

  llvm::Value* load(llvm::Type* type, uint64_t offset) {
    auto* array = llvm::dyn_cast<llvm::ArrayType>(type);
    if (array == nullptr && type->isIntegerTy(1))
      return builder_.CreateTrunc(builder_.CreateLoad(builder_.getInt8Ty(), member(result_, offset)), type);
    if (array == nullptr) return builder_.CreateLoad(type, member(result_, offset));
    llvm::Value* all = llvm::PoisonValue::get(array);
    const uint64_t size = entry_.getDataLayout().getTypeAllocSize(array->getElementType()).getFixedValue();
    for (unsigned i = 0; i < array->getNumElements(); ++i)
      all = builder_.CreateInsertValue(all, load(array->getElementType(), offset + i * size), i);
    return all;
  }

  llvm::Function& entry_;
  llvm::Function& body_;
  const KernelFact& kernel_;
  llvm::IRBuilder<> builder_;
  llvm::Value* result_ = nullptr;  ///< where the body puts what it returns; null when it returns it
};

Result<llvm::Function*> make_entry(llvm::Module& module, const KernelFact& kernel) {
  llvm::Function* body = module.getFunction(kernel.symbol);
  if (body == nullptr) return fail(Errc::corrupt, "there is no kernel '{}'", kernel.name);
  SMELT_TRY(llvm::Function * entry, declare_entry(module, kernel, *body));
  SMELT_TRY_VOID(EntryBody(*entry, *body, kernel).make());
  // Clang says of every reference that its object is there.
  llvm::AttributeMask there;
  for (const auto kind : {llvm::Attribute::Dereferenceable, llvm::Attribute::NonNull}) there.addAttribute(kind);
  const unsigned first = body->hasStructRetAttr() ? 1 : 0;
  for (const ParameterFact& parameter : kernel.parameters)
    if (!parameter.condition.empty() && parameter.source != UINT_MAX && parameter.source + first < body->arg_size())
      body->removeParamAttrs(parameter.source + first, there);
  return entry;
}

/// What only stages with threadgroups declare. The optimiser may leave nothing of it.
Result<void> check_stage_variables(const llvm::Module& module, const KernelFact& kernel) {
  for (const llvm::GlobalVariable& global : module.globals())
    if (!has_threadgroups(kernel.stage) && global.getAddressSpace() == 3 && !global.use_empty())
      return fail(Errc::compile_failed,
                  "{} function '{}' has a variable in address space 'threadgroup', which only kernels, mesh and object "
                  "functions may declare",
                  stage_word(kernel.stage), kernel.name);
  return {};
}

/// Such as derivatives, which only fragments have neighbours for.
Result<void> check_stage_operations(const llvm::Module& module, const KernelFact& kernel) {
  for (const llvm::Function& function : module) {
    const llvm::StringRef name = function.getName();
    if (function.use_empty() || !name.starts_with("air.")) continue;
    const air::Stages stages = air::stages_of(std::string_view(name));
    if ((stages & air::bit_of(kernel.stage)) == 0)
      return fail(Errc::compile_failed, "{} function '{}' calls '{}', which only {} functions may",
                  stage_word(kernel.stage), kernel.name, name.drop_front(4).split('.').first.str(),
                  air::word_of(stages));
  }
  return {};
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
                      : static_cast<llvm::Value*>(builder.getIntN(kernel.parameters[i].value.bits, 0));
        else if (lane != 0)
          value = builder.getIntN(kernel.parameters[i].value.bits, 0);
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

void copy_values_of_kept(llvm::Module& module) {
  for (llvm::Function& function : module)
    if (is_kept(function)) copy_values(function);
}

/// Calls of functions in a table: plain ones.
void clean_indirect(llvm::Module& module, const llvm::AttributeMask& abi) {
  for (llvm::Function& function : module)
    for (llvm::BasicBlock& block : function)
      for (llvm::Instruction& instruction : block) {
        auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
        if (call == nullptr || llvm::isa<llvm::Function>(call->getCalledOperand())) continue;
        call->removeRetAttrs(abi);
        for (unsigned i = 0; i < call->arg_size(); ++i) call->removeParamAttrs(i, abi);
      }
}

/// Functions of other objects, this one for them, and those that stay functions: plain calls, without what Clang says
/// to its own back ends.
void clean_externals(llvm::Module& module, const llvm::Function* own) {
  llvm::AttributeMask abi;
  for (const auto kind : {llvm::Attribute::ByVal, llvm::Attribute::StructRet, llvm::Attribute::ZExt,
                          llvm::Attribute::SExt, llvm::Attribute::NoUndef})
    abi.addAttribute(kind);
  clean_indirect(module, abi);
  for (llvm::Function& function : module) {
    const llvm::StringRef name = function.getName();
    if (kernel_ir::is_operation(name) || (!function.isDeclaration() && &function != own && !is_kept(function)))
      continue;
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
  if (function == nullptr) return fail(Errc::corrupt, "there is no function '{}'", source.fact.name);
  copy_values(*function);
  make_internal(module, *function);
  for (llvm::Function& one : module) prepare_operations(one);
  inline_all(module);
  copy_values_of_kept(module);
  SMELT_TRY_VOID(lower_ray_tracing(module));
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

/// smelt.air.control_point(to, index, points) becomes a call of the function that the API makes, and each member goes
/// where the source's structure has it.
Result<void> read_control_points(llvm::Module& module, const KernelFact& kernel) {
  llvm::Function* neutral = module.getFunction("smelt.air.control_point");
  if (neutral == nullptr) return {};
  const auto points = std::find_if(kernel.parameters.begin(), kernel.parameters.end(),
                                   [](const ParameterFact& one) { return !one.members.empty(); });
  llvm::LLVMContext& context = module.getContext();
  for (llvm::User* user : llvm::make_early_inc_range(neutral->users())) {
    auto* call = llvm::cast<llvm::CallInst>(user);
    if (points == kernel.parameters.end())
      return fail(Errc::compile_failed, "{} function '{}' reads control points, which it is not given",
                  stage_word(kernel.stage), kernel.name);
    std::vector<llvm::Type*> types;
    for (const ResultFact& member : points->members) types.push_back(value_type(context, member.value));
    llvm::IRBuilder<> builder(call);
    llvm::FunctionCallee callee = module.getOrInsertFunction(
        points->words[3].substr(1),
        llvm::FunctionType::get(llvm::StructType::get(context, types),
                                {builder.getInt32Ty(), llvm::PointerType::get(context, 0)}, false));
    auto* function = llvm::cast<llvm::Function>(callee.getCallee());
    function->setSection("air.externally_defined");
    function->setOnlyReadsMemory();
    for (const auto kind : {llvm::Attribute::Convergent, llvm::Attribute::MustProgress, llvm::Attribute::NoFree,
                            llvm::Attribute::NoUnwind, llvm::Attribute::WillReturn})
      function->addFnAttr(kind);
    llvm::CallInst* all = builder.CreateCall(callee, {call->getArgOperand(1), call->getArgOperand(2)});
    for (const auto kind : {llvm::Attribute::Convergent, llvm::Attribute::NoUnwind}) all->addFnAttr(kind);
    for (unsigned i = 0; i < types.size(); ++i) {
      llvm::Value* value = builder.CreateExtractValue(all, i);
      llvm::Value* to = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), call->getArgOperand(0),
                                                           points->members[i].offset.value_or(0));
      builder.CreateStore(value, to);
    }
    call->eraseFromParent();
  }
  neutral->eraseFromParent();
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
  SMELT_TRY_VOID(add_hardware_values(module, fact));
  SMELT_TRY_VOID(add_called_builtins(module, fact));
  SMELT_TRY(llvm::Function * entry, make_entry(module, fact));
  make_internal(module, *entry);
  for (llvm::Function& function : module) prepare_operations(function);
  inline_all(module);
  copy_values_of_kept(module);
  SMELT_TRY_VOID(read_hardware_values(module, *entry));
  clean_externals(module, nullptr);
  SMELT_TRY_VOID(lower_ray_tracing(module));
  SMELT_TRY_VOID(read_control_points(module, fact));
  SMELT_TRY_VOID(write_mesh_outputs(module, fact));
  if (uses_imageblocks(module)) fold_constants(module);
  SMELT_TRY_VOID(lower_imageblocks(module, fact));
  SMELT_TRY_VOID(check_stage_variables(module, fact));
  replace_builtin_calls(*entry, fact);
  SMELT_TRY_VOID(bind_constants(module, source.constants, *entry));
  SMELT_TRY_VOID(own_address_tables(module));
  optimise(module);
  SMELT_TRY_VOID(check_stage_operations(module, fact));
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
