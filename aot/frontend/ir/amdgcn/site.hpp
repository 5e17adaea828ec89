// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One call of an AMD operation (llvm.amdgcn.*) on its way to kernel IR, and the lowerings by subject. What each
// operation means: docs/formats/triton-amdgcn.md 4; what it becomes: section 5 of the same page.
#pragma once

#include "smelt/base/result.hpp"

#include "ir/builtin_calls.hpp"
#include "ir/dialect.hpp"

#include "llvm/ADT/SmallPtrSet.h"

#include <optional>
#include <span>
#include <string_view>

namespace smelt::aot::input::amdgcn {

/// What the whole kernel says about its operations.
struct Facts {
  /// Cross-lane operations that some lanes of a wave may skip, or of which that could not be excluded.
  llvm::SmallPtrSet<const llvm::CallInst*, 8> maybe_partial;
  /// The kernel loads device memory that it also stores: barriers must order that too.
  bool barriers_order_device = false;
  /// Only the first dimension of the group is used, so its index is the thread's index in the group.
  bool one_dimension = true;
};

/// The call that is being replaced.
class Site : public Replacement {
 public:
  Site(llvm::CallInst& call, std::string_view name, const Facts& facts, const Origin& origin)
      : Replacement(call), name_(name), facts_(facts), origin_(origin) {}

  std::string_view name() const { return name_; }  ///< without "llvm.amdgcn."
  const Facts& facts() const { return facts_; }
  bool maybe_partial() { return facts_.maybe_partial.contains(&call()); }

  /// A constant operand's value. Nothing when it is none, or wider than 64 bits.
  std::optional<uint64_t> constant(unsigned index);
  /// The lane's number in its wave, i32.
  llvm::Value* lane_id();
  /// air.<operation>.<suffix of the first operand> over plain values.
  llvm::Value* math(std::string_view operation, llvm::ArrayRef<llvm::Value*> operands);

  /// unsupported: "line 12: 'llvm.amdgcn.x': why".
  template <class... Args>
  tl::unexpected<Error> refuse(fmt::format_string<Args...> format, Args&&... args) const {
    return fail(Errc::unsupported, "{}'llvm.amdgcn.{}': {}", line(), name_,
                fmt::format(format, std::forward<Args>(args)...));
  }

 private:
  std::string line() const;

  std::string_view name_;
  const Facts& facts_;
  const Origin& origin_;
};

/// The value that takes the call's place; null for operations without a result, which are then just removed.
using Lowering = Result<llvm::Value*> (*)(Site&);

/// A name, or a name and what stands before a type suffix ("update.dpp" for "update.dpp.i32").
struct Row {
  std::string_view name;
  Lowering lower;
};

std::span<const Row> id_rows();      ///< places in the grid, lane numbers          (ids.cpp)
std::span<const Row> lane_rows();    ///< moves between the lanes of a wave         (lanes.cpp)
std::span<const Row> sync_rows();    ///< barriers, scheduling hints                (sync.cpp)
std::span<const Row> math_rows();    ///< numbers of one lane                       (math.cpp)
std::span<const Row> dot_rows();     ///< products of packed small numbers          (dots.cpp)
std::span<const Row> matrix_rows();  ///< WMMA                                      (wmma.cpp)
std::span<const Row> buffer_rows();  ///< memory behind a buffer resource           (buffers.cpp)

// Steps over the whole module.

/// Fences that only accompany a barrier go: ours orders memory itself. Called before the barriers are replaced.
void drop_barrier_fences(llvm::Module& module);
/// Inline assembly that only waits for memory: the fence beside it says the same.
void drop_waits(llvm::Module& module);
bool barriers_order_device(const llvm::Function& kernel);

/// Products that make a subnormal float of integers a normal one (Triton converts 8-bit floats so, times 2^120) become
/// exact without subnormals: Metal takes those for zero. Not in a function whose attributes have AMD's GPU do so too.
void scale_subnormals(llvm::Function& function);

/// Buffer resources that nobody reads any more, and the casts round them.
void drop_buffer_resources(llvm::Module& module);

/// How many of the last parameters are pointers to scratch memory that Triton adds to Python's arguments.
Result<unsigned> count_hidden(const llvm::Function& kernel, const Origin& origin, const InputOptions& options);

/// tl.device_assert and tl.device_print: the thread leaves its line, or what it prints, in memory behind the first
/// hidden pointer, which stays a parameter (reports.hpp); one that fails ends.
Result<void> lower_reports(llvm::Module& module, const Origin& origin, const InputOptions& options);

/// On a kernel with either, until finish_kernel: the number of the parameter that they report through.
constexpr llvm::StringRef kReports = "smelt.reports";

/// Loads of the launch's sizes from AMD's hidden arguments become hardware values.
Result<void> lower_hidden_arguments(llvm::Module& module, const Origin& origin);

/// llvm.frexp of a float that was widened to double, done in float.
void narrow_doubles(llvm::Module& module);

/// __ocml_* and __ockl_* functions that are declared only.
Result<void> lower_device_library(llvm::Module& module, const Origin& origin);

/// Takes the hidden pointers off a kernel's parameters, and says its group size.
Result<void> finish_kernel(llvm::Function& kernel, const Origin& origin, const InputOptions& options);

}  // namespace smelt::aot::input::amdgcn
