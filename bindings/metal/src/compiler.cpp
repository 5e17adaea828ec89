// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler.hpp"

#include "smelt/base/background.hpp"
#include "smelt/base/shared_library.hpp"
#include "smelt/compiler.h"

#include <cstdlib>

namespace smelt::metal {
namespace {

/// The functions of libsmelt-compiler.so that are used here, and the compiler opened with them.
struct CompilerLibrary {
  decltype(&smelt_compiler_open) open = nullptr;
  decltype(&smelt_compile) compile = nullptr;
  decltype(&smelt_compiled_get_info) get_info = nullptr;
  decltype(&smelt_compiled_release) release = nullptr;
  decltype(&smelt_translate) translate = nullptr;
  decltype(&smelt_translated_kernel_count) kernel_count = nullptr;
  decltype(&smelt_translated_kernel_name) kernel_name = nullptr;
  decltype(&smelt_translated_compile) compile_kernel = nullptr;
  decltype(&smelt_translated_release) release_translated = nullptr;
  decltype(&smelt_last_error) last_error = nullptr;
  decltype(&smelt_compiler_cancel) cancel = nullptr;
  smelt_compiler* compiler = nullptr;
  smelt_compiler* background = nullptr;  ///< for compiled_in_background: one that can be cancelled by itself

  Error error(smelt_status status) const {
    smelt_error_info info{};
    info.struct_size = sizeof(info);
    last_error(&info);
    Error error;
    error.code = static_cast<Errc>(status);
    if (info.message != nullptr) error.message.assign(info.message, info.message_length);
    if (info.subject != nullptr) error.subject.assign(info.subject, info.subject_length);
    return error;
  }
};

Result<CompilerLibrary> open_library() {
  constexpr const char* kName = "libsmelt-compiler.so.1";
  // Beside this library, or where the system looks.
  SharedLibrary library(kName);
  CompilerLibrary loaded;
  loaded.open = library.find<decltype(loaded.open)>("smelt_compiler_open");
  loaded.compile = library.find<decltype(loaded.compile)>("smelt_compile");
  loaded.get_info = library.find<decltype(loaded.get_info)>("smelt_compiled_get_info");
  loaded.release = library.find<decltype(loaded.release)>("smelt_compiled_release");
  loaded.translate = library.find<decltype(loaded.translate)>("smelt_translate");
  loaded.kernel_count = library.find<decltype(loaded.kernel_count)>("smelt_translated_kernel_count");
  loaded.kernel_name = library.find<decltype(loaded.kernel_name)>("smelt_translated_kernel_name");
  loaded.compile_kernel = library.find<decltype(loaded.compile_kernel)>("smelt_translated_compile");
  loaded.release_translated = library.find<decltype(loaded.release_translated)>("smelt_translated_release");
  loaded.last_error = library.find<decltype(loaded.last_error)>("smelt_last_error");
  loaded.cancel = library.find<decltype(loaded.cancel)>("smelt_compiler_cancel");
  if (!library.trouble().empty())
    return fail(Errc::toolchain_missing, "{} of this version is needed to compile: {}", kName, library.trouble());
  if (const smelt_status status = loaded.open(nullptr, &loaded.compiler); status != SMELT_OK)
    return tl::unexpected(loaded.error(status));
  if (const smelt_status status = loaded.open(nullptr, &loaded.background); status != SMELT_OK)
    return tl::unexpected(loaded.error(status));
  return loaded;
}

/// Stays open as long as the process.
const Result<CompilerLibrary>& compiler_library() {
  static const auto& library = *new Result<CompilerLibrary>(open_library());
  return library;
}

/// The package, which `compiled` keeps.
Result<Package> package_of(const CompilerLibrary& library, smelt_compiled* compiled) {
  const std::shared_ptr<const void> owner(compiled, [release = library.release](const void* handle) {
    release(static_cast<smelt_compiled*>(const_cast<void*>(handle)));
  });
  smelt_compiled_info info{};
  info.struct_size = sizeof(info);
  if (const smelt_status status = library.get_info(compiled, &info); status != SMELT_OK)
    return tl::unexpected(library.error(status));
  return Package{{{static_cast<const std::byte*>(info.package), info.package_size}, owner},
                 signing::Provenance::parse({info.origin, info.origin_length})};
}

Result<Package> compile(const smelt_source& source, const smelt_compile_options& options, bool in_background = false) {
  const auto& library = compiler_library();
  if (!library) return tl::unexpected(library.error());
  smelt_compiled* compiled = nullptr;
  smelt_compiler* const compiler = in_background ? library->background : library->compiler;
  if (const smelt_status status = library->compile(compiler, &source, 1, &options, &compiled); status != SMELT_OK)
    return tl::unexpected(library->error(status));
  return package_of(*library, compiled);
}

smelt_compile_options default_options() {
  smelt_compile_options options{};
  options.struct_size = sizeof(options);
  return options;
}

/// What a request for source asks the compiler for, in its words. Borrows the request.
class SourceOptions {
 public:
  explicit SourceOptions(const SourceRequest& request) : target_(request.target.c_str()) {
    options.targets = &target_;
    options.target_count = 1;
    for (const std::string& definition : request.definitions) definitions_.push_back(definition.c_str());
    options.definitions = definitions_.data();
    options.definition_count = definitions_.size();
    if (request.language) {
      options.language[0] = request.language->major;
      options.language[1] = request.language->minor;
    }
    options.fast_math = request.fast_math ? 1 : 0;
  }
  SourceOptions(const SourceOptions&) = delete;
  SourceOptions& operator=(const SourceOptions&) = delete;

  smelt_compile_options options = default_options();

 private:
  const char* target_;
  std::vector<const char*> definitions_;
};

}  // namespace

Result<Package> compiled_source(const SourceRequest& request) {
  SourceOptions with(request);
  with.options.no_cpu = 1;
  return compile({kSourceName, request.text.data(), request.text.size()}, with.options);
}

namespace {

Result<Package> make_kernel(const KernelRequest& request, bool in_background) {
  smelt_compile_options options = default_options();
  const char* const function = request.function.c_str();
  options.functions = &function;
  options.function_count = 1;
  const char* const level = request.level.c_str();
  options.cpu_levels = &level;
  options.cpu_level_count = 1;
  options.checked = request.checked.bits();
  options.cpu_effort = request.effort.c_str();
  // The kernel has code, so what takes much longer than that is not worth it.
  if (in_background) options.timeout = 120;
  return compile({request.function.c_str(), request.metallib.data(), request.metallib.size()}, options, in_background);
}

/// At the end of the process, before the compiler's library is taken down.
void end_background() {
  if (const auto& library = compiler_library()) library->cancel(library->background);
  Background::of_process().end();
}

}  // namespace

Result<Package> compiled_kernel(const KernelRequest& request) {
  return make_kernel(request, false);
}

Result<Package> compiled_in_background(const KernelRequest& request) {
  if (const auto& library = compiler_library(); !library) return tl::unexpected(library.error());
  // Only now, so that it is called before what the compiler's library has to do at the end.
  static const bool ended_in_time = std::atexit(end_background) == 0;
  if (!ended_in_time) return fail(Errc::io, "nothing is made in the background: atexit() takes no more");
  return make_kernel(request, true);
}

Result<std::shared_ptr<const TranslatedSource>> TranslatedSource::read(const SourceRequest& request,
                                                                       const std::string& level, Checks checked) {
  const auto& library = compiler_library();
  if (!library) return tl::unexpected(library.error());
  SourceOptions with(request);
  const char* const wanted = level.c_str();
  with.options.cpu_levels = &wanted;
  with.options.cpu_level_count = 1;
  with.options.checked = checked.bits();
  if (checked) with.options.debug_lines = 1;
  const smelt_source source = {kSourceName, request.text.data(), request.text.size()};
  smelt_translated* handle = nullptr;
  if (const smelt_status status = library->translate(library->compiler, &source, 1, &with.options, &handle);
      status != SMELT_OK)
    return tl::unexpected(library->error(status));
  auto made = std::make_shared<TranslatedSource>();
  made->handle_ = {handle, library->release_translated};
  for (size_t i = 0; i < library->kernel_count(handle); ++i) {
    const char* name = nullptr;
    size_t length = 0;
    if (const smelt_status status = library->kernel_name(handle, i, &name, &length); status != SMELT_OK)
      return tl::unexpected(library->error(status));
    made->kernels_.emplace_back(name, length);
  }
  return made;
}

Result<Package> TranslatedSource::compile(const std::string& kernel, const std::string& effort) const {
  const auto& library = compiler_library();  // which has made the handle
  smelt_compiled* compiled = nullptr;
  if (const smelt_status status =
          library->compile_kernel(handle_.get(), kernel.data(), kernel.size(), effort.c_str(), &compiled);
      status != SMELT_OK)
    return tl::unexpected(library->error(status));
  return package_of(*library, compiled);
}

}  // namespace smelt::metal
