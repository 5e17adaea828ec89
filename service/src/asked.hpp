// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The one door for packages that come back from where they were asked for: the store, a remote, a compiling child. What
// was asked is held against what is there; a difference has a name, and what differs is not used. Private to service.
#pragma once

#include "smelt/aot/plan.hpp"
#include "smelt/remote/tiered_store.hpp"
#include "smelt/service/session.hpp"

#include "recompile.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace smelt::service {

/// What a package must be. How much effort its CPU code took is not in a package: the key says it, which a signature
/// covers, and code that is made again is made with it.
struct Asked {
  std::vector<std::string> targets;    ///< of Metal libraries; empty: one, whatever it is for
  std::vector<CpuCode> codes;          ///< CPU code, in this order
  std::vector<std::string> functions;  ///< empty: nobody knows yet what there is
  bool all_functions = false;          ///< each of them must be there; else no other may
  bool may_be_empty = false;           ///< source without entry points makes Metal libraries without functions
  /// It is joined with others: Metal libraries in the order of `targets`, and all of it is looked at.
  bool is_part = false;
  std::string name;                    ///< of the library; empty: any
  std::optional<std::string> version;  ///< nothing: any
  std::optional<Digest> source;        ///< nothing: any
  std::optional<size_t> libraries{1};  ///< nothing: any number
  bool this_compiler = true;           ///< false: any, as of a package that the user names
};

/// What a request's package is. It may have been made of another source with the same code.
Asked asked_of(const Request& request, const std::vector<aot::CpuLevel>& levels);
/// What one part of its plan is.
Asked asked_of(const aot::Plan& plan, size_t part, const Request& request, const std::vector<aot::CpuLevel>& levels);
/// What the CPU code of a file is: libraries with that code alone.
Asked asked_of(const CpuCode& code);

/// `corrupt` names the first difference. `arrived`: it comes from elsewhere just now, so that each part is hashed and
/// CPU code read as well.
Result<void> held_to(const Asked& asked, ByteView package, bool arrived);

/// Nothing of a package is damaged, whoever asked for it: its parts are what it lists, and its CPU slices are some.
Result<void> whole(ByteView package);

/// A child was given `before` to recompile: the same libraries, with other CPU code.
Result<void> held_to_recompile(ByteView before, const std::optional<std::vector<CpuCode>>& wanted, ByteView after);

/// The package with CPU code made here, as it is said.
using Recompile = std::function<Result<Bytes>(ByteView package, const std::vector<CpuCode>& codes)>;

/// The same for an entry that holds the package in that part. Without `recompile`: what the store does by itself.
remote::Question question(std::string_view part, Asked asked, const Recompile& recompile);

}  // namespace smelt::service
