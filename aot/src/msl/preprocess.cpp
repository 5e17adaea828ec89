// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Metal source after Clang's preprocessor alone. The standard library is read as text here: precompiled it would not
// be seen.
#include "smelt/aot/object.hpp"

#include "compile/units.hpp"
#include "msl/compiler.hpp"
#include "msl/safely.hpp"

#include "clang/Frontend/FrontendActions.h"
#include "clang/Frontend/PreprocessorOutputOptions.h"
#include "clang/Frontend/Utils.h"
#include "llvm/Support/raw_ostream.h"

namespace smelt::aot {
namespace {

class PrintAction final : public clang::PreprocessorFrontendAction {
 public:
  PrintAction(const PreprocessOptions& with, std::string& text) : with_(with), stream_(text) {}
  void ExecuteAction() override {
    clang::PreprocessorOutputOptions options;
    options.ShowCPP = !with_.macros;
    options.ShowMacros = with_.macros;
    options.ShowLineMarkers = with_.line_markers;
    options.ShowComments = with_.comments;
    clang::DoPrintPreprocessedInput(getCompilerInstance().getPreprocessor(), &stream_, options);
  }

 private:
  const PreprocessOptions& with_;
  llvm::raw_string_ostream stream_;
};

Result<std::string> run_preprocessor(const Source& source, const msl::MslOptions& options,
                                     const PreprocessOptions& with) {
  std::string text;
  msl::DiagnosticCollector messages;
  messages.set_main_name(source.name);
  const auto compiler =
      msl::make_compiler(as_text(source.bytes), source.name, options, messages, msl::CompilerUse::preprocess, nullptr);
  bool done = compiler != nullptr;
  if (done) {
    PrintAction action(with, text);
    done = msl::run_action(*compiler, action);
  }
  messages.close();
  if (done && messages.error_count() == 0) return text;
  const std::string errors = messages.errors();
  return fail(Errc::compile_failed, "{}", errors.empty() ? "the source does not preprocess" : errors);
}

}  // namespace

Result<std::string> preprocess(const Source& source, const CompileOptions& options, const PreprocessOptions& with) {
  const msl::MslOptions msl = msl_options(options);
  SMELT_TRY_VOID(msl::check_language(msl, source.name));
  Result<std::string> result = fail(Errc::compile_failed, "not run");
  SMELT_TRY_VOID(msl::run_safely(source.name, [&] { result = run_preprocessor(source, msl, with); }));
  return result;
}

}  // namespace smelt::aot
