// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a package says about its kernels, as plain values. `Text` is std::string while a package is being made and
// std::string_view into the file's bytes while one is being read, so both sides share one description.
// Facts about arguments and constants come from the AIR metadata (docs/formats/air.md 1.5 to 1.7).
#pragma once

#include "smelt/base/argument_member.hpp"
#include "smelt/base/bytes.hpp"
#include "smelt/base/checks.hpp"
#include "smelt/base/digest.hpp"
#include "smelt/base/metal.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace smelt::schema {

using smelt::Access;
using smelt::ArgumentKind;
using smelt::FunctionKind;
using smelt::Platform;
using smelt::Version;

// Written to disk: add at the end, never renumber.
enum class SliceKind : uint8_t { metallib = 1, cpu = 2 };
/// One bindable argument; hardware values (thread positions, ...) are not listed.
template <class Text>
struct BasicArgument {
  Text name;
  Text type_name;         ///< as written in the source: "float", "char"; empty for void*
  uint32_t index = 0;     ///< position among the function's parameters
  uint32_t location = 0;  ///< [[buffer(N)]], [[threadgroup(N)]], ...
  ArgumentKind kind = ArgumentKind::buffer;
  Access access = Access::read_write;
  uint8_t address_space = 1;  ///< 1 device, 2 constant, 3 threadgroup
  bool unused = false;        ///< the body does not use it
  bool conditional = false;   ///< exists only when a function constant is true; may be left unbound
  uint32_t array_size = 1;    ///< slots it takes
  uint32_t size = 0;          ///< bytes of the pointee type; 0 when unknown (void*)
  uint32_t align = 0;
  std::vector<BasicMember<Text>> members = {};  ///< of an argument buffer, or of a structure in constant memory
  bool operator==(const BasicArgument&) const = default;
};

/// One function constant.
template <class Text>
struct BasicConstant {
  Text name;
  Text type_name;  ///< "bool", "int", "float2", ...
  uint32_t index = 0;
  bool required = true;  ///< no pipeline without it
  bool operator==(const BasicConstant&) const = default;
};

/// Whether one slice holds one function, and in which versions.
template <class Text>
struct BasicPresence {
  bool missing = false;
  Text reason;    ///< why it is missing
  Version metal;  ///< language version of this function; it may differ between functions of one slice
  Version air;
  bool operator==(const BasicPresence&) const = default;
};

/// What a slice is built for.
template <class Text>
struct BasicSlice {
  Text target;  ///< "macos14", "cpu-x86-64-v3"
  SliceKind kind = SliceKind::metallib;
  Platform platform = Platform::none;
  Version os;
  Version metal;
  Version air;
  uint16_t family = 0;  ///< lowest Apple GPU family (7 is Apple7); 0: any GPU
  uint32_t arch = 0;    ///< CpuArch
  uint32_t level = 0;   ///< x86-64: 3 or 4
  Checks checked;       ///< what CPU code looks at
};

using Member = BasicMember<std::string>;
using Argument = BasicArgument<std::string>;
using Constant = BasicConstant<std::string>;
using Presence = BasicPresence<std::string>;

/// A function as the writer takes it.
struct Function {
  std::string name;
  FunctionKind kind = FunctionKind::kernel;
  std::vector<Argument> arguments;
  std::vector<Constant> constants;
  uint32_t max_threads = 0;         ///< [[max_total_threads_per_threadgroup(N)]]; 0: not said
  uint32_t grid_rank = 0;           ///< dimensions of the grid that its position in it has; 0: not said, or one
  uint32_t threadgroup_bytes = 0;   ///< static threadgroup memory
  uint32_t required_group[3] = {};  ///< the only group size that it runs with; 0: any
  bool operator==(const Function&) const = default;
};

/// A slice with its bytes, and one presence per function of the library, in the same order.
struct Slice : BasicSlice<std::string> {
  Bytes bytes;
  std::vector<Presence> functions;
};

/// Named bytes that travel with a library (a compiler's metadata, for one).
struct Attachment {
  std::string name;
  Bytes bytes;
};

struct Library {
  std::string name;
  std::string compiler;  ///< identity of what made it; part of what must match to merge slices
  std::string version;   ///< "2.1.0"; may be empty
  std::vector<std::string> tags;
  Digest source;  ///< SHA-256 of the source module
  std::vector<Function> functions;
  std::vector<Slice> slices;
  std::vector<Attachment> attachments;
};

}  // namespace smelt::schema
