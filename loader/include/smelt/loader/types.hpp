// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values that the loader's interface speaks in: targets, sizes, what a kernel says about its arguments.
// Facts: docs/reference/cpp.md.
#pragma once

#include "smelt/base/argument_member.hpp"
#include "smelt/base/bytes.hpp"
#include "smelt/base/digest.hpp"
#include "smelt/base/entry_interface.hpp"
#include "smelt/base/metal.hpp"
#include "smelt/base/result.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smelt::loader {

class Buffer;
class Device;
class Encoder;
class Function;
class Library;
class Package;
class PipelineState;
// Handles share ownership: a function keeps its library, a pipeline the code it runs, a library its bytes.
using BufferRef = std::shared_ptr<Buffer>;
using DeviceRef = std::shared_ptr<Device>;
using FunctionRef = std::shared_ptr<const Function>;
using LibraryRef = std::shared_ptr<const Library>;
using PackageRef = std::shared_ptr<const Package>;
using PipelineRef = std::shared_ptr<const PipelineState>;

using smelt::Access;
using smelt::ArgumentKind;
using smelt::BindingClass;
using smelt::BindingSlot;
using smelt::ByClass;
using smelt::FunctionKind;
using smelt::Platform;
using smelt::SlotMask;
using smelt::to_string;
using smelt::Version;

/// What a slice was built for, or what a device offers. `family` is the Apple GPU family (7 is Apple7): of a slice the
/// lowest that it runs on, 0 for any; of a device what it is, 0 when it is none (a virtual Mac).
struct Target {
  std::string name;  ///< "macos14", "cpu-x86-64-v3"
  Platform platform = Platform::none;
  Version min_os;
  Version metal;
  Version air;
  uint16_t family = 0;
};

struct Size3 {
  uint64_t x = 1;
  uint64_t y = 1;
  uint64_t z = 1;
  bool operator==(const Size3&) const = default;
};

/// Text lies where that of its argument does.
using MemberInfo = BasicMember<std::string_view>;

/// One bindable argument of a kernel. Text lies in the library's bytes and lives as long as the function or library.
///
/// Of a vertex or fragment function on the CPU its inputs and results, too (stage_input, stage_output): arrays that are
/// bound to buffer slot `index`, one element of `size` bytes for each vertex or fragment. An element has as many
/// numbers as the type has components, without padding (float3: 12 bytes); a bool is a byte. `conditional` ones may be
/// left out: a result goes nowhere then, and an input is what a plain draw has (vertex_id: the index; front_facing:
/// true; else 0).
struct ArgInfo {
  std::string_view name;
  std::string_view type_name;  ///< of the pointee: "float"; empty for void*
  uint32_t index = 0;          ///< slot: [[buffer(index)]], [[threadgroup(index)]], ...
  uint32_t parameter = 0;      ///< position among the function's parameters
  ArgumentKind kind = ArgumentKind::buffer;
  Access access = Access::read_write;
  uint8_t address_space = 1;  ///< 1 device, 2 constant, 3 threadgroup
  bool unused = false;
  bool conditional = false;  ///< exists only when a function constant is true
  uint32_t array_size = 1;
  uint32_t size = 0;  ///< bytes of the pointee type; 0 when unknown
  uint32_t align = 0;
  std::vector<MemberInfo> members = {};  ///< of an argument buffer or constant structure, where the package lists them
};

/// One function constant of a kernel.
struct ConstantInfo {
  std::string_view name;
  std::string_view type_name;  ///< "bool", "int", "float2", ...
  uint32_t index = 0;
  bool required = true;
};

/// What one element of an argument or constant is.
enum class ScalarType : uint8_t { unknown, boolean, i8, u8, i16, u16, i32, u32, i64, u64, f16, bf16, f32 };

/// "bool", "uint", "half4", ...; `unknown` with no components for anything else (a structure, a pointer).
struct ValueType {
  ScalarType scalar = ScalarType::unknown;
  uint32_t components = 0;
};
ValueType parse_value_type(std::string_view name);
uint32_t bytes_of(ScalarType type);

struct Limits {
  uint64_t max_threads_per_threadgroup = 1024;
  uint64_t max_threadgroup_memory = 32768;
  uint64_t thread_execution_width = 32;
  uint32_t buffer_slots = 31;
  uint64_t inline_bytes = 4096;   ///< longer set_bytes is copied into a buffer
  uint64_t max_buffer_bytes = 0;  ///< of one buffer; 0: unknown
  uint64_t memory_bytes = 0;      ///< that all buffers together should stay below; 0: unknown
};

/// Bytes and whoever keeps them alive. `owner` may be empty only for bytes that outlive everything (static data).
struct OwnedBytes {
  ByteView bytes;
  std::shared_ptr<const void> owner;
};
/// A private copy.
OwnedBytes copy_of(ByteView bytes);

}  // namespace smelt::loader
