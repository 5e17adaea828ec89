// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "msl/compiler.hpp"

#include "inputs/headers.hpp"
#include "inputs/includes.hpp"
#include "msl/facts/missing_features.hpp"
#include "msl/syntax/method_spaces.hpp"
#include "msl/target_info.hpp"

#include "clang/Basic/FileManager.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Frontend/CompilerInvocation.h"
#include "clang/Frontend/FrontendOptions.h"
#include "clang/Lex/PreprocessorOptions.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/VirtualFileSystem.h"

#include <fmt/format.h>

#include <filesystem>

namespace smelt::aot::msl {
namespace {

constexpr const char* kPrecompiledPath = "/smelt/precompiled";

/// Metal is C++14 up to 3.2 and C++17 from 4.0 (docs/formats/metal-language.md 2.2), and Clang has all of C++17 that
/// does not break C++14: one language for both. Our headers are C++23; it is their trees that a source meets, whose
/// parts may still be instantiated or evaluated as C++17. C++23 is for methods that take their object as a parameter,
/// whose space can be named (`this device T& self`).
constexpr const char* language_standard(bool is_header) {
  return is_header ? "-std=c++23" : "-std=c++17";
}

constexpr const char* value_of_cplusplus(const Version& language) {
  return language < Version{4, 0} ? "201402L" : "201703L";
}

/// Of every compile.
constexpr const char* kFlags[] = {
    "-triple",
    "spir64-unknown-unknown",  // until the real target is set
    "-fsycl-is-device",
    "-fdeclspec",
    "-ffreestanding",
    "-fno-threadsafe-statics",
    "-nostdsysteminc",
    "-nobuiltininc",
    "-fno-rtti",
    "-relaxed-aliasing",
    "-O2",
    "-disable-llvm-passes",
    "-ffp-contract=fast",
    "-fno-strict-float-cast-overflow",  // saturates, also where Clang folds (docs/formats/metal-language.md 1.4)
    "-fno-elide-type",
    "-ferror-limit",
    "100",
    "-ftemplate-depth=512",
    "-fconstexpr-steps=10000000",
    "-Wno-everything",
    "-Wunused-variable",
    "-Wunused-value",
    "-Wuninitialized",
    "-Wsometimes-uninitialized",
    "-Wreturn-type",
    "-Wdivision-by-zero",
    "-Wconstant-conversion",
    "-Wliteral-conversion",
    "-Wliteral-range",
    "-Wshift-count-overflow",
    "-Wshift-count-negative",
    "-Warray-bounds",
    "-Wtautological-compare",
    "-Wparentheses",
    "-Wmissing-braces",
    "-Wdeprecated-declarations",
    "-W#warnings",
    "-Wmacro-redefined",
    "-Wself-assign",
    "-Wdangling-else",
    "-Wunknown-attributes",
    "-Wunknown-warning-option",
    "-Wfloat-overflow-conversion",
};

/// Adds the flags of the math mode and the platform, which sources get and headers do not: a precompiled header serves
/// all of them. Clang defines these macros after it has read the precompiled file.
void add_mode_and_platform(const MslOptions& options, std::vector<std::string>& list) {
  if (options.math.mode != MathMode::safe)
    for (const char* flag :
         {"-fapprox-func", "-funsafe-math-optimizations", "-fno-signed-zeros", "-mreassociate", "-freciprocal-math"})
      list.emplace_back(flag);
  if (options.math.mode == MathMode::fast)
    for (const char* flag : {"-menable-no-infs", "-menable-no-nans", "-D__FAST_MATH__=1"}) list.emplace_back(flag);
  // tvOS has the language that Metal calls iOS's.
  list.emplace_back(options.platform == Platform::macos ? "-D__METAL_MACOS__=1" : "-D__METAL_IOS__=1");
  if (options.platform == Platform::tvos) list.emplace_back("-D__SMELT_TVOS__=1");
}

std::vector<std::string> arguments(const MslOptions& options, const std::string& path, bool is_header) {
  std::vector<std::string> list = {"-x", is_header ? "c++-header" : "c++", language_standard(is_header)};
  list.insert(list.end(), std::begin(kFlags), std::end(kFlags));
  if (!is_header) add_mode_and_platform(options, list);
  if (options.debug_lines && !is_header) list.emplace_back("-debug-info-kind=line-tables-only");
  list.push_back(fmt::format("-D__METAL_VERSION__={}", metal_version_number(options.language)));
  list.emplace_back("-U__cplusplus");
  list.push_back(fmt::format("-D__cplusplus={}", value_of_cplusplus(options.language)));
  list.emplace_back("-D__METAL__=1");
  list.emplace_back("-D__SMELT__=1");
  if (options.language >= Version{3, 1}) {
    list.emplace_back("-D__HAVE_BFLOAT__=1");
    list.emplace_back("-D__SMELT_HARDWARE_VARIABLES__=1");
  }
  if (!is_header) {
    for (const std::string& definition : options.definitions) list.push_back("-D" + definition);
    for (const std::string& name : options.undefinitions) list.push_back("-U" + name);
    for (const std::string& folder : options.quote_folders) {
      list.emplace_back("-iquote");
      list.push_back(folder);
    }
    for (const std::string& folder : options.include_folders) list.push_back("-I" + folder);
    for (const std::string& folder : options.system_folders) {
      list.emplace_back("-isystem");
      list.push_back(folder);
    }
    for (const std::string& file : options.forced_includes) {
      list.emplace_back("-include");
      list.push_back(file);
    }
    list.insert(list.end(), options.warning_flags.begin(), options.warning_flags.end());
  }
  list.emplace_back("-isystem");
  list.emplace_back(kHeaderFolder);
  list.push_back(path);
  return list;
}

/// What a source includes or embeds is a file: a pipe would be waited for without end, a device read without end.
class RegularFiles final : public llvm::vfs::ProxyFileSystem {
 public:
  using ProxyFileSystem::ProxyFileSystem;
  llvm::ErrorOr<std::unique_ptr<llvm::vfs::File>> openFileForRead(const llvm::Twine& path) override {
    auto status = ProxyFileSystem::status(path);
    if (!status) return status.getError();
    if (!status->isRegularFile()) return std::make_error_code(std::errc::not_supported);
    return ProxyFileSystem::openFileForRead(path);
  }
};

}  // namespace

std::unique_ptr<clang::CompilerInstance> make_compiler(std::string_view text, std::string_view name,
                                                       const MslOptions& options, DiagnosticCollector& messages,
                                                       CompilerUse use, const Precompiled* precompiled) {
  register_method_spaces();
  std::string path(name);
  const std::string hidden = hidden_prefix(name);
  if (!hidden.empty()) path = (std::filesystem::path(hidden) / path).lexically_normal().string();

  auto compiler = std::make_unique<clang::CompilerInstance>();
  auto invocation = std::make_shared<clang::CompilerInvocation>();
  compiler->createDiagnostics(&messages, /*ShouldOwnClient=*/false);
  const std::vector<std::string> texts = arguments(options, path, use == CompilerUse::headers);
  std::vector<const char*> pointers;
  for (const std::string& one : texts) pointers.push_back(one.c_str());
  if (!clang::CompilerInvocation::CreateFromArgs(*invocation, pointers, compiler->getDiagnostics())) return nullptr;
  clang::LangOptions& language = invocation->getLangOpts();
  language.Half = language.NativeHalfType = language.NativeHalfArgsAndReturns = 1;
  language.CXXExceptions = language.Exceptions = 0;
  language.PCHInstantiateTemplates = use == CompilerUse::headers;
  clang::CodeGenOptions& generation = invocation->getCodeGenOpts();
  generation.DiscardValueNames = true;
  generation.DisableLifetimeMarkers = true;  // variables become registers, or stay for the whole kernel
  // Line tables and __FILE__ name files as they were given: the folder that somebody stands in shapes no bytes.
  generation.MainFileName = path;
  generation.DebugCompilationDir = ".";
  if (!hidden.empty()) {
    generation.DebugPrefixMap.emplace_back(hidden, "");
    language.MacroPrefixMap.emplace(hidden, "");
  }
  if (precompiled != nullptr) {
    clang::PreprocessorOptions& preprocessor = invocation->getPreprocessorOpts();
    preprocessor.ImplicitPCHInclude = kPrecompiledPath;
    preprocessor.DisablePCHOrModuleValidation = clang::DisableValidationForModuleKind::All;
  }
  compiler->setInvocation(invocation);
  compiler->createDiagnostics(&messages, /*ShouldOwnClient=*/false);

  auto memory = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  for (unsigned long i = 0; i < smelt_embedded_header_count; ++i) {
    const EmbeddedHeader& header = smelt_embedded_headers[i];
    if (!options.has_tensors && is_tensor_header(header.name)) continue;  // __has_include() is false
    memory->addFile(fmt::format("{}/{}", kHeaderFolder, header.name), 0,
                    llvm::MemoryBuffer::getMemBuffer(llvm::StringRef(header.text, header.size), header.name));
  }
  // What the precompiled headers were made from: the file is opened again when a place in it is shown.
  memory->addFile(kPrecompiledSourcePath, 0, llvm::MemoryBuffer::getMemBuffer(kPrecompiledSource));
  if (path != kPrecompiledSourcePath) memory->addFile(path, 0, llvm::MemoryBuffer::getMemBufferCopy(text, path));
  if (precompiled != nullptr)
    memory->addFile(kPrecompiledPath, 0, llvm::MemoryBuffer::getMemBuffer(precompiled->bytes, kPrecompiledPath, false));
  auto files = llvm::makeIntrusiveRefCnt<llvm::vfs::OverlayFileSystem>(
      llvm::makeIntrusiveRefCnt<RegularFiles>(llvm::vfs::createPhysicalFileSystem()));
  files->pushOverlay(memory);

  compiler->setTarget(make_air_target(invocation->TargetOpts));
  compiler->getTarget().adjust(compiler->getDiagnostics(), compiler->getLangOpts());
  // In SYCL's mode Clang asks the auxiliary target how a bfloat is mangled, in a lambda's signature for one.
  compiler->setAuxTarget(&compiler->getTarget());
  compiler->createFileManager(files);
  compiler->createSourceManager(compiler->getFileManager());
  return compiler;
}

bool run_action(clang::CompilerInstance& compiler, clang::FrontendAction& action) {
  if (!action.BeginSourceFile(compiler, compiler.getFrontendOpts().Inputs[0])) return false;
  if (llvm::Error error = action.Execute()) {
    llvm::consumeError(std::move(error));
    action.EndSourceFile();
    return false;
  }
  action.EndSourceFile();
  return !compiler.getDiagnostics().hasErrorOccurred();
}

}  // namespace smelt::aot::msl
