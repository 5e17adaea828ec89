// The kernel's parameters in AIR's shape: buffers are pointers to device (1), constant (2) or threadgroup (3) memory,
// and a scalar is a `constant T&`: a pointer to space 2 whose value the entry loads first. What the metadata will say
// about a parameter is kept as attributes on it until entry_metadata.
//
//   void k(ptr %out, float %a, { i32, i32 } %s)   ->   void k(ptr AS1 %out, ptr AS2 %a, ptr AS2 %s)
//
// With --pack-scalars all scalars share one buffer: a struct of them, in order, behind the pointers.
#include "air/passes/support.hpp"
#include "air/passes/type_names.hpp"

#include "llvm/IR/AttributeMask.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Module.h"

namespace smelt::aot::air {
namespace {

enum class Form { as_is, device_pointer, constant_reference, by_value };

struct Plan {
  Form form = Form::as_is;
  llvm::Type* value = nullptr;  ///< what a constant reference points to, or what was passed by value
};

Result<Plan> plan_for(const PassContext& context, const llvm::Argument& argument) {
  llvm::Type* type = argument.getType();
  const llvm::Function& entry = *context.entry;
  const auto name = [&] {
    return fmt::format("argument {} ('{}') of kernel '{}'", argument.getArgNo(), to_view(argument.getName()),
                       to_view(entry.getName()));
  };
  if (entry.getAttributes().hasParamAttr(argument.getArgNo(), kBuiltin)) return Plan{};
  if (!type->isPointerTy()) {
    if (type->isTargetExtTy() || type->isTokenTy() || type->isMetadataTy())
      return fail(Errc::compile_failed, "{} has type {}, which cannot be bound", name(), text_of(*type));
    if (text_of(*type).find("double") != std::string::npos)
      return fail(Errc::compile_failed, "{} has type {}; no Apple GPU computes in double precision", name(),
                  text_of(*type));
    return Plan{Form::by_value, type};
  }
  llvm::Type* pointee = argument.getParamByValType() ? argument.getParamByValType() : argument.getParamByRefType();
  const unsigned space = type->getPointerAddressSpace();
  if (pointee) return Plan{Form::constant_reference, pointee};
  if (space == kThread) return Plan{Form::device_pointer, nullptr};
  if (space == kDevice || space == kConstant || space == kThreadgroup) return Plan{};
  return fail(Errc::compile_failed, "{} points to address space {}; AIR has 1 (device), 2 (constant), 3 (threadgroup)",
              name(), space);
}

void describe_reference(llvm::Function& entry, unsigned index, llvm::Type* value, const llvm::DataLayout& layout) {
  llvm::LLVMContext& context = entry.getContext();
  const auto set = [&](const char* key, const std::string& text) {
    if (!entry.getAttributes().hasParamAttr(index, key))
      entry.addParamAttr(index, llvm::Attribute::get(context, key, text));
  };
  llvm::Type* const held = memory_type(value);
  const uint64_t size = layout.getTypeAllocSize(held);
  const llvm::Align align = layout.getABITypeAlign(held);
  set(kArgTypeName, metal_type_name(value));
  set(kArgTypeSize, std::to_string(size));
  set(kArgTypeAlign, std::to_string(align.value()));
  set(kAccess, "read");
  for (const auto kind : {llvm::Attribute::NoUndef, llvm::Attribute::NoCapture, llvm::Attribute::ReadOnly})
    entry.addParamAttr(index, kind);
  entry.addParamAttr(index, llvm::Attribute::getWithAlignment(context, align));
  entry.addParamAttr(index, llvm::Attribute::getWithDereferenceableBytes(context, size));
}

void remove_value_attributes(llvm::Function& entry, unsigned index) {
  llvm::AttributeMask mask;
  for (const auto kind :
       {llvm::Attribute::ByVal, llvm::Attribute::ByRef, llvm::Attribute::StructRet, llvm::Attribute::InReg,
        llvm::Attribute::SExt, llvm::Attribute::ZExt, llvm::Attribute::Range, llvm::Attribute::Returned,
        llvm::Attribute::NoFPClass, llvm::Attribute::Nest, llvm::Attribute::Alignment, llvm::Attribute::StackAlignment,
        llvm::Attribute::Preallocated, llvm::Attribute::InAlloca})
    mask.addAttribute(kind);
  entry.removeParamAttrs(index, mask);
}

bool is_written(const llvm::Value& pointer) {
  for (const llvm::User* user : pointer.users()) {
    if (llvm::isa<llvm::LoadInst>(user)) continue;
    if (llvm::isa<llvm::GetElementPtrInst>(user) || llvm::isa<llvm::AddrSpaceCastInst>(user)) {
      if (is_written(*user)) return true;
      continue;
    }
    if (const auto* copy = llvm::dyn_cast<llvm::MemCpyInst>(user); copy && copy->getRawSource() == &pointer) continue;
    return true;
  }
  return false;
}

/// A by-value struct that the kernel changes gets a copy of its own in thread memory.
llvm::Value* own_copy(llvm::Function& entry, llvm::Value* source, llvm::Type* type) {
  const llvm::DataLayout& layout = entry.getDataLayout();
  llvm::AllocaInst* copy = make_alloca(entry, type, source->getName() + ".copy");
  llvm::IRBuilder<> builder(&entry.getEntryBlock(), after_allocas(entry));
  const llvm::Align align = layout.getABITypeAlign(type);
  builder.CreateMemCpy(copy, align, source, align, layout.getTypeAllocSize(type).getFixedValue());
  return copy;
}

struct Scalar {
  llvm::Argument* old;
  llvm::Type* type;
};

std::string struct_type_info(const llvm::StructLayout& layout, const std::vector<Scalar>& scalars) {
  std::string text;
  for (size_t i = 0; i < scalars.size(); ++i)
    text += fmt::format(
        "{};{};0;{};{}\n", layout.getElementOffset(static_cast<unsigned>(i)).getFixedValue(),
        scalars[i].old->getParent()->getDataLayout().getTypeAllocSize(memory_type(scalars[i].type)).getFixedValue(),
        metal_type_name(scalars[i].type), to_view(scalars[i].old->getName()));
  return text;
}

}  // namespace

Result<void> kernel_arguments(PassContext& context) {
  if (has_entry_metadata(context)) return {};
  llvm::LLVMContext& llvm_context = context.module.getContext();
  const llvm::DataLayout& layout = context.module.getDataLayout();
  const auto pointer = [&](unsigned space) { return llvm::PointerType::get(llvm_context, space); };

  std::vector<Plan> plans;
  std::vector<llvm::Type*> types;
  std::vector<int> from_old;
  std::vector<Scalar> packed;
  for (llvm::Argument& argument : context.entry->args()) {
    if (!argument.hasName()) argument.setName(fmt::format("arg{}", argument.getArgNo()));
    SMELT_TRY(const Plan plan, plan_for(context, argument));
    plans.push_back(plan);
    if (plan.form == Form::by_value && context.options.pack_scalars) {
      packed.push_back({&argument, plan.value});
      continue;
    }
    from_old.push_back(static_cast<int>(argument.getArgNo()));
    types.push_back(plan.form == Form::as_is ? argument.getType()
                                             : pointer(plan.form == Form::device_pointer ? kDevice : kConstant));
  }
  llvm::StructType* record = nullptr;
  std::string record_info;
  if (!packed.empty()) {
    std::vector<llvm::Type*> fields;
    for (const Scalar& scalar : packed) fields.push_back(memory_type(scalar.type));
    record = llvm::StructType::get(llvm_context, fields);
    record_info = struct_type_info(*layout.getStructLayout(record), packed);
    from_old.push_back(-1);
    types.push_back(pointer(kConstant));
  }

  // Uses of parameters whose type changes go through place holders until the new parameters exist.
  std::vector<llvm::Instruction*> holders(plans.size(), nullptr);
  for (llvm::Argument& argument : context.entry->args()) {
    if (plans[argument.getArgNo()].form == Form::as_is) continue;
    llvm::IRBuilder<> builder(&context.entry->getEntryBlock(), after_allocas(*context.entry));
    auto* holder = new llvm::FreezeInst(llvm::PoisonValue::get(argument.getType()), "", builder.GetInsertPoint());
    argument.replaceAllUsesWith(holder);
    holders[argument.getArgNo()] = holder;
  }
  const std::vector<std::string> packed_names = [&] {
    std::vector<std::string> names;
    for (const Scalar& scalar : packed) names.push_back(scalar.old->getName().str());
    return names;
  }();
  std::vector<unsigned> packed_indices;
  for (const Scalar& scalar : packed) packed_indices.push_back(scalar.old->getArgNo());

  llvm::Function* entry = replace_entry(context, types, from_old);
  for (size_t i = 0; i < from_old.size(); ++i) {
    if (from_old[i] < 0) continue;
    const Plan& plan = plans[static_cast<size_t>(from_old[i])];
    llvm::Instruction* holder = holders[static_cast<size_t>(from_old[i])];
    const auto index = static_cast<unsigned>(i);
    if (plan.form == Form::as_is) continue;
    remove_value_attributes(*entry, index);
    llvm::IRBuilder<> builder(holder);
    llvm::Value* now = entry->getArg(index);
    if (plan.form == Form::by_value) {
      describe_reference(*entry, index, plan.value, layout);
      now = load_value(builder, plan.value, now, layout);
    } else if (plan.form == Form::constant_reference) {
      describe_reference(*entry, index, plan.value, layout);
      if (is_written(*holder)) now = own_copy(*entry, now, plan.value);
      now = builder.CreateAddrSpaceCast(now, holder->getType());
    } else {
      now = builder.CreateAddrSpaceCast(now, holder->getType());
    }
    holder->replaceAllUsesWith(now);
    holder->eraseFromParent();
  }
  if (record) {
    llvm::Argument* arguments = entry->getArg(static_cast<unsigned>(types.size() - 1));
    arguments->setName("arguments");
    describe_reference(*entry, arguments->getArgNo(), record, layout);
    entry->addParamAttr(arguments->getArgNo(), llvm::Attribute::get(llvm_context, kArgStructType, record_info));
    for (size_t field = 0; field < packed.size(); ++field) {
      llvm::Instruction* holder = holders[packed_indices[field]];
      llvm::IRBuilder<> builder(holder);
      llvm::Value* place = builder.CreateStructGEP(record, arguments, static_cast<unsigned>(field));
      holder->replaceAllUsesWith(load_value(builder, packed[field].type, place, layout));
      holder->eraseFromParent();
    }
  }
  return {};
}

}  // namespace smelt::aot::air
