// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lowering of what stands outside functions: variables, signatures, aliases, named metadata.
#include "bitcode/lowering.hpp"
#include "kernel_ir/attributes.hpp"

#include "llvm/IR/GlobalAlias.h"
#include "llvm/IR/Intrinsics.h"

namespace smelt::aot::bitcode {

Lowering::Lowering(const llvm::Module& module, const LowerOptions& options, TypedModule& out)
    : module_(module), options_(options), out_(out), types_(out.types) {
  out_.source = &module;
  out_.metadata.keep_debug(options.keep_debug);
  i8_ = types_.integer(8);
  i32_ = types_.integer(32);
}

void Lowering::run() {
  if (!module_.getModuleInlineAsm().empty()) unsupported("module-level inline assembly");
  if (!module_.ifunc_empty()) unsupported(fmt::format("ifunc '{}'", module_.ifunc_begin()->getName().str()));
  size_t instructions = 0;  // LLVM's own count looks at each one's kind
  for (const llvm::Function& function : module_)
    for (const llvm::BasicBlock& block : function) instructions += block.size();
  out_.values.reserve(instructions + instructions / 2 + 256);
  out_.records.reserve(instructions + instructions / 4 + 64);
  out_.fields.reserve(instructions * 6);
  declare_variables();
  declare_functions();
  declare_aliases();
  lower_initializers();
  lower_named_metadata();
  const size_t functions = out_.functions.size();  // debug intrinsics may be added while bodies are lowered
  for (uint32_t i = 0; i < functions && !out_.trouble; ++i)
    if (!out_.functions[i].source->isDeclaration()) lower_body(i);
  out_.metadata.number();
}

MetadataRef Lowering::metadata(const llvm::Metadata* metadata) {
  auto constant_of = [this](const llvm::Constant* value) -> ValueRef {
    const bool outer = std::exchange(at_module_level_, true);
    value = llvm::cast<llvm::Constant>(skip_no_op(value));
    const auto global = globals_.find(value);
    const ValueRef ref = global != globals_.end() ? global->second : constant(value, types_.of(value->getType()));
    at_module_level_ = outer;
    return ref;
  };
  return out_.metadata.add(metadata, constant_of, out_.trouble);
}

template <class Source>
std::vector<Attachment> Lowering::attachments_of(const Source& source) {
  std::vector<Attachment> attachments;
  llvm::SmallVector<std::pair<unsigned, llvm::MDNode*>, 4> all;
  source.getAllMetadata(all);
  const unsigned pointees = module_.getMDKindID(kernel_ir::kPointees);  // spelled as the types of parameters
  for (auto [kind, node] : all)
    if (kind != pointees)
      if (const MetadataRef ref = metadata(node)) attachments.push_back({kind, ref});
  return attachments;
}

// ---- variables ------------------------------------------------------------------------------------------------------

TypeId Lowering::variable_type(const llvm::GlobalVariable& variable) {
  llvm::Type* type = variable.getValueType();
  const auto* array = llvm::dyn_cast<llvm::ArrayType>(type);
  const bool constructors = variable.getName() == "llvm.global_ctors" || variable.getName() == "llvm.global_dtors";
  if (!constructors || !array) return types_.of(type);
  const auto* row = llvm::dyn_cast<llvm::StructType>(array->getElementType());
  if (!row || row->getNumElements() != 3) return types_.of(type);
  // The verifier wants void ()* in the second field, not i8*.
  const TypeId function = types_.function(types_.scalar(TypeKind::void_type), {}, false);
  const TypeId fields[] = {i32_, types_.pointer(function, 0), types_.canonical_pointer(0)};
  return types_.array(array->getNumElements(), types_.literal_struct(fields));
}

void Lowering::declare_variables() {
  for (const llvm::GlobalVariable& variable : module_.globals()) {
    if (variable.isThreadLocal()) unsupported(fmt::format("thread-local variable '{}'", variable.getName().str()));
    Variable entry;
    entry.source = &variable;
    entry.type = variable_type(variable);
    entry.value = new_value(types_.pointer(entry.type, variable.getAddressSpace()));
    globals_[&variable] = entry.value;
    if (variable.hasAttributes())
      out_.attributes.list(variable.getAttributesAsList(llvm::AttributeList::FunctionIndex));
    out_.variables.push_back(std::move(entry));
  }
}

void Lowering::lower_initializers() {
  for (Variable& variable : out_.variables)
    if (variable.source->hasInitializer())
      variable.initializer = constant(variable.source->getInitializer(), variable.type);
  for (Alias& alias : out_.aliases) alias.aliasee = constant(alias.source->getAliasee(), type_of(alias.value));
}

// ---- functions ------------------------------------------------------------------------------------------------------

namespace {

// byval, sret, byref and inalloca name a type that the verifier compares with the pointee.
llvm::Type* pointee_in_attributes(llvm::AttributeSet attributes) {
  using llvm::Attribute;
  for (const auto kind : {Attribute::ByVal, Attribute::StructRet, Attribute::ByRef, Attribute::InAlloca})
    if (attributes.hasAttribute(kind)) return attributes.getAttribute(kind).getValueAsType();
  return nullptr;
}

}  // namespace

Signature Lowering::signature_of(const llvm::Function& function, const HandleParameters& handles) {
  Signature signature;
  llvm::FunctionType* type = function.getFunctionType();
  const bool named = function.isIntrinsic() || function.getName().starts_with("air.");
  signature.result = named ? result_by_name(types_, function) : types_.of(type->getReturnType());
  for (unsigned i = 0; i < type->getNumParams(); ++i) {
    llvm::Type* parameter = type->getParamType(i);
    TypeId want = types_.of(parameter);
    if (parameter->isPointerTy()) {
      const unsigned space = parameter->getPointerAddressSpace();
      if (llvm::Type* fixed = pointee_in_attributes(function.getAttributes().getParamAttrs(i))) {
        want = types_.pointer(types_.of(fixed), space);
      } else if (named) {
        want = types_.pointer(pointee_by_name(types_, function, i), space);
      } else if (auto handle = handles.find({&function, i}); handle != handles.end()) {
        want = handle->second;
      }
    }
    signature.parameters.push_back(want);
  }
  signature.function = types_.function(signature.result, signature.parameters, type->isVarArg());
  return signature;
}

Signature Lowering::signature_of_call(const llvm::CallBase& call) {
  Signature signature;
  llvm::FunctionType* type = call.getFunctionType();
  signature.result = types_.of(type->getReturnType());
  for (unsigned i = 0; i < type->getNumParams(); ++i) {
    llvm::Type* parameter = type->getParamType(i);
    llvm::Type* fixed =
        parameter->isPointerTy() ? pointee_in_attributes(call.getAttributes().getParamAttrs(i)) : nullptr;
    signature.parameters.push_back(fixed ? types_.pointer(types_.of(fixed), parameter->getPointerAddressSpace())
                                         : types_.of(parameter));
  }
  signature.function = types_.function(signature.result, signature.parameters, type->isVarArg());
  return signature;
}

void Lowering::declare_functions() {
  const HandleParameters handles = entry_handles(types_, module_);
  for (const llvm::Function& function : module_) {
    if (!options_.keep_debug && function.getName().starts_with("llvm.dbg.")) continue;
    out_.trouble.enter(&function);
    if (function.hasPrefixData() || function.hasPrologueData()) unsupported("prefix or prologue data");
    switch (function.getIntrinsicID()) {
      case llvm::Intrinsic::masked_gather:
      case llvm::Intrinsic::masked_scatter:
        unsupported("gather and scatter: vectors of typed pointers are not written");
        break;
      default:
        break;
    }
    FunctionHeader header;
    header.source = &function;
    header.name = function.isIntrinsic() ? typed_intrinsic_name(function.getName()) : function.getName().str();
    header.signature = signature_of(function, handles);
    header.value = new_value(types_.pointer(header.signature.function, function.getAddressSpace()));
    header.attributes = out_.attributes.list(function.getAttributes());
    globals_[&function] = header.value;
    function_index_[&function] = static_cast<uint32_t>(out_.functions.size());
    if (options_.keep_debug && function.getName().starts_with("llvm.dbg."))
      debug_functions_[function.getName()] = static_cast<uint32_t>(out_.functions.size());
    out_.functions.push_back(std::move(header));
  }
  out_.trouble.enter(nullptr);
}

ValueRef Lowering::declare_debug_function(llvm::StringRef name, unsigned parameters) {
  auto [at, fresh] = debug_functions_.try_emplace(name, static_cast<uint32_t>(out_.functions.size()));
  if (fresh) {
    FunctionHeader header;
    header.name = name.str();
    header.signature.result = types_.scalar(TypeKind::void_type);
    header.signature.parameters.assign(parameters, types_.scalar(TypeKind::metadata));
    header.signature.function = types_.function(header.signature.result, header.signature.parameters, false);
    header.value = new_value(types_.pointer(header.signature.function, 0));
    out_.functions.push_back(std::move(header));
  }
  return out_.functions[at->second].value;
}

void Lowering::declare_aliases() {
  for (const llvm::GlobalAlias& alias : module_.aliases()) {
    Alias entry;
    entry.source = &alias;
    // A function's alias has the function's typed signature, which its IR type does not tell.
    const auto* target = llvm::dyn_cast<llvm::Function>(skip_no_op(alias.getAliasee()));
    const auto known = target ? function_index_.find(target) : function_index_.end();
    entry.type = known != function_index_.end() && target->getFunctionType() == alias.getValueType()
                     ? out_.functions[known->second].signature.function
                     : types_.of(alias.getValueType());
    entry.value = new_value(types_.pointer(entry.type, alias.getAddressSpace()));
    globals_[&alias] = entry.value;
    out_.aliases.push_back(std::move(entry));
  }
}

// ---- metadata -------------------------------------------------------------------------------------------------------

void Lowering::lower_named_metadata() {
  for (const llvm::NamedMDNode& list : module_.named_metadata())
    for (const llvm::MDNode* node : list.operands())
      if (keep_named_operand(list, *node, options_.keep_debug)) metadata(node);
  for (Variable& variable : out_.variables) variable.attachments = attachments_of(*variable.source);
  for (FunctionHeader& header : out_.functions)
    if (header.source->isDeclaration()) header.attachments = attachments_of(*header.source);
}

// ---- the whole ------------------------------------------------------------------------------------------------------

Result<std::unique_ptr<TypedModule>> lower(const llvm::Module& module, const LowerOptions& options,
                                           LowerStatistics* statistics) {
  auto out = std::make_unique<TypedModule>(options.below_air_2_6);
  Lowering lowering(module, options, *out);
  lowering.run();
  if (statistics) *statistics = lowering.statistics();
  if (out->trouble) return tl::unexpected(out->trouble.take());
  return out;
}

}  // namespace smelt::aot::bitcode
