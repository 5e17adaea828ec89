// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Entry points: where a module lists them, and the metadata of one (docs/formats/air.md 1.4 to 1.6). This is its one
// struct, one reader and one writer. verify/ has a reader of its own on purpose: it judges what the writer made.
#pragma once

#include "smelt/aot/kernel_info.hpp"
#include "smelt/base/entry_interface.hpp"

#include "kernel_ir/stage_values.hpp"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/Module.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smelt::aot::air {

/// Functions that other objects may call, on their way from source to object (smelt/aot/object.hpp): treated as entry
/// points of a stage that Metal does not have, and without arguments to bind. No finished file has the list.
inline constexpr const char* kExternalStage = "external";
inline constexpr std::string_view kVisibleStage = "visible";

/// Entry points stand in the lists !air.<stage>.
inline constexpr std::array<std::string_view, 8> kStages = {"kernel", "vertex",       "fragment",    "mesh",
                                                            "object", "intersection", kVisibleStage, kExternalStage};

/// Whether entry points of this stage become CPU code; "external" ones do as parts of others.
bool runs_on_cpu(std::string_view stage);
/// Why an entry point of another stage has none.
std::string why_not_on_cpu(std::string_view stage);

struct EntryPoint {
  std::string name;
  std::string stage;  ///< "kernel", ...
  bool operator==(const EntryPoint&) const = default;
};

/// The list of a stage, or null.
llvm::NamedMDNode* entry_list(const llvm::Module& module, std::string_view stage);
bool has_entries(const llvm::Module& module);
/// The function that a node of such a list is about, or null.
llvm::Function* function_of(const llvm::MDNode& entry);

/// All entry points: as listed, then functions that kernel IR marks and that stand in no list.
std::vector<EntryPoint> entry_points(const llvm::Module& module);

/// Of `all`, the module's entry points, those for which `keep` holds stay. The others leave the lists; their functions
/// go, unless something still calls them: then they are helpers. Bodies need not have been read.
void keep_entries(llvm::Module& module, const std::vector<EntryPoint>& all,
                  llvm::function_ref<bool(std::string_view name, std::string_view stage)> keep);

/// What no entry point of the module needs: functions, variables, and rows of !air.function_constants whose storage is
/// gone and which no argument names. For finished modules that had more entries before.
void drop_unreached(llvm::Module& module);

struct ArgumentSlots {
  uint32_t first = 0, count = 1;
};
struct PointeeSize {
  uint64_t size = 0, align = 0;
};

/// One parameter's node:
///   { index [, "air.function_constant", condition], kind [, "air.buffer_size", n] [, "air.location_index", slot,
///   count]
///     [, access] [, "air.raster_order_group", n] [, "air.address_space", n] [, "air.struct_type_info", fields] [,
///     "air.arg_type_size", n, "air.arg_type_align_size", n], "air.arg_type_name", type, "air.arg_name", name [,
///     "air.arg_unused"] }
/// What a vertex or fragment function gets has AIR's words behind its index instead (kernel_ir/stage_values.hpp): the
/// kind and `words`.
inline constexpr std::string_view kInterpolantWord = "air.interpolation_function";

struct EntryArgumentNode {
  uint32_t index = 0;
  llvm::MDNode* condition = nullptr;  ///< a row of !air.function_constants
  bool is_conditional = false;        ///< also where `condition` is gone
  std::string kind;                   ///< "air.buffer", "air.thread_position_in_grid", ...
  std::optional<uint64_t> buffer_size;
  std::optional<ArgumentSlots> slots;
  ArgumentAccess access = ArgumentAccess::none;
  std::optional<unsigned> raster_order_group;
  std::optional<unsigned> address_space;
  llvm::MDNode* fields = nullptr;
  std::optional<PointeeSize> type_size;
  std::string type_name;
  std::string name;
  bool is_unused = false;
  std::vector<std::string> words;  ///< what no other member has: "user(uv)", "air.center", "3" of a number

  /// A pointer that stands for a value of the stage before: interpolant<T, p>.
  bool is_interpolant() const { return std::find(words.begin(), words.end(), kInterpolantWord) != words.end(); }
};

/// Nothing when a key lacks its value. Of any stage's entry.
std::optional<EntryArgumentNode> read_argument(const llvm::MDNode& node);
/// What an entry returns, in the list of its outputs: the same without an index.
EntryArgumentNode read_result(const llvm::MDNode& node);
/// What the argument is to whoever calls, by its kind; `type` is the parameter's. Nothing for a kind that is neither
/// bound nor known as an input. The one place that reads AIR's words for classes; write_argument() writes them back.
std::optional<EntryParameter> parameter_of(const EntryArgumentNode& argument, const llvm::Type& type);
/// The class that a kind's word says ("air.texture"), as far as the word alone tells: a buffer may be threadgroup
/// memory.
std::optional<BindingClass> class_of_kind(std::string_view kind);
llvm::MDNode* write_argument(llvm::LLVMContext& context, const EntryArgumentNode& argument);

/// A row of !air.function_constants: { storage, type name, name, index, true }.
struct EntryConstant {
  llvm::GlobalVariable* storage = nullptr;  ///< null when the optimiser dropped it: nobody reads it
  std::string type_name;
  std::string name;
  std::optional<uint64_t> index;
};
inline constexpr const char* kConstantList = "air.function_constants";
EntryConstant read_constant(const llvm::MDNode& row);
llvm::MDNode* write_constant(llvm::LLVMContext& context, const EntryConstant& constant);

/// The node { inputs... } of an entry, or null.
const llvm::MDNode* inputs_of(const llvm::MDNode& entry);
/// The node { outputs... } of an entry, or null.
const llvm::MDNode* outputs_of(const llvm::MDNode& entry);

/// { "air.max_work_group_size", n }, an operand of the entry behind its inputs.
std::optional<uint32_t> max_threads_of(const llvm::MDNode& entry);
/// The same entry with this number, whatever it said before.
llvm::MDNode* with_max_threads(const llvm::MDNode& entry, uint32_t threads);

/// { function, outputs, inputs [, max threads] }; a kernel has no outputs.
llvm::MDNode* write_entry(llvm::Function& function, llvm::ArrayRef<llvm::Metadata*> outputs,
                          llvm::ArrayRef<llvm::Metadata*> inputs, std::optional<uint32_t> max_threads);
/// The same entry with "early_fragment_tests" behind it.
llvm::MDNode* with_early_fragment_tests(const llvm::MDNode& entry);

/// The same entry with a node of these words behind it (kernel_ir/stage_values.hpp).
llvm::MDNode* with_extra(const llvm::Module& module, const llvm::MDNode& entry, const std::vector<std::string>& words);

/// The same entry with these words behind it.
llvm::MDNode* with_words(const llvm::MDNode& entry, const std::vector<std::string>& words);

/// What a stage gets (`index` is the parameter's) or gives; `condition` is a row of !air.function_constants, or null.
llvm::MDNode* write_stage_value(const llvm::Module& module, std::optional<uint32_t> index,
                                const kernel_ir::StageValue& value, llvm::MDNode* condition, bool is_unused);

/// Builds a node operand by operand.
class NodeBuilder {
 public:
  explicit NodeBuilder(llvm::LLVMContext& context) : context_(context) {}
  NodeBuilder& number(uint64_t value);
  NodeBuilder& text(std::string_view value);
  NodeBuilder& metadata(llvm::Metadata* value);
  llvm::MDNode* finish() const { return llvm::MDNode::get(context_, operands_); }

 private:
  llvm::LLVMContext& context_;
  llvm::SmallVector<llvm::Metadata*, 32> operands_;
};

/// Operands of one node, read front to back; a value of another kind is not taken.
class NodeReader {
 public:
  explicit NodeReader(const llvm::MDNode& node) : node_(node) {}
  bool at_end() const { return at_ >= node_.getNumOperands(); }
  std::optional<uint64_t> number();
  std::optional<std::string_view> text();
  llvm::MDNode* node();
  void skip() { ++at_; }

 private:
  const llvm::MDNode& node_;
  unsigned at_ = 0;
};

}  // namespace smelt::aot::air
