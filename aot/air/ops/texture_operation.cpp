// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ops/texture_operation.hpp"

#include "llvm_support/format.hpp"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstrTypes.h"

namespace smelt::aot::air {
namespace {

using Verb = TextureOperation::Verb;

struct VerbRow {
  llvm::StringLiteral begins;
  Verb verb;
  bool compares = false;
};
constexpr VerbRow kVerbs[] = {{"sample_compare_", Verb::sample, true},
                              {"sample_", Verb::sample},
                              {"gather_compare_", Verb::gather, true},
                              {"gather_", Verb::gather},
                              {"read_", Verb::read},
                              {"write_", Verb::write},
                              {"fence_", Verb::fence},
                              {"get_width_", Verb::query},
                              {"get_height_", Verb::query},
                              {"get_depth_", Verb::query},
                              {"get_array_size_", Verb::query},
                              {"get_num_mip_levels_", Verb::query},
                              {"get_num_samples_", Verb::query}};

constexpr llvm::StringLiteral kKinds[] = {"1d",          "1d_array", "2d",   "2d_array",   "2d_ms",
                                          "2d_ms_array", "3d",       "cube", "cube_array", "buffer_1d"};

/// The operands of a call, front to back.
class OperandReader {
 public:
  explicit OperandReader(const llvm::CallBase& call) : call_(call) {}
  llvm::Value* take() { return at_ < call_.arg_size() ? call_.getArgOperand(at_++) : nullptr; }
  llvm::Value* take_if(bool is_there) { return is_there ? take() : nullptr; }
  llvm::Type* next() const { return at_ < call_.arg_size() ? call_.getArgOperand(at_)->getType() : nullptr; }
  bool next_is_pointer() const { return next() != nullptr && next()->isPointerTy(); }
  bool next_is_float() const { return next() != nullptr && next()->isFloatTy(); }
  bool at_end() const { return at_ == call_.arg_size(); }

 private:
  const llvm::CallBase& call_;
  unsigned at_ = 0;
};

void read_sampled(const TextureOperation& operation, OperandReader& in, TextureOperands& out) {
  out.sampler = in.take();
  in.take_if(operation.is_depth);  // always 1
  out.coordinate = in.take();
  out.element = in.take_if(operation.is_array());
  out.reference = in.take_if(operation.compares);
  if (operation.has_gradient) {
    for (llvm::Value*& gradient : out.gradients) gradient = in.take();
    out.least_lod = in.take_if(in.next_is_float());  // from 2.2 on
  }
  if (operation.has_offset()) {
    in.take();  // whether there is one: always
    out.offset = in.take();
  }
  if (operation.verb == Verb::gather) {
    out.component = in.take_if(!operation.is_depth);
  } else if (!operation.has_gradient) {
    out.is_level = in.take();
    out.lod = in.take();
    out.least_lod = in.take_if(in.next_is_float());  // from 2.2 on
  }
}

void read_place(const TextureOperation& operation, OperandReader& in, TextureOperands& out) {
  if (operation.verb == Verb::read) {
    out.sampler = in.take_if(in.next_is_pointer());  // from 2.8 on
    in.take_if(operation.is_depth);
  }
  out.coordinate = in.take();
  out.face = in.take_if(operation.is_cube());
  out.element = in.take_if(operation.is_array());
  if (out.sampler != nullptr && operation.has_offset() && operation.axes() > 1) out.offset = in.take();
  if (operation.verb == Verb::write) out.value = in.take();
  out.level = in.take_if(!operation.is_buffer());
}

}  // namespace

unsigned TextureOperation::axes() const {
  if (kind.starts_with("1d") || is_buffer()) return 1;
  return kind == "3d" || is_cube() ? 3 : 2;
}

std::optional<TextureOperation> parse_texture_operation(llvm::StringRef name) {
  TextureOperation operation;
  llvm::StringRef head;
  std::tie(head, operation.texel) = name.split('.');
  const auto* row = llvm::find_if(kVerbs, [&](const VerbRow& one) { return head.starts_with(one.begins); });
  if (row == std::end(kVerbs)) return std::nullopt;
  operation.verb = row->verb;
  operation.compares = row->compares;
  operation.query = row->verb == Verb::query ? row->begins.drop_back() : llvm::StringRef();
  head = head.drop_front(row->begins.size());
  operation.is_depth = head.consume_front("depth_");
  if (!operation.is_depth && !head.consume_front("texture_")) return std::nullopt;
  operation.has_gradient = head.consume_back("_grad");
  if (!llvm::is_contained(kKinds, head)) return std::nullopt;
  operation.kind = head;
  return operation;
}

std::optional<TextureOperation> texture_operation_of(llvm::StringRef function) {
  if (!function.consume_front(kNeutralPrefix) && !function.consume_front("air.")) return std::nullopt;
  return parse_texture_operation(function);
}

Result<TextureOperands> read_texture_operands(const TextureOperation& operation, const llvm::CallBase& call) {
  TextureOperands out;
  OperandReader in(call);
  out.texture = in.take();
  switch (operation.verb) {
    case Verb::sample:
    case Verb::gather:
      read_sampled(operation, in, out);
      break;
    case Verb::read:
    case Verb::write:
      read_place(operation, in, out);
      break;
    case Verb::query:
      out.level = in.take();
      break;
    case Verb::fence:
      break;
  }
  if (operation.verb != Verb::query) out.access = in.take();
  const bool is_typed = out.texture != nullptr && out.texture->getType()->isPointerTy() &&
                        (operation.verb == Verb::query || operation.verb == Verb::fence || out.coordinate != nullptr);
  if (!in.at_end() || !is_typed)
    return fail(Errc::compile_failed, "'{}' is called with operands that it takes in no version of AIR",
                call.getCalledFunction()->getName());
  return out;
}

bool wants_read_sampler(const TextureOperation& operation, Version air) {
  return operation.verb == Verb::read && !operation.is_buffer() && air >= kFirstReadSampler;
}

llvm::SmallVector<llvm::Value*, 12> texture_operands_for(const TextureOperation& operation,
                                                         const TextureOperands& operands, llvm::IRBuilderBase& builder,
                                                         Version air, llvm::Value* read_sampler) {
  llvm::SmallVector<llvm::Value*, 12> out{operands.texture};
  const auto add = [&](llvm::Value* value) {
    if (value != nullptr) out.push_back(value);
  };
  const auto add_offset = [&] {
    llvm::Type* type = builder.getInt32Ty();
    if (operation.axes() > 1) type = llvm::FixedVectorType::get(type, operation.axes());
    add(operands.offset != nullptr ? operands.offset : llvm::Constant::getNullValue(type));
  };
  if (operation.verb == Verb::fence) return out;
  if (operation.verb == Verb::query) {
    add(operands.level);
    return out;
  }
  const bool is_sampled = operation.verb == Verb::sample || operation.verb == Verb::gather;
  if (is_sampled)
    add(operands.sampler);
  else if (wants_read_sampler(operation, air))
    add(operands.sampler != nullptr ? operands.sampler : read_sampler);
  if (operation.is_depth) add(builder.getInt32(1));
  add(operands.coordinate);
  add(operands.face);
  add(operands.element);
  add(operands.reference);
  llvm::Value* const least =
      operands.least_lod != nullptr ? operands.least_lod : llvm::ConstantFP::get(builder.getFloatTy(), 0.0);
  if (operation.has_gradient) {
    add(operands.gradients[0]);
    add(operands.gradients[1]);
    add(least);
  }
  if (is_sampled && operation.has_offset()) {
    add(builder.getTrue());
    add_offset();
  }
  if (wants_read_sampler(operation, air) && operation.has_offset() && operation.axes() > 1) add_offset();
  add(operands.component);
  if (operation.verb == Verb::sample && !operation.has_gradient) {
    add(operands.is_level);
    add(operands.lod);
    add(least);
  }
  add(operands.value);
  add(operands.level);
  add(operands.access != nullptr ? operands.access : builder.getInt32(0));
  return out;
}

}  // namespace smelt::aot::air
