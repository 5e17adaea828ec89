// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Libraries, functions and pipelines: from bytes to something that can be dispatched. docs/reference/cpp.md.
#pragma once

#include "smelt/base/checks.hpp"
#include "smelt/loader/argument_rule.hpp"
#include "smelt/loader/constants.hpp"
#include "smelt/loader/device.hpp"
#include "smelt/loader/types.hpp"
#include "smelt/signing/policy.hpp"

#include <filesystem>
#include <functional>
#include <span>

namespace smelt::loader {

class CodeSource;
struct CodeTier;

/// How much is checked at load. Native code is always hashed before it is made executable.
enum class Verify : uint8_t {
  none,       ///< only what reading needs
  structure,  ///< headers, tables, ranges
  digest,     ///< and the hash of the chosen slices
  full        ///< and every part of the file
};

/// Options of Library::load.
struct LoadOptions {
  Verify verify = Verify::structure;   ///< how much to check
  bool allow_empty = false;            ///< accept a library without functions
  bool allow_no_code = false;          ///< accept a plain metallib on the CPU, which cannot run it, to read its names
  std::optional<Version> force_metal;  ///< use only slices of exactly this Metal version
  /// false: the package's CPU code is `untrusted`, whoever signed it. smelt::service (C++) and load_metallib (Python)
  /// then make CPU code from its Metal libraries.
  bool native = true;
  /// Which packages may be loaded (check_signature). Null: signing::Policy::from_environment().
  std::shared_ptr<const signing::Policy> policy;
  /// For a package that replaces another: why its CPU code is not that of the file which the caller named. It appears
  /// in the slice report, and on stderr if SMELT_LOG is info or debug.
  std::string replaces;
  std::optional<Digest> expect;  ///< the content digest that the file must have, from a source that you trust
  std::string library;           ///< the name of the library; needed if a package has several
  Checks checked;                ///< choose CPU code with these checks
  /// Makes the CPU code of a plain metallib, one kernel at a time, when its pipeline is first built (code_source.hpp).
  /// Null: a plain metallib on the CPU is an error.
  std::shared_ptr<CodeSource> code_source;
  /// CPU: the effort of this package's code, and what to call when it runs often. Null: nothing.
  std::shared_ptr<const CodeTier> tier;
};

/// Checks that a file has the digest `options.expect`. Loading does this itself. Errors: `digest_mismatch`.
Result<void> check_expected(ByteView file, const LoadOptions& options);

/// Checks that `options.policy` accepts a file. Loading does this itself. Under signing::Level::signed_only, a trusted
/// key must have signed the package, on every device, even if none of its CPU code would run. A plain metallib, which
/// has no CPU code and cannot be signed, is refused by the caller's own policy, but not by that of the environment.
/// Errors: `untrusted`.
Result<void> check_signature(ByteView file, const LoadOptions& options);

/// Why a slice was chosen or not.
struct SliceNote {
  std::string target;    ///< such as "macos15"
  bool chosen = false;   ///< whether this slice was loaded
  Errc code = Errc::ok;  ///< why it was rejected; ok if it was usable
  std::string line;      ///< "macos15: needs Metal 3.2, device has 3.1"
};
/// Why the loader chose its slice.
struct SliceReport {
  std::vector<SliceNote> notes;  ///< one for each slice
  std::string text() const;      ///< one line for each slice
};

/// A kernel without CPU code in a package that has a slice for the CPU.
struct MissingKernel {
  std::string_view target;   ///< the slice, such as "cpu-x86-64-v3"
  std::string_view kernel;   ///< the kernel's name
  std::string_view reason;   ///< why it has no CPU code
  std::string text() const;  ///< all of this in one line
};

/// A `.smelt` file, opened once; its libraries are loaded by name. Immutable, thread-safe.
class Package {
 public:
  /// Opens a package in memory. Errors: not_metallib, truncated, corrupt, format_newer.
  static Result<PackageRef> open(OwnedBytes bytes);
  /// Maps a file without reading it. Do not change it in place while it is open; you may replace it by renaming.
  static Result<PackageRef> open_file(const std::filesystem::path& path);
  ~Package();
  Package(const Package&) = delete;
  Package& operator=(const Package&) = delete;

  /// The names of its libraries, in file order.
  std::span<const std::string_view> names() const;
  /// The digest of its content, which signatures do not change.
  const Digest& digest() const;
  /// An attachment of a library, by name.
  Result<ByteView> attachment(std::string_view library, std::string_view name) const;
  /// The names of a library's attachments.
  std::vector<std::string> attachment_names(std::string_view library) const;
  /// A library's version; empty if it has none.
  std::string_view version(std::string_view library) const;
  /// A library's tags.
  std::vector<std::string> tags(std::string_view library) const;
  /// The metallib for a target such as "macos14", checked against its digest.
  Result<ByteView> metallib(std::string_view library, std::string_view target) const;
  /// The kernels without CPU code of all libraries, in file order. Their text lives as long as the package.
  std::vector<MissingKernel> missing_cpu_code() const;

  struct Data;
  /// For the loader itself.
  const Data& data() const { return *data_; }

 private:
  explicit Package(std::unique_ptr<Data> data);
  std::unique_ptr<Data> data_;
};

/// Kernels by name, for one device. Immutable, thread-safe, shared.
class Library : public std::enable_shared_from_this<Library> {
 public:
  /// Loads a metallib or a package, whose bytes it copies. Errors: not_metallib, truncated, corrupt, format_newer,
  /// empty_library, unsupported_platform, unsupported_os, unsupported_language, unsupported_family, untrusted,
  /// digest_mismatch.
  static Result<LibraryRef> load(const DeviceRef& device, ByteView bytes, const LoadOptions& options = {});
  /// The same without a copy.
  static Result<LibraryRef> load(const DeviceRef& device, OwnedBytes bytes, const LoadOptions& options = {});
  /// Maps a file and loads it. Errors: also file_not_found, io.
  static Result<LibraryRef> load_file(const DeviceRef& device, const std::filesystem::path& path,
                                      const LoadOptions& options = {});
  /// Loads one library of a package: LoadOptions::library, or its only one.
  static Result<LibraryRef> load(const DeviceRef& device, const PackageRef& package, const LoadOptions& options = {});

  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  /// The device that it was loaded on.
  const DeviceRef& device() const;
  /// Its name in its package; empty for a plain metallib.
  std::string_view name() const;
  /// The names of its functions, in file order. The text lives as long as the library.
  std::span<const std::string_view> function_names() const;
  /// Whether there is a function of exactly this name.
  bool has_function(std::string_view name) const;
  /// Finds a function by name. Errors: `function_not_found`, with similar names.
  Result<FunctionRef> function(std::string_view name) const;
  /// The target of the chosen slice.
  const Target& target() const;
  /// The content digest of the bytes that were loaded.
  const Digest& digest() const;
  /// Why each slice was chosen or not.
  const SliceReport& slice_report() const;
  /// Whether args() and constants() are known. They are for a package, but not for a plain metallib away from a Mac
  /// (use with_code() there).
  bool has_reflection() const;

  /// Builds the pipelines of `names` (empty: of all kernels), several at a time, and returns how many are ready. With a
  /// code_source, it makes their code first. It calls `progress(done, total)` from this thread or workers, one call at
  /// a time; false stops it after the running builds. It returns the first error after all others have ended.
  Result<size_t> prepare(std::span<const std::string_view> names = {},
                         const std::function<bool(size_t done, size_t total)>& progress = {}) const;

  struct Data;
  /// For the loader itself.
  const Data& data() const { return *data_; }

 private:
  friend class LibraryLoader;
  explicit Library(std::unique_ptr<Data> data);
  std::unique_ptr<Data> data_;
};

/// Builds the pipelines of all kernels of several libraries, for example when a model is loaded. `progress` counts the
/// kernels of all libraries. The pipelines stay ready as long as their libraries.
Result<size_t> prepare(std::span<const LibraryRef> libraries,
                       const std::function<bool(size_t done, size_t total)>& progress = {});

/// A function of a library. Immutable, thread-safe; keeps its library.
class Function : public std::enable_shared_from_this<Function> {
 public:
  ~Function();
  Function(const Function&) = delete;
  Function& operator=(const Function&) = delete;

  /// Its name.
  std::string_view name() const;
  /// Kernel, vertex, fragment, ...
  FunctionKind kind() const;
  /// The Metal version that it was compiled for.
  Version metal_version() const;
  /// Its arguments, if the library has_reflection().
  std::span<const ArgInfo> args() const;
  /// Its function constants, if the library has_reflection().
  std::span<const ConstantInfo> constants() const;
  /// The library that it is in.
  const LibraryRef& library() const;
  /// Whether its pipeline can be built on the library's device; the error says why not. If its code has yet to be made,
  /// building the pipeline may fail although this succeeds.
  Result<void> usable() const;
  /// Returns the function in the library that has its code: itself, or if a code_source makes the code, that of the
  /// kernel's own package, which knows args() and constants(). Errors: those of making the code.
  Result<FunctionRef> with_code() const;
  /// Builds the pipeline, once per process for the same content and constants; all threads get the same one. Errors:
  /// function_kind, constant_missing, constant_type, unsupported, digest_mismatch, pipeline_failed.
  Result<PipelineRef> pipeline(const ConstantValues& constants = {}) const;

  struct Data;
  /// For the loader itself.
  const Data& data() const { return *data_; }

 private:
  friend class Library;
  explicit Function(std::unique_ptr<Data> data);
  std::unique_ptr<Data> data_;
};

struct FunctionRows;

/// A function that is ready to dispatch. Thread-safe, and immutable except for its code (replace_code). It keeps its
/// code, and the text of args().
class PipelineState {
 public:
  virtual ~PipelineState();
  PipelineState(const PipelineState&) = delete;
  PipelineState& operator=(const PipelineState&) = delete;

  /// The function's name.
  const std::string& name() const { return facts_.name; }
  /// The device that runs it.
  const DeviceRef& device() const { return facts_.device; }
  /// The function's arguments.
  std::span<const ArgInfo> args() const;
  /// The least sizes of buffers, which each dispatch checks. Empty for kernels with function constants, because a
  /// constant may remove an argument.
  std::span<const LeastBytes> least_bytes() const;
  /// The number of dimensions of the grid that the kernel reads, 2 or 3; 0 if it is one or unknown.
  uint32_t grid_rank() const;
  /// The largest threadgroup.
  uint64_t max_threads_per_threadgroup() const { return facts_.max_threads; }
  /// Threads of a SIMD group.
  uint64_t thread_execution_width() const { return facts_.execution_width; }
  /// Bytes of threadgroup memory that the kernel declares.
  uint64_t static_threadgroup_memory_length() const { return facts_.threadgroup_bytes; }
  /// The group size that the kernel requires, if it does.
  const std::optional<Size3>& required_group() const { return facts_.required_group; }
  /// Whether these limits are upper bounds, because there is no GPU to ask.
  bool limits_estimated() const { return facts_.limits_estimated; }
  /// The effort of the CPU code that launches run now, such as "fast", if the loading program gave it. It may change
  /// while the pipeline lives.
  virtual std::string_view effort() const { return {}; }

  /// What a device gives a pipeline.
  struct Facts {
    std::string name;
    DeviceRef device;
    std::shared_ptr<const FunctionRows> function;  ///< what args() reads
    uint64_t max_threads = 1024;
    uint64_t execution_width = 32;
    uint64_t threadgroup_bytes = 0;
    std::optional<Size3> required_group;
    bool limits_estimated = true;
    ByClass<SlotMask> needed;              ///< slots that must be bound; threadgroup memory must have a length
    SlotMask may_lack_length = 0;          ///< slots of threadgroup memory that function constants may leave unused
    std::shared_ptr<const CodeTier> tier;  ///< of the code that it begins with; may be null
  };
  /// For the loader itself.
  const Facts& facts() const { return facts_; }

 protected:
  explicit PipelineState(Facts facts) : facts_(std::move(facts)) {}

 private:
  Facts facts_;
};

}  // namespace smelt::loader
