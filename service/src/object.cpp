// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiling and linking apart, as Apple's tools do it. What is kept is the finished file, under a key of what it was
// made from; below it are the kernels one by one, so that an edit compiles what it changed.
#include "smelt/aot/object.hpp"

#include "smelt/aot/fingerprint.hpp"
#include "smelt/cache/store.hpp"
#include "smelt/remote/tiered_store.hpp"
#include "smelt/schema/package.hpp"
#include "smelt/service/log.hpp"
#include "smelt/service/session.hpp"

#include "build_package.hpp"
#include "entry_parts.hpp"
#include "library_file.hpp"

namespace smelt::service {
namespace {

std::optional<BuiltFile> find_file(cache::Store& store, const Digest& key) {
  const auto found = find_usable(store, key, log_warning);
  if (!found) log_warning(found.error().message);
  if (!found || !*found || !(*found)->part(kFilePart)) return std::nullopt;
  BuiltFile file((*found)->origin());
  file.bytes = to_bytes(*(*found)->part(kFilePart));
  file.warnings = unpack_warnings(as_text((*found)->part(kWarningsPart).value_or(ByteView())));
  file.hit = true;
  return file;
}

void keep_file(cache::Store& store, const Digest& key, const BuiltFile& file, std::string_view sources,
               std::chrono::microseconds cost) {
  if (store.read_only()) return;
  const std::string warnings = pack_warnings(file.warnings);
  const std::vector<cache::PartIn> parts = {
      {kFilePart, file.bytes}, {kWarningsPart, as_bytes(warnings)}, {signing::kSourcePart, as_bytes(sources)}};
  if (auto put = store.put(key, parts, file.origin, cost); !put) log_warning(put.error().message);
}

}  // namespace

Result<ByteView> metallib_of(ByteView bytes, std::string_view name) {
  SMELT_TRY(const schema::Package package, schema::Package::open(bytes));
  const schema::LibraryView library = package.library(0);
  for (uint32_t i = 0; i < library.slices.count; ++i) {
    const schema::SliceView slice = package.slice(library.slices.first + i);
    if (slice.kind != schema::SliceKind::metallib) continue;
    SMELT_TRY_VOID(schema::check_part(slice.part, std::string(name)));
    return slice.part.bytes;
  }
  return fail(Errc::compile_failed, "no Metal library came out of {}", name);
}

Result<BuiltFile> library_file(const Request& request, Result<Built> built) {
  BuiltFile file(built ? built->origin : signing::Provenance::made_here());
  if (!built && built.error().code == Errc::empty_library) return file;
  if (!built) return tl::unexpected(std::move(built).error());
  SMELT_TRY(const ByteView library, metallib_of(built->package, request.sources.front().name));
  file.bytes = to_bytes(library);
  file.warnings = std::move(built->warnings);
  file.kernels = built->kernels;
  file.kernels_kept = built->kernels_kept;
  return file;
}

Result<BuiltFile> Session::build_file(const Digest& key, const Digest& with_warnings, std::string_view sources,
                                      const std::function<Result<BuiltFile>(const KernelStore&)>& build) {
  const auto start = std::chrono::steady_clock::now();
  const auto joined = tiers();
  if (!joined) log_info(joined.error().message);  // what is wrong with the store itself was told when it was opened
  if (joined) {
    if (auto file = find_file((*joined)->local(), key)) return std::move(*file);
    if (with_warnings != key)
      if (auto file = find_file((*joined)->local(), with_warnings)) return std::move(*file);
  }
  const KernelStore kernels = joined ? kernel_store(**joined) : KernelStore();
  SMELT_TRY(BuiltFile file, build(kernels));
  const auto took = std::chrono::steady_clock::now() - start;
  if (joined)
    keep_file((*joined)->local(), file.warnings.empty() ? key : with_warnings, file, sources,
              std::chrono::duration_cast<std::chrono::microseconds>(took));
  return file;
}

Result<BuiltFile> Session::object(const aot::Source& source, const aot::Target& target, aot::CompileOptions options) {
  options.object = true;
  options.targets = {target};
  Request request;
  request.sources = {source};
  request.options = std::move(options);
  request.cpu = false;
  // Compilers write their text to a new folder each time: without warnings, the same text elsewhere is the same entry.
  // Warnings name the file.
  const auto key_of = [&](const std::vector<aot::FingerprintField>& more) {
    return aot::raw_fingerprint(request.sources, request.options, more);
  };
  const Digest key = key_of({{"file", "object 2"}});
  const Digest named = key_of({{"file", "object 2"}, {"name", source.name}});
  auto file = build_file(key, named, source.name, [&](const KernelStore& kernels) -> Result<BuiltFile> {
    if (this->options().offline)
      return fail(Errc::not_cached, "{}: not in the store, and nothing is compiled offline (SMELT_OFFLINE)",
                  source.name);
    SMELT_TRY(BuiltFile made, library_file(request, build_package(request, threads(), {}, kernels)));
    SMELT_TRY(made.bytes, aot::make_object(made.bytes, target, request.options));
    return made;
  });
  if (file && file->hit)
    log_info(fmt::format("found {}", source.name));
  else if (file)
    log_info(
        fmt::format("compiled {}, {} of {} kernels from the store", source.name, file->kernels_kept, file->kernels));
  return file;
}

}  // namespace smelt::service
