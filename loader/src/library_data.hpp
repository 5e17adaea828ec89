// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What stands behind Library, Function and Package.
#pragma once

#include "smelt/base/trace.hpp"
#include "smelt/loader/library.hpp"
#include "smelt/schema/cpu_abi.h"
#include "smelt/schema/package.hpp"

#include "container.hpp"
#include "device/device_impl.hpp"
#include "on_demand.hpp"
#include "pipeline_cache.hpp"

#include <mutex>
#include <span>
#include <unordered_map>

namespace smelt::loader {

struct Package::Data {
  OwnedBytes bytes;
  schema::Package package;
  std::vector<std::string_view> names;
};

/// A slice in the order of preference; opened when it is first needed.
struct UsableSlice {
  SliceFacts facts;
  uint32_t first_presence = 0;  ///< packages: row of the manifest
  std::once_flag once;
  std::shared_ptr<OpenSlice> open;
  std::optional<Error> error;
};

/// One function as the library's bytes describe it. Holds no library: pipelines keep it, and the library keeps them.
struct FunctionRows {
  std::shared_ptr<const void> owner;         ///< of the bytes that the text lies in, and of `package`
  const schema::Package* package = nullptr;  ///< null for a plain metallib
  uint32_t index = 0;                        ///< in the library
  std::string_view name;
  std::string_view library;  ///< its name; empty for a plain metallib
  FunctionKind kind = FunctionKind::kernel;
  Version metal;
  schema::Range arguments;        ///< rows of the package
  ByClass<SlotMask> needed;       ///< slots that must be bound
  SlotMask may_lack_length = 0;   ///< of threadgroup memory
  std::vector<LeastBytes> least;  ///< of the needed buffers; empty if function constants may remove one
  std::vector<ConstantInfo> constants;
  uint32_t max_threads = 0;
  uint32_t grid_rank = 0;  ///< dimensions that its position in the grid has; 0: one, or not known
  uint32_t threadgroup_bytes = 0;
  std::optional<Size3> required_group;
  UsableSlice* slice = nullptr;  ///< best usable slice that holds it; null when none does
  std::string missing;           ///< then why

  /// Made when first asked for: a launch does without, and for hundreds of kernels they are what loading costs most.
  std::span<const ArgInfo> args() const;

 private:
  mutable std::once_flag args_once_;
  mutable std::vector<ArgInfo> args_;
};
using FunctionRowsRef = std::shared_ptr<const FunctionRows>;

/// All memory of the buffer in which a bound tensor lies; nothing for other arguments and where none is bound.
std::optional<std::span<const std::byte>> tensor_memory(const ArgInfo& argument, const smelt_cpu_dispatch& dispatch);

/// Bytes of an element of an argument tensor<T, ...>; 1 for other arguments.
uint64_t tensor_element_bytes(const ArgInfo& argument);

/// Where a function is from, for a trace.
TraceFacts trace_facts(const FunctionRows& function);

struct Library::Data {
  DeviceRef device;
  std::shared_ptr<const void> owner;  ///< of all bytes that text and slices lie in
  ByteView bytes;
  PackageRef package;  ///< null for a plain metallib
  schema::LibraryView rows;
  ContainerInfo container;              ///< plain metallib
  std::unique_ptr<OnDemand> on_demand;  ///< of a plain metallib whose code is made when it is needed; else null
  LoadOptions options;
  std::string_view name;
  Target target;
  SliceReport report;
  std::vector<std::string_view> names;
  std::unordered_map<std::string_view, uint32_t> by_name;  ///< plain metallib; a package's manifest is sorted itself
  std::vector<std::unique_ptr<UsableSlice>> slices;

  mutable std::once_flag digest_once;
  mutable Digest digest;
  mutable std::once_flag scope_once;
  mutable std::shared_ptr<PipelineScope> scope;

  DeviceImpl& impl() const { return static_cast<DeviceImpl&>(*device); }
  std::optional<uint32_t> find(std::string_view function) const;
  const Digest& content_digest() const;
  PipelineScope& pipelines() const;
};

struct Function::Data {
  LibraryRef library;
  FunctionRowsRef rows;
};

/// What is known of function `index`, read from the manifest or the container.
FunctionRowsRef read_function(const Library::Data& library, uint32_t index);
/// Whether a pipeline can be built; the error says why not.
Result<void> check_usable(const Library::Data& library, const FunctionRows& function);

/// A pipeline that is to be built: its place in the cache and what the device needs.
struct PipelineOrder {
  uint32_t index = 0;
  std::string constants_key;
  UsableSlice* slice = nullptr;
  PipelineRequest request;
};
/// Checks the constants and gathers everything up to the device.
Result<PipelineOrder> order_pipeline(const Library::Data& library, const FunctionRowsRef& function,
                                     const ConstantValues& constants);
/// Opens the slice on first use; thread-safe.
Result<std::shared_ptr<OpenSlice>> open_slice(const Library::Data& library, UsableSlice& slice);

}  // namespace smelt::loader
