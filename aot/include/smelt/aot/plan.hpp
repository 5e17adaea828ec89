// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// compile() in steps, for those who keep what was compiled before:
//
//   Plan::make      every input read and checked, and cut into parts that are compiled by themselves
//   Plan::key       what a part's result depends on
//   Plan::build     the parts that are not kept
//   join_libraries  all parts' libraries as one
//
// compile() is these four with nothing kept, so the bytes are the same however many parts were.
#pragma once

#include "smelt/aot/compile.hpp"
#include "smelt/base/digest.hpp"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace smelt::aot {

struct PlanState;

/// Parts are in the order of the inputs and of what they hold: a Metal source or library has one for each kernel, LLVM
/// IR one for each few entry points of a module. Immutable; cheap to copy; threads: any number at once. Borrows the
/// sources, which must outlive it.
class Plan {
 public:
  /// Errors are those of compile().
  static Result<Plan> make(std::span<const Source> sources, const CompileOptions& options);

  const std::vector<Target>& targets() const;
  size_t part_count() const;
  /// Entry points of a part.
  size_t entry_count(size_t part) const;
  std::vector<std::string> entry_names(size_t part) const;
  /// SHA-256 over the part's code as it was read, the options that change code, the targets in their order, and this
  /// compiler; and over all visible functions of the sources, which a kernel may call through a table. A kernel of
  /// Metal source has the same key in every source that gives it the same code; it is cut out of its source when its
  /// key or its code is first wanted. Errors: compile_failed when the compiler crashes over that.
  Result<Digest> key(size_t part) const;

  /// Each part as if it were all there is: a library for every target. A target's may be empty, with a warning: Metal
  /// takes sources with kernels that no GPU can run. `options.threads` and `options.progress` are those of make().
  Result<std::vector<Compiled>> build(std::span<const size_t> parts) const;

  /// All visible functions of the sources, also those that nobody asked for, for a target (its place in targets()):
  /// what kernels of the part may call through tables. Of Metal libraries, which a stranger may have made, only for a
  /// part of one. Built when first asked for; valid as long as the plan.
  Result<std::span<const CompiledFunction>> visible_functions(size_t part, size_t target) const;

  /// A part that is a function of a Metal library, as a library of its own, with the visible functions behind it: when
  /// entry_names() of it are compiled for targets() they give what build() gives for the part, wherever that is done.
  /// The container's reader and writer made it; LLVM did not look at it. Nothing for other parts. Errors: `corrupt`
  /// when its module cannot be bitcode.
  Result<std::optional<Bytes>> part_as_library(size_t part) const;
  /// Whose part it is: an index into the sources.
  size_t source_of(size_t part) const;

  const std::vector<std::string>& warnings() const;
  const std::vector<std::string>& dependencies() const;

 private:
  explicit Plan(std::shared_ptr<const PlanState> state) : state_(std::move(state)) {}
  std::shared_ptr<const PlanState> state_;
};

/// One library of the functions of several, in order; all were built for `target`.
Result<Bytes> join_libraries(const Target& target, std::span<const ByteView> libraries);

}  // namespace smelt::aot
