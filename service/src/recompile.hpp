// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What becomes of a package whose native code nobody trusted vouches for: its Metal libraries are kept, after `verify`,
// and everything else is made here from their AIR. Private to service.
#pragma once

#include "smelt/aot/cpu.hpp"
#include "smelt/cache/store.hpp"
#include "smelt/remote/entry.hpp"
#include "smelt/schema/manifest.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace smelt::service {

/// CPU code of a package: the level, what it checks, and how much time it may take to make.
struct CpuCode {
  aot::CpuLevel level;
  Checks checked;
  aot::CpuEffort effort = aot::CpuEffort::balanced;
};

/// The level of a slice of CPU code.
aot::CpuLevel level_of(const schema::Slice& slice);

/// The same libraries and targets; CPU code, and what the package says about its functions, are made anew from the AIR
/// of the newest target: what `wanted` says, or nothing: what the package has. Errors: `untrusted` when a Metal library
/// does not pass `smelt verify`, and those of compiling.
Result<Bytes> recompile_package(ByteView package, const std::optional<std::vector<CpuCode>>& wanted = {});

/// The same for an entry of a store, with `recompile` for each package of it. Nothing when it is none that the compiler
/// made.
Result<std::optional<std::vector<remote::Part>>> recompile_entry(
    const std::vector<cache::Entry::Part>& parts, const std::function<Result<Bytes>(ByteView)>& recompile);

/// What an entry was made from: compiler and source, out of its package; empty when it has none.
std::string made_from(const std::vector<cache::Entry::Part>& parts);

}  // namespace smelt::service
