// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiler, store and loader together: a request is found, else compiled and published. The command line and Python
// stand on this; a program that only loads what was shipped needs none of it.
#pragma once

#include "smelt/aot/compile.hpp"
#include "smelt/aot/cpu.hpp"
#include "smelt/base/checks.hpp"
#include "smelt/base/digest.hpp"
#include "smelt/loader/library.hpp"
#include "smelt/service/stored.hpp"
#include "smelt/signing/origin.hpp"

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace smelt::cache {
class Store;
}
namespace smelt::remote {
class TieredStore;
}

namespace smelt::service {

class KernelStore;

/// Whether compiling is done in a child process, which can open nothing, talk to nobody, and has bounded memory and
/// time.
enum class Sandbox : uint8_t {
  /// What the user need not have made: Metal libraries, a child for each kernel, and packages whose CPU code is made
  /// anew, for example of a remote that is not trusted. Where no child can be had, here.
  automatic,
  /// LLVM IR too, all of a request in one child, which keeps no kernel for itself and tells no progress; an error where
  /// no child can be had. Metal source, which includes files, is compiled here.
  always,
  never,
};
/// "auto", "always", "never".
Result<Sandbox> parse_sandbox(std::string_view word);

/// What $SMELT_CPU_EFFORT says of CPU code for which the caller names no effort; nothing when it is not set.
Result<std::optional<aot::CpuEffort>> effort_from_environment();

/// What to build: metallibs for the options' targets, and CPU code made from them.
struct Request {
  std::vector<aot::Source> sources;  ///< bytes are borrowed during the call
  aot::CompileOptions options;       ///< `threads` and `progress` here are ignored: the session's count
  bool cpu = true;
  std::vector<aot::CpuLevel> levels;                 ///< of CPU code; empty: what this machine can run
  Checks checked;                                    ///< what CPU code looks at
  aot::CpuEffort effort = aot::CpuEffort::balanced;  ///< how much time CPU code may take to make
  std::string name;                ///< name of the library in its package; empty: that of its first kernel
  std::string version;             ///< "2.1.0"; may be empty
  std::optional<Sandbox> sandbox;  ///< nothing: $SMELT_SANDBOX, else automatic. Changes no bytes
};

/// What a request's package is filed under (docs/formats/key.md).
struct RequestKeys {
  Digest raw;         ///< by the bytes of the sources
  Digest normalised;  ///< by what they mean: without comments and names, for example
};
/// Errors: sources that cannot be read, where that takes a look at what they mean; unknown levels of CPU code.
Result<RequestKeys> keys_of(const Request& request);

/// What a request gives: a package, from the store or fresh. Immutable; keeps its bytes (which may be mapped from the
/// store).
struct CompileResult {
  explicit CompileResult(signing::Provenance from) : origin(std::move(from)) {}
  signing::Provenance origin;  ///< of all inputs; keep it with the package
  ByteView package;
  std::shared_ptr<const void> owner;
  Digest key;               ///< of the request; what the store files it under
  bool hit = false;         ///< nothing was compiled but, where it says so, CPU code
  bool remade = false;      ///< of a hit: its CPU code is not to be used here, so it was made anew
  size_t kernels = 0;       ///< of a miss: entry points of the package,
  size_t kernels_kept = 0;  ///< ... and how many of them the store had by themselves
  std::chrono::microseconds took{};
  std::vector<std::string> warnings;
};

/// A file of the tools that compile and link apart: an object or a library.
struct BuiltFile {
  explicit BuiltFile(signing::Provenance from) : origin(std::move(from)) {}
  signing::Provenance origin;  ///< as of CompileResult
  Bytes bytes;
  std::vector<std::string> warnings;  ///< also of a hit
  bool hit = false;
  size_t kernels = 0, kernels_kept = 0;  ///< of a miss, as in CompileResult
};

/// `stage` is "kernels" or "cpu code". Called from any thread, one call at a time.
using Progress = std::function<void(std::string_view stage, size_t done, size_t total)>;

struct SessionOptions {
  /// Folder of the store; empty: default_store_folder().
  std::filesystem::path store;
  bool use_store = true;
  bool offline = false;  ///< a miss is `not_cached`; nothing is compiled
  bool read_only = false;
  std::optional<uint64_t> max_store_bytes;  ///< 0: no budget; nothing: cache::default_max_bytes()
  /// Remotes behind the store, nearest first, as URLs (docs/guide/remotes.md); nothing: $SMELT_REMOTE.
  std::optional<std::vector<std::string>> remotes;
  unsigned threads = 0;  ///< threads of the compiler; 0: one per core
  /// How long to wait for another process that compiles the same; then it is compiled here too.
  std::chrono::milliseconds wait_for_others{120000};
  std::function<void(std::string_view)> warn;  ///< told e.g. that the store does not open; empty: stderr, see log.hpp
};

/// cache::default_store_folder(), for those who do not know the cache.
std::filesystem::path default_store_folder();

/// Where precompiled Metal headers are kept: in the default store's folder. Empty when there is none, or
/// somebody else may write to it.
std::filesystem::path precompiled_folder();

/// Metal source that was read and checked whole, and whose kernels are compiled one by one, when somebody wants them.
/// Threads: all calls from any thread.
class Translated {
 public:
  ~Translated();
  Translated(const Translated&) = delete;
  Translated& operator=(const Translated&) = delete;

  const std::vector<std::string>& kernels() const;  ///< names, in the order of the source
  /// A package of that kernel alone, for what the request asked: found in the store by the kernel's own code, wherever
  /// it comes from, else compiled and kept. If several threads and processes need the same, one compiles. `effort`:
  /// nothing is the request's. Errors: function_not_found; empty_library for a kernel that no GPU can run, which says
  /// why; those of compiling it.
  Result<CompileResult> make(std::string_view kernel, std::optional<aot::CpuEffort> effort = {}) const;

 private:
  friend class Session;
  struct State;
  explicit Translated(std::unique_ptr<State> state);
  Result<CompileResult> find_or_compile(std::string_view kernel, const Request& request) const;
  std::unique_ptr<State> state_;
};

/// Threads: all calls from any thread. The store is opened at first need; if it does not open, the session warns once
/// and works without it (offline: an error).
class Session : public std::enable_shared_from_this<Session> {
 public:
  /// SMELT_OFFLINE=1 sets `offline`.
  static std::shared_ptr<Session> open(SessionOptions options = {});
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Find (here, then at the remotes), else compile and publish, else the error. If several threads and processes need
  /// the same, one compiles. Each kernel is also kept on its own: an edit of the source compiles only the kernels that
  /// it changes.
  Result<CompileResult> make(const Request& request, const Progress& progress = {});

  /// Metal source whose kernels are to be compiled one by one; nothing of `request` is borrowed. All that is wrong with
  /// the source is an error here; warnings are not looked for. `invalid_argument` for other inputs; `not_cached`
  /// offline, where nothing is read.
  Result<std::shared_ptr<const Translated>> translate(const Request& request);

  /// What the store or a remote has for exactly these bytes: quick, nothing is read or compiled.
  Result<std::optional<CompileResult>> find(const Request& request);

  /// One source or IR file as an AIR object (smelt/aot/object.hpp), found or compiled. The options' targets are not
  /// looked at. Kept in this machine's store alone; kernels go to the remotes one by one.
  Result<BuiltFile> object(const aot::Source& source, const aot::Target& target, aot::CompileOptions options);
  /// Objects and libraries as one library, for `target`; or for the one that `of_files` gives, which depends on the
  /// files and on `target` alone and is asked when nothing is kept: it may read them. Errors: those of `of_files`,
  /// aot::resolve_objects and aot::compile; empty_library.
  Result<BuiltFile> link(std::span<const aot::Source> files, const aot::Target& target,
                         const std::function<Result<aot::Target>()>& of_files = {});

  /// The same as make, loaded on a device.
  Result<loader::LibraryRef> load(const Request& request, const loader::DeviceRef& device,
                                  const loader::LoadOptions& options = {}, const Progress& progress = {});

  /// A plain metallib as a package with CPU code beside it, or a package whose CPU code is not to be used with code
  /// made here from its Metal libraries, which must pass `smelt verify`. Made once and kept under cpu_code_key
  /// (stored.hpp), so that programs without a compiler find it too. `name` is for messages. `sandbox` as in Request; of
  /// packages it is the environment's.
  Result<CompileResult> cpu_code(ByteView file, std::string_view name, aot::CpuLevel level, Checks checked,
                                 const Progress& progress = {}, aot::CpuEffort effort = aot::CpuEffort::balanced,
                                 std::optional<Sandbox> sandbox = {});

  /// What the store or a remote has of that: quick, nothing is compiled.
  Result<std::optional<CompileResult>> find_cpu_code(ByteView file, std::string_view name, aot::CpuLevel level,
                                                     Checks checked, aot::CpuEffort effort = aot::CpuEffort::balanced);

  /// A file's bytes on a device. When that is the CPU, a plain metallib is given its CPU code first (cpu_code), and so
  /// is a package whose own the options do not let run (native, policy). All else goes straight to the loader.
  Result<loader::LibraryRef> load_bytes(const loader::OwnedBytes& bytes, std::string_view name,
                                        const loader::DeviceRef& device, const loader::LoadOptions& options = {},
                                        const Progress& progress = {});

  /// What name@version (exact, prefix or range, store.resolve) stands for, as a package: the newest that `device` can
  /// run. An error has one line for each version that was passed over.
  Result<CompileResult> resolve(std::string_view query, const loader::DeviceRef& device);

  /// Points name@version at a package that make() returned.
  Result<void> tag(std::string_view name, std::string_view version, const Digest& key, bool move = false);

  /// Entries as one package: keys (hex), name@version, or, when empty, all that this session has used (make, load,
  /// resolve), in order of first use.
  Result<Bytes> export_package(std::span<const std::string> names);
  /// Files every library of a package, and tags those with a version; see stored.hpp.
  Result<Imported> import_package(ByteView package, bool move_tags = false);

  /// Entries of the store to every remote that takes puts: keys (hex) or name@version, whose tags go with them. Returns
  /// the keys.
  Result<std::vector<Digest>> push(std::span<const std::string> names);
  /// The other way: keys, or name@version exactly as they were pushed. A tag that points elsewhere now is an error,
  /// unless it is to be moved.
  Result<std::vector<Digest>> pull(std::span<const std::string> names, bool move_tags = false);

  /// The store itself, for those who show it. Null with the reason when there is none.
  Result<std::shared_ptr<cache::Store>> store();
  /// The same with the remotes behind it.
  Result<std::shared_ptr<remote::TieredStore>> tiers();

 private:
  friend class Translated;
  unsigned threads() const;
  const SessionOptions& options() const;
  /// `with_warnings`: what a file that has some is kept under; `key` without any. Either is a hit.
  Result<BuiltFile> build_file(const Digest& key, const Digest& with_warnings, std::string_view sources,
                               const std::function<Result<BuiltFile>(const KernelStore&)>& build);
  explicit Session(SessionOptions options);
  KernelStore kernel_store(remote::TieredStore& store) const;
  Result<CompileResult> find_or_compile(const Request& request, const Progress& progress);
  struct State;
  std::unique_ptr<State> state_;
};

/// A package's first Metal library; `name` is for messages.
Result<ByteView> metallib_of(ByteView package, std::string_view name);

/// Compiles without any store: the package's bytes.
Result<Bytes> build_package(const Request& request, unsigned threads, const Progress& progress,
                            std::vector<std::string>* warnings = nullptr);

}  // namespace smelt::service
