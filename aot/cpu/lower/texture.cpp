// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations on textures of any AIR version -> calls of the runtime (runtime/texture.c, sample.c). A handle is the
// address of a smelt_cpu_texture, a sampler's that of the two words of its state, a constant sampler's own included.
#include "lower/lowerings.hpp"
#include "ops/texture_operation.hpp"
#include "runtime/runtime.hpp"

namespace smelt::aot::cpu {
namespace {

using air::TextureOperands;
using air::TextureOperation;
using llvm::Value;
using Verb = TextureOperation::Verb;

/// Of the runtime's `shape`: the number of axes, and 4 for a cube.
constexpr unsigned kCubeShape = 4;

/// The address that the runtime is given for a texture or sampler. Checked code asks first whether one lives there.
Value* handle(const Call& call, Value* pointer, const char* kind) {
  llvm::Type* const address = call.builder.getPtrTy();
  pointer = call.builder.CreateAddrSpaceCast(pointer, address);
  if (!call.names_texels) return pointer;
  llvm::FunctionCallee looks = call.module().getOrInsertFunction(kind, address, address);
  auto* const function = llvm::cast<llvm::Function>(looks.getCallee());
  for (const auto attribute : {llvm::Attribute::NoUnwind, llvm::Attribute::WillReturn}) function->addFnAttr(attribute);
  function->setDoesNotAccessMemory();
  return call.builder.CreateCall(looks, pointer);
}

class TextureLowering {
 public:
  TextureLowering(Call& call, const TextureOperation& operation, const TextureOperands& operands)
      : call_(call), builder_(call.builder), operation_(operation), operands_(operands) {}

  Result<Value*> lower() {
    switch (operation_.verb) {
      case Verb::sample:
        return sample();
      case Verb::gather:
        return gather();
      case Verb::read:
        return read();
      case Verb::write:
        return write();
      case Verb::query:
        return query();
      case Verb::fence:  // one thread sees what it wrote
        return nullptr;
    }
    return nullptr;
  }

 private:
  Value* whole(uint32_t number) { return builder_.getInt32(number); }
  Value* zero() { return llvm::ConstantFP::get(builder_.getFloatTy(), 0.0); }

  /// One of a vector's numbers, or a scalar's only one; `otherwise` behind the last.
  Value* axis(Value* of, unsigned index, Value* otherwise) {
    if (of == nullptr) return otherwise;
    const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(of->getType());
    if (vector == nullptr) return index == 0 ? of : otherwise;
    return index < vector->getNumElements() ? builder_.CreateExtractElement(of, uint64_t{index}) : otherwise;
  }
  Value* whole_axis(Value* of, unsigned index) { return to_i32(axis(of, index, whole(0))); }
  Value* to_i32(Value* number) {
    return number == nullptr ? whole(0) : builder_.CreateZExtOrTrunc(number, builder_.getInt32Ty());
  }
  Value* texture() { return handle(call_, operands_.texture, kTextureHandle); }
  Value* sampler() { return handle(call_, operands_.sampler, kSamplerHandle); }

  Value* layer() {
    if (operation_.is_cube()) {
      Value* const cubes = builder_.CreateMul(to_i32(operands_.element), whole(6));
      return builder_.CreateAdd(cubes, to_i32(operands_.face));
    }
    return to_i32(operands_.element);
  }
  Value* shape() { return whole(operation_.axes() + (operation_.is_cube() ? kCubeShape : 0)); }

  Result<Value*> run(std::string_view function, llvm::ArrayRef<Value*> operands) {
    llvm::Function* callee = declare_runtime(call_.module(), function);
    if (callee == nullptr || callee->arg_size() != operands.size())
      return fail(Errc::compile_failed, "the CPU runtime inside this build of smelt has no '{}'", function);
    return builder_.CreateCall(callee, operands);
  }

  /// Four words to the texel that the call gives, with residency where it has that: every texture is all there.
  Value* texel(Value* words) {
    llvm::Type* type = call_.instruction.getType();
    auto* pair = llvm::dyn_cast<llvm::StructType>(type);
    if (pair != nullptr) type = pair->getElementType(0);
    Value* result = words;
    if (type->isFloatTy()) {
      if (words->getType()->isVectorTy()) result = builder_.CreateExtractElement(words, uint64_t{0});
      result = builder_.CreateBitCast(result, type);
    } else if (type->getScalarType()->isFloatingPointTy()) {
      result = builder_.CreateBitCast(words, with_element(type, builder_.getFloatTy()));
      if (type->getScalarType()->isHalfTy()) result = emit_from_float(builder_, result, type);
    } else {
      result = builder_.CreateTrunc(words, type);
    }
    if (pair == nullptr) return result;
    Value* both = builder_.CreateInsertValue(llvm::PoisonValue::get(pair), result, 0);
    return builder_.CreateInsertValue(both, llvm::ConstantInt::get(pair->getElementType(1), 1), 1);
  }

  /// A texel's four words.
  Value* words_of(Value* texel) {
    llvm::Type* const words = llvm::FixedVectorType::get(builder_.getInt32Ty(), 4);
    llvm::Type* const element = texel->getType()->getScalarType();
    if (element->isHalfTy()) texel = emit_to_float(builder_, texel);
    if (element->isFloatingPointTy()) return builder_.CreateBitCast(texel, words);
    return operation_.is_signed() ? builder_.CreateSExt(texel, words) : builder_.CreateZExt(texel, words);
  }

  Result<Value*> read() {
    Value* const level = to_i32(operands_.level);
    const bool is_sample = operation_.is_multisampled();
    const auto operands = place(offset_coordinate(), is_sample ? whole(0) : level, is_sample ? level : whole(0));
    if (call_.names_texels) {
      SMELT_TRY(Value * texel_address, run("texture_texel", operands));
      SMELT_TRY(Value * words, run("texture_read_texel", {operands.front(), texel_address}));
      return texel(words);
    }
    SMELT_TRY(Value * words, run("texture_read", operands));
    return texel(words);
  }
  llvm::SmallVector<Value*, 8> place(Value* coordinate, Value* level, Value* sample) {
    return {texture(), whole_axis(coordinate, 0), whole_axis(coordinate, 1), whole_axis(coordinate, 2), layer(), level,
            sample};
  }
  /// Where a read looks; its offset may only be a constant, and is zero where nobody wrote one.
  Value* offset_coordinate() {
    if (operands_.offset == nullptr) return operands_.coordinate;
    return builder_.CreateAdd(operands_.coordinate, operands_.offset);
  }

  Result<Value*> write() {
    auto operands = place(operands_.coordinate, to_i32(operands_.level), whole(0));
    if (call_.names_texels) {
      SMELT_TRY(Value * texel_address, run("texture_texel", operands));
      SMELT_TRY_VOID(run("texture_write_texel", {operands.front(), texel_address, words_of(operands_.value)}));
      return nullptr;
    }
    operands.back() = words_of(operands_.value);
    SMELT_TRY_VOID(run("texture_write", operands));
    return nullptr;
  }

  Result<Value*> level_of_gradients() {
    llvm::SmallVector<Value*, 12> operands{texture(), sampler()};
    for (Value* of : {operands_.gradients[0], operands_.gradients[1], operands_.coordinate})
      for (unsigned i = 0; i < 3; ++i) operands.push_back(axis(of, i, zero()));
    operands.push_back(shape());
    return run("texture_gradient_level", operands);
  }

  llvm::SmallVector<Value*, 14> sampled(unsigned offsets) {
    llvm::SmallVector<Value*, 14> operands{texture(), sampler()};
    for (unsigned i = 0; i < 3; ++i) operands.push_back(axis(operands_.coordinate, i, zero()));
    operands.push_back(to_i32(operands_.element));
    for (unsigned i = 0; i < offsets; ++i) operands.push_back(whole_axis(operands_.offset, i));
    operands.push_back(shape());
    return operands;
  }

  Result<Value*> sample() {
    // In kernels there are no derivatives: without a level it is 0, and a bias is added to that (Metal Shading Language
    // Specification 6.12).
    Value* lod = operands_.lod;
    if (operation_.has_gradient) {
      SMELT_TRY(lod, level_of_gradients());
    }
    auto operands = sampled(3);
    operands.push_back(lod);
    operands.push_back(operands_.least_lod != nullptr ? operands_.least_lod : zero());
    if (operation_.compares) operands.push_back(operands_.reference);
    SMELT_TRY(Value * words, run(operation_.compares ? "texture_compare" : "texture_sample", operands));
    return texel(words);
  }

  Result<Value*> gather() {
    auto operands = sampled(2);
    if (operation_.compares)
      operands.push_back(operands_.reference);
    else
      operands.push_back(to_i32(operands_.component));
    SMELT_TRY(Value * words, run(operation_.compares ? "texture_gather_compare" : "texture_gather", operands));
    return texel(words);
  }

  Result<Value*> query() {
    const llvm::StringRef what = operation_.query;
    llvm::SmallVector<Value*, 2> operands{texture()};
    if (what == "get_num_mip_levels") return run("texture_levels", operands);
    if (what == "get_num_samples") return run("texture_samples", operands);
    if (what == "get_array_size") {
      SMELT_TRY(Value * layers, run("texture_layers", operands));
      return operation_.is_cube() ? builder_.CreateUDiv(layers, whole(6)) : layers;
    }
    operands.push_back(to_i32(operands_.level));
    return run(what == "get_width"    ? "texture_width"
               : what == "get_height" ? "texture_height"
                                      : "texture_depth",
               operands);
  }

  Call& call_;
  llvm::IRBuilder<>& builder_;
  const TextureOperation& operation_;
  const TextureOperands& operands_;
};

/// The runtime's numbers of them (runtime/texture.c); of signed numbers the last two are two higher.
constexpr llvm::StringLiteral kAtomicVerbs[] = {"load",     "store",     "exchange",  "fetch_add", "fetch_and",
                                                "fetch_or", "fetch_sub", "fetch_xor", "fetch_max", "fetch_min"};
constexpr llvm::StringLiteral kAtomicBegin = "atomic_", kAtomicEnd = "_explicit_";

Result<Value*> run_atomic(Call& call, std::string_view function, llvm::ArrayRef<Value*> operands) {
  llvm::Function* callee = declare_runtime(call.module(), function);
  if (callee == nullptr || callee->arg_size() != operands.size())
    return fail(Errc::compile_failed, "the CPU runtime inside this build of smelt has no '{}'", function);
  return call.builder.CreateCall(callee, operands);
}

}  // namespace

Result<Value*> lowering::texture(Call& call) {
  const llvm::StringRef name = call.instruction.getCalledFunction()->getName();
  const auto operation = air::texture_operation_of(name);
  if (!operation) return bad_call(call, "an operation on textures");
  SMELT_TRY(const TextureOperands operands, air::read_texture_operands(*operation, call.instruction));
  return TextureLowering(call, *operation, operands).lower();
}

/// (texture, [value,] place, face, element, [offset,] [address of what is expected,] [value,] order, ..., access)
Result<Value*> lowering::texture_atomic(Call& call) {
  llvm::IRBuilder<>& builder = call.builder;
  llvm::StringRef rest = call.name.operation;
  rest.consume_front(kAtomicBegin);
  const auto [verb, where] = rest.split(kAtomicEnd);
  const std::string as_read = ("read_" + where).str();  // `kind` looks into it
  const auto kind = air::parse_texture_operation(as_read);
  const bool is_swap = verb == "compare_exchange_weak";
  const auto* known = llvm::find(kAtomicVerbs, verb);
  if (!kind || (!is_swap && known == std::end(kAtomicVerbs))) return bad_call(call, "an atomic on a texture");
  size_t at = 0;
  const auto take = [&]() -> Value* { return at < call.operands.size() ? call.operands[at++] : nullptr; };
  const auto number = [&](Value* of, unsigned index) -> Value* {
    const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(of->getType());
    if (index >= (vector != nullptr ? vector->getNumElements() : 1)) return builder.getInt32(0);
    Value* one = vector != nullptr ? builder.CreateExtractElement(of, uint64_t{index}) : of;
    return builder.CreateZExtOrTrunc(one, builder.getInt32Ty());
  };
  Value* const texture = take();
  Value* value = verb == "store" ? take() : nullptr;
  Value* place = take();
  Value* const face = kind->is_cube() ? take() : nullptr;
  Value* const element = kind->is_array() ? take() : nullptr;
  Value* const offset = kind->has_offset() && kind->axes() > 1 ? take() : nullptr;
  Value* const expected = is_swap ? take() : nullptr;
  if (value == nullptr && verb != "load") value = take();
  const bool is_whole =
      place != nullptr && (value != nullptr || verb == "load") && at + (is_swap ? 3 : 2) == call.operands.size();
  if (!is_whole || (offset != nullptr && offset->getType() != place->getType()))
    return bad_call(call, "an atomic on a texture");
  if (offset != nullptr) place = builder.CreateAdd(place, offset);
  Value* layer = element != nullptr ? number(element, 0) : builder.getInt32(0);
  if (face != nullptr) layer = builder.CreateAdd(builder.CreateMul(layer, builder.getInt32(6)), number(face, 0));
  llvm::SmallVector<Value*, 8> operands{handle(call, texture, kTextureHandle), number(place, 0), number(place, 1),
                                        number(place, 2), layer};
  llvm::Type* const texel = llvm::FixedVectorType::get(builder.getInt32Ty(), 4);
  const auto as_texel = [&](Value* seen) {
    llvm::Constant* const rest_of_it =
        llvm::ConstantVector::get({builder.getInt32(0), builder.getInt32(0), builder.getInt32(0), builder.getInt32(1)});
    return builder.CreateInsertElement(rest_of_it, seen, uint64_t{0});
  };
  if (is_swap) {
    Value* const wanted = number(builder.CreateLoad(texel, expected), 0);
    operands.append({wanted, number(value, 0)});
    SMELT_TRY(Value * seen, run_atomic(call, "texture_swap", operands));
    builder.CreateStore(as_texel(seen), expected);
    return builder.CreateICmpEQ(seen, wanted);
  }
  auto operation = static_cast<uint32_t>(known - std::begin(kAtomicVerbs));
  if (call.is_signed() && (verb == "fetch_max" || verb == "fetch_min")) operation += 2;
  operands.append({builder.getInt32(operation), value != nullptr ? number(value, 0) : builder.getInt32(0)});
  SMELT_TRY(Value * seen, run_atomic(call, "texture_atomic", operands));
  return verb == "store" ? nullptr : as_texel(seen);
}

Result<Value*> lowering::is_null_texture(Call& call) {
  if (call.operands.size() != 1 || !call[0]->getType()->isPointerTy()) return bad_call(call, "a texture");
  SMELT_TRY(Value * is_null, run_atomic(call, "texture_is_null", {handle(call, call[0], kTextureHandle)}));
  return call.builder.CreateIsNotNull(is_null);
}

/// Reads look at no sampler.
Result<Value*> lowering::read_sampler(Call& call) {
  return llvm::Constant::getNullValue(call.type);
}

}  // namespace smelt::aot::cpu
