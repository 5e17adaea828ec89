// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/metallib/cut.hpp"

#include "smelt/metallib/writer.hpp"

#include <algorithm>

namespace smelt::metallib {

namespace {

Result<NewFunction> copy_of(const Library& library, const Function& function) {
  NewFunction made;
  made.name = function.name;
  made.type = static_cast<FunctionType>(function.type.value_or(static_cast<uint8_t>(FunctionType::unqualified)));
  made.bitcode = library.module_of(function).bitcode();
  made.versions = function.versions;
  SMELT_TRY(made.constants, constants_of(library.public_of(function)));
  SMELT_TRY(made.vertex_attributes, vertex_attributes_of(library.public_of(function)));
  made.layer_type = function.layer_type;
  made.tessellation = function.tessellation;
  return made;
}

Result<void> add_copy(NewLibrary& request, const Library& library, const Function& function) {
  SMELT_TRY(request.functions.emplace_back(), copy_of(library, function));
  return {};
}

bool is_visible(const Function& function) {
  return function.type == static_cast<uint8_t>(FunctionType::visible);
}

}  // namespace

Result<Bytes> cut(const Library& library, const Function& function) {
  NewLibrary request;
  request.patch = std::max(library.patch, request.patch);
  // Containers through 1.2.5 only say whether they are for macOS.
  request.platform = library.platform != 0     ? static_cast<Platform>(library.platform)
                     : library.built_for_macos ? Platform::macos
                                               : Platform::ios;
  request.os_major = library.os_major;
  request.os_minor = library.os_minor;
  request.os_patch = library.os_patch;
  SMELT_TRY_VOID(add_copy(request, library, function));
  if (!is_visible(function))
    for (const Function& other : library.functions)
      if (is_visible(other)) SMELT_TRY_VOID(add_copy(request, library, other));
  auto alone = make_library(request);
  if (!alone) return fail(Errc::corrupt, "function '{}': {}", function.name, alone.error().message);
  return write(*alone);
}

}  // namespace smelt::metallib
