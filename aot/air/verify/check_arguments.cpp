// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Argument nodes against the function's parameters (docs/formats/air.md 1.6): one node per parameter, in order;
// addresses, slots and type names that agree with the IR types.
#include "interface/limits.hpp"
#include "kernel_ir/builtins.hpp"
#include "verify/checks.hpp"

#include "llvm/IR/Module.h"

#include <map>
#include <optional>

namespace smelt::aot::verify {
namespace {

/// The keys of a node that matter here.
struct ArgumentNode {
  std::optional<uint64_t> index, location, count, buffer_size, space, type_size, align;
  std::string kind, type_name, access;
  bool conditional = false;  ///< exists only when a function constant is true
};

std::optional<uint64_t> number_at(const llvm::MDNode& node, unsigned index) {
  if (index >= node.getNumOperands()) return std::nullopt;
  const auto* value = llvm::mdconst::dyn_extract_or_null<llvm::ConstantInt>(node.getOperand(index));
  if (!value || value->getValue().getActiveBits() > 64) return std::nullopt;
  return value->getZExtValue();
}

std::string text_at(const llvm::MDNode& node, unsigned index) {
  if (index >= node.getNumOperands()) return {};
  const auto* text = llvm::dyn_cast_or_null<llvm::MDString>(node.getOperand(index));
  return text ? text->getString().str() : std::string();
}

ArgumentNode read_node(const llvm::MDNode& node) {
  ArgumentNode read;
  read.index = number_at(node, 0);
  for (unsigned i = 1; i < node.getNumOperands(); ++i) {
    const std::string key = text_at(node, i);
    if (key == "air.function_constant") {
      read.conditional = true;
      ++i;
    } else if (key == "air.location_index") {
      read.location = number_at(node, i + 1);
      read.count = number_at(node, i + 2);
      i += 2;
    } else if (key == "air.buffer_size") {
      read.buffer_size = number_at(node, ++i);
    } else if (key == "air.address_space") {
      read.space = number_at(node, ++i);
    } else if (key == "air.arg_type_size") {
      read.type_size = number_at(node, ++i);
    } else if (key == "air.arg_type_align_size") {
      read.align = number_at(node, ++i);
    } else if (key == "air.arg_type_name") {
      read.type_name = text_at(node, ++i);
    } else if (key == "air.arg_name") {
      ++i;
    } else if (key == "air.read" || key == "air.write" || key == "air.read_write" || key == "air.sample") {
      read.access = key.substr(4);
    } else if (read.kind.empty() && key.starts_with("air.")) {
      read.kind = key.substr(4);
    }
  }
  return read;
}

/// SlotCheck of one kind, with who took them.
class SlotCheck {
 public:
  SlotCheck(std::string_view kind, uint64_t limit) : kind_(kind), limit_(limit) {}
  void take(const ArgumentNode& node, const std::string& place, Findings& findings) {
    if (!node.location) {
      findings.error(Check::argument, place, "no air.location_index");
      return;
    }
    const uint64_t count = node.count.value_or(1);
    if (*node.location >= limit_ || count > limit_ - *node.location) {
      findings.error(Check::limit, place, "{} slot {}{}; there are {} (0 to {})", kind_, *node.location,
                     count > 1 ? fmt::format(" to {}", *node.location + count - 1) : "", limit_, limit_ - 1);
      return;
    }
    if (node.conditional) return;  // another argument may have the slot when this one is not there
    for (uint64_t slot = *node.location; slot < *node.location + count; ++slot)
      if (!taken_.emplace(slot, place).second)
        findings.error(Check::argument, place, "{} slot {} is taken by {} already", kind_, slot, taken_[slot]);
  }

 private:
  std::string_view kind_;
  uint64_t limit_;
  std::map<uint64_t, std::string> taken_;
};

class ArgumentChecker {
 public:
  ArgumentChecker(const EntryNode& entry, Version air, Findings& findings)
      : entry_(entry), air_(air), findings_(findings) {}

  void check() {
    const auto* inputs = llvm::dyn_cast_or_null<llvm::MDNode>(entry_.node->getOperand(2));
    if (!inputs) {
      findings_.error(Check::argument, "", "the entry has no list of inputs");
      return;
    }
    if (inputs->getNumOperands() != entry_.function->arg_size())
      findings_.error(Check::argument, "", "{} argument nodes for {} parameters", inputs->getNumOperands(),
                      entry_.function->arg_size());
    for (unsigned i = 0; i < inputs->getNumOperands() && i < entry_.function->arg_size(); ++i)
      check_argument(i, llvm::dyn_cast_or_null<llvm::MDNode>(inputs->getOperand(i)));
  }

 private:
  void check_argument(unsigned index, const llvm::MDNode* node) {
    const std::string place = fmt::format("argument {}", index);
    if (!node || node->getNumOperands() < 2) {
      findings_.error(Check::argument, place, "the node lacks an index or a kind");
      return;
    }
    const ArgumentNode read = read_node(*node);
    if (read.index != index)
      findings_.error(Check::argument, place, "the node says index {}",
                      read.index ? std::to_string(*read.index) : "nothing");
    const llvm::Type& type = *entry_.function->getArg(index)->getType();
    if (read.kind == "buffer")
      check_buffer(read, type, place);
    else if (read.kind == "texture")
      check_handle(read, type, 1, textures_, place);
    else if (read.kind == "sampler")
      check_handle(read, type, 2, samplers_, place);
    else if (const kernel_ir::BuiltinRow* row = kernel_ir::find_builtin(read.kind))
      check_builtin(*row, read, type, place);
    else if (read.kind.empty())
      findings_.error(Check::argument, place, "no kind");
    else if (is_of_mesh(read.kind))
      check_of_mesh(read.kind, type, place);
    else if (has_threadgroups() && !is_other_kind(read.kind))
      findings_.error(Check::argument, place, "'air.{}' is not an argument of a {} function", read.kind, entry_.stage);
  }

  bool has_threadgroups() const {
    return entry_.stage == "kernel" || entry_.stage == "mesh" || entry_.stage == "object";
  }
  static bool is_of_mesh(const std::string& kind) {
    return kind == "mesh" || kind == "payload" || kind == "mesh_grid_properties";
  }
  void check_of_mesh(const std::string& kind, const llvm::Type& type, const std::string& place) {
    const unsigned space = kind == "mesh" ? 7 : kind == "payload" ? 6 : 3;
    const bool is_here = kind == "mesh"      ? entry_.stage == "mesh"
                         : kind == "payload" ? entry_.stage == "mesh" || entry_.stage == "object"
                                             : entry_.stage == "object";
    // Intersection functions have payloads of their own.
    if (kind == "payload" && entry_.stage == "intersection") return;
    if (!is_here)
      findings_.error(Check::argument, place, "'air.{}' is not an argument of a {} function", kind, entry_.stage);
    else if (!type.isPointerTy() || type.getPointerAddressSpace() != space)
      findings_.error(Check::argument, place, "a {}, but the parameter is not a pointer to space {}", kind, space);
  }

  static bool is_other_kind(const std::string& kind) {
    constexpr std::string_view kKinds[] = {"indirect_buffer",
                                           "visible_function_table",
                                           "intersection_function_table",
                                           "instance_acceleration_structure",
                                           "primitive_acceleration_structure",
                                           "command_buffer",
                                           "render_pipeline_state",
                                           "compute_pipeline_state",
                                           "depth_stencil_state",
                                           "imageblock",
                                           "imageblock_data",
                                           "stage_in",
                                           "indirect_command_buffer",
                                           "threadgroup_imageblock",
                                           "tensor"};
    for (const std::string_view known : kKinds)
      if (kind == known || kind.starts_with(fmt::format("{}_", known))) return true;
    return false;
  }

  void check_buffer(const ArgumentNode& node, const llvm::Type& type, const std::string& place) {
    if (!type.isPointerTy()) {
      findings_.error(Check::argument, place, "a buffer, but the parameter is not a pointer");
      return;
    }
    const unsigned space = type.getPointerAddressSpace();
    if (space != 1 && space != 2 && space != 3)
      findings_.error(Check::argument, place, "a buffer in address space {}; want 1, 2 or 3", space);
    if (node.space && *node.space != space)
      findings_.error(Check::argument, place, "air.address_space {}, but the parameter points to space {}", *node.space,
                      space);
    if (!node.space && air_ >= air::kFirstAddressSpace)
      findings_.error(Check::argument, place, "no air.address_space, which AIR {}.{} has",
                      air::kFirstAddressSpace.major, air::kFirstAddressSpace.minor);
    if (node.space && air_ < air::kFirstAddressSpace)
      findings_.note(Check::argument, place, "air.address_space in AIR {}.{}; Apple writes it from {}.{} on",
                     air_.major, air_.minor, air::kFirstAddressSpace.major, air::kFirstAddressSpace.minor);
    if (node.access != "read" && node.access != "read_write" && node.access != "write")
      findings_.error(Check::argument, place, "no access: want air.read or air.read_write");
    if (space == 2 && node.access == "read_write")
      findings_.error(Check::argument, place, "constant memory is read only");
    if (node.align && (*node.align == 0 || (*node.align & (*node.align - 1)) != 0))
      findings_.error(Check::argument, place, "alignment {} is not a power of two", *node.align);
    if (node.buffer_size && node.type_size && *node.buffer_size < *node.type_size)
      findings_.error(Check::argument, place, "air.buffer_size {} is less than the type's {}", *node.buffer_size,
                      *node.type_size);
    (space == 3 ? threadgroup_ : buffers_).take(node, place, findings_);
  }

  void check_handle(const ArgumentNode& node, const llvm::Type& type, unsigned space, SlotCheck& slots,
                    const std::string& place) {
    const llvm::Type* handle = &type;
    if (type.isArrayTy()) handle = type.getArrayElementType();  // array<texture2d<...>, N> by value
    if (!handle->isPointerTy() || (handle->getPointerAddressSpace() != space && !type.isArrayTy()))
      if (!(handle->isPointerTy() && (node.count.value_or(1) > 1 || node.type_name.starts_with("array<"))))
        findings_.error(Check::argument, place, "a {}, but the parameter is not a pointer to space {}", node.kind,
                        space);
    slots.take(node, place, findings_);
  }

  void check_builtin(const kernel_ir::BuiltinRow& row, const ArgumentNode& node, const llvm::Type& type,
                     const std::string& place) {
    const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(&type);
    const llvm::Type& element = vector ? *vector->getElementType() : type;
    const unsigned lanes = vector ? vector->getNumElements() : 1;
    if (!element.isIntegerTy(32) && !element.isIntegerTy(16)) {
      findings_.error(Check::argument, place, "'{}' is of 16 or 32 bits; the parameter is not", row.attribute);
      return;
    }
    if (lanes > (row.is_vector ? 3u : 1u))
      findings_.error(Check::argument, place, "'{}' has {} components; the parameter has {}", row.attribute,
                      row.is_vector ? "up to 3" : "no", lanes);
    const std::string wanted =
        fmt::format("{}{}", element.isIntegerTy(32) ? "uint" : "ushort", lanes == 1 ? "" : std::to_string(lanes));
    // Without a name nothing is said that could be wrong; hand-written AIR has none, of buffers neither.
    if (!node.type_name.empty() && node.type_name != wanted)
      findings_.error(Check::argument, place, "'{}' is called '{}', but the parameter is {}", row.attribute,
                      node.type_name, wanted);
  }

  const EntryNode& entry_;
  Version air_;
  Findings& findings_;
  SlotCheck buffers_{"buffer", air::kMostBuffers}, threadgroup_{"threadgroup buffer", air::kMostBuffers},
      textures_{"texture", air::kMostTextures}, samplers_{"sampler", air::kMostSamplers};
};

}  // namespace

void check_arguments(const EntryNode& entry, Version air, Findings& findings) {
  ArgumentChecker(entry, air, findings).check();
}

}  // namespace smelt::aot::verify
