// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One numbering of address spaces to another. In LLVM the number is part of every pointer type, hence of function
// types, globals, structs and constants; changing it in place means rebuilding all of them. The text form says it in
// one word, everywhere alike, so the module goes through text: print, change the words, read.
#include "ir/dialect.hpp"
#include "ir_reader/text/ir_lexer.hpp"

#include "llvm/AsmParser/LLParser.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

#include <charconv>
#include <optional>

namespace smelt::aot::input {
namespace {

class Remapper {
 public:
  Remapper(const TokenList& list, const std::map<unsigned, unsigned>& spaces) : list_(list), spaces_(spaces) {}

  std::string run() {
    for (size_t at = 0; at < list_.tokens.size(); ++at) {
      if (list_.tokens[at].kind != TokenKind::word) continue;
      if (list_.is(at, "addrspace")) {
        if (const auto space = number(at)) write(at + 2, std::to_string(mapped(*space)));
      } else if (list_.is(at, "addrspacecast") && becomes_nothing(at)) {
        write(at, "bitcast");
      }
    }
    result_.append(list_.source.substr(done_));
    return std::move(result_);
  }

 private:
  unsigned mapped(unsigned space) const {
    const auto found = spaces_.find(space);
    return found == spaces_.end() ? space : found->second;
  }

  /// Of `addrspace ( N )` at `at`.
  std::optional<unsigned> number(size_t at) const {
    if (!list_.is(at, "addrspace") || !list_.is(at + 1, "(")) return std::nullopt;
    const std::string_view digits = list_.text(at + 2);
    unsigned value = 0;
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (parsed.ec != std::errc()) return std::nullopt;
    return value;
  }

  /// The space of the pointer type whose `ptr` is at or after `at`.
  unsigned pointer_space(size_t at) const {
    while (at < list_.tokens.size() && !list_.is(at, "ptr")) ++at;
    return mapped(number(at + 1).value_or(0));
  }

  /// addrspacecast [(] TYPE VALUE to TYPE, with the same space on both sides after the change.
  bool becomes_nothing(size_t at) const {
    size_t to = at + 1;
    for (int depth = 0; to < list_.tokens.size(); ++to) {
      const std::string_view text = list_.text(to);
      if (text == "(") ++depth;
      if (text == ")") --depth;
      if (text == "to" && depth <= (list_.is(at + 1, "(") ? 1 : 0)) break;
    }
    return pointer_space(at + 1) == pointer_space(to + 1);
  }

  void write(size_t token, std::string_view text) {
    result_.append(list_.source.substr(done_, list_.tokens[token].begin - done_));
    result_.append(text);
    done_ = list_.tokens[token].end;
  }

  const TokenList& list_;
  const std::map<unsigned, unsigned>& spaces_;
  std::string result_;
  size_t done_ = 0;
};

}  // namespace

Result<void> remap_address_spaces(KernelModule& input, const std::map<unsigned, unsigned>& spaces) {
  std::string text;
  {
    llvm::raw_string_ostream stream(text);
    input.module->print(stream, nullptr, /*ShouldPreserveUseListOrder=*/false);
  }
  bool needed = false;
  for (const auto& [from, to] : spaces) needed |= text.find(fmt::format("addrspace({})", from)) != std::string::npos;
  if (!needed) return {};
  SMELT_TRY(const TokenList tokens, tokenize(text));
  const std::string remapped = Remapper(tokens, spaces).run();
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(remapped, "", true), llvm::SMLoc());
  llvm::SMDiagnostic diagnostic;
  auto module = std::make_unique<llvm::Module>("", *input.context);
  llvm::LLParser parser(remapped, sources, diagnostic, module.get(), nullptr, *input.context);
  if (parser.Run(/*UpgradeDebugInfo=*/false))
    return fail(Errc::compile_failed, "address spaces cannot be renumbered: {}", diagnostic.getMessage().str());
  if (llvm::verifyModule(*module))
    return fail(Errc::compile_failed, "the module does not verify after its address spaces were renumbered");
  module->setModuleIdentifier(input.module->getModuleIdentifier());
  input.module = std::move(module);
  return {};
}

}  // namespace smelt::aot::input
