// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels that were compiled once, for histories that compile nothing: what the user wrote, and what a stranger has in
// its place. Each is known again by its AIR and by its code, wherever it was joined into.
#pragma once

#include "asked.hpp"
#include "build_package.hpp"

#include <map>
#include <string>
#include <vector>

namespace smelt::test {

/// What a package has of kernels that the user did not write.
struct Seen {
  bool strangers_air = false;
  bool planted_code = false;  ///< CPU code that is not that of the AIR beside it
};

class Material {
 public:
  Material();

  static constexpr size_t kKernels = 3;
  static std::string name(size_t kernel);
  static std::string text(size_t kernel);

  /// A library of that kernel alone, as a part of a plan is. `planted`: the user's AIR with a stranger's code.
  enum class Whose { users, strangers, planted };
  schema::Library library(size_t kernel, Whose whose, bool checked) const;
  /// Of several, as a request's; `source` is what it says of its source.
  Bytes package(const std::vector<schema::Library>& parts, const Digest& source) const;

  /// Stands for the compiler: the CPU code of the AIR that is there.
  Result<Bytes> recompile(ByteView package, const std::optional<std::vector<service::CpuCode>>& codes) const;
  /// The same for a part of a plan.
  service::MakeElsewhere compiler(bool checked) const;

  Result<Seen> look(ByteView package) const;
  aot::CpuLevel level() const { return level_; }

 private:
  struct Made {
    schema::Library library;
    Digest air, code;
  };
  const Made& made(size_t kernel, bool strangers, bool checked) const { return made_[kernel][strangers][checked]; }

  aot::CpuLevel level_;
  Made made_[kKernels][2][2];
  std::map<Digest, std::pair<size_t, bool>> airs_, codes_;  // which kernel, and whether it is a stranger's
};

template <class T>
T must(Result<T> result) {
  if (result) return std::move(*result);
  fmt::print(stderr, "histories: {}\n", result.error().message);
  std::exit(2);
}

}  // namespace smelt::test
