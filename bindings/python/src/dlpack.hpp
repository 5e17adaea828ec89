// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The part of DLPack's stable C ABI that a reader of CPU memory needs: https://dmlc.github.io/dlpack, versions 0.x
// (capsule "dltensor"), 1.x ("dltensor_versioned"), and 1.3's table of functions on the type.
#pragma once

#include <cstdint>

namespace smelt::python::dlpack {

constexpr int32_t kCpu = 1;
constexpr int32_t kCudaHost = 3;  // pinned memory: the CPU's own
constexpr uint64_t kReadOnly = 1;
constexpr uint8_t kOpaqueHandle = 3;  // a type code: a pointer into somebody's program

struct Device {
  int32_t type;
  int32_t id;
};
struct DataType {
  uint8_t code;  ///< 0 int, 1 uint, 2 float, 4 bfloat, 5 complex, 6 bool
  uint8_t bits;
  uint16_t lanes;
};
struct TensorLayout {
  void* data;
  Device device;
  int32_t rank;
  DataType type;
  int64_t* shape;
  int64_t* strides;  ///< in elements; null: compact, row by row
  uint64_t byte_offset;
};
struct Managed {
  TensorLayout tensor;
  void* context;
  void (*deleter)(Managed*);
};
struct Version {
  uint32_t major;
  uint32_t minor;
};
struct ManagedVersioned {
  Version version;
  void* context;
  void (*deleter)(ManagedVersioned*);
  uint64_t flags;
  TensorLayout tensor;
};

/// Behind the capsule `type.__dlpack_c_exchange_api__`.
struct ExchangeHeader {
  Version version;
  ExchangeHeader* previous;
};
struct ExchangeApi {
  ExchangeHeader header;
  void* allocate;
  int (*managed_from_object)(void* object, ManagedVersioned** out);
  void* managed_to_object;
  /// Lends the layout without ownership; it stays valid as long as the object does. May be null.
  int (*layout_from_object)(void* object, TensorLayout* out);
  void* current_stream;
};

}  // namespace smelt::python::dlpack
