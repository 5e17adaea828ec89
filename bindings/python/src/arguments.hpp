// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One call's arguments: Python values bound to buffer 0, 1, ... of an encoder. docs/design/loader.md 1.3 and 3.6.
#pragma once

#include "smelt/loader/encoder.hpp"

#include "grid_size.hpp"
#include "parameter.hpp"
#include "scalars.hpp"
#include "tensor.hpp"

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace smelt::python {

/// arg_casts: none, one word for all scalars, or a word per argument.
class Casts {
 public:
  /// `value` may be null or None.
  void parse(py::handle value);
  Cast of(size_t index) const;

 private:
  Cast all_ = Cast::none;
  std::vector<std::pair<size_t, Cast>> some_;
};

/// What was bound to one index, for checks against what the kernel declares.
struct Bound {
  enum class Kind : uint8_t { nothing, array, inlined, list };
  Kind kind = Kind::nothing;  ///< the call leaves it out
  ElementKind element = ElementKind::other;
  bool writable = false;
  uint32_t item = 0;
  uint64_t bytes = 0;
  bool overlaps = false;   ///< an array with less memory than elements
  bool contiguous = true;  ///< an array whose elements lie in the order of their indexes
  bool is_list = false;    ///< inlined, from a list or tuple
  bool is_dict = false;    ///< likewise, from a dict
  bool guessed = false;    ///< numbers for a structure, in the types that Python's numbers have by themselves
  uint32_t tensor = 0;     ///< of an array: 1 + its place among those of the call
};

/// Keeps what a call borrows until it has run. One thread at a time; reused from call to call.
class Arguments {
 public:
  static constexpr size_t kMost = 31;

  /// Binds every value of a tuple, in which null is nothing to bind; throws what the table of 1.3 says. On a device
  /// that does not share the caller's memory, arrays are copied to buffers, and back by finish(). `parameters[i]` is
  /// what the kernel declares of buffer i; past their end nothing is known. `by_type`: numbers for which no cast is
  /// asked become what the kernel declares, as with the cast `declared`, and NumPy's scalars are numbers; else both are
  /// as upstream has it. `further`: members of the kernel's last buffer when they are arguments of their own
  /// (smelt/schema/further_arguments.hpp); else empty.
  void bind(loader::Encoder& encoder, py::handle tuple, const Casts& casts, std::span<const Parameter> parameters,
            bool by_type, std::span<const loader::MemberInfo> further = {});
  /// After the dispatch has run: what a device kept in buffers of its own comes back into the caller's arrays.
  void finish();
  void release();

  std::span<const Bound> bound() const { return bound_; }
  /// Until release(); null for what is no array.
  const Tensor* tensor_of(const Bound& bound) const {
    return bound.tensor != 0 ? &tensors_[bound.tensor - 1] : nullptr;
  }
  /// The grid with a thread for each element of the first array that was passed directly, x along the array's last
  /// dimension. `rank`: dimensions of the kernel's position. Nothing without an array. Throws (threads_missing) when
  /// the array is no such grid: with `by_type`, when it has another number of dimensions than a `rank` of 2 or 3 asks
  /// for, or fewer elements than an array that the kernel writes to. Throws (argument_type) when it has less memory
  /// than elements, since a thread for each would leave it.
  std::optional<GridSize> first_grid(std::string_view kernel, std::span<const Parameter> parameters,
                                     uint32_t rank) const;

 private:
  struct CopiedBack {
    loader::BufferRef buffer;
    size_t tensor;
  };

  void bind_at(loader::Encoder& encoder, uint32_t index, py::handle value, const Casts& casts,
               std::span<const Parameter> parameters);
  void bind_one(loader::Encoder& encoder, uint32_t index, py::handle value, Cast cast, const Parameter& parameter);
  void bind_scalar(loader::Encoder& encoder, uint32_t index, py::handle value, Cast cast, const Parameter& parameter);
  /// A dict or tuple, or a list of them, by the members that the kernel declares. False: it is none of these.
  bool bind_structure(loader::Encoder& encoder, uint32_t index, py::handle value, const Parameter& parameter);
  /// What stands in an argument buffer for a texture, a sampler or what a pointer points to.
  uint64_t member_address(loader::Encoder& encoder, const std::string& place, std::string_view type, py::handle value,
                          size_t position);
  void bind_list(loader::Encoder& encoder, uint32_t index, py::handle list, Cast cast, const Parameter& parameter);
  void bind_numbers(loader::Encoder& encoder, uint32_t index, std::span<PyObject* const> values, Cast cast,
                    const Parameter& parameter);
  void bind_declared(loader::Encoder& encoder, uint32_t index, py::handle value, const Parameter& parameter);
  void bind_declared(loader::Encoder& encoder, uint32_t index, std::span<PyObject* const> values,
                     const Parameter& parameter);
  void bind_further(loader::Encoder& encoder, py::handle tuple, const Casts& casts,
                    std::span<const loader::MemberInfo> members);
  /// One of them, into its place.
  void put_member(const loader::Encoder& encoder, uint32_t index, py::handle value, Cast cast,
                  const loader::MemberInfo& member, std::span<std::byte> place);
  void bind_addresses(loader::Encoder& encoder, uint32_t index, py::handle list, const Parameter& parameter);
  void bind_tensor(loader::Encoder& encoder, uint32_t index, const Tensor& tensor, const Parameter& parameter);
  void bind_number(loader::Encoder& encoder, uint32_t index, const Tensor& tensor, const Parameter& parameter);
  void bind_table(loader::Encoder& encoder, uint32_t index, py::handle value, const Parameter& parameter);
  /// An argument tensor<T, ...>: an array, its shape and its strides.
  void bind_shaped(loader::Encoder& encoder, uint32_t index, py::handle value, const Parameter& parameter);

  std::vector<Tensor> tensors_;
  std::vector<loader::TextureRef> textures_;  ///< of argument buffers
  std::vector<loader::SamplerRef> samplers_;  ///< likewise
  std::vector<CopiedBack> copied_;
  std::vector<Bound> bound_;
  std::optional<size_t> first_array_;  ///< into tensors_
  size_t first_at_ = 0;                ///< and into bound_
  bool by_type_ = false;
};

}  // namespace smelt::python
