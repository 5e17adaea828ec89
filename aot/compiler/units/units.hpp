// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The work of one compile() cut into pieces that do not know of each other. Private to compiler.
#pragma once

#include "smelt/aot/plan.hpp"
#include "smelt/metallib/reader.hpp"
#include "smelt/metallib/writer.hpp"

#include "fingerprint/launch_metadata.hpp"
#include "interface/entry.hpp"
#include "kernel_ir/kernel_module.hpp"
#include "legalise/legalise.hpp"
#include "llvm_support/tasks.hpp"
#include "msl/frontend.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace smelt::aot {

/// Some entry points of one module, as bitcode: what is read again for each target, in a context of its own. Always
/// read again, even for a single target, so that the result does not depend on how many there are.
struct Unit {
  size_t source = 0;
  std::shared_ptr<const Bytes> bitcode;       ///< LLVM 19's, written here; null for a module of a Metal library
  ByteView original;                          ///< ... which is read as it lies there
  std::shared_ptr<const msl::MslModule> msl;  ///< set for Metal source, instead of both; `all` are its kernels
  std::shared_ptr<const std::vector<air::EntryPoint>> all;  ///< of the module, the same list for all its units
  size_t first = 0, count = 0;                              ///< which of them are this unit's
  /// What a Metal library says of its function besides the module.
  metallib::Versions versions;
  std::vector<metallib::Constant> constants;
  std::vector<metallib::VertexAttribute> vertex_attributes;
  std::optional<uint8_t> layer_type, tessellation;
  bool from_metallib() const { return !bitcode && !msl; }
};

/// A source's units, and the target that it was built for when it is a Metal library, or AIR that names its system.
struct Gathered {
  std::vector<Unit> units;
  std::vector<Unit> visible;  ///< one for each visible function, also of those that nobody asked for
  std::optional<Target> target;
  std::vector<std::string> missing_kernels;    ///< names from the options that it does not have
  std::vector<std::string> missing_functions;  ///< likewise, of CompileOptions::functions
  std::vector<std::string> warnings;
  std::vector<std::string> dependencies;
};
Result<Gathered> gather(const Source& source, size_t index, const CompileOptions& options,
                        const LaunchMetadata& launch);

/// As for a file (smelt/aot/object.hpp), of a library that is read already.
std::optional<Target> built_for(const metallib::Library& library);

/// The row of the system that a triple of AIR names; nothing for other triples and simulators.
std::optional<Target> target_of_triple(std::string_view triple);

/// The unit's module with only its own entry points.
Result<KernelModule> open_unit(const Unit& unit);

/// The unit's functions as a library (library.cpp, as are the next and join_libraries).
Result<Bytes> make_metallib(const CompiledTarget& compiled, const Unit& unit);
/// Units of Metal libraries as they came, and visible functions that were built here; `target` is whom the header
/// speaks of.
Result<Bytes> original_library(const Target& target, std::span<const Unit* const> units,
                               std::span<const CompiledFunction> built);

/// Visible functions as they were built for a target, by its place in the plan and whether those of Metal libraries are
/// among them.
struct VisibleFunctions {
  std::mutex lock;
  std::optional<Digest> digest;  ///< of all as they were read: part of each kernel's key
  std::map<std::pair<size_t, bool>, std::vector<CompiledFunction>> built;
};

/// What a Plan is: everything read, nothing built.
struct PlanState {
  std::span<const Source> sources;
  CompileOptions options;
  std::vector<Unit> units;
  std::vector<Unit> visible;  ///< what kernels may call through tables
  std::shared_ptr<VisibleFunctions> built_visible = std::make_shared<VisibleFunctions>();
  std::vector<std::string> warnings, dependencies;
  std::vector<Target> targets;
  LaunchMetadata launch;
};
Result<PlanState> make_plan(std::span<const Source> sources, const CompileOptions& options);
air::LegaliseOptions legalise_options(const PlanState& plan);

/// `error` with the source's name and, for text, the line of the operation or function that it quotes.
Error placed(Error error, const Source& source);

}  // namespace smelt::aot
