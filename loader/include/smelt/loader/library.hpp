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

/// How much is checked at load. Whatever is chosen, native code is hashed before it is made executable.
enum class Verify : uint8_t {
  none,       ///< only what reading needs
  structure,  ///< headers, tables, ranges
  digest,     ///< and the hash of the chosen slices
  full        ///< and every part of the file
};

struct LoadOptions {
  Verify verify = Verify::structure;
  bool allow_empty = false;            ///< a library without functions is no error
  bool allow_no_code = false;          ///< a plain metallib on the CPU, which cannot run any of it, for its names alone
  std::optional<Version> force_metal;  ///< only slices of exactly this Metal version; taken literally
  /// false: CPU code of a package is `untrusted`, whoever signed it. What makes CPU code from its Metal libraries
  /// instead is smelt::service (C++) and load_metallib (Python).
  bool native = true;
  /// Whose packages are loaded (check_signature). Null: signing::Policy::from_environment().
  std::shared_ptr<const signing::Policy> policy;
  /// Of a package that stands for another: why its CPU code is not that of the file which the caller named. Goes into
  /// the slice report, and to stderr where SMELT_LOG is info or debug.
  std::string replaces;
  std::optional<Digest> expect;  ///< content digest the file must have, from an index that is trusted
  std::string library;           ///< which library of a package; needed when it holds several
  Checks checked;                ///< choose CPU code that looks at these
  /// Makes the CPU code of a plain metallib, kernel by kernel when a pipeline is first wanted (code_source.hpp). Null:
  /// a plain metallib on the CPU is an error.
  std::shared_ptr<CodeSource> code_source;
  /// CPU: what the code of this package is, and who is told when it runs often. Null: nobody.
  std::shared_ptr<const CodeTier> tier;
};

/// Whether a file is the one that `options.expect` names; `digest_mismatch` says which it is. Loading checks it by
/// itself.
Result<void> check_expected(ByteView file, const LoadOptions& options);

/// Whether a file is one that `options.policy` takes. Under signing::Level::signed_only that is a package that a
/// trusted key signed; any other is `untrusted`, on every device and also where none of its CPU code would run. A plain
/// metallib, which has neither CPU code nor a place for signatures, is refused by a policy of the caller, and passes
/// that of the environment. Loading checks it by itself.
Result<void> check_signature(ByteView file, const LoadOptions& options);

/// Why each slice was taken or not: always readable after a load.
struct SliceNote {
  std::string target;
  bool chosen = false;
  Errc code = Errc::ok;  ///< why it was rejected; ok when it was usable
  std::string line;      ///< "macos15: needs Metal 3.2, device has 3.1"
};
struct SliceReport {
  std::vector<SliceNote> notes;
  std::string text() const;  ///< one line per slice
};

/// A kernel that a package has no CPU code for, although it has a slice for the CPU.
struct MissingKernel {
  std::string_view target;  ///< of the slice: "cpu-x86-64-v3"
  std::string_view kernel;
  std::string_view reason;
  std::string text() const;  ///< one line
};

/// A `.smelt` file, opened once; its libraries are loaded by name. Immutable, thread-safe.
class Package {
 public:
  static Result<PackageRef> open(OwnedBytes bytes);
  /// Mapped, not read. The file must not be changed in place while in use; replacing it by renaming is fine.
  static Result<PackageRef> open_file(const std::filesystem::path& path);
  ~Package();
  Package(const Package&) = delete;
  Package& operator=(const Package&) = delete;

  std::span<const std::string_view> names() const;  ///< of its libraries, in file order
  const Digest& digest() const;
  /// Bytes that travel with a library, and their names.
  Result<ByteView> attachment(std::string_view library, std::string_view name) const;
  std::vector<std::string> attachment_names(std::string_view library) const;
  /// A library's version and tags, as it was packed.
  std::string_view version(std::string_view library) const;
  std::vector<std::string> tags(std::string_view library) const;
  /// The metallib built for a target ("macos14"), checked against its digest.
  Result<ByteView> metallib(std::string_view library, std::string_view target) const;
  /// Of all libraries, in file order; borrowed from the package.
  std::vector<MissingKernel> missing_cpu_code() const;

  struct Data;
  const Data& data() const { return *data_; }

 private:
  explicit Package(std::unique_ptr<Data> data);
  std::unique_ptr<Data> data_;
};

/// Kernels by name, for one device. Immutable, thread-safe, shared.
class Library : public std::enable_shared_from_this<Library> {
 public:
  /// Bytes of a metallib or a package, told apart by content. Copies them.
  static Result<LibraryRef> load(const DeviceRef& device, ByteView bytes, const LoadOptions& options = {});
  /// The same without a copy.
  static Result<LibraryRef> load(const DeviceRef& device, OwnedBytes bytes, const LoadOptions& options = {});
  /// Maps the file.
  static Result<LibraryRef> load_file(const DeviceRef& device, const std::filesystem::path& path,
                                      const LoadOptions& options = {});
  /// One library of a package (LoadOptions::library, or its only one).
  static Result<LibraryRef> load(const DeviceRef& device, const PackageRef& package, const LoadOptions& options = {});

  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  const DeviceRef& device() const;
  std::string_view name() const;                             ///< in its package; empty for a plain metallib
  std::span<const std::string_view> function_names() const;  ///< file order; text lives as long as the library
  bool has_function(std::string_view name) const;
  /// `function_not_found` lists near names.
  Result<FunctionRef> function(std::string_view name) const;
  /// Of the slice that was chosen.
  const Target& target() const;
  /// Content digest of the bytes that were loaded.
  const Digest& digest() const;
  const SliceReport& slice_report() const;
  /// Whether args() and constants() are known: packages say, a plain metallib off a Mac does not (with_code() does).
  bool has_reflection() const;

  /// Builds the pipelines of `names` (all kernels when empty), several at a time. `progress(done, total)` is called
  /// from this thread or workers, one call at a time; returning false stops after what is under way. The first
  /// failure is returned once all others are done. Returns how many pipelines were built or found. With a code_source
  /// their code is made first.
  Result<size_t> prepare(std::span<const std::string_view> names = {},
                         const std::function<bool(size_t done, size_t total)>& progress = {}) const;

  struct Data;
  const Data& data() const { return *data_; }

 private:
  friend class LibraryLoader;
  explicit Library(std::unique_ptr<Data> data);
  std::unique_ptr<Data> data_;
};

/// The same for all kernels of several libraries, as when a model is loaded: `progress` counts the kernels of all. The
/// pipelines stay as long as their libraries.
Result<size_t> prepare(std::span<const LibraryRef> libraries,
                       const std::function<bool(size_t done, size_t total)>& progress = {});

/// One entry of a library. Immutable, thread-safe; keeps its library.
class Function : public std::enable_shared_from_this<Function> {
 public:
  ~Function();
  Function(const Function&) = delete;
  Function& operator=(const Function&) = delete;

  std::string_view name() const;
  FunctionKind kind() const;
  Version metal_version() const;
  std::span<const ArgInfo> args() const;
  std::span<const ConstantInfo> constants() const;
  const LibraryRef& library() const;
  /// Whether its pipeline can be built on the library's device; the error says why not. Where its code is still to be
  /// made, that may yet be an error.
  Result<void> usable() const;
  /// The function in the library that has its code: itself, or where a code_source makes it, that of the kernel's own
  /// package, which knows args() and constants(). Errors: those of making the code, which pipeline() has, too.
  Result<FunctionRef> with_code() const;
  /// Built once per process for the same content and constants; two threads that ask get the same one.
  /// Errors: function_kind, constant_missing, constant_type, unsupported, digest_mismatch,
  /// pipeline_failed.
  Result<PipelineRef> pipeline(const ConstantValues& constants = {}) const;

  struct Data;
  const Data& data() const { return *data_; }

 private:
  friend class Library;
  explicit Function(std::unique_ptr<Data> data);
  std::unique_ptr<Data> data_;
};

struct FunctionRows;

/// Ready to dispatch. Thread-safe; immutable but for its code (replace_code); keeps that and what the text of args()
/// lies in.
class PipelineState {
 public:
  virtual ~PipelineState();
  PipelineState(const PipelineState&) = delete;
  PipelineState& operator=(const PipelineState&) = delete;

  const std::string& name() const { return facts_.name; }
  const DeviceRef& device() const { return facts_.device; }
  std::span<const ArgInfo> args() const;
  /// What a dispatch holds its buffers to; empty for kernels with function constants, which may take some away.
  std::span<const LeastBytes> least_bytes() const;
  /// Dimensions of the grid that the kernel tells apart, 2 or 3; 0 when it is one, or not known.
  uint32_t grid_rank() const;
  uint64_t max_threads_per_threadgroup() const { return facts_.max_threads; }
  uint64_t thread_execution_width() const { return facts_.execution_width; }
  uint64_t static_threadgroup_memory_length() const { return facts_.threadgroup_bytes; }
  /// The only group size it runs with, if it says so.
  const std::optional<Size3>& required_group() const { return facts_.required_group; }
  bool limits_estimated() const { return facts_.limits_estimated; }
  /// How much time went into the CPU code that launches run now, where the loading program said so ("fast"); may change
  /// while the pipeline lives.
  virtual std::string_view effort() const { return {}; }

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
  const Facts& facts() const { return facts_; }

 protected:
  explicit PipelineState(Facts facts) : facts_(std::move(facts)) {}

 private:
  Facts facts_;
};

}  // namespace smelt::loader
