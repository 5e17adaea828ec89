// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arrays of any library as memory: the buffer protocol (NumPy, array, memoryview, bytes), DLPack (PyTorch and the
// rest), or NumPy's __array_interface__ (PIL's images), never copied.
#pragma once

#include "smelt/loader/argument_rule.hpp"

#include <pybind11/pybind11.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace smelt::python {

namespace py = pybind11;

using loader::ElementKind;

struct AddressedBuffer;

/// NumPy's scalars have a buffer, but they are no arrays.
bool is_numpy_scalar(py::handle value);

/// Somebody's array for the time of one call. Filled under the GIL, released under the GIL, its memory may be used
/// without it. Not copyable; it may be moved as long as nothing is held.
class Tensor {
 public:
  Tensor() = default;
  ~Tensor() { release(); }
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;
  Tensor(Tensor&& other) noexcept;
  Tensor& operator=(Tensor&&) = delete;

  /// Whether `value` has been taken. Not an array: false. An array that cannot be bound throws: one on another device
  /// (argument_device), one that walks backwards or whose bytes are not to be had (argument_type). `index` is for the
  /// message.
  bool take(py::handle value, size_t index);
  void release();
  /// Nothing is given back: the interpreter is going.
  void forget() { held_ = Held::nothing; }

  std::byte* data = nullptr;
  uint64_t bytes = 0;  ///< from `data` to the end of its last element
  uint64_t count = 0;  ///< elements
  uint32_t item = 0;   ///< bytes of one
  int rank = 0;
  static constexpr int kKnownRank = 6;
  std::array<uint64_t, kKnownRank> shape;   ///< of the first `rank`; of arrays of more dimensions not known
  std::array<int64_t, kKnownRank> strides;  ///< in bytes; likewise
  ElementKind kind = ElementKind::other;
  bool writable = true;
  bool contiguous = true;  ///< elements lie in the order of their indexes (C order), without gaps

  /// The extents; empty for an array of more than kKnownRank dimensions.
  std::span<const uint64_t> known_shape() const {
    return rank <= kKnownRank ? std::span(shape).first(static_cast<size_t>(rank)) : std::span<const uint64_t>();
  }
  /// The fields of the record that an element is; nothing where the array does not describe them in a known way.
  std::optional<std::vector<loader::HostField>> fields() const;

  /// Whether one element stands in several places (a broadcast view has stride 0): there is less memory than elements.
  bool overlaps() const { return bytes < count * item; }

 private:
  enum class Held : uint8_t { nothing, buffer, dlpack, dlpack_versioned };

  void take_addressed(const AddressedBuffer& buffer);
  bool take_buffer(py::handle value, size_t index);
  bool take_dlpack(py::handle value, size_t index);
  bool take_interface(py::handle value, size_t index);
  bool take_dlpack_quickly(py::handle value, size_t index);

  Held held_ = Held::nothing;
  Py_buffer buffer_;
  void* managed_ = nullptr;
};

}  // namespace smelt::python
