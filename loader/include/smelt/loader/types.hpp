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
/// Shares a buffer.
using BufferRef = std::shared_ptr<Buffer>;
/// Shares a device.
using DeviceRef = std::shared_ptr<Device>;
/// Shares a function, which keeps its library.
using FunctionRef = std::shared_ptr<const Function>;
/// Shares a library, which keeps its bytes.
using LibraryRef = std::shared_ptr<const Library>;
/// Shares a package.
using PackageRef = std::shared_ptr<const Package>;
/// Shares a pipeline, which keeps its code.
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

/// What a slice was built for, or what a device offers.
struct Target {
  std::string name;                    ///< "macos14", "cpu-x86-64-v3"
  Platform platform = Platform::none;  ///< macOS, iOS, ...
  Version min_os;                      ///< of a slice: the oldest system that it runs on; of a device: its system
  Version metal;                       ///< the Metal version
  Version air;                         ///< the AIR version
  /// The Apple GPU family (7 is Apple7). Of a slice: the lowest that it runs on, 0 for any. Of a device: its family, 0
  /// if it has none (a virtual Mac).
  uint16_t family = 0;
};

/// Three numbers of threads or threadgroups.
struct Size3 {
  uint64_t x = 1;
  uint64_t y = 1;
  uint64_t z = 1;
  bool operator==(const Size3&) const = default;
};

/// A member of an argument buffer or structure. Its text lives as long as that of the argument.
using MemberInfo = BasicMember<std::string_view>;

/// An argument of a kernel. Its text is in the library's bytes and lives as long as the function or library.
///
/// A vertex or fragment function on the CPU also has its inputs and results as arguments (stage_input, stage_output):
/// arrays that are bound to buffer slot `index`, with one element of `size` bytes for each vertex or fragment. An
/// element has as many numbers as the type has components, without padding (float3: 12 bytes); a bool is a byte. You
/// may omit `conditional` ones: the result is dropped, and an input has the value of a plain draw (vertex_id: the
/// index; front_facing: true; else 0).
struct ArgInfo {
  std::string_view name;                     ///< as in the source
  std::string_view type_name;                ///< the pointee's type, such as "float"; empty for void*
  uint32_t index = 0;                        ///< slot: [[buffer(index)]], [[threadgroup(index)]], ...
  uint32_t parameter = 0;                    ///< position among the function's parameters
  ArgumentKind kind = ArgumentKind::buffer;  ///< buffer, texture, ...
  Access access = Access::read_write;        ///< how the kernel uses it
  uint8_t address_space = 1;                 ///< 1 device, 2 constant, 3 threadgroup
  bool unused = false;                       ///< the kernel does not use it
  bool conditional = false;                  ///< it exists only if a function constant is true
  uint32_t array_size = 1;                   ///< number of slots from `index` on
  uint32_t size = 0;                         ///< bytes of the pointee's type; 0 if unknown
  uint32_t align = 0;                        ///< alignment of the pointee's type; 0 if unknown
  std::vector<MemberInfo> members = {};      ///< of an argument buffer or constant structure, if the package has them
};

/// A function constant of a kernel.
struct ConstantInfo {
  std::string_view name;       ///< as in the source
  std::string_view type_name;  ///< "bool", "int", "float2", ...
  uint32_t index = 0;          ///< [[function_constant(index)]]
  bool required = true;        ///< a pipeline needs a value
};

/// The type of an element of an argument or constant.
enum class ScalarType : uint8_t { unknown, boolean, i8, u8, i16, u16, i32, u32, i64, u64, f16, bf16, f32 };

/// A scalar or vector type, such as "bool", "uint" or "half4".
struct ValueType {
  ScalarType scalar = ScalarType::unknown;  ///< the type of a component
  uint32_t components = 0;                  ///< 1 for a scalar
};
/// Reads the name of a type; `unknown` without components for others (a structure, a pointer).
ValueType parse_value_type(std::string_view name);
/// The size of an element; 0 for `unknown`.
uint32_t bytes_of(ScalarType type);

/// Limits of a device.
struct Limits {
  uint64_t max_threads_per_threadgroup = 1024;  ///< the largest threadgroup
  uint64_t max_threadgroup_memory = 32768;      ///< bytes
  uint64_t thread_execution_width = 32;         ///< threads of a SIMD group
  uint32_t buffer_slots = 31;                   ///< indexes of [[buffer(n)]]
  uint64_t inline_bytes = 4096;                 ///< longer set_bytes is copied into a buffer
  uint64_t max_buffer_bytes = 0;                ///< of one buffer; 0: unknown
  uint64_t memory_bytes = 0;                    ///< that all buffers together should not exceed; 0: unknown
};

/// Bytes, and an owner that keeps them alive.
struct OwnedBytes {
  ByteView bytes;                     ///< the bytes
  std::shared_ptr<const void> owner;  ///< may be empty only for bytes that are never freed (static data)
};
/// Copies bytes.
OwnedBytes copy_of(ByteView bytes);

}  // namespace smelt::loader
