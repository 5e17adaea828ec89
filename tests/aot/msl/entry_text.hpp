// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Entry points of Metal source as the text of their metadata (docs/formats/air.md 1.5, 1.11).
#pragma once

#include "smelt/aot/verify.hpp"

#include "msl.hpp"

#include "llvm/AsmParser/Parser.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <map>
#include <regex>
#include <string>
#include <vector>

namespace smelt::test {

inline const std::string kHead = "#include <metal_stdlib>\nusing namespace metal;\n";

inline std::string ir_of(const std::string& text, std::string_view function) {
  const std::string whole = kHead + text;
  const aot::Source source{"test.metal", as_bytes(whole)};
  const auto made = aot::emit_ll(std::span(&source, 1), msl_options(), function);
  REQUIRE_MESSAGE(made.has_value(), (made ? "" : made.error().message));
  return *made;
}

/// Nodes of metadata by number, as they are written: "!{i32 0, !\"air.position\", ...}".
inline std::map<std::string, std::string> nodes_of(const std::string& ir) {
  std::map<std::string, std::string> nodes;
  const std::regex node(R"(\n!(\w[\w.]*) = (?:distinct )?(!\{[^\n]*\}))");
  for (auto at = std::sregex_iterator(ir.begin(), ir.end(), node); at != std::sregex_iterator(); ++at)
    nodes[(*at)[1]] = (*at)[2];
  return nodes;
}

inline std::vector<std::string> operands_of(const std::string& node) {
  std::vector<std::string> operands;
  const std::regex reference(R"(!(\d+))");
  for (auto at = std::sregex_iterator(node.begin(), node.end(), reference); at != std::sregex_iterator(); ++at)
    operands.push_back((*at)[1]);
  return operands;
}

struct EntryText {
  std::vector<std::string> results, inputs;  ///< without the exclamation marks and the quotes
  std::string signature;
  std::string entry;
  std::map<std::string, std::string> nodes;
};

inline EntryText entry_of(const std::string& text, const std::string& function, const std::string& stage) {
  const std::string ir = ir_of(text, function);
  auto nodes = nodes_of(ir);
  REQUIRE_MESSAGE(nodes.count("air." + stage) == 1, ir);
  EntryText made;
  made.entry = nodes.at(operands_of(nodes.at("air." + stage)).at(0));
  const auto plain = [&](const std::string& number) {
    std::string node = nodes.at(number);
    node = std::regex_replace(node, std::regex("!\""), "");
    node = std::regex_replace(node, std::regex("[\"{}!]|i32 |air\\."), "");
    return node;
  };
  const auto lists = operands_of(made.entry);
  REQUIRE(lists.size() >= 2);
  for (const std::string& one : operands_of(nodes.at(lists[0]))) made.results.push_back(plain(one));
  for (const std::string& one : operands_of(nodes.at(lists[1]))) made.inputs.push_back(plain(one));
  const std::regex define("\ndefine ([^\n]*)@" + function + R"(\(([^\n]*)\) )");
  std::smatch found;
  if (std::regex_search(ir, found, define)) made.signature = found[1].str() + "(" + found[2].str() + ")";
  made.nodes = std::move(nodes);
  return made;
}

using Lines = std::vector<std::string>;

/// The messages of a source that must not compile, "line:column: text" from the first line behind kHead on.
inline std::string error_of(const std::string& text) {
  const std::string whole = msl_error(kHead + text);
  const size_t at = whole.find("error: ");
  return at == std::string::npos ? whole : whole.substr(at + 7, whole.find('\n', at) - at - 7);
}

/// What `smelt verify` says of the library of a source.
inline std::string findings_of(const std::string& text) {
  const auto compiled = compile_msl(kHead + text);
  if (!compiled) return compiled.error().message;
  std::string all;
  for (const aot::Finding& finding : aot::verify_metallib(compiled->targets.at(0).metallib))
    all += finding.to_line() + "\n";
  return all;
}

/// What `smelt verify` says of a module with `from` replaced by `to`. It is opaque bitcode: that is found too.
inline std::string findings_with(const std::string& ir, const std::string& from, const std::string& to) {
  std::string text = ir;
  const size_t at = text.find(from);
  REQUIRE_MESSAGE(at != std::string::npos, from);
  text.replace(at, from.size(), to);
  llvm::LLVMContext context;
  llvm::SMDiagnostic trouble;
  const auto module = llvm::parseAssemblyString(text, trouble, context);
  REQUIRE_MESSAGE(module != nullptr, trouble.getMessage().str());
  llvm::SmallString<0> bitcode;
  llvm::raw_svector_ostream stream(bitcode);
  llvm::WriteBitcodeToFile(*module, stream);
  std::string all;
  for (const aot::Finding& finding : aot::verify_module(as_bytes({bitcode.data(), bitcode.size()}), {}))
    all += finding.to_line() + "\n";
  return all;
}

}  // namespace smelt::test
