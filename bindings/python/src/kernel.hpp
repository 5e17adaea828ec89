// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels and libraries as Python sees them. docs/design/loader.md 1.2, 1.3, 3.6.
#pragma once

#include "smelt/loader/encoder.hpp"

#include "argument_check.hpp"
#include "arguments.hpp"
#include "grid_size.hpp"
#include "texture.hpp"

#include <array>
#include <memory>
#include <vector>

namespace smelt::python {

Check parse_check(py::handle word);

/// A pipeline and the sugar to call it. Calls need the GIL to begin and to end, not while the kernel runs; calls from
/// several threads run at once.
class Kernel {
 public:
  /// `as_upstream`: defaults are PyTorch's to the letter, also where ours are better.
  Kernel(loader::FunctionRef function, loader::PipelineRef pipeline, bool as_upstream);

  /// kernel(*args, **options); throws. `options` may be null.
  void call(py::handle args, py::handle options);

  const loader::PipelineState& pipeline() const { return *pipeline_; }
  const loader::Function& function() const { return *function_; }
  bool as_upstream() const { return as_upstream_; }

 private:
  struct Options;
  /// What one call needs and the next one can use again.
  struct Launch {
    std::unique_ptr<loader::Encoder> encoder;
    Arguments arguments;
    TextureArguments textures;
    size_t bound = 0;
    bool leftovers = false;  ///< bindings beyond `bound`: threadgroup memory, an error buffer
    std::vector<std::byte> reports;
  };
  class Borrowed;
  /// Of the buffer of that name; throws when there is none.
  uint32_t index_of(std::string_view name) const;
  py::object in_positions(py::handle args, const Options& options) const;
  void read_places();
  void bind_textures(Launch& launch, py::handle args) const;
  py::object buffers_among(py::handle args) const;
  std::string_view name_at(size_t position) const;
  struct Grid;
  Grid grid_of(const Launch& launch, const Options& options) const;
  Grid groups_of(const Options& options) const;
  static Result<void> dispatch(Launch& launch, const Grid& grid);
  void check_reports(const Launch& launch) const;

  loader::FunctionRef function_;
  loader::PipelineRef pipeline_;
  bool as_upstream_;
  std::array<Parameter, Arguments::kMost> declared_;
  size_t declared_count_ = 0;  ///< one past the last buffer
  /// What the call's positions are, of kernels with textures or samplers: what it declares, in that order. Empty:
  /// position i is buffer i.
  struct Place {
    const loader::ArgInfo* argument = nullptr;
    uint32_t slot = 0;  ///< of buffers
  };
  std::vector<Place> places_;
  std::vector<loader::MemberInfo> further_;  ///< arguments behind those that have buffers of their own
  std::vector<std::unique_ptr<Launch>> free_;
};

/// An int or a sequence of 1 to 3 of them; `what` is for messages.
GridSize parse_size(py::handle value, std::string_view what);

void bind_kernel(py::module_& module);
void bind_library(py::module_& module);
void bind_device(py::module_& module);
void bind_package(py::module_& module);

/// A handle for Python. `file` is what the library was loaded from; `as_upstream` goes on to its kernels; `code` is
/// what makes their CPU code, or None.
py::object library_object(loader::LibraryRef library, loader::OwnedBytes file, bool as_upstream,
                          py::object code = py::none());

}  // namespace smelt::python
