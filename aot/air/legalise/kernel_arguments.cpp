// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernel's parameters in AIR's shape: buffers are pointers to device (1), constant (2) or threadgroup (3) memory,
// and a scalar is a `constant T&`: a pointer to space 2 whose value the entry loads first. What the metadata will say
// about a parameter is kept as attributes on it until entry_metadata.
//
//   void k(ptr %out, float %a, { i32, i32 } %s)   ->   void k(ptr AS1 %out, ptr AS2 %a, ptr AS2 %s)
//
// With --pack-scalars all scalars share one buffer: a struct of them, in order, behind the pointers. Where Metal has no
// slot left for an argument (foreach kernels of optimisers take up to a thousand pointers), the last slot is an
// argument buffer of it and all that follow (smelt/schema/further_arguments.hpp).
#include "smelt/schema/further_arguments.hpp"

#include "interface/limits.hpp"
#include "kernel_ir/struct_fields.hpp"
#include "legalise/support.hpp"
#include "legalise/type_names.hpp"

#include "llvm/IR/AttributeMask.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Module.h"

namespace smelt::aot::air {
namespace {

enum class Form { as_is, device_pointer, constant_reference, by_value };

struct ParameterPlan {
  Form form = Form::as_is;
  llvm::Type* value = nullptr;  ///< what a constant reference points to, or what was passed by value
};

Result<ParameterPlan> plan_for(const PassContext& context, const llvm::Argument& argument) {
  llvm::Type* type = argument.getType();
  const llvm::Function& entry = *context.entry;
  const auto name = [&] {
    return fmt::format("argument {} ('{}') of kernel '{}'", argument.getArgNo(), argument.getName(), entry.getName());
  };
  for (const char* given : {kernel_ir::kBuiltin, kernel_ir::kStageInput, kernel_ir::kHandle})
    if (entry.getAttributes().hasParamAttr(argument.getArgNo(), given)) return ParameterPlan{};
  if (!type->isPointerTy()) {
    if (type->isTargetExtTy() || type->isTokenTy() || type->isMetadataTy())
      return fail(Errc::compile_failed, "{} has type {}, which cannot be bound", name(), text_of(*type));
    if (const llvm::Type* wide = wide_float_in(type); wide && !(wide->isDoubleTy() && context.options.cpu_only))
      return fail(Errc::compile_failed, "{} has type {}; no Apple GPU computes in double precision{}", name(),
                  text_of(*type), wide->isDoubleTy() ? " (--cpu-only compiles it for the CPU alone)" : "");
    return ParameterPlan{Form::by_value, type};
  }
  llvm::Type* pointee = argument.getParamByValType() ? argument.getParamByValType() : argument.getParamByRefType();
  const unsigned space = type->getPointerAddressSpace();
  if (pointee) return ParameterPlan{Form::constant_reference, pointee};
  if (space == kThread) return ParameterPlan{Form::device_pointer, nullptr};
  if (space == kDevice || space == kConstant || space == kThreadgroup) return ParameterPlan{};
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
  set(kernel_ir::kArgTypeName, metal_type_name(value));
  set(kernel_ir::kArgTypeSize, std::to_string(size));
  set(kernel_ir::kArgTypeAlign, std::to_string(align.value()));
  set(kernel_ir::kAccess, "read");
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
llvm::Value* own_copy(llvm::Function& entry, llvm::IRBuilder<>& builder, llvm::Value* source, llvm::Type* type) {
  const llvm::DataLayout& layout = entry.getDataLayout();
  llvm::AllocaInst* copy = make_alloca(entry, type, source->getName() + ".copy");
  const llvm::Align align = layout.getABITypeAlign(type);
  builder.CreateMemCpy(copy, align, source, align, layout.getTypeAllocSize(type).getFixedValue());
  return copy;
}

/// An argument that is a member of the record.
struct Member {
  llvm::Argument* old;
  llvm::Type* type;  ///< that of the value in memory; a pointer of a buffer

  bool is_pointer() const { return type->isPointerTy(); }
};

std::string struct_type_info(const llvm::StructLayout& layout, const std::vector<Member>& members,
                             bool is_argument_buffer) {
  kernel_ir::StructFields described;
  described.is_argument_buffer = is_argument_buffer;
  for (size_t i = 0; i < members.size(); ++i) {
    const auto& [old, type] = members[i];
    const llvm::DataLayout& sizes = old->getParent()->getDataLayout();
    kernel_ir::StructField field{.offset = layout.getElementOffset(static_cast<unsigned>(i)).getFixedValue(),
                                 .size = sizes.getTypeAllocSize(memory_type(type)).getFixedValue(),
                                 .type_name = members[i].is_pointer() ? "char" : metal_type_name(type),
                                 .name = old->getName().str(),
                                 .id = i};
    if (members[i].is_pointer()) {
      field.space = type->getPointerAddressSpace();
      field.is_const = old->onlyReadsMemory();
      field.target_size = field.target_align = 1;
    }
    described.fields.push_back(std::move(field));
  }
  return kernel_ir::to_text(described);
}

/// The entry's new signature, and the way there.
class EntrySignature {
 public:
  explicit EntrySignature(PassContext& context)
      : context_(context), layout_(context.module.getDataLayout()), llvm_context_(context.module.getContext()) {}

  Result<void> plan() {
    for (llvm::Argument& argument : context_.entry->args()) {
      SMELT_TRY(const ParameterPlan plan, plan_for(context_, argument));
      plans_.push_back(plan);
      // What a front end described to the end stays as it is.
      changes_ |= plan.form != Form::as_is || !has(argument, kernel_ir::kArgUnused);
    }
    const unsigned first_further = find_further();
    for (llvm::Argument& argument : context_.entry->args()) {
      const ParameterPlan& plan = plans_[argument.getArgNo()];
      in_record_.push_back((plan.form == Form::by_value && context_.options.pack_scalars) ||
                           (argument.getArgNo() >= first_further && takes_slot(argument)));
      if (in_record_.back()) {
        packed_.push_back({&argument, plan.value != nullptr ? plan.value : new_type(argument)});
        continue;
      }
      from_old_.push_back(static_cast<int>(argument.getArgNo()));
      types_.push_back(new_type(argument));
    }
    if (packed_.empty()) return {};
    is_argument_buffer_ = first_further < plans_.size();
    changes_ = true;
    std::vector<llvm::Type*> fields;
    for (const Member& member : packed_) {
      fields.push_back(memory_type(member.type));
      packed_indices_.push_back(member.old->getArgNo());
    }
    record_ = llvm::StructType::get(llvm_context_, fields);
    record_info_ = struct_type_info(*layout_.getStructLayout(record_), packed_, is_argument_buffer_);
    from_old_.push_back(-1);
    types_.push_back(pointer(kConstant));
    return {};
  }

  /// Whether there is anything to do.
  bool changes() const { return changes_; }

  void apply() {
    hold_uses();
    llvm::Function& entry = *replace_entry(context_, types_, from_old_);
    for (unsigned i = 0; i < from_old_.size(); ++i)
      if (from_old_[i] >= 0) rewrite(entry, i);
    if (record_) unpack(entry);
  }

 private:
  llvm::Type* pointer(unsigned space) const { return llvm::PointerType::get(llvm_context_, space); }

  static bool has(const llvm::Argument& argument, const char* attribute) {
    return argument.getParent()->getAttributes().hasParamAttr(argument.getArgNo(), attribute);
  }

  llvm::Type* new_type(const llvm::Argument& argument) const {
    const Form form = plans_[argument.getArgNo()].form;
    return form == Form::as_is ? argument.getType() : pointer(form == Form::device_pointer ? kDevice : kConstant);
  }

  /// One of the buffers of device and constant memory, of which Metal has kMostBuffers.
  bool takes_slot(const llvm::Argument& argument) const {
    return !has(argument, kernel_ir::kBuiltin) && new_type(argument)->isPointerTy() &&
           new_type(argument)->getPointerAddressSpace() != kThreadgroup;
  }

  /// The first argument for which the last slot is not its own: it and those behind it share that. The number of
  /// arguments when each has its slot, and when slots were chosen by somebody else.
  unsigned find_further() const {
    unsigned slots = 0, last = 0;
    const auto none = static_cast<unsigned>(plans_.size());
    if (context_.options.pack_scalars) return none;
    for (const llvm::Argument& argument : context_.entry->args()) {
      if (has(argument, kernel_ir::kLocationIndex)) return none;
      if (takes_slot(argument) && ++slots == kMostBuffers) last = argument.getArgNo();
    }
    return slots > kMostBuffers ? last : none;
  }

  /// Uses of parameters whose type changes go through place holders until the new parameters exist.
  void hold_uses() {
    holders_.resize(plans_.size());
    for (llvm::Argument& argument : context_.entry->args()) {
      if (plans_[argument.getArgNo()].form == Form::as_is && !in_record_[argument.getArgNo()]) continue;
      llvm::IRBuilder<> builder(&context_.entry->getEntryBlock(), after_allocas(*context_.entry));
      auto* holder = new llvm::FreezeInst(llvm::PoisonValue::get(argument.getType()), "", builder.GetInsertPoint());
      argument.replaceAllUsesWith(holder);
      holders_[argument.getArgNo()] = holder;
    }
  }

  void release(llvm::Instruction* holder, llvm::Value* value) {
    holder->replaceAllUsesWith(value);
    holder->eraseFromParent();
  }

  void rewrite(llvm::Function& entry, unsigned index) {
    const auto old = static_cast<size_t>(from_old_[index]);
    const ParameterPlan& plan = plans_[old];
    if (plan.form == Form::as_is) return;
    llvm::Instruction* holder = holders_[old];
    remove_value_attributes(entry, index);
    llvm::IRBuilder<> builder(holder);
    llvm::Value* now = entry.getArg(index);
    if (plan.form != Form::device_pointer) describe_reference(entry, index, plan.value, layout_);
    if (plan.form == Form::by_value) return release(holder, load_value(builder, plan.value, now, layout_));
    if (plan.form == Form::constant_reference && is_written(*holder)) {
      llvm::IRBuilder<> first(&entry.getEntryBlock(), after_allocas(entry));
      now = own_copy(entry, first, now, plan.value);
    }
    release(holder, builder.CreateAddrSpaceCast(now, holder->getType()));
  }

  /// What the one buffer behind the others holds, read from there.
  void unpack(llvm::Function& entry) {
    llvm::Argument* arguments = entry.getArg(static_cast<unsigned>(types_.size() - 1));
    arguments->setName(is_argument_buffer_ ? schema::kFurtherArguments : std::string_view("arguments"));
    describe_reference(entry, arguments->getArgNo(), record_, layout_);
    kernel_ir::set_parameter(entry, arguments->getArgNo(), kernel_ir::kArgStructType, record_info_);
    for (unsigned field = 0; field < packed_.size(); ++field) {
      llvm::Instruction* holder = holders_[packed_indices_[field]];
      llvm::IRBuilder<> builder(holder);
      llvm::Value* place = builder.CreateStructGEP(record_, arguments, field);
      if (packed_[field].is_pointer()) {
        llvm::Value* address = builder.CreateAlignedLoad(packed_[field].type, place, llvm::Align(8));
        release(holder, builder.CreateAddrSpaceCast(address, holder->getType()));
      } else if (plans_[packed_indices_[field]].form == Form::constant_reference) {
        if (is_written(*holder)) place = own_copy(entry, builder, place, packed_[field].type);
        release(holder, builder.CreateAddrSpaceCast(place, holder->getType()));
      } else {
        release(holder, load_value(builder, packed_[field].type, place, layout_));
      }
    }
  }

  PassContext& context_;
  const llvm::DataLayout& layout_;
  llvm::LLVMContext& llvm_context_;
  std::vector<ParameterPlan> plans_;  ///< of the old parameters, as are holders_
  std::vector<llvm::Instruction*> holders_;
  std::vector<llvm::Type*> types_;  ///< of the new parameters
  std::vector<int> from_old_;       ///< what each continues; -1 is the record
  bool changes_ = false;
  std::vector<bool> in_record_;  ///< of the old parameters
  bool is_argument_buffer_ = false;
  std::vector<Member> packed_;
  std::vector<unsigned> packed_indices_;
  llvm::StructType* record_ = nullptr;
  std::string record_info_;
};

}  // namespace

Result<void> kernel_arguments(PassContext& context) {
  if (has_entry_metadata(context)) return {};
  for (llvm::Argument& argument : context.entry->args())
    if (!argument.hasName() &&
        !argument.getParent()->getAttributes().hasParamAttr(argument.getArgNo(), kernel_ir::kArgName))
      argument.setName(fmt::format("arg{}", argument.getArgNo()));
  EntrySignature signature(context);
  SMELT_TRY_VOID(signature.plan());
  if (signature.changes()) signature.apply();
  return {};
}

}  // namespace smelt::aot::air
