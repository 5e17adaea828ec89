// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loading: what the bytes are, which slice the device takes, names. Nothing is compiled or mapped executable here; that
// is the business of function.cpp, on first use.
#include "smelt/base/files.hpp"

#include "joined.hpp"
#include "library_data.hpp"
#include "log.hpp"
#include "slice_choice.hpp"

#include <algorithm>

namespace smelt::loader {
namespace {

Version to_version(const schema::Version& version) {
  return {version.major, version.minor, version.patch};
}

SliceFacts to_facts(const schema::SliceView& slice) {
  SliceFacts facts;
  facts.target = {std::string(slice.target), Platform(uint8_t(slice.platform)),
                  to_version(slice.os),      to_version(slice.metal),
                  to_version(slice.air),     slice.family};
  facts.kind = slice.kind;
  facts.arch = slice.arch;
  facts.level = slice.level;
  facts.checked = slice.checked;
  facts.hash = slice.part.hash;
  if (slice.kind == schema::SliceKind::cpu) facts.root = slice.root;
  facts.bytes = slice.part.bytes;
  return facts;
}

Result<uint32_t> pick_library(const Package& package, const LoadOptions& options) {
  const schema::Package& rows = package.data().package;
  if (!options.library.empty()) {
    if (const auto index = rows.find_library(options.library)) return *index;
  } else if (rows.library_count() == 1) {
    return 0;
  }
  std::string known;
  for (const std::string_view name : package.names()) known += fmt::format("{}'{}'", known.empty() ? "" : ", ", name);
  if (options.library.empty() && rows.library_count() == 0)
    return fail(Errc::empty_library, "the package holds no library");
  if (options.library.empty())
    return fail(Errc::invalid_argument, "the package holds {} libraries; say which one: {}", rows.library_count(),
                known);
  return fail(Errc::invalid_argument, "the package has no library '{}'; it has {}", options.library, known);
}

Result<void> check_expected(const Digest& found, const LoadOptions& options) {
  if (!options.expect || found == *options.expect) return {};
  return fail(Errc::digest_mismatch, "the content digest is {}, the caller expects {}", to_hex(found),
              to_hex(*options.expect));
}

Result<void> check_signature(const schema::Package& package, const LoadOptions& options) {
  std::shared_ptr<const signing::Policy> policy = options.policy;
  if (!policy) {
    SMELT_TRY(signing::Policy from_environment, signing::Policy::from_environment_for(signing::Origin::named_path));
    policy = std::make_shared<const signing::Policy>(std::move(from_environment));
  }
  if (policy->allows(signing::Origin::named_path, false)) return {};
  const std::vector<std::string> signatures = package.signatures();
  if (policy->signer(as_bytes(schema::package_statement(package.digest())), signatures)) return {};
  return fail(Errc::untrusted,
              "the package is not signed by a key that is trusted: {}. Or have its CPU code made here, from its "
              "Metal library: trust=\"local\", native=False (--trust local --no-native)",
              policy->explain(signatures));
}

}  // namespace

Result<void> check_expected(ByteView file, const LoadOptions& options) {
  if (!options.expect) return {};
  if (!schema::Package::looks_like(file)) return check_expected(sha256(file), options);
  SMELT_TRY(const schema::Package package, schema::Package::open(file));
  return check_expected(package.digest(), options);
}

Result<void> check_signature(ByteView file, const LoadOptions& options) {
  if (schema::Package::looks_like(file)) {
    SMELT_TRY(const schema::Package package, schema::Package::open(file));
    return check_signature(package, options);
  }
  if (!options.policy || options.policy->level != signing::Level::signed_only) return {};
  return fail(Errc::untrusted,
              "a Metal library carries no signature, and trust is signed. Make a package of it and sign that: smelt "
              "compile X.metallib -o X.smelt, smelt sign X.smelt");
}

/// The steps of loading, for each kind of source.
class LibraryLoader {
 public:
  LibraryLoader(const DeviceRef& device, const LoadOptions& options) : data_(std::make_unique<Library::Data>()) {
    data_->device = device;
    data_->options = options;
  }

  Result<LibraryRef> from_package(const PackageRef& package) {
    data_->package = package;
    data_->owner = package;
    data_->bytes = package->data().bytes.bytes;
    data_->digest = package->digest();
    std::call_once(data_->digest_once, [] {});
    SMELT_TRY_VOID(check_expected(package->digest(), data_->options));
    const schema::Package& rows = package->data().package;
    SMELT_TRY_VOID(check_signature(rows, data_->options));
    if (data_->options.verify == Verify::full) SMELT_TRY_VOID(schema::check_all_parts(rows));
    SMELT_TRY(const uint32_t index, pick_library(*package, data_->options));
    data_->rows = rows.library(index);
    data_->name = data_->rows.name;
    for (uint32_t i = 0; i < data_->rows.functions.count; ++i)
      data_->names.push_back(rows.function(data_->rows.functions.first + i).name);
    std::vector<SliceFacts> slices;
    std::vector<uint32_t> presences;
    for (uint32_t i = 0; i < data_->rows.slices.count; ++i) {
      const schema::SliceView slice = rows.slice(data_->rows.slices.first + i);
      slices.push_back(to_facts(slice));
      presences.push_back(slice.first_presence);
    }
    std::optional<std::string> untrusted;
    if (!data_->options.native) untrusted = "is CPU code, the caller asks not to use any";
    return finish(std::move(slices), presences, joined({"library '", data_->name, "'"}), untrusted);
  }

  Result<LibraryRef> from_metallib(OwnedBytes bytes) {
    data_->owner = bytes.owner;
    data_->bytes = bytes.bytes;
    SMELT_TRY_VOID(check_expected(bytes.bytes, data_->options));
    SMELT_TRY_VOID(check_signature(bytes.bytes, data_->options));
    SMELT_TRY(data_->container, read_container(bytes.bytes, data_->options.verify));
    for (const ContainerFunction& function : data_->container.functions) {
      data_->by_name.emplace(function.name, static_cast<uint32_t>(data_->names.size()));
      data_->names.push_back(function.name);
    }
    SliceFacts slice;
    slice.target = data_->container.target;
    slice.bytes = bytes.bytes;
    if (data_->device->kind() == DeviceKind::cpu) {
      SMELT_TRY_VOID(check_empty("the metallib"));
      if (data_->options.code_source) return on_demand(bytes);
      if (!data_->options.allow_no_code && !data_->names.empty())
        return fail(Errc::unsupported_platform,
                    "the metallib is for {} and holds no CPU code, so none of its {} functions can run on device {}. "
                    "Make a package of it, which does: smelt compile X.metallib -o X.smelt",
                    slice.target.name, data_->names.size(), data_->device->name());
      data_->target = slice.target;
      data_->report.notes.push_back({slice.target.name, false, Errc::unsupported_platform,
                                     fmt::format("{}: holds no CPU code", slice.target.name)});
      return LibraryRef(new Library(std::move(data_)));
    }
    return finish({std::move(slice)}, {0}, "the metallib");
  }

 private:
  Result<LibraryRef> on_demand(const OwnedBytes& bytes) {
    data_->on_demand = std::make_unique<OnDemand>(data_->device, data_->options, bytes, data_->names.size());
    data_->target = {data_->device->target().name + data_->options.checked.suffix(), {}, {}, {}, {}, 0};
    const std::string& target = data_->container.target.name;
    data_->report.notes.push_back(
        {target, false, Errc::unsupported_platform, fmt::format("{}: holds no CPU code", target)});
    data_->report.notes.push_back(
        {data_->target.name, true, Errc::ok,
         fmt::format("{}: chosen, made for each kernel when it is first needed", data_->target.name)});
    return LibraryRef(new Library(std::move(data_)));
  }

  Result<LibraryRef> finish(std::vector<SliceFacts> slices, const std::vector<uint32_t>& presences,
                            std::string_view what, const std::optional<std::string>& untrusted = {}) {
    SMELT_TRY_VOID(check_empty(what));
    SMELT_TRY(SliceChoice choice, choose_slice(data_->impl(), slices, data_->options, what, untrusted));
    data_->report = std::move(choice.report);
    if (!data_->options.replaces.empty()) say_replaced();
    data_->target = slices[choice.usable.front()].target;
    for (const size_t i : choice.usable) {
      auto slice = std::make_unique<UsableSlice>();
      slice->facts = std::move(slices[i]);
      slice->first_presence = presences[i];
      data_->slices.push_back(std::move(slice));
    }
    const SliceFacts& best = data_->slices.front()->facts;
    if (data_->options.verify == Verify::digest && data_->package)
      SMELT_TRY_VOID(schema::check_part({best.bytes, best.hash}, best.target.name));
    // The best slice is opened now, so that a bad one fails at load; the others only if they are needed.
    SMELT_TRY_VOID(open_slice(*data_, *data_->slices.front()));
    return LibraryRef(new Library(std::move(data_)));
  }

  /// Of the slice that is used.
  void say_replaced() {
    for (SliceNote& note : data_->report.notes)
      if (note.chosen) note.line += ", made here: " + data_->options.replaces;
    tell(fmt::format("library '{}': its CPU code was made here: {}", data_->name, data_->options.replaces));
  }

  Result<void> check_empty(std::string_view what) const {
    if (data_->names.empty() && !data_->options.allow_empty)
      return fail(Errc::empty_library,
                  "{} holds no function. A failed link leaves such files; pass allow_empty if it is meant", what);
    return {};
  }

  std::unique_ptr<Library::Data> data_;
};

namespace {

void trace_load(TraceClock::time_point start, const Library& library) {
  if (!tracing()) return;
  trace_event(library.name().empty() ? "metallib" : library.name(), "load", start, TraceClock::now(),
              {{"package", to_hex(library.digest())},
               {"functions", std::to_string(library.function_names().size())},
               {"target", library.target().name}});
}

}  // namespace

Library::Library(std::unique_ptr<Data> data) : data_(std::move(data)) {}
Library::~Library() = default;

Result<LibraryRef> Library::load(const DeviceRef& device, const PackageRef& package, const LoadOptions& options) {
  if (!device || !package) return fail(Errc::invalid_argument, "load: no {} was given", device ? "package" : "device");
  const auto start = TraceClock::now();
  auto library = LibraryLoader(device, options).from_package(package);
  if (library) trace_load(start, **library);
  return library;
}

Result<LibraryRef> Library::load(const DeviceRef& device, OwnedBytes bytes, const LoadOptions& options) {
  if (!device) return fail(Errc::invalid_argument, "load: no device was given");
  if (schema::Package::looks_like(bytes.bytes)) {
    SMELT_TRY(const PackageRef package, Package::open(std::move(bytes)));
    return load(device, package, options);
  }
  const auto start = TraceClock::now();
  auto library = LibraryLoader(device, options).from_metallib(std::move(bytes));
  if (library) trace_load(start, **library);
  return library;
}

Result<LibraryRef> Library::load(const DeviceRef& device, ByteView bytes, const LoadOptions& options) {
  return load(device, copy_of(bytes), options);
}

Result<LibraryRef> Library::load_file(const DeviceRef& device, const std::filesystem::path& path,
                                      const LoadOptions& options) {
  SMELT_TRY(const std::shared_ptr<const MappedFile> file, MappedFile::open(path));
  auto library = load(device, OwnedBytes{file->bytes(), file}, options);
  if (!library) return tl::unexpected(std::move(library).error().in(path.string()));
  return library;
}

const DeviceRef& Library::device() const {
  return data_->device;
}
std::string_view Library::name() const {
  return data_->name;
}
std::span<const std::string_view> Library::function_names() const {
  return data_->names;
}
bool Library::has_function(std::string_view name) const {
  return data_->find(name).has_value();
}
const Target& Library::target() const {
  return data_->target;
}
const SliceReport& Library::slice_report() const {
  return data_->report;
}
bool Library::has_reflection() const {
  return data_->package != nullptr;
}

const Digest& Library::digest() const {
  return data_->content_digest();
}

const Digest& Library::Data::content_digest() const {
  std::call_once(digest_once, [this] { digest = sha256(bytes); });
  return digest;
}

PipelineScope& Library::Data::pipelines() const {
  std::call_once(scope_once, [this] {
    // Options can change which slices are used, so those are part of the content.
    const auto at = reinterpret_cast<uintptr_t>(device.get());
    std::string key(reinterpret_cast<const char*>(&at), sizeof(at));
    key += as_text(content_digest().bytes);
    for (const auto& slice : slices) key += as_text(slice->facts.hash.bytes);
    key += name;
    if (options.tier) key += options.tier->effort + (options.tier->better ? " until better" : " for good");
    scope = scope_of(key, names.size());
  });
  return *scope;
}

std::optional<uint32_t> Library::Data::find(std::string_view function) const {
  if (package) {
    const auto row = package->data().package.find_function(rows, function);
    if (row) return *row - rows.functions.first;
    return std::nullopt;
  }
  const auto at = by_name.find(function);
  if (at == by_name.end()) return std::nullopt;
  return at->second;
}

}  // namespace smelt::loader
