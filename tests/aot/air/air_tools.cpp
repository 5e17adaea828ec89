// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "air_tools.hpp"

#include "files.hpp"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

#include <fmt/format.h>

#include <stdexcept>

namespace smelt::test {

aot::KernelModule parse_ir(std::string_view text) {
  aot::KernelModule parsed;
  parsed.context = std::make_unique<llvm::LLVMContext>();
  llvm::SMDiagnostic problem;
  const std::string copy(text);
  parsed.module = llvm::parseAssemblyString(copy, problem, *parsed.context);
  if (!parsed.module) {
    std::string message;
    llvm::raw_string_ostream stream(message);
    problem.print("test", stream, false);
    throw std::runtime_error(message);
  }
  return parsed;
}

aot::KernelModule parse_ir_file(const std::string& name) {
  const Bytes bytes = must_read(std::filesystem::path(SMELT_SOURCE_DIR) / "tests/aot/air/cases" / name);
  return parse_ir(as_text(bytes));
}

std::vector<aot::air::AirModule> must_legalise(std::string_view text, std::string_view target,
                                               aot::air::LegaliseOptions options) {
  options.verify_each = true;
  auto result = aot::air::legalise(parse_ir(text), aot::parse_target(target).value(), options);
  if (!result) throw std::runtime_error(fmt::format("{}: {}", target, result.error().message));
  return std::move(*result);
}

std::string legalise_error(std::string_view text, std::string_view target, aot::air::LegaliseOptions options) {
  options.verify_each = true;
  const auto result = aot::air::legalise(parse_ir(text), aot::parse_target(target).value(), options);
  return result ? "" : result.error().message;
}

std::string to_text(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, nullptr);
  return text;
}

std::string after_pass(std::string_view text, std::string_view pass, std::string_view target) {
  aot::air::LegaliseOptions options;
  options.stop_after = pass;
  return to_text(*must_legalise(text, target, options).at(0).module);
}

size_t count_lines(std::string_view text, std::string_view part) {
  size_t count = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    if (text.substr(at, end - at).find(part) != std::string_view::npos) ++count;
    at = end + 1;
  }
  return count;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string kernel(std::string_view parameters, std::string_view body, std::string_view declarations) {
  return fmt::format(
      "{}\ndefine void @k({}) #9 {{\nentry:\n{}\n  ret void\n}}\nattributes #9 = {{ \"smelt.kernel\" }}\n",
      declarations, parameters, body);
}

}  // namespace smelt::test
