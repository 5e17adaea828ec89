// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an argument buffer or a structure in constant memory holds, once for the compiler, packages and the loader.
#pragma once

#include "smelt/base/metal.hpp"

namespace smelt {

/// `other`: a texture, a sampler, whatever has no address. Written into packages: add at the end, never renumber.
enum class MemberKind : uint8_t { pointer = 0, constant = 1, other = 2 };
std::string_view to_string(MemberKind kind);

/// A member of an argument buffer, or of a structure, that holds a value, or an array of them. Members of structures
/// inside stand for themselves, with all that leads to them in their name: "lights[1].colour".
template <class Text>
struct BasicMember {
  Text name;
  Text type_name;       ///< of a pointer: its target's
  uint32_t id = 0;      ///< [[id(n)]] of the first element; each element has one. 0 of other structures
  uint32_t count = 0;   ///< elements of an array; 0: no array
  uint32_t offset = 0;  ///< bytes from the beginning
  uint32_t size = 0;    ///< bytes of an element; the next one is right behind it
  MemberKind kind = MemberKind::constant;
  Access access = Access::none;  ///< of a pointer
  bool operator==(const BasicMember&) const = default;
};

}  // namespace smelt
