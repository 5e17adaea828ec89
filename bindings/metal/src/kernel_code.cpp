// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernel_code.hpp"

#include "smelt/base/background.hpp"
#include "smelt/base/text_list.hpp"
#include "smelt/base/trace.hpp"
#include "smelt/loader/code_source.hpp"

#include "settings.hpp"
#include "stored_code.hpp"

#include <cstdlib>
#include <mutex>
#include <optional>

namespace smelt::metal {
namespace {

constexpr const char* kSoon = "fast";
constexpr const char* kLasting = "balanced";

/// What the store has, which a trace tells; of what is compiled it is told by the compiler's library.
std::optional<Package> recalled(const Digest& key, const std::string& name, std::string_view part = kStoredPackage) {
  const auto start = TraceClock::now();
  auto found = find_stored(key, part);
  if (found && tracing()) trace_event(name, "store", start, TraceClock::now(), {});
  return found;
}

std::optional<Package> recalled(const KernelCode& code, const std::string& kernel, const std::string& effort) {
  return recalled(code.key(kernel, effort), kernel);
}

Result<Package> compiled_and_kept(KernelCode& code, const std::string& kernel, const std::string& effort) {
  SMELT_TRY(auto made, code.compile(kernel, effort));
  keep_in_store(code.key(kernel, effort), made.bytes.bytes, made.origin);
  return made;
}

class MetallibCode final : public KernelCode {
 public:
  MetallibCode(loader::OwnedBytes metallib, const Digest& digest, std::string level, Checks checked)
      : metallib_(std::move(metallib)), digest_(digest), level_(std::move(level)), checked_(checked) {}

  Digest key(const std::string& kernel, const std::string& effort) const override {
    return key_of(request(kernel, effort));
  }
  Result<Package> compile(const std::string& kernel, const std::string& effort) override {
    return compiled_kernel(request(kernel, effort));
  }
  Result<loader::OwnedBytes> metallib_behind(const loader::OwnedBytes&) const override { return metallib_; }

 private:
  KernelRequest request(const std::string& kernel, const std::string& effort) const {
    return {metallib_.bytes, digest_, kernel, level_, checked_, effort};
  }
  const loader::OwnedBytes metallib_;
  const Digest digest_;
  const std::string level_;
  const Checks checked_;
};

class SourceCode final : public KernelCode {
 public:
  SourceCode(SourceRequest request, const Digest& key, std::string level, Checks checked)
      : request_(std::move(request)), key_(key), level_(std::move(level)), checked_(checked) {}

  Digest key(const std::string& kernel, const std::string& effort) const override {
    return key_of({{}, key_, kernel, level_, checked_, effort});
  }
  Result<Package> compile(const std::string& kernel, const std::string& effort) override {
    SMELT_TRY(const auto source, translated());
    return source->compile(kernel, effort);
  }
  Result<loader::OwnedBytes> metallib_behind(const loader::OwnedBytes& package) const override {
    return metallib_of(package, request_.target);
  }
  /// Reads the source at the first call; whoever else wants it then waits.
  Result<std::shared_ptr<const TranslatedSource>> translated() {
    const std::lock_guard guard(lock_);
    if (!translated_) {
      SMELT_TRY(translated_, TranslatedSource::read(request_, level_, checked_));
    }
    return translated_;
  }

 private:
  const SourceRequest request_;
  const Digest key_;
  const std::string level_;
  const Checks checked_;
  std::mutex lock_;
  std::shared_ptr<const TranslatedSource> translated_;
};

/// Of code that was made here.
loader::LoadOptions options_of(const DeviceObject& device) {
  loader::LoadOptions options;
  options.checked = device.checked;
  options.allow_empty = true;
  options.policy = signing::Policy::all();
  return options;
}

/// A kernel whose fast code runs often.
struct Improvement {
  KernelCodeRef code;
  std::string kernel;
  Package package;  ///< with the fast code
  std::string level;
  loader::LoadOptions options;

  /// In the background.
  Result<void> make(const loader::PipelineState& pipeline) const {
    std::optional<Package> better = recalled(*code, kernel, kLasting);
    if (!better) {
      SMELT_TRY(const auto metallib, code->metallib_behind(package.bytes));
      SMELT_TRY(better, compiled_in_background({metallib.bytes, Digest(), kernel, level, options.checked, kLasting}));
      better->origin += package.origin;  // the Metal library is that package's
      keep_in_store(code->key(kernel, kLasting), better->bytes.bytes, better->origin);
    }
    SMELT_TRY(const auto library, loader::Library::load(pipeline.device(), std::move(better->bytes), options));
    return loader::replace_code(pipeline, *library, kLasting);
  }
};

/// Before the process ends, so that nothing runs while what it needs is taken down.
void join_background() {
  Background::of_process().end();
}

void improve_later(const loader::PipelineRef& pipeline, const Improvement& improvement) {
  [[maybe_unused]] static const int registered = std::atexit(join_background);
  Background::of_process().add([pipeline, improvement] {
    if (const auto done = improvement.make(*pipeline); !done) loader::tell_kept(*pipeline, done.error().message);
  });
}

}  // namespace

KernelCodeRef code_of(loader::OwnedBytes metallib, const Digest& digest, std::string level, Checks checked) {
  return std::make_shared<MetallibCode>(std::move(metallib), digest, std::move(level), checked);
}

Result<SourceKernels> kernels_of(SourceRequest request, const Digest& key, std::string level, Checks checked) {
  const auto code = std::make_shared<SourceCode>(std::move(request), key, std::move(level), checked);
  if (const auto found = recalled(key, kSourceName, kStoredNames))
    if (auto names = unpack_texts(as_text(found->bytes.bytes))) return SourceKernels{std::move(*names), code};
  SMELT_TRY(const auto source, code->translated());
  SourceKernels made{source->kernels(), code};
  keep_in_store(key, as_bytes(pack_texts(made.names)), signing::Provenance::made_here(), kStoredNames);
  return made;
}

std::string lasting_effort() {
  const std::string asked = setting("SMELT_CPU_EFFORT");
  return asked.empty() ? kLasting : asked;
}

Result<loader::OwnedBytes> lasting_code(KernelCode& code, const std::string& kernel) {
  const std::string effort = lasting_effort();
  if (auto found = recalled(code, kernel, effort)) return std::move(found->bytes);
  SMELT_TRY(auto made, compiled_and_kept(code, kernel, effort));
  return std::move(made.bytes);
}

Result<loader::LibraryRef> library_of(const DeviceObject& device, const KernelCodeRef& code,
                                      const std::string& kernel) {
  const bool asked = !setting("SMELT_CPU_EFFORT").empty();
  auto tier = std::make_shared<loader::CodeTier>();
  tier->effort = lasting_effort();
  std::optional<Package> package = recalled(*code, kernel, tier->effort);
  if (!package && asked) {
    SMELT_TRY(package, compiled_and_kept(*code, kernel, tier->effort));
  } else if (!package) {
    tier->effort = kSoon;
    package = recalled(*code, kernel, tier->effort);
    if (!package) {
      SMELT_TRY(package, compiled_and_kept(*code, kernel, tier->effort));
    }
    if (setting("SMELT_CPU_REPLACE") != "0" && !flag_setting("SMELT_OFFLINE")) {
      tier->better_after = loader::worth_after(package->bytes.bytes.size());
      tier->better = [improvement = Improvement{code, kernel, *package, device.level, options_of(device)}](
                         const loader::PipelineRef& pipeline) { improve_later(pipeline, improvement); };
    }
  }
  loader::LoadOptions options = options_of(device);
  options.tier = std::move(tier);
  return loader::Library::load(device.loader, std::move(package->bytes), options);
}

Result<loader::OwnedBytes> metallib_of(const loader::OwnedBytes& bytes, std::string_view preferred) {
  SMELT_TRY(const loader::PackageRef package, loader::Package::open(bytes));
  const auto names = package->names();
  if (names.size() != 1)
    return fail(Errc::invalid_argument, "the package holds {} libraries; a Metal library is one of them", names.size());
  for (const std::string_view target :
       {preferred, std::string_view("macos27"), std::string_view("macos26"), std::string_view("macos14")})
    if (auto found = package->metallib(names[0], target)) return loader::OwnedBytes{*found, package};
  return fail(Errc::unsupported_platform, "library '{}' of the package has no Metal library for macOS", names[0]);
}

}  // namespace smelt::metal
