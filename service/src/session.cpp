// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/service/session.hpp"

#include "smelt/aot/faults.hpp"
#include "smelt/aot/fingerprint.hpp"
#include "smelt/aot/limits.hpp"
#include "smelt/aot/object.hpp"
#include "smelt/aot/within_limits.hpp"
#include "smelt/base/files.hpp"
#include "smelt/base/platform.hpp"
#include "smelt/cache/store.hpp"
#include "smelt/metallib/reader.hpp"
#include "smelt/remote/tiered_store.hpp"
#include "smelt/schema/package.hpp"
#include "smelt/service/log.hpp"
#include "smelt/service/stored.hpp"

#include "asked.hpp"
#include "build_package.hpp"
#include "compile_child.hpp"
#include "explain_miss.hpp"
#include "find_or_make.hpp"
#include "library_file.hpp"
#include "recompile.hpp"
#include "traces.hpp"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <thread>

/// A program that opens its compiler (aot/opened) has it; in every other it is null.
extern "C" [[gnu::weak]] bool smelt_compiler_is_open() noexcept;

namespace smelt::service {
namespace {

/// Everything of a request that aot does not know of but that changes the package.
std::vector<aot::FingerprintField> extras(const Request& request, const std::vector<aot::CpuLevel>& levels) {
  // All of a request, so that a new member is not forgotten here. Sources and options are aot's; `cpu` is in the
  // levels.
  [[maybe_unused]] const auto& [sources, options, cpu, wanted_levels, checked, effort, name, version, sandbox] =
      request;
  std::vector<aot::FingerprintField> fields{{"package", "1"},
                                            {"checked", std::to_string(checked.bits())},
                                            {"name", name},
                                            {"version", version},
                                            {"effort", std::string(aot::to_string(effort))}};
  for (const aot::CpuLevel level : levels) fields.push_back({"cpu", std::string(aot::to_string(level))});
  return fields;
}

/// Checked code says where in the source its threads are.
bool wants_lines(const Request& request) {
  return request.checked && !request.options.debug_lines;
}
Request with_lines(Request request) {
  request.options.debug_lines = true;
  return request;
}

/// Options for a package whose CPU code was made here, or came through the store's own policy.
loader::LoadOptions made_here(loader::LoadOptions options) {
  options.native = true;
  options.policy = signing::Policy::all();
  options.expect.reset();
  return options;
}

std::chrono::microseconds since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - start);
}

/// All that is asked of remotes until it goes is one compile's, and has its limits.
std::unique_ptr<remote::BudgetScope> one_compile(remote::TieredStore* store) {
  if (!store) return nullptr;
  remote::Allowance allowance = store->remotes().allowance();
  // A program that has not opened its compiler has set no limits, and opening it would cost more than a hit does.
  const bool may_be_limited = smelt_compiler_is_open == nullptr || smelt_compiler_is_open();
  const aot::Limits* const limits = may_be_limited ? aot::current_limits() : nullptr;
  if (limits == nullptr) return std::make_unique<remote::BudgetScope>(allowance);
  if (const auto left = aot::time_left()) allowance.waiting = std::min(allowance.waiting, *left);
  if (const uint64_t most = limits->memory_bytes; most != 0) {
    const uint64_t held = platform::memory_use().resident;
    for (uint64_t* const bytes : {&allowance.record_bytes, &allowance.part_bytes})
      *bytes = std::min(*bytes, most - std::min(most, held));
  }
  return std::make_unique<remote::BudgetScope>(allowance, aot::within_limits);
}

}  // namespace

struct Session::State {
  SessionOptions options;
  std::mutex mutex;
  bool store_tried = false;
  std::shared_ptr<cache::Store> store;
  std::shared_ptr<remote::TieredStore> tiers;  // over `store`; null without it
  std::optional<Error> store_error;
  std::vector<Digest> used;  // in order of first use
  std::once_flag told_;      // that there is no child

  void warn(std::string_view text) {
    if (options.warn)
      options.warn(text);
    else
      log_warning(text);
  }

  /// Null when there is none to use. An error is a setting that cannot be meant: a URL, a key, a word for trust.
  Result<remote::TieredStore*> open_store() {
    std::lock_guard lock(mutex);
    if (store_tried && store_error && store) return tl::unexpected(*store_error);
    if (store_tried || !options.use_store) return tiers.get();
    SMELT_TRY(const uint64_t budget, options.max_store_bytes ? *options.max_store_bytes : cache::default_max_bytes());
    store_tried = true;
    const std::filesystem::path folder = options.store.empty() ? default_store_folder() : options.store;
    cache::StoreOptions wanted;
    wanted.max_bytes = budget;
    wanted.read_only = options.read_only;
    wanted.warn = [this](std::string_view text) { warn(text); };
    auto opened = cache::Store::open(folder, wanted);
    if (!opened && opened.error().code == Errc::io && !options.read_only) {
      // A folder that cannot be written may still be read: what it has need not be compiled.
      wanted.read_only = true;
      if (auto readable = cache::Store::open(folder, wanted)) opened = std::move(readable);
    }
    if (!opened) {
      store_error = opened.error();
      warn(fmt::format("{}; going on without a store", opened.error().message));
      return nullptr;
    }
    store = std::move(*opened);
    auto joined = open_tiers();
    if (!joined) {
      store_error = joined.error();
      return tl::unexpected(std::move(joined).error());
    }
    tiers = std::move(*joined);
    return tiers.get();
  }

  Result<std::shared_ptr<remote::TieredStore>> open_tiers() {
    SMELT_TRY(auto wanted, remote::TierOptions::from_environment());
    if (options.remotes) {
      wanted.remotes.clear();
      for (const std::string& url : *options.remotes) {
        SMELT_TRY(wanted.remotes.emplace_back(), remote::parse_address(url));
      }
    }
    wanted.warn = [this](std::string_view text) { warn(text); };
    wanted.made_from = made_from;
    wanted.recompile = [this](const std::vector<cache::Entry::Part>& parts) {
      return recompile_entry(parts, [this](ByteView package) { return recompile(package, {}); });
    };
    return remote::TieredStore::open(store, std::move(wanted));
  }

  static Result<Sandbox> sandbox(std::optional<Sandbox> asked = {}) { return sandbox_or_default(asked); }

  /// In a child; nothing when there is none and it may be done here.
  Result<std::optional<Built>> in_child(Sandbox mode, ChildJob job) {
    auto built = run_in_child(std::move(job));
    if (built) return std::optional(std::move(*built));
    if (mode == Sandbox::always || built.error().code != Errc::toolchain_missing)
      return tl::unexpected(std::move(built).error());
    if (aot::had_fault())
      return fail(
          Errc::toolchain_missing,
          "{}; LLVM crashed in this process before, so nothing more is read here, unless the sandbox is 'never'",
          built.error().message);
    std::call_once(told_, [&] { warn(fmt::format("{}; compiling without a child process", built.error().message)); });
    return std::optional<Built>();
  }

  /// Of a request that is compiled in one child whole, no kernel is taken from the store, which a child cannot see.
  Result<Built> build(const Request& request, const Progress& progress, const KernelStore& kernels) {
    SMELT_TRY(const Sandbox mode, sandbox(request.sandbox));
    if (mode == Sandbox::never) return build_package(request, options.threads, progress, kernels);
    const bool is_limited = wants_limited_child(mode, request);
    if (is_limited || wants_child(mode, request)) {
      ChildJob job;
      if (is_limited) {
        job = limited_job(request, threads());
      } else {
        job.request = request;
        job.threads = threads();
      }
      SMELT_TRY(auto built, in_child(mode, std::move(job)));
      if (built) {
        SMELT_TRY(const std::vector<aot::CpuLevel> levels, cpu_levels(request));
        Asked asked = asked_of(request, levels);
        asked.source = source_digest(request);
        SMELT_TRY_VOID(from_child(held_to(asked, built->package, true), request.sources.front().name));
        return std::move(*built);
      }
    }
    const auto run = [&](ChildJob job) { return in_child(mode, std::move(job)); };
    return build_package(request, options.threads, progress, kernels, make_in_children(request, run));
  }

  unsigned threads() const {
    return options.threads != 0 ? options.threads : std::max(1u, std::thread::hardware_concurrency());
  }

  Result<Bytes> recompile(ByteView package, const std::optional<std::vector<CpuCode>>& wanted) {
    SMELT_TRY(const Sandbox mode, sandbox());
    if (mode != Sandbox::never) {
      ChildJob job;
      job.package = to_bytes(package);
      job.threads = threads();
      job.wanted = wanted;
      SMELT_TRY(auto built, in_child(mode, std::move(job)));
      if (built) {
        SMELT_TRY_VOID(from_child(held_to_recompile(package, wanted, built->package), "a package"));
        return std::move(built->package);
      }
    }
    return recompile_package(package, wanted);
  }

  /// CPU code of a package as it is asked for.
  Recompile remaking() {
    return [this](ByteView package, const std::vector<CpuCode>& codes) { return recompile(package, codes); };
  }

  KernelStore kernel_store(remote::TieredStore* in) {
    if (!in) return {};
    return {*in, [this](std::string_view text) { warn(text); }, remaking()};
  }

  StoreAccess access(remote::TieredStore* in) {
    return {in, options.offline, options.wait_for_others, [this](std::string_view text) { warn(text); },
            [this](const Digest& key) { note_use(key); }};
  }

  void note_use(const Digest& key) {
    std::lock_guard lock(mutex);
    if (std::find(used.begin(), used.end(), key) == used.end()) used.push_back(key);
  }
};

Result<Sandbox> parse_sandbox(std::string_view word) {
  if (word == "auto") return Sandbox::automatic;
  if (word == "always") return Sandbox::always;
  if (word == "never") return Sandbox::never;
  return fail(Errc::invalid_argument, "'{}': want auto, always or never", word);
}

Result<std::optional<aot::CpuEffort>> effort_from_environment() {
  const char* const word = std::getenv("SMELT_CPU_EFFORT");
  if (word == nullptr || *word == 0) return std::optional<aot::CpuEffort>();
  auto effort = aot::parse_cpu_effort(word);
  if (!effort) return tl::unexpected(std::move(effort).error().in("SMELT_CPU_EFFORT"));
  return std::optional(*effort);
}

std::filesystem::path default_store_folder() {
  return cache::default_store_folder();
}

std::filesystem::path precompiled_folder() {
  const std::filesystem::path folder = default_store_folder();
  return cache::may_be_store(folder) ? folder / "metal-headers" : std::filesystem::path();
}

Result<RequestKeys> keys_of(const Request& request) {
  SMELT_TRY(const std::vector<aot::CpuLevel> levels, cpu_levels(request));
  const auto more = extras(request, levels);
  RequestKeys keys;
  keys.raw = aot::raw_fingerprint(request.sources, request.options, more);
  SMELT_TRY(keys.normalised, aot::normalised_fingerprint(request.sources, request.options, more));
  return keys;
}

Session::Session(SessionOptions options) : state_(std::make_unique<State>()) {
  state_->options = std::move(options);
  if (const char* offline = std::getenv("SMELT_OFFLINE"); offline && *offline && std::string_view(offline) != "0")
    state_->options.offline = true;
}
Session::~Session() = default;

std::shared_ptr<Session> Session::open(SessionOptions options) {
  return std::shared_ptr<Session>(new Session(std::move(options)));
}

unsigned Session::threads() const {
  return state_->options.threads;
}
const SessionOptions& Session::options() const {
  return state_->options;
}

KernelStore Session::kernel_store(remote::TieredStore& store) const {
  return state_->kernel_store(&store);
}

Result<std::shared_ptr<cache::Store>> Session::store() {
  SMELT_TRY(const auto joined, tiers());
  return joined->shared_local();
}

Result<std::shared_ptr<remote::TieredStore>> Session::tiers() {
  SMELT_TRY(const auto* opened, state_->open_store());
  if (opened) return state_->tiers;
  if (state_->store_error) return tl::unexpected(*state_->store_error);
  return fail(Errc::invalid_argument, "this session was asked to work without a store");
}

Result<CompileResult> Session::make(const Request& request, const Progress& progress) {
  if (wants_lines(request)) return make(with_lines(request), progress);
  const auto start = TraceClock::now();
  auto made = find_or_compile(request, progress);
  if (tracing()) trace_result(start, source_names(request), made);
  if (!made) return made;
  const double milliseconds = static_cast<double>(made->took.count()) / 1e3;
  if (made->hit)
    log_info(fmt::format(
        "hit {} in {:.1f} ms{}", to_hex(made->key), milliseconds,
        made->remade ? ", with CPU code made here, because no trusted key signed the entry (SMELT_TRUST)" : ""));
  else
    log_info(fmt::format("compiled {} in {:.1f} ms, {} of {} kernels from the store", to_hex(made->key), milliseconds,
                         made->kernels_kept, made->kernels));
  return made;
}

Result<std::optional<CompileResult>> Session::find(const Request& request) {
  if (wants_lines(request)) return find(with_lines(request));
  const auto start = std::chrono::steady_clock::now();
  SMELT_TRY(const std::vector<aot::CpuLevel> levels, cpu_levels(request));
  SMELT_TRY(remote::TieredStore* const store, state_->open_store());
  if (!store) return std::nullopt;
  const Digest raw = aot::raw_fingerprint(request.sources, request.options, extras(request, levels));
  const Asked asked = asked_of(request, levels);
  auto made = find_entry(state_->access(store), raw, question(kPackagePart, asked, state_->remaking()));
  if (!made) return std::nullopt;
  made->took = since(start);
  if (tracing()) trace_result(start, source_names(request), *made);
  return made;
}

Result<CompileResult> Session::find_or_compile(const Request& request, const Progress& progress) {
  // A hit on unchanged bytes parses nothing.
  SMELT_TRY(const std::vector<aot::CpuLevel> levels, cpu_levels(request));
  const auto more = extras(request, levels);
  SMELT_TRY(remote::TieredStore* const store, state_->open_store());
  const auto budget = one_compile(store);
  SMELT_TRY(const Sandbox mode, State::sandbox(request.sandbox));
  Work work;
  work.name = request.sources.empty() ? "request" : request.sources[0].name;
  work.sources = source_names(request);
  work.raw = aot::raw_fingerprint(request.sources, request.options, more);
  work.question = question(kPackagePart, asked_of(request, levels), state_->remaking());
  work.normalised = [&]() -> Result<Digest> {
    // LLVM reads it for that: not here what it reads in a child alone.
    if (wants_child(mode, request)) return work.raw;
    return aot::normalised_fingerprint(request.sources, request.options, more);
  };
  if (store && explains_misses() && !store->local().read_only())
    work.explain = [&] {
      explain_miss(store->local().folder(), work.sources,
                   aot::fingerprint_fields(request.sources, request.options, more),
                   [&](std::string_view text) { state_->warn(text); });
    };
  work.build = [&]() -> Result<Built> {
    SMELT_TRY(Built built, state_->build(request, progress, state_->kernel_store(store)));
    SMELT_TRY_VOID(aot::within_limits());
    return built;
  };
  return find_or_make(state_->access(store), work);
}

Result<loader::LibraryRef> Session::load(const Request& request, const loader::DeviceRef& device,
                                         const loader::LoadOptions& options, const Progress& progress) {
  SMELT_TRY(const CompileResult made, make(request, progress));
  return loader::Library::load(device, loader::OwnedBytes{made.package, made.owner}, made_here(options));
}

Result<BuiltFile> Session::link(std::span<const aot::Source> files, const aot::Target& target,
                                const std::function<Result<aot::Target>()>& of_files) {
  Request request;
  request.sources.assign(files.begin(), files.end());
  request.options.targets = {target};
  request.cpu = false;
  std::vector<aot::FingerprintField> more = {{"file", "library 1"}};
  if (of_files) more.push_back({"target", "of files"});
  const Digest key = aot::raw_fingerprint(request.sources, request.options, more);
  return build_file(key, key, source_names(request), [&](const KernelStore& kernels) -> Result<BuiltFile> {
    aot::Target meant = target;
    if (of_files) {
      SMELT_TRY(meant, of_files());
    }
    request.options.targets = {meant};
    SMELT_TRY(const std::vector<aot::Linked> linked, aot::resolve_objects(files));
    request.sources.clear();
    for (const aot::Linked& one : linked) request.sources.push_back({one.name, one.bytes});
    // Libraries' kernels in children, as those of a compile.
    BuiltFile file(signing::Provenance::made_here());
    if (!request.sources.empty()) {
      SMELT_TRY(file, library_file(request, state_->build(request, {}, kernels)));
    }
    if (!file.bytes.empty()) return file;
    SMELT_TRY(file.bytes, aot::join_libraries(meant, {}));
    file.warnings.emplace_back("warning: no input has a function for the library, so the library is empty");
    return file;
  });
}

Result<std::optional<CompileResult>> Session::find_cpu_code(ByteView file, std::string_view name, aot::CpuLevel level,
                                                            Checks checked, aot::CpuEffort effort) {
  const auto start = std::chrono::steady_clock::now();
  SMELT_TRY(remote::TieredStore* const store, state_->open_store());
  if (!store) return std::nullopt;
  const Digest key = cpu_code_key(file, aot::to_string(level), checked, aot::to_string(effort));
  const Asked asked = asked_of(CpuCode{level, checked, effort});
  auto made = find_entry(state_->access(store), key, question(kPackagePart, asked, state_->remaking()));
  if (!made) return std::nullopt;
  made->took = since(start);
  if (tracing()) trace_result(start, name, *made);
  return made;
}

Result<CompileResult> Session::cpu_code(ByteView file, std::string_view name, aot::CpuLevel level, Checks checked,
                                        const Progress& progress, aot::CpuEffort effort,
                                        std::optional<Sandbox> sandbox) {
  const auto start = std::chrono::steady_clock::now();
  const Digest key = cpu_code_key(file, aot::to_string(level), checked, aot::to_string(effort));
  SMELT_TRY(remote::TieredStore* const store, state_->open_store());
  const auto budget = one_compile(store);
  SMELT_TRY(auto found, find_cpu_code(file, name, level, checked, effort));
  if (found) return std::move(*found);
  CompileResult made(signing::Provenance::made_here());  // the file is what the user gave
  if (schema::Package::looks_like(file)) {
    auto package = state_->recompile(file, std::vector{CpuCode{level, checked, effort}});
    if (!package) return tl::unexpected(std::move(package).error().in(name));
    const auto owner = std::make_shared<const Bytes>(std::move(*package));
    made.package = *owner;
    made.owner = owner;
    made.key = key;
    made.took = since(start);
    if (tracing()) trace_result(start, name, made);
  } else {
    Request request;
    request.sources.push_back({std::string(name), file});
    request.checked = checked;
    request.levels = {level};
    request.effort = effort;
    request.sandbox = sandbox;
    SMELT_TRY(made, make(request, progress));
  }
  if (store) publish(state_->access(store), std::span(&key, 1), made.package, name, made.origin.derived(), {});
  return made;
}

Result<loader::LibraryRef> Session::load_bytes(const loader::OwnedBytes& bytes, std::string_view name,
                                               const loader::DeviceRef& device, const loader::LoadOptions& options,
                                               const Progress& progress) {
  const bool on_cpu = device->kind() == loader::DeviceKind::cpu;
  if (!on_cpu || !metallib::is_metallib(bytes.bytes)) {
    auto library = loader::Library::load(device, bytes, options);
    if (library || !on_cpu || library.error().code != Errc::untrusted) return library;
  }
  if (auto allowed = loader::check_signature(bytes.bytes, options); !allowed)
    return tl::unexpected(std::move(allowed).error().in(name));
  // What is loaded in the end is another file.
  if (auto expected = loader::check_expected(bytes.bytes, options); !expected)
    return tl::unexpected(std::move(expected).error().in(name));
  std::string_view level = device->target().name;  // "cpu-x86-64-v3"
  level.remove_prefix(std::string_view("cpu-").size());
  SMELT_TRY(const aot::CpuLevel of, aot::parse_cpu_level(level));
  SMELT_TRY(const CompileResult made, cpu_code(bytes.bytes, name, of, options.checked, progress));
  loader::LoadOptions with = made_here(options);
  if (schema::Package::looks_like(bytes.bytes)) with.replaces = "the caller asks not to use the package's own";
  return loader::Library::load(device, loader::OwnedBytes{made.package, made.owner}, with);
}

Result<CompileResult> Session::resolve(std::string_view query, const loader::DeviceRef& device) {
  SMELT_TRY(const auto from, tiers());
  SMELT_TRY(const auto candidates, from->local().resolve(query));
  std::string passed_over;
  Errc code = Errc::not_cached;
  for (const cache::TagInfo& tag : candidates) {
    // Whatever package was filed under it; what nobody trusted signed is remade as it is.
    auto made = find_entry(state_->access(from.get()), tag.key, {});
    if (!made) {
      passed_over +=
          fmt::format("\n  {}@{}: its entry {} is no longer in the store", tag.name, tag.version, to_hex(tag.key));
      continue;
    }
    const auto library = loader::Library::load(device, loader::OwnedBytes{made->package, made->owner}, made_here({}));
    if (library) return std::move(*made);
    code = library.error().code;
    passed_over += fmt::format("\n  {}@{}: {}", tag.name, tag.version, library.error().message);
  }
  return fail(code, "no version of '{}' runs on {}:{}", query, device->name(), passed_over);
}

Result<void> Session::tag(std::string_view name, std::string_view version, const Digest& key, bool move) {
  SMELT_TRY(const auto to, store());
  return to->tag(name, version, key, move);
}

Result<Bytes> Session::export_package(std::span<const std::string> names) {
  SMELT_TRY(const auto from, store());
  SMELT_TRY(std::vector<Digest> keys, find_keys(*from, names));
  if (names.empty()) {
    std::lock_guard lock(state_->mutex);
    keys = state_->used;
  }
  return service::export_package(*from, keys);
}

Result<Imported> Session::import_package(ByteView bytes, bool move_tags) {
  SMELT_TRY(const Importable libraries, read_import(bytes));
  SMELT_TRY(const auto to, store());
  return import_libraries(*to, libraries, move_tags);
}

}  // namespace smelt::service
