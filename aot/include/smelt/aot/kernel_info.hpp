// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an entry point takes and needs, read from the metadata of its finished AIR module (docs/formats/air.md 1.5
// to 1.9). What the package's manifest and `smelt inspect` say about kernels is made from this.
#pragma once

#include "smelt/aot/target.hpp"
#include "smelt/base/argument_member.hpp"
#include "smelt/base/bytes.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace smelt::aot {

using smelt::ArgumentKind;
using ArgumentAccess = smelt::Access;
using MemberInfo = BasicMember<std::string>;

/// A member of the structure behind a buffer. Of a pointer, `type_name` is its target's.
struct FieldInfo {
  uint32_t offset = 0;
  uint32_t size = 0;   ///< bytes of one element
  uint32_t count = 0;  ///< array elements; 0: no array
  std::string type_name;
  std::string name;

  bool operator==(const FieldInfo&) const = default;
};

struct ArgumentInfo {
  uint32_t index = 0;  ///< position among the function's parameters
  ArgumentKind kind = ArgumentKind::other;
  std::string air_kind;   ///< as in the metadata: "air.buffer", "air.thread_position_in_grid"
  uint32_t location = 0;  ///< [[buffer(N)]], [[threadgroup(N)]], [[texture(N)]], ...
  uint32_t count = 1;     ///< slots it takes
  uint8_t address_space = 0;
  ArgumentAccess access = ArgumentAccess::none;
  std::string name;
  std::string type_name;  ///< of the pointee: "char", "float"; empty for void*
  uint32_t size = 0;      ///< bytes of the pointee; 0 when unknown (void*)
  uint32_t align = 0;
  bool unused = false;       ///< the body does not use it
  bool conditional = false;  ///< exists only when a function constant is true
  std::vector<FieldInfo>
      fields;  ///< of a structure whose metadata lists its members; those of nested ones are left out
  std::vector<MemberInfo>
      members;  ///< of an argument buffer or of a constant structure, as in the metadata; empty when there are too many

  bool operator==(const ArgumentInfo&) const = default;
};

struct ConstantInfo {
  std::string name;
  std::string type_name;  ///< "bool", "int", "float2"
  uint32_t index = 0;
  bool required = true;  ///< false: the code asks whether it is defined
  bool operator==(const ConstantInfo&) const = default;
};

struct KernelInfo {
  std::string name;
  std::string stage = "kernel";  ///< "vertex", "fragment", "visible", ...
  std::vector<ArgumentInfo> arguments;
  /// Of a vertex or fragment function: its inputs and results as the CPU has them, arrays in slots of buffers
  /// (`location`), `size` bytes an element; `conditional` ones may be left unbound. Empty where the CPU cannot have it.
  std::vector<ArgumentInfo> arrays;
  std::vector<ConstantInfo> constants;
  uint32_t max_threads = 0;        ///< of a threadgroup; 0: the kernel does not say
  uint64_t threadgroup_bytes = 0;  ///< static threadgroup memory
  bool cpu_only = false;           ///< it does what no Apple GPU can (CompileOptions::cpu_only)
  Version air;
  Version language;

  bool operator==(const KernelInfo&) const = default;
};

/// Every entry point of one finished AIR module (bitcode, bare or wrapped); `name` is for messages. Bounded, so that it
/// may be asked about bytes from anywhere. Errors: those of reading the module; compile_failed for malformed metadata.
Result<std::vector<KernelInfo>> describe(ByteView bitcode, std::string_view name);

}  // namespace smelt::aot
