// One call's arguments: Python values bound to buffer 0, 1, ... of an encoder. docs/loader-api.md 1.3 and 3.6.
#pragma once

#include "smelt/loader/encoder.hpp"

#include "scalars.hpp"
#include "tensor.hpp"

#include <optional>
#include <span>
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
  enum class Kind : uint8_t { array, inlined, list };
  Kind kind;
  ElementKind element;
  bool writable;
  uint32_t item;
  uint64_t bytes;
};

/// Keeps what a call borrows until it has run. One thread at a time; reused from call to call.
class Arguments {
 public:
  static constexpr size_t kMost = 31;

  /// Binds every value; throws what the table of 1.3 says. On a device that does not share the caller's memory, arrays
  /// are copied to buffers, and back by finish().
  void bind(loader::Encoder& encoder, py::handle tuple, const Casts& casts);
  /// After the dispatch has run: what a device kept in buffers of its own comes back into the caller's arrays.
  void finish();
  void release();

  std::span<const Bound> bound() const { return bound_; }
  /// Elements of the first array that was passed directly.
  std::optional<uint64_t> first_count() const { return first_count_; }

 private:
  struct CopiedBack {
    loader::BufferRef buffer;
    size_t tensor;
  };

  void bind_one(loader::Encoder& encoder, uint32_t index, py::handle value, Cast cast);
  void bind_list(loader::Encoder& encoder, uint32_t index, py::handle list, Cast cast);
  void bind_tensor(loader::Encoder& encoder, uint32_t index, const Tensor& tensor);

  std::vector<Tensor> tensors_;
  std::vector<CopiedBack> copied_;
  std::vector<Bound> bound_;
  std::optional<uint64_t> first_count_;
};

}  // namespace smelt::python
