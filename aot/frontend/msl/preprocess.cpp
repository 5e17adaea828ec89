// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Metal source after Clang's preprocessor alone. The standard library is read as text here: precompiled it would not
// be seen.
#include "smelt/aot/object.hpp"

#include "inputs/headers.hpp"
#include "msl/compiler.hpp"
#include "msl/frontend.hpp"
#include "msl/safely.hpp"
#include "msl/syntax/debug_pragma.hpp"

#include "clang/Frontend/FrontendActions.h"
#include "clang/Frontend/PreprocessorOutputOptions.h"
#include "clang/Frontend/Utils.h"
#include "clang/Lex/PPCallbacks.h"
#include "clang/Lex/Preprocessor.h"
#include "llvm/Support/raw_ostream.h"

namespace smelt::aot {
namespace {

/// Notes what is entered. Not the standard library: it lies in no file that who reads the list could open.
class HeaderWatch final : public clang::PPCallbacks {
 public:
  HeaderWatch(const clang::SourceManager& sources, std::vector<std::string>& headers)
      : sources_(sources), headers_(headers) {}
  void FileChanged(clang::SourceLocation at, FileChangeReason reason, clang::SrcMgr::CharacteristicKind,
                   clang::FileID) override {
    if (reason != EnterFile) return;
    const clang::FileID file = sources_.getFileID(at);
    if (!sources_.getFileEntryRefForID(file)) return;  // what the command line defines
    unsigned depth = 0;
    for (clang::SourceLocation from = sources_.getIncludeLoc(file); from.isValid(); ++depth)
      from = sources_.getIncludeLoc(sources_.getFileID(from));
    const clang::PresumedLoc place = sources_.getPresumedLoc(at);
    const bool is_own = place.isValid() && llvm::StringRef(place.getFilename()).starts_with(msl::kHeaderFolder);
    if (depth > 0 && place.isValid() && !is_own)
      headers_.push_back(std::string(depth, '.') + " " + place.getFilename());
  }

 private:
  const clang::SourceManager& sources_;
  std::vector<std::string>& headers_;
};

class PrintAction final : public clang::PreprocessorFrontendAction {
 public:
  PrintAction(const PreprocessOptions& with, Preprocessed& made) : with_(with), made_(made), stream_(made.text) {}
  void ExecuteAction() override {
    clang::Preprocessor& preprocessor = getCompilerInstance().getPreprocessor();
    msl::refuse_debug_pragmas(preprocessor);
    preprocessor.addPPCallbacks(std::make_unique<HeaderWatch>(preprocessor.getSourceManager(), made_.headers));
    clang::PreprocessorOutputOptions options;
    options.ShowCPP = !with_.macros;
    options.ShowMacros = with_.macros;
    options.ShowLineMarkers = with_.line_markers;
    options.ShowComments = with_.comments;
    options.ShowMacroComments = with_.macro_comments;
    preprocessor.SetCommentRetentionState(with_.comments, with_.macro_comments);
    clang::DoPrintPreprocessedInput(preprocessor, &stream_, options);
  }

 private:
  const PreprocessOptions& with_;
  Preprocessed& made_;
  llvm::raw_string_ostream stream_;
};

Result<Preprocessed> run_preprocessor(const Source& source, const msl::MslOptions& options,
                                      const PreprocessOptions& with) {
  Preprocessed made;
  msl::DiagnosticCollector messages;
  messages.set_main_name(source.name);
  const auto compiler =
      msl::make_compiler(as_text(source.bytes), source.name, options, messages, msl::CompilerUse::preprocess, nullptr);
  bool done = compiler != nullptr;
  if (done) {
    PrintAction action(with, made);
    done = msl::run_action(*compiler, action);
  }
  messages.close();
  if (done && messages.error_count() == 0) return made;
  const std::string errors = messages.errors();
  return fail(Errc::compile_failed, "{}", errors.empty() ? "the source does not preprocess" : errors);
}

}  // namespace

Result<Preprocessed> preprocess(const Source& source, const CompileOptions& options, const PreprocessOptions& with) {
  const msl::MslOptions msl = msl::msl_options(options);
  SMELT_TRY_VOID(msl::check_language(msl, source.name));
  Result<Preprocessed> result = fail(Errc::compile_failed, "not run");
  SMELT_TRY_VOID(msl::run_safely(source.name, [&] { result = run_preprocessor(source, msl, with); }));
  return result;
}

}  // namespace smelt::aot
