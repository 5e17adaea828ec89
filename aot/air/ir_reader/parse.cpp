// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bytes to a verified module, by LLVM's own readers behind our checks.
#include "ir_reader/parse.hpp"

#include "smelt/aot/target.hpp"

#include "inputs/kind.hpp"
#include "ir_reader/text/ir_lexer.hpp"
#include "ir_reader/text/spelling.hpp"
#include "llvm_support/bitstream_check.hpp"
#include "llvm_support/deep_stack.hpp"
#include "llvm_support/diagnostics.hpp"
#include "llvm_support/rest_of_module.hpp"

#include "llvm/AsmParser/LLParser.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/AutoUpgrade.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <charconv>

namespace smelt::aot::input {
namespace {

constexpr int kOurLlvm = LLVM_VERSION_MAJOR;

/// What comes first in the verifier's text: enough to find the fault, on one line.
std::string first_lines(std::string_view report) {
  std::string result;
  for (int lines = 0; lines < 3 && !report.empty(); ++lines) {
    const size_t end = std::min(report.find('\n'), report.size());
    std::string_view line = report.substr(0, std::min<size_t>(end, 200));
    report.remove_prefix(std::min(end + 1, report.size()));
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    if (line.empty()) continue;
    if (!result.empty()) result += ": ";
    result += line;
  }
  return result;
}

std::string drain(llvm::Error error) {
  return llvm::toString(std::move(error));
}

std::optional<std::string> air_layout_for(llvm::StringRef, llvm::StringRef) {
  return std::string(air_data_layout());
}

/// Whether debug info is to be dropped: of another version, or broken. It describes, it does not decide.
Result<bool> verify(llvm::Module& module) {
  std::string report;
  llvm::raw_string_ostream stream(report);
  bool broken_debug_info = false;
  if (llvm::verifyModule(module, &stream, &broken_debug_info))
    return fail(Errc::compile_failed, "the module does not verify: {}", first_lines(stream.str()));
  return broken_debug_info || llvm::getDebugMetadataVersionFromModule(module) != llvm::DEBUG_METADATA_VERSION;
}

/// "at 'token'" of the original text, for an error at `offset` of it.
std::string token_at(std::string_view source, size_t offset) {
  if (offset >= source.size()) return " at the end of the text";
  size_t end = offset;
  while (end < source.size() && end - offset < 60 &&
         std::string_view(" \t\r\n,()[]{}<>=").find(source[end]) == std::string_view::npos)
    ++end;
  if (end == offset) end = offset + 1;
  return fmt::format(" at '{}'", source[offset] == '\n' ? "end of line" : source.substr(offset, end - offset));
}

Result<std::unique_ptr<llvm::Module>> parse_text(std::string_view source, llvm::LLVMContext& context) {
  SMELT_TRY(const TokenList tokens, tokenize(source));
  SMELT_TRY(const Respelled respelled, respell(tokens));

  const std::string& text = respelled.text();
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(text, "", true), llvm::SMLoc());
  llvm::SMDiagnostic diagnostic;
  auto module = std::make_unique<llvm::Module>("", context);
  // LLParser rather than parseAssembly(): that one verifies modules with debug info, and a module that does not verify
  // ends the process there.
  llvm::LLParser parser(text, sources, diagnostic, module.get(), nullptr, context);
  if (!parser.Run(/*UpgradeDebugInfo=*/false, air_layout_for)) return module;

  size_t offset = text.size();
  if (const char* place = diagnostic.getLoc().getPointer(); place >= text.data() && place <= text.data() + text.size())
    offset = static_cast<size_t>(place - text.data());
  offset = std::min(respelled.original_offset(offset), source.size());
  const auto line = 1 + std::count(source.begin(), source.begin() + static_cast<ptrdiff_t>(offset), '\n');
  return fail(Errc::compile_failed, "line {}: {}{} (LLVM {} read this, with newer spellings up to LLVM 22 mapped)",
              line, diagnostic.getMessage().str(), token_at(source, offset), kOurLlvm);
}

/// 22 of "LLVM22.1.8" and of "LLVM APPLE_1_1400..._0" nothing.
int major_of(std::string_view producer) {
  if (!producer.starts_with("LLVM")) return 0;
  int major = 0;
  std::from_chars(producer.data() + 4, producer.data() + producer.size(), major);
  return major;
}

Result<std::unique_ptr<llvm::Module>> parse_bitcode(ByteView bytes, llvm::LLVMContext& context) {
  SMELT_TRY(const BitcodeFacts facts, check_bitstream(bytes));
  const auto unreadable = [&](std::string_view why) {
    if (major_of(facts.producer) > kOurLlvm)
      return fail(Errc::unsupported,
                  "this bitcode was written by {}, and LLVM {} cannot read it ({}); pass the module as text "
                  "(llvm-dis of that LLVM)",
                  facts.producer, kOurLlvm, why);
    return fail(Errc::corrupt, "the bitcode cannot be read: {}", why);
  };
  const llvm::MemoryBufferRef buffer(as_text(facts.bitcode), "");
  llvm::ParserCallbacks callbacks;
  callbacks.DataLayout = air_layout_for;
  auto module = llvm::getLazyBitcodeModule(buffer, context, false, false, std::move(callbacks));
  if (!module) return unreadable(drain(module.takeError()));
  // Function by function, then verify, and only then the rest: the last step verifies again when there is debug info.
  if (auto error = (*module)->materializeMetadata()) return unreadable(drain(std::move(error)));
  for (llvm::Function& function : **module)
    if (auto error = function.materialize()) return unreadable(drain(std::move(error)));
  SMELT_TRY(const bool drops, verify(**module));
  if (auto error = read_rest(**module, drops)) return unreadable(drain(std::move(error)));
  return std::move(*module);
}

Result<std::unique_ptr<llvm::Module>> parse_here(ByteView bytes, std::string_view name, llvm::LLVMContext& context) {
  const auto message = std::make_shared<std::string>();
  install_diagnostics(context, message);
  std::unique_ptr<llvm::Module> module;
  switch (detect_kind(bytes)) {
    case Kind::text_ir: {
      SMELT_TRY(module, parse_text(as_text(bytes), context));
      break;
    }
    case Kind::bitcode:
    case Kind::wrapped_bitcode: {
      SMELT_TRY(module, parse_bitcode(bytes, context));
      break;
    }
    case Kind::metallib:
    case Kind::universal:
      return fail(Errc::source_type, "a Metal library where LLVM IR is expected: pass its modules one by one");
    case Kind::msl:
      return fail(Errc::source_type, "text that is not LLVM IR");
    case Kind::unknown:
      return fail(Errc::source_type, "{} where Metal source, a Metal library or LLVM IR is expected",
                  looks_like(bytes));
  }
  if (!message->empty()) return fail(Errc::compile_failed, "{}", *message);
  SMELT_TRY(const bool drops, verify(*module));
  if (drops) llvm::StripDebugInfo(*module);
  module->setModuleIdentifier(llvm::StringRef(name.data(), name.size()));
  return module;
}

}  // namespace

Result<std::unique_ptr<llvm::Module>> parse_into(llvm::LLVMContext& context, ByteView bytes, std::string_view name) {
  Result<std::unique_ptr<llvm::Module>> result = fail(Errc::compile_failed, "not read");
  run_deep([&] { result = parse_here(bytes, name, context); });
  if (!result) return tl::unexpected(std::move(result).error().in(name));
  return result;
}

Result<KernelModule> parse_module(ByteView bytes, std::string_view name) {
  KernelModule result;
  result.context = std::make_unique<llvm::LLVMContext>();
  SMELT_TRY(result.module, parse_into(*result.context, bytes, name));
  return result;
}

}  // namespace smelt::aot::input
