// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "msl/kernel/imageblocks.hpp"

#include "msl/facts/imageblock_reader.hpp"
#include "msl/kernel/value_type.hpp"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MathExtras.h"

#include <fmt/format.h>

#include <algorithm>

namespace smelt::aot::msl {
namespace {

constexpr unsigned kLayoutOfMembers = 0, kImplicitLayout = 1;  // the layout of a call: metal_imageblocks

/// "v4f32", as AIR ends the names of operations on a type.
std::string plane_suffix(unsigned lanes, unsigned bits, bool is_float) {
  return fmt::format("{}{}{}", lanes > 1 ? fmt::format("v{}", lanes) : "", is_float ? 'f' : 'i', bits);
}

std::string plane_suffix(const ValueShape& shape) {
  return plane_suffix(shape.lanes, shape.bits, shape.is_float);
}

class ImageblockLowering {
 public:
  ImageblockLowering(llvm::Module& module, const KernelFact& kernel) : module_(module), kernel_(kernel) {
    for (const ParameterFact& one : kernel.parameters)
      if (is_imageblock(one)) (one.words[1] == "implicit" ? implicit_ : explicit_) = &one;
  }

  Result<void> run() {
    if (const llvm::Function* data = module_.getFunction("air.imageblock_data");
        data != nullptr && !data->use_empty()) {
      SMELT_TRY_VOID(want(explicit_, "explicit", "data"));
    }
    SMELT_TRY_VOID(each("imageblock_read", [this](llvm::CallInst& call) { return read(call); }));
    SMELT_TRY_VOID(each("imageblock_write", [this](llvm::CallInst& call) { return write(call); }));
    SMELT_TRY_VOID(each("imageblock_write_mask", [this](llvm::CallInst& call) { return write_mask(call); }));
    SMELT_TRY_VOID(each("imageblock_slice", [this](llvm::CallInst& call) { return slice(call); }));
    std::vector<std::string> textures;
    for (const llvm::Function& function : module_)
      if (function.getName().starts_with("smelt.air.write_slice_texture_"))
        textures.push_back(function.getName().drop_front(llvm::StringRef("smelt.air.").size()).str());
    for (const std::string& name : textures) {
      SMELT_TRY_VOID(each(name, [&](llvm::CallInst& call) { return write_slice(call, name); }));
    }
    return {};
  }

 private:
  Result<void> want(const ParameterFact* of, std::string_view layout, std::string_view what) const {
    if (of != nullptr) return {};
    return fail(Errc::compile_failed,
                "{} function '{}' calls '{}' of an imageblock with {} layout, which it is not given",
                stage_word(kernel_.stage), kernel_.name, what, layout);
  }

  template <class Action>
  Result<void> each(llvm::StringRef name, const Action& action) {
    llvm::Function* neutral = module_.getFunction(("smelt.air." + name).str());
    if (neutral == nullptr) return {};
    for (llvm::User* user : llvm::make_early_inc_range(neutral->users())) {
      auto* call = llvm::cast<llvm::CallInst>(user);
      SMELT_TRY_VOID(action(*call));
      call->eraseFromParent();
    }
    neutral->eraseFromParent();
    return {};
  }

  /// Of the operation's own attributes: what it does to memory.
  llvm::CallInst* emit(llvm::IRBuilder<>& builder, const std::string& name, llvm::Type* result,
                       llvm::ArrayRef<llvm::Value*> operands, llvm::MemoryEffects effects) {
    std::vector<llvm::Type*> types;
    for (const llvm::Value* operand : operands) types.push_back(operand->getType());
    llvm::FunctionCallee callee = module_.getOrInsertFunction(name, llvm::FunctionType::get(result, types, false));
    auto* function = llvm::cast<llvm::Function>(callee.getCallee());
    function->setMemoryEffects(effects);
    for (const auto kind : {llvm::Attribute::MustProgress, llvm::Attribute::NoUnwind, llvm::Attribute::WillReturn})
      function->addFnAttr(kind);
    return builder.CreateCall(callee, operands);
  }

  llvm::Value* member(llvm::IRBuilder<>& builder, llvm::Value* from, uint64_t offset) {
    return offset == 0 ? from : builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), from, offset);
  }

  static unsigned constant(const llvm::Value* value) {
    const auto* number = llvm::dyn_cast<llvm::ConstantInt>(value);
    return number != nullptr ? static_cast<unsigned>(number->getLimitedValue(UINT32_MAX)) : UINT32_MAX;
  }

  static uint32_t colour_of(const ResultFact& plane) {
    uint32_t colour = 0;
    (void)llvm::StringRef(plane.words[0]).drop_front().getAsInteger(10, colour);
    return colour;
  }

  Result<void> read(llvm::CallInst& call) {
    SMELT_TRY_VOID(want(implicit_, "implicit", "read"));
    llvm::IRBuilder<> builder(&call);
    for (const ResultFact& plane : implicit_->planes) {
      const ValueShape& shape = plane.value;
      llvm::Value* value = emit(
          builder, "air.load.implicit_imageblock." + plane_suffix(shape), value_type(module_.getContext(), shape),
          {builder.getInt32(colour_of(plane)), call.getArgOperand(1), call.getArgOperand(2), call.getArgOperand(3)},
          llvm::MemoryEffects::readOnly());
      builder.CreateStore(value, member(builder, call.getArgOperand(0), plane.offset.value_or(0)));
    }
    return {};
  }

  Result<void> write(llvm::CallInst& call) {
    SMELT_TRY_VOID(want(implicit_, "implicit", "write"));
    llvm::IRBuilder<> builder(&call);
    for (const ResultFact& plane : implicit_->planes)
      emit(builder, "air.store.implicit_imageblock." + plane_suffix(plane.value), builder.getVoidTy(),
           {load(builder, call, plane, 0), builder.getInt32(colour_of(plane)), call.getArgOperand(1),
            call.getArgOperand(2), call.getArgOperand(3)},
           llvm::MemoryEffects::writeOnly());
    return {};
  }

  Result<void> write_mask(llvm::CallInst& call) {
    const unsigned layout = constant(call.getArgOperand(3));
    if (layout == kLayoutOfMembers && implicit_ != nullptr && explicit_ != nullptr)
      return fail(Errc::compile_failed,
                  "kernel '{}' writes one of two imageblocks with a mask; name the layout: imageblock<T, "
                  "imageblock_layout_explicit>",
                  kernel_.name);
    const bool is_implicit = layout == kLayoutOfMembers ? implicit_ != nullptr : layout == kImplicitLayout;
    SMELT_TRY_VOID(want(is_implicit ? implicit_ : explicit_, is_implicit ? "implicit" : "explicit", "write"));
    llvm::IRBuilder<> builder(&call);
    if (is_implicit) {
      for (const ResultFact& plane : implicit_->planes)
        emit(builder, "air.store.implicit_imageblock.mask." + plane_suffix(plane.value), builder.getVoidTy(),
             {load(builder, call, plane, 0), builder.getInt32(colour_of(plane)), call.getArgOperand(1),
              call.getArgOperand(2)},
             llvm::MemoryEffects::writeOnly());
      return {};
    }
    llvm::Value* data =
        emit(builder, "air.imageblock_data", llvm::PointerType::get(module_.getContext(), kernel_ir::kImageblockSpace),
             {call.getArgOperand(1), builder.getInt32(0), builder.getInt16(0)}, llvm::MemoryEffects::readOnly());
    for (const ResultFact& plane : explicit_->planes) {
      if (plane.value.lanes == 0)
        return fail(Errc::compile_failed,
                    "kernel '{}' writes an imageblock with a mask whose member '{}' is a '{}'; only scalars, vectors "
                    "and arrays of them are supported there",
                    kernel_.name, plane.name, plane.type_name);
      for (unsigned i = 0; i < std::max(plane.value.count, 1u); ++i) write_element(builder, call, plane, data, i);
    }
    return {};
  }

  void write_element(llvm::IRBuilder<>& builder, llvm::CallInst& call, const ResultFact& plane, llvm::Value* data,
                     unsigned element) {
    const uint64_t offset = place_of(plane, element);
    const uint64_t align = llvm::MinAlign(explicit_->align, offset);
    emit(builder, "air.store.imageblock.mask." + plane_suffix(plane.value), builder.getVoidTy(),
         {load(builder, call, plane, element), member(builder, data, offset), call.getArgOperand(2),
          builder.getInt32(static_cast<uint32_t>(align)), builder.getFalse()},
         llvm::MemoryEffects::writeOnly());
  }

  uint64_t place_of(const ResultFact& plane, unsigned element) const {
    ValueShape one = plane.value;
    one.count = 0;
    const uint64_t size =
        module_.getDataLayout().getTypeAllocSize(value_type(module_.getContext(), one)).getFixedValue();
    return plane.offset.value_or(0) + element * size;
  }

  llvm::Value* load(llvm::IRBuilder<>& builder, llvm::CallInst& call, const ResultFact& plane, unsigned element) {
    ValueShape one = plane.value;
    one.count = 0;
    return builder.CreateLoad(value_type(module_.getContext(), one),
                              member(builder, call.getArgOperand(0), place_of(plane, element)));
  }

  Result<void> slice(llvm::CallInst& call) {
    SMELT_TRY_VOID(want(implicit_, "implicit", "slice"));
    const unsigned colour = constant(call.getArgOperand(0));
    const auto plane = std::find_if(implicit_->planes.begin(), implicit_->planes.end(),
                                    [&](const ResultFact& one) { return colour_of(one) == colour; });
    if (plane == implicit_->planes.end())
      return fail(Errc::compile_failed,
                  "kernel '{}' asks for a slice of an imageblock by something other than a constant [[color(n)]] of it",
                  kernel_.name);
    const ValueShape& shape = plane->value;
    if (constant(call.getArgOperand(1)) != shape.lanes || constant(call.getArgOperand(2)) != shape.bits ||
        (constant(call.getArgOperand(3)) != 0) != shape.is_float)
      return fail(Errc::compile_failed, "kernel '{}': the slice of '{}' is of type '{}'", kernel_.name, plane->name,
                  plane->type_name);
    llvm::IRBuilder<> builder(&call);
    llvm::Value* origin = llvm::Constant::getNullValue(llvm::FixedVectorType::get(builder.getInt16Ty(), 2));
    call.replaceAllUsesWith(emit(builder, "air.implicit_imageblock_data", call.getType(),
                                 {builder.getInt32(colour), origin, builder.getInt32(0), builder.getInt16(0)},
                                 llvm::MemoryEffects::readOnly()));
    return {};
  }

  /// (texture, data, has size, size, place..., level, implicit, access, lanes, bits, float): `name` is
  /// "write_slice_texture_2d.ushort".
  Result<void> write_slice(llvm::CallInst& call, llvm::StringRef name) {
    const unsigned count = call.arg_size();
    const auto back = [&](unsigned i) { return call.getArgOperand(count - i); };
    const auto [operation, width] = name.split('.');
    const unsigned lanes = constant(back(3)), bits = constant(back(2));
    if (bits != 16 && bits != 32)
      return fail(Errc::compile_failed, "kernel '{}' writes a slice of an imageblock whose elements have {} bits",
                  kernel_.name, bits);
    llvm::IRBuilder<> builder(&call);
    llvm::Type* const pair = llvm::FixedVectorType::get(builder.getInt16Ty(), 2);
    const unsigned sized = constant(call.getArgOperand(2));
    if (sized > 1) return fail(Errc::compile_failed, "kernel '{}': a slice with or without a size", kernel_.name);
    std::vector<llvm::Value*> operands{call.getArgOperand(0), call.getArgOperand(1), builder.getInt1(sized != 0),
                                       llvm::Constant::getNullValue(pair),
                                       sized != 0 ? call.getArgOperand(3) : llvm::UndefValue::get(pair)};
    for (unsigned i = 4; i + 3 < count; ++i) operands.push_back(call.getArgOperand(i));
    emit(builder,
         fmt::format("air.write_imageblock_{}{}.{}", slice_name(operation), width == "ushort" ? ".i16" : "",
                     plane_suffix(lanes, bits, constant(back(1)) != 0)),
         builder.getVoidTy(), operands, llvm::MemoryEffects::argMemOnly());
    return {};
  }

  /// "write_slice_texture_2d" is "slice_to_texture_2d".
  static std::string slice_name(llvm::StringRef operation) {
    return fmt::format("slice_to_{}", operation.drop_front(llvm::StringRef("write_slice_").size()).str());
  }

  llvm::Module& module_;
  const KernelFact& kernel_;
  const ParameterFact *implicit_ = nullptr, *explicit_ = nullptr;
};

}  // namespace

bool uses_imageblocks(const llvm::Module& module) {
  return std::any_of(module.begin(), module.end(), [](const llvm::Function& function) {
    return function.getName().starts_with("smelt.air.imageblock_") ||
           function.getName().starts_with("smelt.air.write_slice_");
  });
}

Result<void> lower_imageblocks(llvm::Module& module, const KernelFact& kernel) {
  return ImageblockLowering(module, kernel).run();
}

}  // namespace smelt::aot::msl
