// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "msl/syntax/pragmas.hpp"

#include "msl/private_member.hpp"
#include "msl/syntax/debug_pragma.hpp"

#include "clang/Lex/LexDiagnostic.h"
#include "clang/Lex/Pragma.h"
#include "clang/Lex/Preprocessor.h"

#include <fmt/format.h>

#include <memory>
#include <string>

namespace smelt::aot::msl {

struct PragmaHandlers {
  using Type = std::unique_ptr<clang::PragmaNamespace> clang::Preprocessor::*;
};
PragmaHandlers::Type address_of(PragmaHandlers);
template struct PrivateMember<PragmaHandlers, &clang::Preprocessor::PragmaHandlers>;

namespace {

/// Options in Clang's words: what float_control(precise, ...) says, which sets every flag, and what clang fp says after
/// it.
struct ClangWords {
  std::string precise, options;
};

/// False: there is no such option. Safe is as Apple's compiler has it: no flag at all, and products are fused with sums
/// of the same expression. Relaxed takes nothing back that it promises of NaN and infinity, so it starts from there.
bool add_option(ClangWords& words, const std::string& option, const std::string& value) {
  if (option == "contract" && (value == "off" || value == "on" || value == "fast")) {
    words.options += fmt::format(" contract({})", value);
  } else if (option == "math_mode" && value == "safe") {
    words.precise = "on";
  } else if (option == "math_mode" && value == "relaxed") {
    words.precise = "on";
    words.options = " reassociate(on) reciprocal(on) contract(fast)" + words.options;
  } else if (option == "math_mode" && value == "fast") {
    words.precise = "off";
  } else {
    return false;
  }
  return true;
}

class FloatPragma final : public clang::PragmaHandler {
 public:
  FloatPragma() : PragmaHandler("fp") {}

  void HandlePragma(clang::Preprocessor& preprocessor, clang::PragmaIntroducer introducer,
                    clang::Token& first) override {
    ClangWords words;
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
      if (!add_option(words, preprocessor.getSpelling(option), value) || token.isNot(clang::tok::r_paren)) {
        clang::DiagnosticsEngine& engine = preprocessor.getDiagnostics();
        engine.Report(option.getLocation(), engine.getCustomDiagID(clang::DiagnosticsEngine::Error,
                                                                   "'#pragma METAL fp' takes contract(off|on|fast) and "
                                                                   "math_mode(safe|relaxed|fast)"));
        if (token.isNot(clang::tok::eod)) preprocessor.DiscardUntilEndOfDirective();
        return;
      }
    }
    // The last to be entered is the first to be read.
    if (!words.options.empty()) say(preprocessor, "clang fp" + words.options, introducer.Loc);
    if (!words.precise.empty())
      say(preprocessor, fmt::format("float_control(precise, {})", words.precise), introducer.Loc);
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

/// Clang's own aids for its makers: they crash it, fill its stack or write its state to the terminal.
class DebugPragma final : public clang::PragmaHandler {
 public:
  DebugPragma() : PragmaHandler("__debug") {}

  void HandlePragma(clang::Preprocessor& preprocessor, clang::PragmaIntroducer, clang::Token& first) override {
    clang::DiagnosticsEngine& engine = preprocessor.getDiagnostics();
    engine.Report(first.getLocation(),
                  engine.getCustomDiagID(clang::DiagnosticsEngine::Error,
                                         "'#pragma clang __debug' is for compiler developers and is not supported"));
    preprocessor.DiscardUntilEndOfDirective();
  }
};

}  // namespace

void refuse_debug_pragmas(clang::Preprocessor& preprocessor) {
  const clang::PragmaHandler* const clangs = (preprocessor.*address_of(PragmaHandlers()))->FindHandler("clang", false);
  clang::PragmaNamespace* const space =
      clangs != nullptr ? const_cast<clang::PragmaHandler*>(clangs)->getIfNamespace() : nullptr;
  if (clang::PragmaHandler* const own = space != nullptr ? space->FindHandler("__debug", false) : nullptr) {
    space->RemovePragmaHandler(own);
    delete own;  // the preprocessor's until now
  }
  preprocessor.AddPragmaHandler("clang", new DebugPragma());
}

void add_metal_pragmas(clang::Preprocessor& preprocessor) {
  refuse_debug_pragmas(preprocessor);
  preprocessor.AddPragmaHandler("METAL", new FloatPragma());  // the preprocessor owns them
  // "internals : enable" opens names of Apple's own library, which ours has or has not whatever is said.
  preprocessor.AddPragmaHandler("METAL", new clang::EmptyPragmaHandler("internals"));
}

}  // namespace smelt::aot::msl
