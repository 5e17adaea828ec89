// !air.kernel = { FUNCTION, OUTPUTS, INPUTS [, max work group size] } with one node per parameter, keys in Apple's
// order (docs/air.md 1.5, 1.6). Made from the signature and from the attributes that kernel_arguments and the front end
// left on the parameters; these attributes go. An entry that came with its metadata keeps it.
#include "air/passes/builtins.hpp"
#include "air/passes/support.hpp"
#include "air/passes/type_names.hpp"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"

#include <array>
#include <set>

namespace smelt::aot::air {
namespace {

constexpr unsigned kMostBuffers = 31;
constexpr unsigned kMostThreads = 1024;

/// Builds one node, operand by operand.
class NodeBuilder {
 public:
  explicit NodeBuilder(llvm::LLVMContext& context) : context_(context) {}
  NodeBuilder& number(uint64_t value) {
    auto* constant = llvm::ConstantInt::get(llvm::Type::getInt32Ty(context_), value);
    operands_.push_back(llvm::ConstantAsMetadata::get(constant));
    return *this;
  }
  NodeBuilder& text(std::string_view value) {
    operands_.push_back(llvm::MDString::get(context_, to_ref(value)));
    return *this;
  }
  NodeBuilder& node(llvm::Metadata* value) {
    operands_.push_back(value);
    return *this;
  }
  llvm::MDNode* finish() { return llvm::MDNode::get(context_, operands_); }

 private:
  llvm::LLVMContext& context_;
  llvm::SmallVector<llvm::Metadata*, 24> operands_;
};

std::string attribute_text(const llvm::Argument& argument, const char* key, std::string_view otherwise) {
  const llvm::Attribute attribute = argument.getParent()->getAttributes().getParamAttr(argument.getArgNo(), key);
  return attribute.isValid() ? attribute.getValueAsString().str() : std::string(otherwise);
}

Result<unsigned> attribute_number(const llvm::Argument& argument, const char* key, unsigned otherwise) {
  const std::string text = attribute_text(argument, key, "");
  unsigned number = otherwise;
  if (!text.empty() && llvm::StringRef(text).getAsInteger(10, number))
    return fail(Errc::compile_failed, "argument '{}': {}=\"{}\" is no number", to_view(argument.getName()), key, text);
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

/// Slots: buffers of device and constant memory share one space, threadgroup pointers have their own.
class Slots {
 public:
  Result<unsigned> take(const llvm::Argument& argument, unsigned space) {
    std::set<unsigned>& used = space == kThreadgroup ? threadgroup_ : buffers_;
    unsigned next = 0;
    while (used.count(next)) ++next;
    SMELT_TRY(const unsigned slot, attribute_number(argument, kLocationIndex, next));
    if (slot >= kMostBuffers)
      return fail(
          Errc::compile_failed,
          "kernel '{}' binds argument '{}' to buffer {}; Metal has {} buffers (0 to {}). Packing the scalars into "
          "one buffer (--pack-scalars) may make room",
          to_view(argument.getParent()->getName()), to_view(argument.getName()), slot, kMostBuffers, kMostBuffers - 1);
    if (!used.insert(slot).second)
      return fail(Errc::compile_failed, "kernel '{}' binds two arguments to buffer {}; '{}' is one of them",
                  to_view(argument.getParent()->getName()), slot, to_view(argument.getName()));
    return slot;
  }

 private:
  std::set<unsigned> buffers_, threadgroup_;
};

llvm::MDNode* struct_node(llvm::LLVMContext& context, llvm::StringRef info) {
  NodeBuilder node(context);
  llvm::SmallVector<llvm::StringRef, 8> lines;
  info.split(lines, '\n', -1, false);
  for (const llvm::StringRef line : lines) {
    llvm::SmallVector<llvm::StringRef, 5> fields;
    line.split(fields, ';', 4);
    if (fields.size() != 5) continue;
    for (size_t i = 0; i < 3; ++i) {
      unsigned number = 0;
      fields[i].getAsInteger(10, number);
      node.number(number);
    }
    node.text(to_view(fields[3])).text(to_view(fields[4]));
  }
  return node.finish();
}

void finish_argument(NodeBuilder& node, const llvm::Argument& argument, std::string_view type_name) {
  node.text("air.arg_type_name").text(type_name);
  node.text("air.arg_name").text(attribute_text(argument, kArgName, to_view(argument.getName())));
  if (argument.use_empty()) node.text("air.arg_unused");
}

Result<llvm::MDNode*> buffer_node(const PassContext& context, const llvm::Argument& argument, Slots& slots) {
  llvm::LLVMContext& llvm_context = context.module.getContext();
  const unsigned space = argument.getType()->getPointerAddressSpace();
  const std::string struct_info = attribute_text(argument, kArgStructType, "");
  const std::string type_name = attribute_text(argument, kArgTypeName, "char");
  SMELT_TRY(const unsigned size, attribute_number(argument, kArgTypeSize, 1));
  SMELT_TRY(const unsigned align, attribute_number(argument, kArgTypeAlign, 1));
  std::string access = attribute_text(argument, kAccess, "");
  if (access.empty()) access = space == kConstant || only_reads(argument) ? "read" : "read_write";
  if (access != "read" && access != "read_write" && access != "write")
    return fail(Errc::compile_failed, "argument '{}': access \"{}\" is none of read, read_write",
                to_view(argument.getName()), access);
  SMELT_TRY(const unsigned slot, slots.take(argument, space));

  NodeBuilder node(llvm_context);
  node.number(argument.getArgNo()).text("air.buffer");
  if (argument.getDereferenceableBytes() != 0 && space == kConstant) node.text("air.buffer_size").number(size);
  node.text("air.location_index").number(slot).number(1);
  node.text(access == "read" ? "air.read" : "air.read_write");
  if (context.target.air >= Version{2, 5}) node.text("air.address_space").number(space);
  if (!struct_info.empty()) node.text("air.struct_type_info").node(struct_node(llvm_context, struct_info));
  if (type_name != "void") node.text("air.arg_type_size").number(size).text("air.arg_type_align_size").number(align);
  finish_argument(node, argument, type_name);
  return node.finish();
}

/// "uint3" for <3 x i32>: what Apple pairs with the IR type of a hardware value.
Result<std::string> builtin_type_name(const llvm::Argument& argument, const BuiltinRow& row) {
  const llvm::Type* type = argument.getType();
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  const llvm::Type* element = vector ? vector->getElementType() : type;
  const unsigned lanes = vector ? vector->getNumElements() : 1;
  const bool fits = (element->isIntegerTy(32) || element->isIntegerTy(16)) && lanes <= (row.is_vector ? 3u : 1u);
  if (!fits)
    return fail(Errc::compile_failed, "argument '{}' has type {}, but '{}' is {}", to_view(argument.getName()),
                text_of(*type), row.attribute,
                row.is_vector ? "uint, uint2, uint3 or ushort likewise" : "uint or ushort");
  const std::string name = element->isIntegerTy(32) ? "uint" : "ushort";
  return lanes == 1 ? name : fmt::format("{}{}", name, lanes);
}

Result<llvm::MDNode*> argument_node(const PassContext& context, const llvm::Argument& argument, Slots& slots) {
  const std::string builtin = attribute_text(argument, kBuiltin, "");
  if (!builtin.empty()) {
    const BuiltinRow* row = find_builtin(builtin);
    if (!row)
      return fail(Errc::compile_failed, "argument '{}': '{}' is not a hardware value of a kernel",
                  to_view(argument.getName()), builtin);
    SMELT_TRY(const std::string type_name, builtin_type_name(argument, *row));
    NodeBuilder node(context.module.getContext());
    node.number(argument.getArgNo()).text(fmt::format("air.{}", builtin));
    finish_argument(node, argument, type_name);
    return node.finish();
  }
  if (!argument.getType()->isPointerTy())
    return fail(Errc::compile_failed,
                "argument '{}' of kernel '{}' has type {} and is neither a buffer nor a hardware value",
                to_view(argument.getName()), to_view(context.entry->getName()), text_of(*argument.getType()));
  return buffer_node(context, argument, slots);
}

void clean_attributes(const PassContext& context) {
  llvm::Function& entry = *context.entry;
  for (const char* key : {kKernelAttribute, kMaxThreadsAttribute, kThreadgroupMemoryAttribute}) entry.removeFnAttr(key);
  for (llvm::Argument& argument : entry.args()) {
    const unsigned index = argument.getArgNo();
    const bool is_buffer = argument.getType()->isPointerTy();
    for (const char* key :
         {kArgName, kArgTypeName, kArgTypeSize, kArgTypeAlign, kArgStructType, kAccess, kBuiltin, kLocationIndex})
      entry.removeParamAttr(index, key);
    entry.removeParamAttr(index, llvm::Attribute::NoAlias);
    if (is_buffer && context.options.buffers_do_not_overlap)
      entry.addParamAttr(index, llvm::Attribute::get(context.module.getContext(), "air-buffer-no-alias"));
    if (is_buffer && !argument.hasAttribute(llvm::Attribute::ReadNone) && only_reads(argument))
      entry.addParamAttr(index, llvm::Attribute::ReadOnly);
  }
}

Result<std::optional<unsigned>> most_threads(const PassContext& context) {
  std::optional<unsigned> threads = context.options.threads_per_threadgroup;
  const llvm::Attribute attribute = context.entry->getFnAttribute(kMaxThreadsAttribute);
  if (!threads && attribute.isValid()) {
    unsigned number = 0;
    if (attribute.getValueAsString().getAsInteger(10, number))
      return fail(Errc::compile_failed, "kernel '{}': {}=\"{}\" is no number", to_view(context.entry->getName()),
                  kMaxThreadsAttribute, to_view(attribute.getValueAsString()));
    threads = number;
  }
  if (threads && (*threads == 0 || *threads > kMostThreads))
    return fail(Errc::group_too_large, "kernel '{}' wants {} threads per threadgroup; Apple GPUs have 1 to {}",
                to_view(context.entry->getName()), *threads, kMostThreads);
  return threads;
}

llvm::MDNode* threads_node(llvm::LLVMContext& context, unsigned threads) {
  return NodeBuilder(context).text("air.max_work_group_size").number(threads).finish();
}

/// An entry with metadata of its own: only the threads are added, where asked for and not there.
void add_threads(PassContext& context, unsigned threads) {
  llvm::NamedMDNode* list = context.module.getNamedMetadata("air.kernel");
  if (!list || list->getNumOperands() == 0) return;
  const llvm::MDNode* node = list->getOperand(0);
  llvm::SmallVector<llvm::Metadata*, 8> operands;
  for (const llvm::MDOperand& operand : node->operands()) {
    const auto* extra = llvm::dyn_cast_or_null<llvm::MDNode>(operand.get());
    const auto* key =
        extra && extra->getNumOperands() > 0 ? llvm::dyn_cast_or_null<llvm::MDString>(extra->getOperand(0)) : nullptr;
    if (!key || key->getString() != "air.max_work_group_size") operands.push_back(operand.get());
  }
  operands.push_back(threads_node(context.module.getContext(), threads));
  list->setOperand(0, llvm::MDNode::get(context.module.getContext(), operands));
}

}  // namespace

Result<void> entry_metadata(PassContext& context) {
  SMELT_TRY(const std::optional<unsigned> threads, most_threads(context));
  llvm::LLVMContext& llvm_context = context.module.getContext();
  if (has_entry_metadata(context)) {
    if (threads && context.stage == "kernel" && (!context.finished || context.options.threads_per_threadgroup))
      add_threads(context, *threads);
    if (!context.finished) clean_attributes(context);
    return {};
  }
  Slots slots;
  std::vector<llvm::Metadata*> inputs(context.entry->arg_size());
  // Parameters with a slot of their own first, so that the others go round them.
  for (const bool explicit_slots : {true, false})
    for (const llvm::Argument& argument : context.entry->args()) {
      if (attribute_text(argument, kLocationIndex, "").empty() == explicit_slots) continue;
      SMELT_TRY(inputs[argument.getArgNo()], argument_node(context, argument, slots));
    }
  auto* empty = llvm::MDNode::get(llvm_context, {});
  llvm::SmallVector<llvm::Metadata*, 4> node = {llvm::ValueAsMetadata::get(context.entry), empty,
                                                llvm::MDNode::get(llvm_context, inputs)};
  if (threads) node.push_back(threads_node(llvm_context, *threads));
  context.module.getOrInsertNamedMetadata("air.kernel")->addOperand(llvm::MDNode::get(llvm_context, node));
  clean_attributes(context);
  return {};
}

}  // namespace smelt::aot::air
