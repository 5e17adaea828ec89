// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels in the store, each by itself: an entry per part of a plan (smelt/aot/plan.hpp), which holds a package of that
// part alone and the warnings it came with. Private to service.
#pragma once

#include "smelt/aot/cpu.hpp"
#include "smelt/base/checks.hpp"
#include "smelt/base/digest.hpp"
#include "smelt/remote/tiered_store.hpp"
#include "smelt/schema/manifest.hpp"
#include "smelt/signing/origin.hpp"

#include "asked.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace smelt::service {

struct KeptKernel {
  explicit KeptKernel(signing::Provenance from) : origin(std::move(from)) {}
  schema::Library library;  ///< without functions: nothing was made of the part, see aot::Plan::build
  std::vector<std::string> warnings;
  signing::Provenance origin;
  bool kept = false;  ///< the store had it
};

/// The part's key with what counts besides: the CPU code that goes with it.
Digest kernel_key(const Digest& part, const std::vector<aot::CpuLevel>& levels, Checks checked, aot::CpuEffort effort);

/// Made without a store it finds nothing and keeps nothing. Borrows the store. Trouble with it is warned of and goes no
/// further.
class KernelStore {
 public:
  using Warn = std::function<void(std::string_view)>;
  KernelStore() = default;
  /// `recompile`: for kernels whose CPU code is not to be used.
  KernelStore(remote::TieredStore& store, Warn warn, Recompile recompile = {})
      : store_(&store), warn_(std::move(warn)), recompile_(std::move(recompile)) {}

  /// In the order of the keys; each is what was asked for under its key.
  std::vector<std::optional<KeptKernel>> find(const std::vector<Digest>& keys, const std::vector<Asked>& asked) const;

  /// Publishes parts[i] under keys[i] for each i of `which`, in one transaction. What is not whole is not kept.
  void keep(const std::vector<Digest>& keys, const std::vector<std::optional<KeptKernel>>& parts,
            const std::vector<size_t>& which, std::chrono::microseconds cost) const;

 private:
  remote::TieredStore* store_ = nullptr;
  Warn warn_;
  Recompile recompile_;
};

}  // namespace smelt::service
