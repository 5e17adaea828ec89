// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Vertex, fragment and visible functions: what they return and what they are given, against their signature
// (docs/formats/air.md 1.11, 1.12); and fragments whose inputs no vertex function of the library has.
#include "interface/entry.hpp"
#include "verify/checks.hpp"

#include "llvm/IR/Module.h"

#include <algorithm>
#include <map>
#include <set>

namespace smelt::aot::verify {
namespace {

enum class Shape : uint8_t { any, float1, float2, float4, whole, truth };

struct ValueRule {
  std::string_view stage, kind;
  Shape shape = Shape::any;
};
constexpr ValueRule kResults[] = {
    {"vertex", "position", Shape::float4},
    {"vertex", "point_size", Shape::float1},
    {"vertex", "clip_distance"},
    {"vertex", "vertex_output"},
    {"vertex", "render_target_array_index", Shape::whole},
    {"vertex", "viewport_array_index", Shape::whole},
    {"fragment", "render_target"},
    {"fragment", "depth", Shape::float1},
    {"fragment", "stencil", Shape::whole},
    {"fragment", "sample_mask", Shape::whole},
    {"fragment", "imageblock_data"},
    {"visible", "visible_output"},
};
constexpr ValueRule kInputs[] = {
    {"vertex", "vertex_id", Shape::whole},
    {"vertex", "instance_id", Shape::whole},
    {"vertex", "base_vertex", Shape::whole},
    {"vertex", "base_instance", Shape::whole},
    {"vertex", "vertex_input"},
    {"vertex", "patch_input"},
    {"vertex", "patch_id", Shape::whole},
    {"vertex", "position_in_patch"},
    {"vertex", "patch_control_point_input"},
    {"kernel", "stage_in"},
    {"fragment", "position", Shape::float4},
    {"fragment", "fragment_input"},
    {"fragment", "front_facing", Shape::truth},
    {"fragment", "point_coord", Shape::float2},
    {"fragment", "sample_id", Shape::whole},
    {"fragment", "sample_mask_in", Shape::whole},
    {"fragment", "primitive_id", Shape::whole},
    {"fragment", "render_target"},
    {"fragment", "barycentric_coord"},
    {"visible", "visible_input"},
};

constexpr uint64_t kMostColours = 8;

/// Words and numbers of one node, without the names of its type and itself.
struct ValueNode {
  std::string kind, type_name;
  std::vector<std::string> words;
  std::vector<uint64_t> numbers;
  bool conditional = false;
};

ValueNode read_value_node(const llvm::MDNode& node, unsigned first) {
  ValueNode read;
  for (unsigned i = first; i < node.getNumOperands(); ++i) {
    if (const auto* number = llvm::mdconst::dyn_extract_or_null<llvm::ConstantInt>(node.getOperand(i)))
      read.numbers.push_back(number->getLimitedValue());
    const auto* text = llvm::dyn_cast_or_null<llvm::MDString>(node.getOperand(i));
    if (text == nullptr) continue;
    const llvm::StringRef word = text->getString();
    const bool has_value = word == "air.arg_type_name" || word == "air.arg_name" || word == "air.function_constant";
    if (word == "air.function_constant") read.conditional = true;
    if (has_value && i + 1 < node.getNumOperands()) {
      ++i;
      const auto* value = llvm::dyn_cast_or_null<llvm::MDString>(node.getOperand(i));
      if (word == "air.arg_type_name" && value != nullptr) read.type_name = value->getString().str();
    } else if (read.kind.empty() && word.starts_with("air.")) {
      read.kind = word.drop_front(4).str();
    } else {
      read.words.push_back(word.str());
    }
  }
  return read;
}

bool has_shape(const llvm::Type& type, Shape shape) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(&type);
  const unsigned lanes = vector != nullptr ? vector->getNumElements() : 1;
  const llvm::Type& lane = *type.getScalarType();
  switch (shape) {
    case Shape::any:
      return true;
    case Shape::float1:
      return lane.isFloatTy() && lanes == 1;
    case Shape::float2:
      return lane.isFloatTy() && lanes == 2;
    case Shape::float4:
      return lane.isFloatTy() && lanes == 4;
    case Shape::whole:
      return (lane.isIntegerTy(32) || lane.isIntegerTy(16)) && lanes == 1;
    case Shape::truth:
      return (lane.isIntegerTy(1) || lane.isIntegerTy(8)) && lanes == 1;
  }
  return true;
}

/// Whether a type of Metal's name can be this one of LLVM's; true for a name that is not of a scalar or a vector.
bool agrees_with_name(const llvm::Type& type, llvm::StringRef name) {
  unsigned lanes = 1;
  if (!name.empty() && name.back() >= '2' && name.back() <= '4') {
    lanes = static_cast<unsigned>(name.back() - '0');
    name = name.drop_back();
  }
  const llvm::Type* of = type.isArrayTy() ? type.getArrayElementType() : &type;
  const llvm::Type& lane = *of->getScalarType();
  const std::pair<llvm::StringRef, bool> kNames[] = {{"float", lane.isFloatTy()},
                                                     {"half", lane.isHalfTy()},
                                                     {"int", lane.isIntegerTy(32)},
                                                     {"uint", lane.isIntegerTy(32)},
                                                     {"short", lane.isIntegerTy(16)},
                                                     {"ushort", lane.isIntegerTy(16)},
                                                     {"char", lane.isIntegerTy(8)},
                                                     {"uchar", lane.isIntegerTy(8)},
                                                     {"bool", lane.isIntegerTy(1) || lane.isIntegerTy(8)}};
  // A pointer is called what it points to, a structure of a handle what the handle is.
  if (lane.isPointerTy() || lane.isStructTy()) return true;
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(of);
  for (const auto& [known, fits] : kNames)
    if (name == known) return fits && (vector != nullptr ? vector->getNumElements() : 1) == lanes;
  return true;
}

class StageChecker {
 public:
  StageChecker(const EntryNode& entry, Findings& findings) : entry_(entry), findings_(findings) {}

  void check() {
    const std::string place = fmt::format("!air.{}", entry_.stage);
    const llvm::Function& function = *entry_.function;
    if (function.hasLocalLinkage())
      findings_.error(Check::entry, place, "the function is internal; want external linkage");
    check_results(*function.getReturnType());
    const auto* inputs = llvm::dyn_cast_or_null<llvm::MDNode>(entry_.node->getOperand(2));
    for (unsigned i = 0; inputs != nullptr && i < inputs->getNumOperands() && i < function.arg_size(); ++i)
      if (const auto* node = llvm::dyn_cast_or_null<llvm::MDNode>(inputs->getOperand(i)))
        check_input(*node, *function.getArg(i)->getType(), fmt::format("argument {}", i));
    if (entry_.stage == "visible") check_visible(inputs);
  }

 private:
  void check_visible(const llvm::MDNode* inputs) {
    const std::string place = fmt::format("!air.{}", entry_.stage);
    for (unsigned i = 0; inputs != nullptr && i < inputs->getNumOperands(); ++i) {
      const auto* node = llvm::dyn_cast_or_null<llvm::MDNode>(inputs->getOperand(i));
      if (node != nullptr && read_value_node(*node, 1).kind != "visible_input")
        findings_.error(Check::argument, fmt::format("argument {}", i),
                        "'air.{}' is not an argument of a visible function", read_value_node(*node, 1).kind);
    }
    for (unsigned i = 3; i < entry_.node->getNumOperands(); ++i)
      if (const auto* extra = llvm::dyn_cast_or_null<llvm::MDNode>(entry_.node->getOperand(i)))
        if (word_of(*extra) == "air.stitching_info") check_stitching(*extra, place);
  }

  static llvm::StringRef word_of(const llvm::MDNode& node) {
    const auto* word =
        node.getNumOperands() != 0 ? llvm::dyn_cast_or_null<llvm::MDString>(node.getOperand(0)) : nullptr;
    return word != nullptr ? word->getString() : llvm::StringRef();
  }

  /// { "air.stitching_info", type of the result, arguments... }
  void check_stitching(const llvm::MDNode& info, const std::string& place) {
    const auto* result = info.getNumOperands() > 1 ? llvm::dyn_cast_or_null<llvm::MDNode>(info.getOperand(1)) : nullptr;
    if (result == nullptr)
      return findings_.error(Check::entry, place, "air.stitching_info does not say what the function returns");
    check_stitching_type(*result, place);
    for (unsigned i = 2; i < info.getNumOperands(); ++i) {
      const auto* argument = llvm::dyn_cast_or_null<llvm::MDNode>(info.getOperand(i));
      const auto* type =
          argument != nullptr && argument->getNumOperands() > 2 && word_of(*argument) == "air.stitching_argument"
              ? llvm::dyn_cast_or_null<llvm::MDNode>(argument->getOperand(1))
              : nullptr;
      if (type == nullptr)
        findings_.error(Check::entry, place, "stitching argument {} has no type and name", i - 2);
      else
        check_stitching_type(*type, place);
    }
  }

  /// { "air.stitching_type", type, load, store, destroy, copy }
  void check_stitching_type(const llvm::MDNode& type, const std::string& place) {
    constexpr unsigned kFunctions = 4;
    if (word_of(type) != "air.stitching_type" || type.getNumOperands() != 2 + kFunctions)
      return findings_.error(Check::entry, place, "a stitching type is a type and {} functions", kFunctions);
    for (unsigned i = 2; i < type.getNumOperands(); ++i) {
      const auto* function = llvm::mdconst::dyn_extract_or_null<llvm::Function>(type.getOperand(i));
      if (function == nullptr || function->isDeclaration())
        findings_.error(Check::entry, place, "function {} of a stitching type does not exist", i - 2);
    }
  }

  const ValueRule* rule(std::span<const ValueRule> rules, std::string_view kind) const {
    for (const ValueRule& one : rules)
      if (one.stage == entry_.stage && one.kind == kind) return &one;
    return nullptr;
  }

  void check_results(const llvm::Type& type) {
    const auto* outputs = llvm::dyn_cast_or_null<llvm::MDNode>(entry_.node->getOperand(1));
    const std::string place = fmt::format("!air.{}", entry_.stage);
    if (outputs == nullptr) return findings_.error(Check::entry, place, "the entry has no list of outputs");
    const auto* record = llvm::dyn_cast<llvm::StructType>(&type);
    const unsigned returned = type.isVoidTy() ? 0 : record != nullptr ? record->getNumElements() : 1;
    if (outputs->getNumOperands() != returned)
      return findings_.error(Check::entry, place, "{} outputs, but the function returns {} values",
                             outputs->getNumOperands(), returned);
    std::set<std::string> seen;
    for (unsigned i = 0; i < returned; ++i) {
      const std::string result = fmt::format("result {}", i);
      const auto* node = llvm::dyn_cast_or_null<llvm::MDNode>(outputs->getOperand(i));
      if (node == nullptr || node->getNumOperands() == 0) {
        findings_.error(Check::entry, result, "no node with a kind");
        continue;
      }
      const ValueNode value = read_value_node(*node, 0);
      check_value(value, rule(kResults, value.kind), *(record != nullptr ? record->getElementType(i) : &type), result);
      check_result(value, seen, result);
    }
  }

  void check_result(const ValueNode& value, std::set<std::string>& seen, const std::string& place) {
    std::string identity = value.kind;
    if (value.kind == "vertex_output") {
      if (value.words.empty()) return findings_.error(Check::entry, place, "a vertex_output has no name");
      identity = value.words[0];
    }
    if (value.kind == "render_target") {
      if (value.numbers.empty() || value.numbers[0] >= kMostColours)
        return findings_.error(Check::limit, place, "a colour needs a number from 0 to {}", kMostColours - 1);
      for (const uint64_t number : value.numbers) identity += fmt::format(" {}", number);
    }
    if (!value.conditional && !seen.insert(identity).second)
      findings_.error(Check::entry, place, "'{}' is returned twice", identity);
  }

  void check_input(const llvm::MDNode& node, const llvm::Type& type, const std::string& place) {
    const ValueNode value = read_value_node(node, 1);
    const ValueRule* known = rule(kInputs, value.kind);
    if (known == nullptr) return;  // bound, or of a kind that is not listed here: check_arguments
    check_value(value, known, type, place);
    const auto has = [&](std::string_view word) {
      return std::find(value.words.begin(), value.words.end(), word) != value.words.end();
    };
    if (value.kind == "fragment_input" || value.kind == "position") {
      const bool is_placed = has("air.center") || has("air.centroid") || has("air.sample") || has("air.flat") ||
                             has("air.vertex_value") || has("air.interpolation_function");
      if (!is_placed) findings_.error(Check::argument, place, "'{}' does not say how it is interpolated", value.kind);
    }
    if (value.kind == "fragment_input" && (value.words.empty() || value.words[0].starts_with("air.")))
      findings_.error(Check::argument, place, "a fragment_input has no name");
    if (value.kind == "fragment_input" && type.getScalarType()->isIntegerTy() && !has("air.flat") &&
        !has("air.vertex_value"))
      findings_.error(Check::argument, place, "an integer is interpolated; want air.flat");
    if (value.kind == "vertex_input") {
      if (value.numbers.empty() || value.numbers[0] >= 31)
        findings_.error(Check::limit, place, "an attribute needs a number from 0 to 30");
      else if (!value.conditional && !attributes_.insert(value.numbers[0]).second)
        findings_.error(Check::argument, place, "attribute {} is taken twice", value.numbers[0]);
    }
  }

  void check_value(const ValueNode& value, const ValueRule* known, const llvm::Type& type, const std::string& place) {
    if (known == nullptr)
      return findings_.error(Check::entry, place, "'air.{}' is not a result of a {} function", value.kind,
                             entry_.stage);
    const bool is_interpolant =
        std::find(value.words.begin(), value.words.end(), air::kInterpolantWord) != value.words.end();
    if (is_interpolant ? !type.isPointerTy()
                       : !has_shape(type, known->shape) || !agrees_with_name(type, value.type_name))
      findings_.error(Check::entry, place, "'air.{}' called '{}' has another type in the function", value.kind,
                      value.type_name);
  }

  const EntryNode& entry_;
  Findings& findings_;
  std::set<uint64_t> attributes_;
};

/// "user(uv)" of what is handed on from stage to stage: the first of AIR's further words.
std::string handed_name(const std::string& detail) {
  return detail.substr(0, detail.find(", "));
}

}  // namespace

void check_stage(const EntryNode& entry, Findings& findings) {
  StageChecker(entry, findings).check();
}

void check_hand_over(std::span<const StageInfo> functions, Findings& findings) {
  using Names = std::map<std::string, std::string>;  // and their types
  std::vector<Names> given;
  for (const StageInfo& function : functions) {
    if (function.stage != "vertex") continue;
    Names names;
    for (const StageValueInfo& result : function.results)
      if (result.air_kind == "air.vertex_output") names.emplace(handed_name(result.detail), result.type_name);
    given.push_back(std::move(names));
  }
  for (const StageInfo& function : functions) {
    if (function.stage != "fragment") continue;
    Names taken;
    for (const StageValueInfo& argument : function.inputs)
      if (argument.air_kind == "air.fragment_input" && !argument.conditional && !argument.unused)
        taken.emplace(handed_name(argument.detail), argument.type_name);
    // Of the vertex functions that share a name with it, the nearest: those of other libraries nobody knows here.
    const Names* nearest = nullptr;
    size_t most = 0;
    for (const Names& names : given) {
      const auto shared = static_cast<size_t>(
          std::count_if(taken.begin(), taken.end(), [&](const auto& one) { return names.count(one.first) != 0; }));
      if (shared > most) nearest = &names, most = shared;
    }
    if (nearest == nullptr) continue;
    for (const auto& [name, type] : taken) {
      const auto found = nearest->find(name);
      if (found == nearest->end())
        findings.note(Check::entry, function.name,
                      "it takes {}, which no vertex function of the library gives together "
                      "with its other inputs",
                      name);
      else if (found->second != type)
        findings.note(Check::entry, function.name, "it takes {} as '{}', and the vertex function gives '{}'", name,
                      type, found->second);
    }
  }
}

}  // namespace smelt::aot::verify
