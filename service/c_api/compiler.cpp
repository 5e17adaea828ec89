// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/compiler.h"

#include "smelt/aot/limits.hpp"
#include "smelt/base/c_interface.hpp"
#include "smelt/base/seconds.hpp"
#include "smelt/service/session.hpp"

#include <atomic>
#include <mutex>

using namespace smelt;
using namespace smelt::c_api;

namespace smelt::c_api {

int32_t remember(const Error& error) noexcept {
  return smelt_set_last_error(static_cast<smelt_status>(error.code), error.message.c_str(), error.subject.c_str());
}

int32_t remember(Errc code, const char* message) noexcept {
  return smelt_set_last_error(static_cast<smelt_status>(code), message, nullptr);
}

}  // namespace smelt::c_api

struct smelt_compiler : Handle<std::shared_ptr<service::Session>> {
  using Handle::Handle;
  std::mutex mutex;  // guards what follows
  bool cancelled = false;
  std::vector<std::weak_ptr<std::atomic<bool>>> calls;

  /// What a call looks at.
  std::shared_ptr<std::atomic<bool>> begin_call() {
    const std::lock_guard lock(mutex);
    auto flag = std::make_shared<std::atomic<bool>>(cancelled);
    std::erase_if(calls, [](const auto& call) { return call.expired(); });
    calls.push_back(flag);
    return flag;
  }
};
/// With the text that a caller may ask for.
struct CompiledPackage : service::CompileResult {
  explicit CompiledPackage(service::CompileResult made)
      : CompileResult(std::move(made)), origin_text(origin.derived().to_text()) {}
  std::string origin_text;
};
struct smelt_compiled : Handle<std::shared_ptr<const CompiledPackage>> {
  using Handle::Handle;
};
/// With the limits that it was asked for, which hold for each call.
struct LimitedSource {
  std::shared_ptr<const service::Translated> source;
  aot::Limits limits;
};
struct smelt_translated : Handle<LimitedSource> {
  using Handle::Handle;
};

namespace {

std::string text_of(const char* text) {
  return text != nullptr ? text : "";
}

Result<std::vector<std::string>> list_of(const char* const* texts, size_t count, const char* what) {
  std::vector<std::string> list;
  if (count != 0 && texts == nullptr)
    return fail(Errc::invalid_argument, "smelt_compile_options: {} is null, its count is {}", what, count);
  for (size_t i = 0; i < count; ++i) {
    if (texts[i] == nullptr) return fail(Errc::invalid_argument, "smelt_compile_options: {}[{}] is null", what, i);
    list.emplace_back(texts[i]);
  }
  return list;
}

Result<aot::Source> source_of(const smelt_source& from, const char* function) {
  if (from.data == nullptr && from.size != 0) return null_argument(function, "a source's data");
  return aot::Source{text_of(from.name), {static_cast<const std::byte*>(from.data), from.size}};
}

Result<service::Request> request_of(const smelt_source* sources, size_t count, const smelt_compile_options& from,
                                    const char* function) {
  service::Request request;
  if (sources == nullptr || count == 0) return null_argument(function, "the list of sources");
  for (size_t i = 0; i < count; ++i) {
    SMELT_TRY(request.sources.emplace_back(), source_of(sources[i], function));
  }
  aot::CompileOptions& with = request.options;
  SMELT_TRY(const auto targets, list_of(from.targets, from.target_count, "targets"));
  for (const std::string& target : targets) {
    SMELT_TRY(with.targets.emplace_back(), aot::parse_target(target));
  }
  SMELT_TRY(const auto levels, list_of(from.cpu_levels, from.cpu_level_count, "cpu_levels"));
  for (const std::string& level : levels) {
    SMELT_TRY(request.levels.emplace_back(), aot::parse_cpu_level(level));
  }
#define SMELT_FLAG(member, name, ...) with.member = from.name != 0;
// 0 is none, but where a member has_NAME says.
#define SMELT_NUMBER(member, type, name, ...)      \
  if ([](const auto& of) {                         \
        if constexpr (requires { of.has_##name; }) \
          return of.has_##name != 0;               \
        else                                       \
          return of.name != 0;                     \
      }(from))                                     \
    with.member = from.name;
#define SMELT_TEXTS(member, one, name, ...)                              \
  {                                                                      \
    SMELT_TRY(with.member, list_of(from.name, from.one##_count, #name)); \
  }
#define SMELT_INNER_TEXTS(member)
#include "smelt/aot/options.def"
  with.metadata_json = text_of(from.metadata);
  request.name = text_of(from.name);
  request.version = text_of(from.version);
  if (from.language[0] != 0) with.language = Version{from.language[0], from.language[1], 0};
  if (from.fast_math != 0) with.math = aot::kFastMath;
  request.checked = Checks::from_bits(static_cast<uint32_t>(from.checked));
  if (from.cpu_effort != nullptr) {
    SMELT_TRY(request.effort, aot::parse_cpu_effort(from.cpu_effort));
  } else {
    SMELT_TRY(const auto effort, service::effort_from_environment());
    request.effort = effort.value_or(request.effort);
  }
  request.cpu = from.no_cpu == 0;
  if (from.sandbox != nullptr) {
    SMELT_TRY(request.sandbox, service::parse_sandbox(from.sandbox));
  }
  return request;
}

/// Gives a finished compile to the caller.
Result<void> give_compiled(smelt_compiled** out, Result<service::CompileResult> made) {
  if (!made) return tl::unexpected(std::move(made).error());
  *out = new smelt_compiled(std::make_shared<const CompiledPackage>(std::move(*made)));
  return {};
}

Result<aot::Limits> limits_of(const smelt_compile_options& from, const char* function) {
  aot::Limits limits;
  SMELT_TRY(limits.time, limit_from_seconds(from.timeout, fmt::format("{}: timeout", function)));
  limits.memory_bytes = from.memory_bytes;
  return limits;
}

Result<service::CompileResult> compile(smelt_compiler& compiler, const smelt_source* sources, size_t count,
                                       const smelt_compile_options& from) {
  SMELT_TRY(const service::Request request, request_of(sources, count, from, "smelt_compile"));
  const auto cancel = compiler.begin_call();
  if (*cancel) return fail(Errc::cancelled, "smelt_compile: the compiler was cancelled");
  SMELT_TRY(aot::Limits limits, limits_of(from, "smelt_compile"));
  limits.cancel = cancel;
  const aot::Limited limited(limits);
  service::Progress progress;
  if (from.progress != nullptr)
    progress = [&](std::string_view stage, size_t done, size_t total) {
      if (from.progress(from.progress_context, std::string(stage).c_str(), done, total) == 0) *cancel = true;
    };
  return compiler.ref->make(request, progress);
}

}  // namespace

void smelt_compiler_retain(smelt_compiler* compiler) {
  retain(compiler);
}
void smelt_compiler_release(smelt_compiler* compiler) {
  release(compiler);
}
void smelt_compiled_retain(smelt_compiled* compiled) {
  retain(compiled);
}
void smelt_compiled_release(smelt_compiled* compiled) {
  release(compiled);
}

smelt_status smelt_compiler_open(const smelt_compiler_options* given, smelt_compiler** out) {
  clear(out);
  return guard([&]() -> Result<void> {
    if (out == nullptr) return null_argument("smelt_compiler_open", "the out-parameter");
    SMELT_TRY(const smelt_compiler_options from, read_options(given, "smelt_compiler_open"));
    service::SessionOptions options;
    options.store = text_of(from.store);
    options.use_store = from.no_store == 0;
    options.offline = from.offline != 0;
    options.threads = from.threads;
    if (from.warn != nullptr)
      options.warn = [warn = from.warn, context = from.warn_context](std::string_view line) {
        warn(context, std::string(line).c_str());
      };
    *out = new smelt_compiler(service::Session::open(std::move(options)));
    return {};
  });
}

smelt_status smelt_compile(smelt_compiler* compiler, const smelt_source* sources, size_t count,
                           const smelt_compile_options* given, smelt_compiled** out) {
  clear(out);
  return guard([&]() -> Result<void> {
    if (compiler == nullptr) return null_argument("smelt_compile", "the compiler");
    if (out == nullptr) return null_argument("smelt_compile", "the out-parameter");
    SMELT_TRY(const smelt_compile_options from, read_options(given, "smelt_compile"));
    return give_compiled(out, compile(*compiler, sources, count, from));
  });
}

void smelt_compiler_cancel(smelt_compiler* compiler) {
  if (compiler == nullptr) return;
  const std::lock_guard lock(compiler->mutex);
  compiler->cancelled = true;
  for (const auto& call : compiler->calls)
    if (const auto flag = call.lock()) *flag = true;
}

void smelt_translated_retain(smelt_translated* translated) {
  retain(translated);
}
void smelt_translated_release(smelt_translated* translated) {
  release(translated);
}

smelt_status smelt_translate(smelt_compiler* compiler, const smelt_source* sources, size_t count,
                             const smelt_compile_options* given, smelt_translated** out) {
  clear(out);
  return guard([&]() -> Result<void> {
    constexpr const char* kThis = "smelt_translate";
    if (compiler == nullptr) return null_argument(kThis, "the compiler");
    if (out == nullptr) return null_argument(kThis, "the out-parameter");
    SMELT_TRY(const smelt_compile_options from, read_options(given, kThis));
    SMELT_TRY(const service::Request request, request_of(sources, count, from, kThis));
    LimitedSource made;
    SMELT_TRY(made.limits, limits_of(from, kThis));
    made.limits.cancel = compiler->begin_call();
    if (*made.limits.cancel) return fail(Errc::cancelled, "{}: the compiler was cancelled", kThis);
    const aot::Limited limited(made.limits);
    SMELT_TRY(made.source, compiler->ref->translate(request));
    *out = new smelt_translated(std::move(made));
    return {};
  });
}

size_t smelt_translated_kernel_count(const smelt_translated* translated) {
  return translated != nullptr ? translated->ref.source->kernels().size() : 0;
}

smelt_status smelt_translated_kernel_name(const smelt_translated* translated, size_t index, const char** name,
                                          size_t* length) {
  clear(name);
  clear(length);
  return guard([&]() -> Result<void> {
    constexpr const char* kThis = "smelt_translated_kernel_name";
    if (translated == nullptr) return null_argument(kThis, "the source");
    if (name == nullptr || length == nullptr) return null_argument(kThis, "an out-parameter");
    const std::vector<std::string>& names = translated->ref.source->kernels();
    if (index >= names.size()) return fail(Errc::invalid_argument, "{}: index {} of {}", kThis, index, names.size());
    set_text(names[index], *name, *length);
    return {};
  });
}

smelt_status smelt_translated_compile(const smelt_translated* translated, const char* kernel, size_t length,
                                      const char* cpu_effort, smelt_compiled** out) {
  clear(out);
  return guard([&]() -> Result<void> {
    constexpr const char* kThis = "smelt_translated_compile";
    if (translated == nullptr) return null_argument(kThis, "the source");
    if (kernel == nullptr) return null_argument(kThis, "the kernel's name");
    if (out == nullptr) return null_argument(kThis, "the out-parameter");
    std::optional<aot::CpuEffort> effort;
    if (cpu_effort != nullptr) {
      SMELT_TRY(effort, aot::parse_cpu_effort(cpu_effort));
    }
    const aot::Limited limited(translated->ref.limits);
    return give_compiled(out, translated->ref.source->make({kernel, length}, effort));
  });
}

smelt_status smelt_compile_cpu_code(smelt_compiler* compiler, const smelt_source* library, const char* level,
                                    int32_t checked, smelt_compiled** out) {
  clear(out);
  return guard([&]() -> Result<void> {
    constexpr const char* kThis = "smelt_compile_cpu_code";
    if (compiler == nullptr) return null_argument(kThis, "the compiler");
    if (library == nullptr) return null_argument(kThis, "the library");
    if (out == nullptr) return null_argument(kThis, "the out-parameter");
    SMELT_TRY(const aot::Source source, source_of(*library, kThis));
    SMELT_TRY(const aot::CpuLevel of, level != nullptr ? aot::parse_cpu_level(level) : aot::host_cpu_level());
    return give_compiled(
        out, compiler->ref->cpu_code(source.bytes, source.name, of, Checks::from_bits(static_cast<uint32_t>(checked))));
  });
}

smelt_status smelt_compiled_get_info(const smelt_compiled* compiled, smelt_compiled_info* info) {
  return guard([&]() -> Result<void> {
    if (compiled == nullptr) return null_argument("smelt_compiled_get_info", "the result");
    const CompiledPackage& made = *compiled->ref;
    smelt_compiled_info filled{};
    filled.package = made.package.data();
    filled.package_size = made.package.size();
    std::memcpy(filled.key, made.key.bytes.data(), sizeof(filled.key));
    filled.hit = made.hit ? 1 : 0;
    filled.kernels = made.kernels;
    filled.kernels_kept = made.kernels_kept;
    filled.microseconds = static_cast<uint64_t>(made.took.count());
    filled.warnings = made.warnings.size();
    set_text(made.origin_text, filled.origin, filled.origin_length);
    return write_info(info, filled, "smelt_compiled_get_info");
  });
}

smelt_status smelt_compiled_warning(const smelt_compiled* compiled, size_t index, const char** text, size_t* length) {
  clear(text);
  clear(length);
  return guard([&]() -> Result<void> {
    constexpr const char* kThis = "smelt_compiled_warning";
    if (compiled == nullptr) return null_argument(kThis, "the result");
    if (text == nullptr || length == nullptr) return null_argument(kThis, "an out-parameter");
    const std::vector<std::string>& warnings = compiled->ref->warnings;
    if (index >= warnings.size())
      return fail(Errc::invalid_argument, "{}: index {} of {}", kThis, index, warnings.size());
    set_text(warnings[index], *text, *length);
    return {};
  });
}
