// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PoCL as the rival: the same eight kernels in OpenCL C. One device, one queue, buffers over the caller's memory.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace smelt::bench {

class OpenCl {
 public:
  struct Memory {
    void* data = nullptr;
    size_t bytes = 0;
  };
  struct Launch {
    std::string kernel;
    std::vector<Memory> buffers;   ///< arguments 0, 1, ...
    std::optional<unsigned> last;  ///< an integer argument after them
    std::array<size_t, 2> grid{1, 1};
    std::array<size_t, 2> group{1, 1};
  };
  /// Something that can be timed: one launch, until it has run.
  class Prepared {
   public:
    virtual ~Prepared() = default;
    virtual void run() = 0;
    virtual void read_back() = 0;  ///< results into the caller's memory
  };

  /// Null when there is no OpenCL device; `name` says which one it is. POCL_MAX_PTHREAD_COUNT must be set before.
  static std::unique_ptr<OpenCl> open();
  virtual ~OpenCl() = default;
  virtual const std::string& name() const = 0;
  virtual std::unique_ptr<Prepared> prepare(const Launch& launch) = 0;
};

}  // namespace smelt::bench
