// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// !air.<stage> = { FUNCTION, OUTPUTS, INPUTS [, max work group size] } with one node per parameter, keys in Apple's
// order (docs/formats/air.md 1.5, 1.6). Made from the signature and from the attributes that kernel_arguments and the
// front end left on the parameters; these attributes go. An entry that came with its metadata keeps it.
#include "interface/entry.hpp"
#include "interface/limits.hpp"
#include "kernel_ir/builtins.hpp"
#include "kernel_ir/handles.hpp"
#include "kernel_ir/stage_values.hpp"
#include "kernel_ir/struct_fields.hpp"
#include "legalise/predicates.hpp"
#include "legalise/stitching.hpp"
#include "legalise/support.hpp"

#include "llvm/IR/AttributeMask.h"
#include "llvm/IR/Module.h"

#include <array>
#include <set>

namespace smelt::aot::air {
namespace {

std::string attribute_text(const llvm::Argument& argument, const char* key, std::string_view otherwise) {
  const llvm::Attribute attribute = argument.getParent()->getAttributes().getParamAttr(argument.getArgNo(), key);
  return attribute.isValid() ? attribute.getValueAsString().str() : std::string(otherwise);
}

Result<unsigned> attribute_number(const llvm::Argument& argument, const char* key, unsigned otherwise) {
  const std::string text = attribute_text(argument, key, "");
  unsigned number = otherwise;
  if (!text.empty() && llvm::StringRef(text).getAsInteger(10, number))
    return fail(Errc::compile_failed, "argument '{}': {}=\"{}\" is not a number", argument.getName(), key, text);
  return number;
}

/// Nothing is stored through the pointer, as far as its uses can be followed.
bool only_reads(const llvm::Value& pointer, unsigned depth = 0) {
  if (depth > 64) return false;
  for (const llvm::Use& use : pointer.uses()) {
    const llvm::User* user = use.getUser();
    if (llvm::isa<llvm::LoadInst>(user) || llvm::isa<llvm::ICmpInst>(user)) continue;
    if (llvm::isa<llvm::GetElementPtrInst>(user) || llvm::isa<llvm::BitCastInst>(user)) {
      if (!only_reads(*user, depth + 1)) return false;
      continue;
    }
    if (const auto* call = llvm::dyn_cast<llvm::CallBase>(user); call && call->isArgOperand(&use)) {
      const unsigned index = call->getArgOperandNo(&use);
      if (call->onlyReadsMemory(index) || (call->onlyReadsMemory() && call->doesNotCapture(index))) continue;
    }
    return false;  // a store, an atomic, a phi, ...: not followed
  }
  return true;
}

bool is_handle(const llvm::Argument& argument) {
  return argument.getParent()->getAttributes().hasParamAttr(argument.getArgNo(), kernel_ir::kHandle);
}

/// Slots by class: buffers of device and constant memory share one space, threadgroup pointers have their own.
class SlotTable {
 public:
  /// `count` slots from the one that is returned on. Two arguments may have one slot when a condition decides which of
  /// them exists.
  Result<unsigned> take(const llvm::Argument& argument, BindingClass kind, bool is_conditional, unsigned count = 1) {
    std::set<unsigned>& used = used_[kind];
    const auto is_used = [&](unsigned first) {
      const auto at = used.lower_bound(first);
      return at != used.end() && *at < first + count;
    };
    unsigned next = 0;
    while (is_used(next)) ++next;
    SMELT_TRY(const unsigned slot, attribute_number(argument, kernel_ir::kLocationIndex, next));
    const std::string_view word = is_handle(argument) ? row_of(kind).name : "buffer";
    if (is_handle(argument) && uint64_t{slot} + count > row_of(kind).slots)
      return fail(Errc::compile_failed, "kernel '{}' binds argument '{}' to {} {}; Metal has {}",
                  argument.getParent()->getName(), argument.getName(), word, uint64_t{slot} + count - 1,
                  row_of(kind).slots);
    if (slot >= kMostBuffers && !is_handle(argument))
      return fail(
          Errc::compile_failed,
          "kernel '{}' binds argument '{}' to buffer {}; Metal has {} buffers (0 to {}). Put several arguments into "
          "one buffer",
          argument.getParent()->getName(), argument.getName(), slot, kMostBuffers, kMostBuffers - 1);
    for (unsigned one = slot; one < slot + count; ++one)
      if (!used.insert(one).second && !is_conditional)
        return fail(Errc::compile_failed, "kernel '{}' binds two arguments to {} {}; '{}' is one of them",
                    argument.getParent()->getName(), word, one, argument.getName());
    return slot;
  }

 private:
  ByClass<std::set<unsigned>> used_;
};

/// array<texture2d<float>, n>: one member with n slots; a C array is its first element, so many times.
bool is_handle_array(const kernel_ir::StructField& field) {
  return !field.handle.empty() && field.type_name.starts_with("array<");
}

/// AIR's word for an argument that is a handle.
std::string kind_of_handle(BindingClass kind, std::string_view type_name) {
  if (kind == BindingClass::table)
    return type_name.starts_with("intersection_") ? "air.intersection_function_table" : "air.visible_function_table";
  if (kind == BindingClass::command_buffer) return fmt::format("air.{}", type_name);  // one of four
  if (kind != BindingClass::acceleration_structure) return fmt::format("air.{}", to_string(kind));
  const bool has_instances = type_name.find("instancing") != std::string_view::npos;  // tags stand in any order
  return has_instances ? "air.instance_acceleration_structure" : "air.primitive_acceleration_structure";
}

/// A member of an argument buffer, described as an argument of its own: `index` counts those of its structure. Of an
/// array of pointers the count is inferred.
llvm::MDNode* member_node(llvm::LLVMContext& context, const kernel_ir::StructField& field, uint32_t index) {
  EntryArgumentNode member;
  member.index = index;
  // A texture has its access there.
  const BindingClass handle = binding_class_named(field.handle).value_or(BindingClass::texture);
  member.kind = field.space != 0       ? "air.buffer"
                : field.handle.empty() ? "air.indirect_constant"
                                       : kind_of_handle(handle, field.type_name);
  const bool has_slot_each = field.space != 0 || is_handle_array(field);
  member.slots = {static_cast<uint32_t>(field.id),
                  has_slot_each ? static_cast<uint32_t>(std::max<uint64_t>(field.count, 1)) : 1};
  for (const ArgumentAccess one :
       {ArgumentAccess::read, ArgumentAccess::write, ArgumentAccess::read_write, ArgumentAccess::sample})
    if (field.handle == to_string(one)) member.access = one;
  if (handle == BindingClass::acceleration_structure) member.access = ArgumentAccess::read;
  if (field.space != 0) {
    const bool reads = field.is_const || field.space == kConstant;
    member.access = reads ? ArgumentAccess::read : ArgumentAccess::read_write;
    member.address_space = field.space;
    if (field.target_size != 0) member.type_size = {field.target_size, field.target_align};
  }
  member.type_name = field.type_name;
  member.name = field.name;
  return write_argument(context, member);
}

/// The members from `at` on that are as deep as the first, and what is inside them; `at` ends behind them. A structure
/// inside stands before its own numbers, and has its first id where others have a node.
llvm::MDNode* struct_node(llvm::LLVMContext& context, const kernel_ir::StructFields& members, size_t& at) {
  NodeBuilder node(context);
  const unsigned depth = members.fields[at].depth;
  uint32_t index = 0;
  while (at < members.fields.size() && members.fields[at].depth == depth) {
    const kernel_ir::StructField& field = members.fields[at++];
    const bool is_structure = at < members.fields.size() && members.fields[at].depth > depth;
    if (is_structure) node.text("air.struct_type_info").metadata(struct_node(context, members, at));
    const bool is_whole = is_handle_array(field);
    node.number(field.offset)
        .number(is_whole ? field.size * field.count : field.size)
        .number(is_whole ? 0 : field.count)
        .text(field.type_name)
        .text(field.name);
    ++index;
    if (!members.is_argument_buffer) continue;
    node.text("air.indirect_argument");
    if (is_structure)
      node.number(field.id);
    else
      node.metadata(member_node(context, field, index - 1));
  }
  return node.finish();
}

using Predicates = std::map<std::string, llvm::MDNode*, std::less<>>;

/// The row of !air.function_constants with this index, or the predicate of this name; null when there is none.
llvm::MDNode* constant_row(const PassContext& context, const Predicates& predicates, std::string_view index) {
  if (const auto predicate = predicates.find(index); predicate != predicates.end()) return predicate->second;
  llvm::NamedMDNode* constants = context.module.getNamedMetadata(kConstantList);
  if (index.empty() || !constants) return nullptr;
  for (llvm::MDNode* row : constants->operands())
    if (std::to_string(read_constant(*row).index.value_or(0)) == index) return row;
  return nullptr;
}

/// What decides whether the argument exists; null when nothing does.
llvm::MDNode* condition_of(const PassContext& context, const Predicates& predicates, const llvm::Argument& argument) {
  return constant_row(context, predicates, attribute_text(argument, kernel_ir::kFunctionConstant, ""));
}

bool is_unused(const llvm::Argument& argument) {
  const std::string unused = attribute_text(argument, kernel_ir::kArgUnused, "");
  return unused.empty() ? argument.use_empty() : unused == "true";
}

void finish_argument(EntryArgumentNode& node, const llvm::Argument& argument, std::string_view type_name) {
  node.type_name = type_name;
  node.name = attribute_text(argument, kernel_ir::kArgName, argument.getName());
  node.is_unused = is_unused(argument);
}

Result<void> read_raster_order(EntryArgumentNode& node, const llvm::Argument& argument) {
  if (attribute_text(argument, kernel_ir::kRasterOrder, "").empty()) return {};
  SMELT_TRY(node.raster_order_group, attribute_number(argument, kernel_ir::kRasterOrder, 0));
  return {};
}

Result<llvm::MDNode*> buffer_node(const PassContext& context, const Predicates& predicates,
                                  const llvm::Argument& argument, SlotTable& slots) {
  llvm::LLVMContext& llvm_context = context.module.getContext();
  const unsigned space = argument.getType()->getPointerAddressSpace();
  const kernel_ir::StructFields members =
      kernel_ir::parse_struct_fields(attribute_text(argument, kernel_ir::kArgStructType, ""));
  const std::string type_name = attribute_text(argument, kernel_ir::kArgTypeName, "char");
  SMELT_TRY(const unsigned size, attribute_number(argument, kernel_ir::kArgTypeSize, 1));
  SMELT_TRY(const unsigned align, attribute_number(argument, kernel_ir::kArgTypeAlign, 1));
  std::string access = attribute_text(argument, kernel_ir::kAccess, "");
  if (access.empty()) access = space == kConstant || only_reads(argument) ? "read" : "read_write";
  if (access != "read" && access != "read_write" && access != "write")
    return fail(Errc::compile_failed, "argument '{}': access \"{}\" is neither read nor read_write", argument.getName(),
                access);

  EntryArgumentNode node;
  node.index = argument.getArgNo();
  node.condition = condition_of(context, predicates, argument);
  node.kind = members.is_argument_buffer ? "air.indirect_buffer" : "air.buffer";
  const bool is_reference = argument.getDereferenceableBytes() != 0 || argument.getDereferenceableOrNullBytes() != 0;
  if (is_reference && space == kConstant) node.buffer_size = size;
  const BindingClass kind = space == kThreadgroup ? BindingClass::threadgroup : BindingClass::buffer;
  SMELT_TRY(const unsigned slot, slots.take(argument, kind, node.condition));
  node.slots = {slot, 1};
  node.access = access == "read" ? ArgumentAccess::read : ArgumentAccess::read_write;
  if (context.target.air >= kFirstAddressSpace) node.address_space = space;
  SMELT_TRY_VOID(read_raster_order(node, argument));
  size_t first = 0;
  if (!members.fields.empty()) node.fields = struct_node(llvm_context, members, first);
  if (type_name != "void" && align != 0) node.type_size = {size, align};
  finish_argument(node, argument, type_name);
  return write_argument(llvm_context, node);
}

/// A texture, sampler or tensor. Apple writes no size of it, and an address space of a tensor alone.
Result<llvm::MDNode*> handle_node(const PassContext& context, const Predicates& predicates,
                                  const llvm::Argument& argument, SlotTable& slots) {
  const std::string word = attribute_text(argument, kernel_ir::kHandle, "");
  const std::optional<BindingClass> kind = binding_class_named(word);
  if (!kind || !argument.getType()->isPointerTy())
    return fail(Errc::compile_failed, "argument '{}': \"{}\" is not a class of handles", argument.getName(), word);
  EntryArgumentNode node;
  node.index = argument.getArgNo();
  node.condition = condition_of(context, predicates, argument);
  const std::string type_name = attribute_text(argument, kernel_ir::kArgTypeName, "");
  node.kind = kind_of_handle(*kind, type_name);
  SMELT_TRY(const unsigned count, attribute_number(argument, kernel_ir::kLocationCount, 1));
  SMELT_TRY(const unsigned slot, slots.take(argument, *kind, node.condition, count));
  node.slots = {slot, count};
  const std::string access = attribute_text(argument, kernel_ir::kAccess, "");
  for (const ArgumentAccess one :
       {ArgumentAccess::read, ArgumentAccess::write, ArgumentAccess::read_write, ArgumentAccess::sample})
    if (access == to_string(one)) node.access = one;
  SMELT_TRY_VOID(read_raster_order(node, argument));
  if (*kind == BindingClass::tensor) node.address_space = kDevice;
  finish_argument(node, argument, type_name);
  return write_argument(context.module.getContext(), node);
}

/// "uint3" for <3 x i32>: what Apple pairs with the IR type of a hardware value.
Result<std::string> builtin_type_name(const llvm::Argument& argument, const kernel_ir::BuiltinRow& row) {
  const llvm::Type* type = argument.getType();
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  const llvm::Type* element = vector ? vector->getElementType() : type;
  const unsigned lanes = vector ? vector->getNumElements() : 1;
  const bool fits = (element->isIntegerTy(32) || element->isIntegerTy(16)) && lanes <= (row.is_vector ? 3u : 1u);
  if (!fits)
    return fail(Errc::compile_failed, "argument '{}' has type {}, but '{}' is {}", argument.getName(), text_of(*type),
                row.attribute, row.is_vector ? "uint, uint2, uint3 or ushort likewise" : "uint or ushort");
  const std::string name = element->isIntegerTy(32) ? "uint" : "ushort";
  return lanes == 1 ? name : fmt::format("{}{}", name, lanes);
}

Result<llvm::MDNode*> argument_node(const PassContext& context, const Predicates& predicates,
                                    const llvm::Argument& argument, SlotTable& slots) {
  const std::string builtin = attribute_text(argument, kernel_ir::kBuiltin, "");
  if (!builtin.empty()) {
    const kernel_ir::BuiltinRow* row = kernel_ir::find_builtin(builtin);
    if (!row)
      return fail(Errc::compile_failed, "argument '{}': '{}' is not a hardware value of a kernel", argument.getName(),
                  builtin);
    SMELT_TRY(const std::string type_name, builtin_type_name(argument, *row));
    EntryArgumentNode node;
    node.index = argument.getArgNo();
    node.kind = fmt::format("air.{}", builtin);
    finish_argument(node, argument, type_name);
    return write_argument(context.module.getContext(), node);
  }
  if (const std::string words = attribute_text(argument, kernel_ir::kStageInput, ""); !words.empty()) {
    const kernel_ir::StageValue value{kernel_ir::parse_words(words),
                                      attribute_text(argument, kernel_ir::kArgTypeName, ""),
                                      attribute_text(argument, kernel_ir::kArgName, "")};
    return write_stage_value(context.module, argument.getArgNo(), value, condition_of(context, predicates, argument),
                             is_unused(argument));
  }
  if (!argument.getType()->isPointerTy())
    return fail(Errc::compile_failed,
                "argument '{}' of kernel '{}' has type {} and is neither a buffer nor a hardware value",
                argument.getName(), context.entry->getName(), text_of(*argument.getType()));
  return is_handle(argument) ? handle_node(context, predicates, argument, slots)
                             : buffer_node(context, predicates, argument, slots);
}

void clean_attributes(const PassContext& context) {
  llvm::Function& entry = *context.entry;
  for (const char* key : kernel_ir::kFunctionAttributes) entry.removeFnAttr(key);
  for (llvm::Argument& argument : entry.args()) {
    const unsigned index = argument.getArgNo();
    const bool is_given = entry.getAttributes().hasParamAttr(index, kernel_ir::kStageInput);
    const bool is_buffer = argument.getType()->isPointerTy() && !is_handle(argument) && !is_given;
    if (is_given && argument.getType()->isPointerTy()) entry.removeParamAttr(index, kernel_ir::kBufferNoAlias);
    llvm::Type* const handles = is_handle(argument) ? argument.getParamByValType() : nullptr;
    if (is_handle(argument))
      entry.removeParamAttrs(index, llvm::AttributeMask(entry.getAttributes().getParamAttrs(index)));
    if (handles != nullptr) {
      entry.addParamAttr(index, llvm::Attribute::getWithByValType(entry.getContext(), handles));
      for (const auto kind : {llvm::Attribute::NoCapture, llvm::Attribute::ReadOnly}) entry.addParamAttr(index, kind);
    }
    for (const char* key : kernel_ir::kParameterAttributes) entry.removeParamAttr(index, key);
    for (const auto kind : {llvm::Attribute::NoAlias, llvm::Attribute::DereferenceableOrNull})
      entry.removeParamAttr(index, kind);
    if (is_buffer && context.options.buffers_do_not_overlap)
      entry.addParamAttr(index, llvm::Attribute::get(context.module.getContext(), kernel_ir::kBufferNoAlias));
    if (is_buffer && !argument.hasAttribute(llvm::Attribute::ReadNone) && only_reads(argument))
      entry.addParamAttr(index, llvm::Attribute::ReadOnly);
  }
}

Result<std::optional<unsigned>> most_threads(const PassContext& context) {
  std::optional<unsigned> threads = context.options.threads_per_threadgroup;
  const llvm::Attribute attribute = context.entry->getFnAttribute(kernel_ir::kMaxThreads);
  if (!threads && attribute.isValid()) {
    unsigned number = 0;
    if (attribute.getValueAsString().getAsInteger(10, number))
      return fail(Errc::compile_failed, "kernel '{}': {}=\"{}\" is not a number", context.entry->getName(),
                  kernel_ir::kMaxThreads, attribute.getValueAsString());
    threads = number;
  }
  if (threads && (*threads == 0 || *threads > kMostThreads))
    return fail(Errc::group_too_large, "kernel '{}' asks for {} threads per threadgroup; Apple GPUs allow 1 to {}",
                context.entry->getName(), *threads, kMostThreads);
  return threads;
}

/// An entry with metadata of its own: only the threads are added, where asked for and not there.
void add_threads(PassContext& context, unsigned threads) {
  llvm::NamedMDNode* list = entry_list(context.module, "kernel");
  if (list && list->getNumOperands() > 0) list->setOperand(0, with_max_threads(*list->getOperand(0), threads));
}

/// The node of a buffer that an older AIR described, with the space that newer ones name. Null: it needs none.
llvm::MDNode* with_address_space(const llvm::MDNode& node, const llvm::Type& type) {
  llvm::SmallVector<llvm::Metadata*, 32> operands;
  size_t behind_access = 0;
  for (unsigned i = 0; i < node.getNumOperands(); ++i) {
    operands.push_back(node.getOperand(i).get());
    const auto* text = llvm::dyn_cast_or_null<llvm::MDString>(node.getOperand(i));
    if (text == nullptr) continue;
    const llvm::StringRef word = text->getString();
    if (word == "air.address_space") return nullptr;
    if (word == "air.read" || word == "air.write" || word == "air.read_write") behind_access = operands.size();
    if (word == "air.raster_order_group") behind_access = operands.size() + 1;
  }
  if (behind_access == 0 || behind_access > operands.size() || !type.isPointerTy()) return nullptr;
  const llvm::MDNode* pair =
      NodeBuilder(node.getContext()).text("air.address_space").number(type.getPointerAddressSpace()).finish();
  operands.insert(operands.begin() + static_cast<std::ptrdiff_t>(behind_access), pair->op_begin(), pair->op_end());
  return llvm::MDNode::get(node.getContext(), operands);
}

/// Finished AIR of a version that said it by the type alone.
void add_address_spaces(PassContext& context) {
  llvm::NamedMDNode* list = entry_list(context.module, context.stage);
  const llvm::MDNode* inputs = list->getNumOperands() != 0 ? inputs_of(*list->getOperand(0)) : nullptr;
  if (inputs == nullptr || inputs->getNumOperands() > context.entry->arg_size()) return;
  llvm::SmallVector<llvm::Metadata*, 16> nodes(inputs->op_begin(), inputs->op_end());
  bool is_changed = false;
  for (unsigned i = 0; i < nodes.size(); ++i) {
    const auto* node = llvm::dyn_cast_or_null<llvm::MDNode>(nodes[i]);
    const auto argument = node != nullptr ? read_argument(*node) : std::nullopt;
    if (!argument || class_of_kind(argument->kind) != BindingClass::buffer) continue;
    if (llvm::MDNode* made = with_address_space(*node, *context.entry->getArg(i)->getType())) {
      nodes[i] = made;
      is_changed = true;
    }
  }
  if (!is_changed) return;
  llvm::SmallVector<llvm::Metadata*, 8> operands(list->getOperand(0)->op_begin(), list->getOperand(0)->op_end());
  operands[2] = llvm::MDNode::get(context.module.getContext(), nodes);
  list->setOperand(0, llvm::MDNode::get(context.module.getContext(), operands));
}

/// In finished AIR too an array of handles has a type that says which: the pointers that the reader made do not.
void name_handle_arrays(PassContext& context) {
  llvm::NamedMDNode* list = entry_list(context.module, context.stage);
  const llvm::MDNode* inputs = list->getNumOperands() != 0 ? inputs_of(*list->getOperand(0)) : nullptr;
  if (inputs == nullptr) return;
  for (const llvm::MDOperand& operand : inputs->operands()) {
    const auto* node = llvm::dyn_cast_or_null<llvm::MDNode>(operand);
    const auto argument = node != nullptr ? read_argument(*node) : std::nullopt;
    if (!argument || argument->index >= context.entry->arg_size()) continue;
    const std::optional<BindingClass> kind = class_of_kind(argument->kind);
    if (kind != BindingClass::texture && kind != BindingClass::sampler) continue;
    const auto* old =
        llvm::dyn_cast_or_null<llvm::ArrayType>(context.entry->getArg(argument->index)->getParamByValType());
    if (old == nullptr || !old->getElementType()->isPointerTy()) continue;
    llvm::LLVMContext& ir = context.module.getContext();
    llvm::StructType* const handle =
        kernel_ir::handle_type(ir, argument->type_name, old->getElementType()->getPointerAddressSpace());
    context.entry->removeParamAttr(argument->index, llvm::Attribute::ByVal);
    context.entry->addParamAttr(
        argument->index, llvm::Attribute::getWithByValType(ir, llvm::ArrayType::get(handle, old->getNumElements())));
  }
}

std::vector<llvm::Metadata*> result_nodes(const PassContext& context, const Predicates& predicates) {
  std::vector<llvm::Metadata*> nodes;
  const llvm::Attribute results = context.entry->getFnAttribute(kernel_ir::kResults);
  if (!results.isValid()) return nodes;
  const llvm::StringRef text = results.getValueAsString();
  for (const kernel_ir::StageValue& value : kernel_ir::parse_stage_values({text.data(), text.size()})) {
    llvm::MDNode* condition = constant_row(context, predicates, value.condition);
    nodes.push_back(write_stage_value(context.module, std::nullopt, value, condition, false));
  }
  return nodes;
}

/// Apple's order of lists: entry points, then function constants.
void move_behind_entries(llvm::Module& module) {
  llvm::NamedMDNode* constants = module.getNamedMetadata(kConstantList);
  if (!constants) return;
  const std::vector<llvm::MDNode*> rows(constants->op_begin(), constants->op_end());
  constants->eraseFromParent();
  llvm::NamedMDNode* moved = module.getOrInsertNamedMetadata(kConstantList);
  for (llvm::MDNode* row : rows) moved->addOperand(row);
}

}  // namespace

Result<void> entry_metadata(PassContext& context) {
  SMELT_TRY(const std::optional<unsigned> threads, most_threads(context));
  if (has_entry_metadata(context)) {
    if (threads && context.stage == "kernel" && (!context.finished || context.options.threads_per_threadgroup))
      add_threads(context, *threads);
    if (!context.finished) clean_attributes(context);
    if (context.finished) name_handle_arrays(context);
    if (context.finished && context.target.air >= kFirstAddressSpace) add_address_spaces(context);
    return {};
  }
  SMELT_TRY(const Predicates predicates, make_predicates(context));
  SlotTable slots;
  std::vector<llvm::Metadata*> inputs(context.entry->arg_size());
  // Parameters with a slot of their own first, so that the others go round them.
  for (const bool explicit_slots : {true, false})
    for (const llvm::Argument& argument : context.entry->args()) {
      if (attribute_text(argument, kernel_ir::kLocationIndex, "").empty() == explicit_slots) continue;
      SMELT_TRY(inputs[argument.getArgNo()], argument_node(context, predicates, argument, slots));
    }
  llvm::MDNode* entry = write_entry(*context.entry, result_nodes(context, predicates), inputs, threads);
  if (context.entry->hasFnAttribute(kernel_ir::kEarlyTests)) entry = with_early_fragment_tests(*entry);
  if (const llvm::Attribute extra = context.entry->getFnAttribute(kernel_ir::kEntryExtra); extra.isValid()) {
    const llvm::StringRef words = extra.getValueAsString();
    const std::vector<std::string> parsed = kernel_ir::parse_words({words.data(), words.size()});
    // A patch is a node of its own; the kind and the tags of an intersection function are not.
    entry = context.stage == "intersection" ? with_words(*entry, parsed) : with_extra(context.module, *entry, parsed);
  }
  if (context.entry->hasFnAttribute(kernel_ir::kStitching)) {
    SMELT_TRY(entry, with_stitching(*context.entry, *entry));
  }
  context.module.getOrInsertNamedMetadata(fmt::format("air.{}", context.stage))->addOperand(entry);
  move_behind_entries(context.module);
  clean_attributes(context);
  return {};
}

}  // namespace smelt::aot::air
