// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One launch of a kernel of Apple-built ggml, by several ways of making CPU code, compared with a reference.
//
// Arguments are set by name: where a field of the argument struct lies is read from the kernel's own metadata
// (air.struct_type_info), so that no layout is written down here. Fields that nobody sets hold a pattern.
#pragma once

#include "launch.hpp"
#include "tensor.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace smelt::test {

struct Tolerance {
  double relative = 1e-5;
  double absolute = 1e-6;
};

/// False, having said so, when the corpus is not there.
bool have_ggml();

/// Whether SMELT_FULL asks for everything.
bool full();
/// Whether this kernel is to be run: those that are not `always` only with SMELT_FULL; SMELT_KERNEL asks for the ones
/// whose name it is part of.
bool wanted(const std::string& kernel, bool always);

/// Apple's module of one kernel as our reader and writer leave it.
Bytes rewritten(const std::string& name, ByteView bitcode);

class Call {
 public:
  explicit Call(std::string kernel);
  ~Call();

  /// A field of the argument struct, converted to the field's own type; `element` of an array.
  Call& set(const std::string& field, double value, size_t element = 0);
  /// ne<n>0..3 and nb<n>0..3, those that the struct has.
  Call& describe(const std::string& n, const Tensor& tensor);
  Call& in(uint32_t slot, const Tensor& tensor);
  Call& out(uint32_t slot, const Tensor& tensor);
  /// The buffer of `other` in this slot too.
  Call& same(uint32_t slot, uint32_t other);
  Call& threadgroup(uint32_t slot, uint32_t bytes);
  /// A function constant, converted to its own type; one that the kernel does not have is left out.
  Call& constant(const std::string& name, int64_t value);
  /// Whole threadgroups, as dispatchThreadgroups.
  Call& groups(Size3 groups, Size3 threads);

  /// Every way; throws when one does not compile. Outputs by different bitcode writers must be the same bytes.
  Call& run();
  /// What the first way wrote.
  const Tensor& result(uint32_t slot) const;
  /// Compares what every way wrote.
  void expect(uint32_t slot, const std::function<double(int64_t, int64_t, int64_t, int64_t)>& want,
              Tolerance tolerance = {}) const;

 private:
  struct Kernel;
  struct Outcome {
    std::string way;
    std::map<uint32_t, Tensor> outputs;
  };
  Outcome run_one(const std::string& way, const LoadedSlice& slice);

  std::string name_;
  std::shared_ptr<Kernel> kernel_;
  std::vector<std::byte> arguments_;
  std::map<uint32_t, Tensor> inputs_;
  std::map<uint32_t, Tensor> outputs_;
  std::map<uint32_t, uint32_t> aliases_;
  Launch launch_;
  std::vector<Outcome> outcomes_;
};

/// Names of the kernels that were compared with a reference so far.
std::set<std::string>& compared_kernels();

}  // namespace smelt::test
