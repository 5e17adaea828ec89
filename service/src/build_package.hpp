// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A request compiled to a package, kernel by kernel, taking from a store what it has of them. Private to service.
#pragma once

#include "smelt/aot/plan.hpp"
#include "smelt/schema/manifest.hpp"
#include "smelt/service/session.hpp"

#include "kernel_store.hpp"
#include "recompile.hpp"

#include <functional>
#include <optional>

namespace smelt::service {

struct Built {
  explicit Built(signing::Provenance from) : origin(std::move(from)) {}
  signing::Provenance origin;  ///< of all that went in
  Bytes package;
  std::vector<std::string> warnings;
  size_t kernels = 0, kernels_kept = 0;  ///< entry points of the library, and how many of them the store had
};

/// One part of a plan with its CPU code, made somewhere else; nothing: it is to be made here. Any thread.
using MakeElsewhere = std::function<Result<std::optional<KeptKernel>>(const aot::Plan& plan, size_t part)>;

/// A request's sources, read. `threads`: 0: one a core; it and `progress`, which may be empty, are those of building.
Result<aot::Plan> make_plan(const Request& request, unsigned threads, const Progress& progress);

/// What the parts are kept under, each with its CPU code of `levels`.
Result<std::vector<Digest>> part_keys(const aot::Plan& plan, std::span<const size_t> parts, const Request& request,
                                      const std::vector<aot::CpuLevel>& levels);

/// Parts of the request's plan as a package. `elsewhere` may be empty.
Result<Built> build_parts(const aot::Plan& plan, std::span<const size_t> which, const Request& request,
                          unsigned threads, const Progress& progress, const KernelStore& store,
                          const MakeElsewhere& elsewhere = {});

/// All parts.
Result<Built> build_package(const Request& request, unsigned threads, const Progress& progress,
                            const KernelStore& store, const MakeElsewhere& elsewhere = {});

/// Levels to make CPU code for: the request's, else what this machine can run; none when it wants no CPU code.
Result<std::vector<aot::CpuLevel>> cpu_levels(const Request& request);

/// What a package of the request says of its source.
Digest source_digest(const Request& request);

/// What a package says about an entry point.
schema::Function manifest_function(const aot::KernelInfo& info);

/// CPU code made from a target's finished AIR (its `metallib` is not looked at). `visible`: what it may call through
/// tables; other functions among them are passed over.
Result<schema::Slice> cpu_slice(const aot::CompiledTarget& from, const CpuCode& code,
                                std::span<const aot::CompiledFunction> visible);

}  // namespace smelt::service
