// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One call's arguments: Python values bound to buffer 0, 1, ... of an encoder. docs/design/loader.md 1.3 and 3.6.
#pragma once

#include "smelt/loader/encoder.hpp"

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

/// "uint4" -> unsigned integer, 4 bytes each. Names are those of the kernel's own metadata.
ElementKind kind_of_type(std::string_view name);
uint32_t components_of_type(std::string_view name);

/// What a kernel declares of the buffer at one index.
struct Parameter {
  bool known = false;   ///< one buffer that the kernel's metadata describes; else nothing below has a meaning
  bool writes = false;  ///< the kernel may write to it
  bool is_constant = false;
  ElementKind kind = ElementKind::other;  ///< of a component; other for structures and for IR without types
  uint32_t size = 0;                      ///< bytes of one pointee
  uint32_t components = 1;                ///< of one pointee: 4 of a float4
  std::string_view type_name;             ///< lives as long as the pipeline

  uint32_t component_size() const { return size / components; }
  /// Whether it takes 64-bit floating point: declared so, or bytes of any kind. No Metal type is.
  bool takes_double() const { return !known || kind == ElementKind::other || type_name.starts_with("double"); }
};

/// What was bound to one index, for checks against what the kernel declares.
struct Bound {
  enum class Kind : uint8_t { array, inlined, list };
  Kind kind;
  ElementKind element;
  bool writable;
  uint32_t item;
  uint64_t bytes;
  bool overlaps = false;  ///< an array with less memory than elements
};

/// Keeps what a call borrows until it has run. One thread at a time; reused from call to call.
class Arguments {
 public:
  static constexpr size_t kMost = 31;

  /// Binds every value; throws what the table of 1.3 says. On a device that does not share the caller's memory, arrays
  /// are copied to buffers, and back by finish(). `parameters[i]` is what the kernel declares of buffer i; past their
  /// end nothing is known. `further`: members of the kernel's last buffer when they are arguments of their own
  /// (smelt/schema/further_arguments.hpp); else empty.
  void bind(loader::Encoder& encoder, py::handle tuple, const Casts& casts, std::span<const Parameter> parameters,
            std::span<const loader::MemberInfo> further = {});
  /// After the dispatch has run: what a device kept in buffers of its own comes back into the caller's arrays.
  void finish();
  void release();

  std::span<const Bound> bound() const { return bound_; }
  /// Elements of the first array that was passed directly; throws when it has less memory than elements, since a thread
  /// for each would leave it.
  std::optional<uint64_t> first_count() const;

 private:
  struct CopiedBack {
    loader::BufferRef buffer;
    size_t tensor;
  };

  void bind_one(loader::Encoder& encoder, uint32_t index, py::handle value, Cast cast, const Parameter& parameter);
  void bind_list(loader::Encoder& encoder, uint32_t index, py::handle list, Cast cast);
  void bind_further(loader::Encoder& encoder, py::handle tuple, const Casts& casts,
                    std::span<const loader::MemberInfo> members);
  /// One of them, into its place.
  void put_member(const loader::Encoder& encoder, size_t index, py::handle value, Cast cast,
                  const loader::MemberInfo& member, std::span<std::byte> place);
  void bind_tensor(loader::Encoder& encoder, uint32_t index, const Tensor& tensor, const Parameter& parameter);
  void bind_number(loader::Encoder& encoder, uint32_t index, const Tensor& tensor, const Parameter& parameter);

  std::vector<Tensor> tensors_;
  std::vector<CopiedBack> copied_;
  std::vector<Bound> bound_;
  std::optional<size_t> first_array_;  ///< into tensors_
};

}  // namespace smelt::python
