// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "msl/syntax/pragmas.hpp"

#include "clang/Lex/LexDiagnostic.h"
#include "clang/Lex/Pragma.h"
#include "clang/Lex/Preprocessor.h"

#include <fmt/format.h>

#include <memory>
#include <string>

namespace smelt::aot::msl {
namespace {

/// The option in Clang's words; empty when there is no such.
std::string in_clang_words(const std::string& option, const std::string& value) {
  if (option == "contract" && (value == "off" || value == "on" || value == "fast"))
    return fmt::format("contract({})", value);
  if (option == "math_mode" && value == "safe") return "reassociate(off) reciprocal(off)";
  if (option == "math_mode" && (value == "relaxed" || value == "fast")) return "reassociate(on) reciprocal(on)";
  return {};
}

class FloatPragma final : public clang::PragmaHandler {
 public:
  FloatPragma() : PragmaHandler("fp") {}

  void HandlePragma(clang::Preprocessor& preprocessor, clang::PragmaIntroducer introducer,
                    clang::Token& first) override {
    std::string words;
    clang::Token token = first;
    for (preprocessor.LexUnexpandedToken(token); token.isNot(clang::tok::eod); preprocessor.LexUnexpandedToken(token)) {
      if (token.is(clang::tok::comma)) continue;
      const clang::Token option = token;
      std::string value;
      preprocessor.LexUnexpandedToken(token);
      if (token.is(clang::tok::l_paren)) {
        preprocessor.LexUnexpandedToken(token);
        if (token.getIdentifierInfo() != nullptr) value = token.getIdentifierInfo()->getName().str();
        preprocessor.LexUnexpandedToken(token);
      }
      const std::string said = in_clang_words(preprocessor.getSpelling(option), value);
      if (said.empty() || token.isNot(clang::tok::r_paren)) {
        clang::DiagnosticsEngine& engine = preprocessor.getDiagnostics();
        engine.Report(option.getLocation(), engine.getCustomDiagID(clang::DiagnosticsEngine::Error,
                                                                   "'#pragma METAL fp' takes contract(off|on|fast) and "
                                                                   "math_mode(safe|relaxed|fast)"));
        if (token.isNot(clang::tok::eod)) preprocessor.DiscardUntilEndOfDirective();
        return;
      }
      words += ' ' + said;
    }
    if (!words.empty()) say(preprocessor, "clang fp" + words, introducer.Loc);
  }

 private:
  /// _Pragma("words"), as if it stood in the source.
  static void say(clang::Preprocessor& preprocessor, const std::string& words, clang::SourceLocation place) {
    auto tokens = std::make_unique<clang::Token[]>(4);
    for (unsigned i = 0; i < 4; ++i) {
      tokens[i].startToken();
      tokens[i].setLocation(place);
    }
    tokens[0].setKind(clang::tok::identifier);
    tokens[0].setIdentifierInfo(preprocessor.getIdentifierInfo("_Pragma"));
    tokens[1].setKind(clang::tok::l_paren);
    tokens[2].setKind(clang::tok::string_literal);
    preprocessor.CreateString('"' + words + '"', tokens[2], place, place);
    tokens[3].setKind(clang::tok::r_paren);
    preprocessor.EnterTokenStream(std::move(tokens), 4, /*DisableMacroExpansion=*/false, /*IsReinject=*/false);
  }
};

}  // namespace

void add_metal_pragmas(clang::Preprocessor& preprocessor) {
  preprocessor.AddPragmaHandler("METAL", new FloatPragma());  // the preprocessor owns them
  // "internals : enable" opens names of Apple's own library, which ours has or has not whatever is said.
  preprocessor.AddPragmaHandler("METAL", new clang::EmptyPragmaHandler("internals"));
}

}  // namespace smelt::aot::msl
