// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "interface/entry.hpp"

#include "kernel_ir/attributes.hpp"
#include "llvm_support/analyses.hpp"

#include "llvm/IR/Constants.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace smelt::aot::air {
namespace {

constexpr std::string_view kMaxThreadsKey = "air.max_work_group_size";

constexpr std::pair<ArgumentAccess, std::string_view> kAccessKeys[] = {{ArgumentAccess::read, "air.read"},
                                                                       {ArgumentAccess::write, "air.write"},
                                                                       {ArgumentAccess::read_write, "air.read_write"},
                                                                       {ArgumentAccess::sample, "air.sample"}};

std::optional<ArgumentAccess> access_of(std::string_view key) {
  for (const auto& [access, known] : kAccessKeys)
    if (key == known) return access;
  return std::nullopt;
}

struct ClassKind {
  std::string_view kind;
  BindingClass binding;
};
constexpr ClassKind kClassKinds[] = {
#define SMELT_AIR_WORD(word, class) {word, BindingClass::class},
#include "smelt/base/binding_classes.def"
};

/// What else a stage may be given; every other word is a hardware value's.
constexpr std::pair<std::string_view, InputKind> kInputKinds[] = {{"air.vertex_input", InputKind::attribute},
                                                                  {"air.stage_in", InputKind::attribute},
                                                                  {"air.fragment_input", InputKind::user},
                                                                  {"air.render_target", InputKind::colour}};

/// `extra` as { "air.max_work_group_size", n }.
std::optional<NodeReader> behind_max_threads(const llvm::Metadata* extra) {
  const auto* node = llvm::dyn_cast_or_null<llvm::MDNode>(extra);
  if (!node) return std::nullopt;
  NodeReader reader(*node);
  if (reader.text() != kMaxThreadsKey) return std::nullopt;
  return reader;
}

/// The value behind `key`, when it is one of those that this struct has. False: it is not there.
bool read_value(std::string_view key, NodeReader& reader, EntryArgumentNode& argument) {
  const auto number = [&](auto& field) {
    const auto value = reader.number();
    if (value) field = static_cast<std::remove_reference_t<decltype(field)>>(*value);
    return value.has_value();
  };
  const auto text = [&](std::string& field) {
    const auto value = reader.text();
    if (value) field = *value;
    return value.has_value();
  };
  if (key == "air.function_constant") {
    argument.is_conditional = true;
    argument.condition = reader.node();
    return true;
  }
  if (key == "air.location_index") {
    argument.slots.emplace();
    return number(argument.slots->first) && number(argument.slots->count);
  }
  if (key == "air.arg_type_size" || key == "air.arg_type_align_size") {
    if (!argument.type_size) argument.type_size.emplace();
    return number(key == "air.arg_type_size" ? argument.type_size->size : argument.type_size->align);
  }
  if (key == "air.buffer_size") return number(argument.buffer_size.emplace());
  if (key == "air.address_space") return number(argument.address_space.emplace());
  if (key == "air.raster_order_group") return number(argument.raster_order_group.emplace());
  if (key == "air.arg_type_name") return text(argument.type_name);
  if (key == "air.arg_name") return text(argument.name);
  if (key == "air.arg_unused")
    argument.is_unused = true;
  else if (key == "air.struct_type_info")
    argument.fields = reader.node();
  else if (const auto access = access_of(key))
    argument.access = *access;
  else if (argument.kind.empty())
    argument.kind = key;
  else
    argument.words.emplace_back(key);
  return true;
}

/// False when a key lacks its value.
bool read_keys(NodeReader& reader, EntryArgumentNode& argument) {
  while (!reader.at_end()) {
    if (const auto key = reader.text()) {
      if (!read_value(*key, reader, argument)) return false;
    } else if (const auto number = reader.number()) {
      argument.words.push_back(std::to_string(*number));
    } else {
      reader.skip();  // a node that is not of interest
    }
  }
  return true;
}

}  // namespace

namespace {

/// The row of !air.function_constants that an input or a result names; null when it names none.
const llvm::MDNode* condition_in(const llvm::MDNode& value) {
  for (unsigned i = 0; i + 1 < value.getNumOperands(); ++i)
    if (const auto* key = llvm::dyn_cast_or_null<llvm::MDString>(value.getOperand(i));
        key != nullptr && key->getString() == "air.function_constant")
      return llvm::dyn_cast_or_null<llvm::MDNode>(value.getOperand(i + 1));
  return nullptr;
}

}  // namespace

llvm::NamedMDNode* entry_list(const llvm::Module& module, std::string_view stage) {
  return module.getNamedMetadata(fmt::format("air.{}", stage));
}

bool runs_on_cpu(std::string_view stage) {
  return stage == "kernel" || stage == "vertex" || stage == "fragment" || stage == kExternalStage;
}

std::string why_not_on_cpu(std::string_view stage) {
  return fmt::format("a {} function: only kernels, vertex and fragment functions run on the CPU", stage);
}

bool has_entries(const llvm::Module& module) {
  return std::any_of(kStages.begin(), kStages.end(), [&](std::string_view stage) {
    const llvm::NamedMDNode* list = entry_list(module, stage);
    return list && list->getNumOperands() > 0;
  });
}

llvm::Function* function_of(const llvm::MDNode& entry) {
  if (entry.getNumOperands() == 0) return nullptr;
  return llvm::mdconst::dyn_extract_or_null<llvm::Function>(entry.getOperand(0));
}

std::vector<EntryPoint> entry_points(const llvm::Module& module) {
  std::vector<EntryPoint> entries;
  for (const std::string_view stage : kStages)
    if (const llvm::NamedMDNode* list = entry_list(module, stage))
      for (const llvm::MDNode* node : list->operands())
        if (const llvm::Function* function = function_of(*node))
          entries.push_back({function->getName().str(), std::string(stage)});
  for (const llvm::Function& function : module) {
    if (!kernel_ir::is_kernel(function)) continue;
    EntryPoint entry{function.getName().str(), kernel_ir::stage_of(function)};
    if (std::find(entries.begin(), entries.end(), entry) == entries.end()) entries.push_back(std::move(entry));
  }
  return entries;
}

void keep_entries(llvm::Module& module, const std::vector<EntryPoint>& all,
                  llvm::function_ref<bool(std::string_view name, std::string_view stage)> keep) {
  for (const std::string_view stage : kStages) {
    llvm::NamedMDNode* list = entry_list(module, stage);
    if (!list) continue;
    std::vector<llvm::MDNode*> kept;
    for (llvm::MDNode* node : list->operands())
      if (const llvm::Function* function = function_of(*node); function && keep(function->getName(), stage))
        kept.push_back(node);
    list->clearOperands();
    for (llvm::MDNode* node : kept) list->addOperand(node);
    if (kept.empty()) list->eraseFromParent();
  }
  for (const EntryPoint& entry : all) {
    // A function may be an entry of two stages.
    if (std::any_of(kStages.begin(), kStages.end(), [&](std::string_view stage) { return keep(entry.name, stage); }))
      continue;
    llvm::Function* function = module.getFunction(entry.name);
    if (!function) continue;
    function->removeFnAttr(kernel_ir::kKernel);
    if (function->use_empty()) {
      function->deleteBody();
      function->eraseFromParent();
      continue;
    }
    function->setLinkage(llvm::GlobalValue::InternalLinkage);
    function->setComdat(nullptr);
  }
}

namespace {

/// Functions that the entries name in their nodes.
void add_named(const llvm::Metadata* data, std::set<const llvm::Metadata*>& seen,
               std::set<const llvm::Function*>& functions) {
  if (data == nullptr || !seen.insert(data).second) return;
  if (const auto* value = llvm::dyn_cast<llvm::ConstantAsMetadata>(data))
    if (const auto* function = llvm::dyn_cast<llvm::Function>(value->getValue()->stripPointerCasts()))
      functions.insert(function);
  if (const auto* node = llvm::dyn_cast<llvm::MDNode>(data))
    for (const llvm::Metadata* operand : node->operands()) add_named(operand, seen, functions);
}

/// llvm.compiler.used keeps what a stitchable function brings along; that of other entries goes with them.
void let_go_of_others(llvm::Module& module) {
  std::set<const llvm::Metadata*> seen;
  std::set<const llvm::Function*> named;
  for (const std::string_view stage : kStages)
    if (const llvm::NamedMDNode* list = entry_list(module, stage))
      for (const llvm::MDNode* entry : list->operands()) add_named(entry, seen, named);
  llvm::removeFromUsedLists(module, [&](llvm::Constant* used) {
    const auto* function = llvm::dyn_cast<llvm::Function>(used->stripPointerCasts());
    return function != nullptr && named.count(function) == 0;
  });
}

}  // namespace

void drop_unreached(llvm::Module& module) {
  let_go_of_others(module);
  drop_unused(module);
  llvm::NamedMDNode* constants = module.getNamedMetadata(kConstantList);
  if (!constants) return;
  std::set<const llvm::MDNode*> named;
  for (const std::string_view stage : kStages)
    if (const llvm::NamedMDNode* list = entry_list(module, stage))
      for (const llvm::MDNode* entry : list->operands())
        for (const llvm::Metadata* operand : entry->operands())  // inputs and results
          if (const auto* values = llvm::dyn_cast_or_null<llvm::MDNode>(operand))
            for (const llvm::Metadata* value : values->operands())
              if (const auto* node = llvm::dyn_cast_or_null<llvm::MDNode>(value)) named.insert(condition_in(*node));
  std::vector<llvm::MDNode*> kept;
  for (llvm::MDNode* row : constants->operands())
    if (read_constant(*row).storage != nullptr || named.count(row) != 0) kept.push_back(row);
  constants->clearOperands();
  for (llvm::MDNode* row : kept) constants->addOperand(row);
  if (kept.empty()) constants->eraseFromParent();
}

std::optional<EntryArgumentNode> read_argument(const llvm::MDNode& node) {
  NodeReader reader(node);
  const auto index = reader.number();
  if (!index) return std::nullopt;
  EntryArgumentNode argument;
  argument.index = static_cast<uint32_t>(*index);
  if (!read_keys(reader, argument)) return std::nullopt;
  return argument;
}

EntryArgumentNode read_result(const llvm::MDNode& node) {
  NodeReader reader(node);
  EntryArgumentNode result;
  read_keys(reader, result);
  return result;
}

std::optional<BindingClass> class_of_kind(std::string_view kind) {
  for (const ClassKind& row : kClassKinds)
    if (row.kind == kind) return row.binding;
  if (kind.ends_with("acceleration_structure")) return BindingClass::acceleration_structure;
  return std::nullopt;
}

std::optional<EntryParameter> parameter_of(const EntryArgumentNode& argument, const llvm::Type& type) {
  if (std::optional<BindingClass> kind = class_of_kind(argument.kind)) {
    // Before AIR 2.5 the metadata has no address space; the type always has.
    const unsigned space = type.isPointerTy() ? type.getPointerAddressSpace() : 0;
    if (kind == BindingClass::buffer && (argument.address_space == 3 || space == 3)) kind = BindingClass::threadgroup;
    const ArgumentSlots slots = argument.slots.value_or(ArgumentSlots{});
    return Binding{*kind, slots.first, slots.count, argument.access};
  }
  for (const auto& [word, kind] : kInputKinds)
    if (argument.kind == word) return Input{kind, argument.name};
  std::string_view name = argument.kind;
  if (!name.starts_with("air.") || type.isPointerTy() || name.starts_with("air.imageblock")) return std::nullopt;
  name.remove_prefix(4);
  return Input{InputKind::builtin, std::string(name)};
}

llvm::MDNode* write_argument(llvm::LLVMContext& context, const EntryArgumentNode& argument) {
  NodeBuilder node(context);
  node.number(argument.index);
  if (argument.condition) node.text("air.function_constant").metadata(argument.condition);
  node.text(argument.kind);
  if (argument.buffer_size) node.text("air.buffer_size").number(*argument.buffer_size);
  if (argument.slots) node.text("air.location_index").number(argument.slots->first).number(argument.slots->count);
  for (const auto& [access, key] : kAccessKeys)
    if (access == argument.access) node.text(key);
  if (argument.raster_order_group) node.text("air.raster_order_group").number(*argument.raster_order_group);
  if (argument.address_space) node.text("air.address_space").number(*argument.address_space);
  if (argument.fields) node.text("air.struct_type_info").metadata(argument.fields);
  if (argument.type_size)
    node.text("air.arg_type_size")
        .number(argument.type_size->size)
        .text("air.arg_type_align_size")
        .number(argument.type_size->align);
  node.text("air.arg_type_name").text(argument.type_name).text("air.arg_name").text(argument.name);
  if (argument.is_unused) node.text("air.arg_unused");
  return node.finish();
}

EntryConstant read_constant(const llvm::MDNode& row) {
  EntryConstant constant;
  if (row.getNumOperands() == 0) return constant;
  if (auto* storage = llvm::mdconst::dyn_extract_or_null<llvm::Constant>(row.getOperand(0)))
    constant.storage = llvm::dyn_cast<llvm::GlobalVariable>(storage->stripPointerCasts());
  NodeReader reader(row);
  reader.skip();
  constant.type_name = reader.text().value_or("");
  constant.name = reader.text().value_or("");
  constant.index = reader.number();
  return constant;
}

llvm::MDNode* write_constant(llvm::LLVMContext& context, const EntryConstant& constant) {
  return NodeBuilder(context)
      .metadata(llvm::ValueAsMetadata::get(constant.storage))
      .text(constant.type_name)
      .text(constant.name)
      .number(constant.index.value_or(0))
      .metadata(llvm::ConstantAsMetadata::get(llvm::ConstantInt::getTrue(context)))
      .finish();
}

const llvm::MDNode* inputs_of(const llvm::MDNode& entry) {
  return entry.getNumOperands() > 2 ? llvm::dyn_cast_or_null<llvm::MDNode>(entry.getOperand(2)) : nullptr;
}

const llvm::MDNode* outputs_of(const llvm::MDNode& entry) {
  return entry.getNumOperands() > 2 ? llvm::dyn_cast_or_null<llvm::MDNode>(entry.getOperand(1)) : nullptr;
}

std::optional<uint32_t> max_threads_of(const llvm::MDNode& entry) {
  std::optional<uint32_t> threads;
  for (unsigned i = 3; i < entry.getNumOperands(); ++i)
    if (auto reader = behind_max_threads(entry.getOperand(i)))
      threads = static_cast<uint32_t>(reader->number().value_or(0));
  return threads;
}

llvm::MDNode* with_max_threads(const llvm::MDNode& entry, uint32_t threads) {
  llvm::LLVMContext& context = entry.getContext();
  llvm::SmallVector<llvm::Metadata*, 8> operands;
  for (const llvm::MDOperand& operand : entry.operands())
    if (!behind_max_threads(operand)) operands.push_back(operand.get());
  operands.push_back(NodeBuilder(context).text(kMaxThreadsKey).number(threads).finish());
  return llvm::MDNode::get(context, operands);
}

llvm::MDNode* write_entry(llvm::Function& function, llvm::ArrayRef<llvm::Metadata*> outputs,
                          llvm::ArrayRef<llvm::Metadata*> inputs, std::optional<uint32_t> max_threads) {
  llvm::LLVMContext& context = function.getContext();
  llvm::MDNode* entry = NodeBuilder(context)
                            .metadata(llvm::ValueAsMetadata::get(&function))
                            .metadata(llvm::MDNode::get(context, outputs))
                            .metadata(llvm::MDNode::get(context, inputs))
                            .finish();
  return max_threads ? with_max_threads(*entry, *max_threads) : entry;
}

llvm::MDNode* with_early_fragment_tests(const llvm::MDNode& entry) {
  llvm::LLVMContext& context = entry.getContext();
  llvm::SmallVector<llvm::Metadata*, 8> operands(entry.op_begin(), entry.op_end());
  operands.push_back(llvm::MDString::get(context, "early_fragment_tests"));
  return llvm::MDNode::get(context, operands);
}

namespace {

/// From `at` on, up to the ")" that closes the node, or the end.
void add_words(const llvm::Module& module, NodeBuilder& node, const std::vector<std::string>& words, size_t& at) {
  for (; at < words.size() && words[at] != ")"; ++at) {
    const std::string& word = words[at];
    uint64_t number = 0;
    if (word == "(") {
      NodeBuilder inside(module.getContext());
      add_words(module, inside, words, ++at);
      node.metadata(inside.finish());
    } else if (word.starts_with('@')) {
      llvm::Function* function = module.getFunction(llvm::StringRef(word).drop_front());
      node.metadata(function != nullptr ? llvm::ValueAsMetadata::get(function) : nullptr);
    } else if (word.starts_with('#') && !llvm::StringRef(word).drop_front().getAsInteger(10, number)) {
      node.number(number);
    } else {
      node.text(word);
    }
  }
}

}  // namespace

llvm::MDNode* with_extra(const llvm::Module& module, const llvm::MDNode& entry, const std::vector<std::string>& words) {
  llvm::SmallVector<llvm::Metadata*, 8> operands(entry.op_begin(), entry.op_end());
  NodeBuilder node(module.getContext());
  size_t at = 0;
  add_words(module, node, words, at);
  operands.push_back(node.finish());
  return llvm::MDNode::get(module.getContext(), operands);
}

llvm::MDNode* with_words(const llvm::MDNode& entry, const std::vector<std::string>& words) {
  llvm::SmallVector<llvm::Metadata*, 8> operands(entry.op_begin(), entry.op_end());
  for (const std::string& word : words) operands.push_back(llvm::MDString::get(entry.getContext(), word));
  return llvm::MDNode::get(entry.getContext(), operands);
}

llvm::MDNode* write_stage_value(const llvm::Module& module, std::optional<uint32_t> index,
                                const kernel_ir::StageValue& value, llvm::MDNode* condition, bool is_unused) {
  NodeBuilder node(module.getContext());
  if (index) node.number(*index);
  if (condition) node.text("air.function_constant").metadata(condition);
  size_t at = 0;
  add_words(module, node, value.words, at);
  if (!value.type_name.empty()) node.text("air.arg_type_name").text(value.type_name);
  if (!value.name.empty()) node.text("air.arg_name").text(value.name);
  if (is_unused) node.text("air.arg_unused");
  return node.finish();
}

NodeBuilder& NodeBuilder::number(uint64_t value) {
  auto* constant = llvm::ConstantInt::get(llvm::Type::getInt32Ty(context_), value);
  return metadata(llvm::ConstantAsMetadata::get(constant));
}

NodeBuilder& NodeBuilder::text(std::string_view value) {
  return metadata(llvm::MDString::get(context_, value));
}

NodeBuilder& NodeBuilder::metadata(llvm::Metadata* value) {
  operands_.push_back(value);
  return *this;
}

std::optional<uint64_t> NodeReader::number() {
  if (at_end()) return std::nullopt;
  const auto* value = llvm::mdconst::dyn_extract_or_null<llvm::ConstantInt>(node_.getOperand(at_));
  if (!value || value->getValue().getActiveBits() > 64) return std::nullopt;
  ++at_;
  return value->getZExtValue();
}

std::optional<std::string_view> NodeReader::text() {
  if (at_end()) return std::nullopt;
  const auto* value = llvm::dyn_cast_or_null<llvm::MDString>(node_.getOperand(at_));
  if (!value) return std::nullopt;
  ++at_;
  return std::string_view(value->getString());
}

llvm::MDNode* NodeReader::node() {
  if (at_end()) return nullptr;
  auto* value = llvm::dyn_cast_or_null<llvm::MDNode>(node_.getOperand(at_).get());
  if (value) ++at_;
  return value;
}

}  // namespace smelt::aot::air
