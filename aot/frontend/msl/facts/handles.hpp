// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Textures and samplers as types: what a parameter of one binds.
#pragma once

#include "smelt/base/entry_interface.hpp"

#include "clang/AST/Type.h"

#include <optional>
#include <string>

namespace clang {
class ASTContext;
}

namespace smelt::aot::msl {

struct HandleType {
  BindingClass kind = BindingClass::texture;
  std::string name;              ///< as AIR's metadata has it: "texture2d<float, sample>", "sampler"
  Access access = Access::none;  ///< of a texture
  uint32_t count = 0;            ///< elements of an array<T, N>; 0: none
};

/// Whether [[buffer(n)]] gives its index: of buffers, and of handles that share their indices.
constexpr bool has_index_of_buffers(BindingClass kind) {
  return form_of(kind) == BindingForm::memory || form_of(kind) == BindingForm::record;
}

/// Nothing for any other type.
std::optional<HandleType> handle_type(clang::QualType type, const clang::ASTContext& context);

/// array<texture2d<float>, 4>, array<sampler, 2>: as one argument, and as one member of an argument buffer.
std::optional<HandleType> handle_array(clang::QualType type, const clang::ASTContext& context);

/// The same of the elements of an array, C's or Metal's, at any depth.
std::optional<HandleType> handle_inside(clang::QualType type, const clang::ASTContext& context);

}  // namespace smelt::aot::msl
