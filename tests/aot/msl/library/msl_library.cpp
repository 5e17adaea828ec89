// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "msl_library.hpp"

#include "smelt/aot/compile.hpp"
#include "smelt/metallib/reader.hpp"

#include "files.hpp"
#include "ops/intrinsics.hpp"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cstdlib>
#include <regex>
#include <stdexcept>

namespace smelt::test {
namespace {

/// The precompiled headers of this run, for all libraries of it.
const std::string& header_folder() {
  static const TemporaryFolder folder;
  static const std::string path = folder.path().string();
  return path;
}

Result<aot::Compiled> compile_text(std::string_view text, const MslSettings& settings) {
  aot::CompileOptions options;
  options.targets = {aot::parse_target(settings.target).value()};
  if (settings.fast_math) options.math = aot::kFastMath;
  options.language = settings.language;
  options.cache_folder = header_folder();
  options.threads = 2;
  options.include_folders = settings.include_folders;
  options.functions = settings.functions;
  const aot::Source source{settings.name, std::as_bytes(std::span(text))};
  return aot::compile(std::span(&source, 1), options);
}

LoadedSlice load(const Bytes& image, const aot::Target& target, std::set<std::string>& operations) {
  const metallib::Library library = metallib::read(image).value();
  std::vector<aot::AirModuleView> modules;
  for (const metallib::Function& function : library.functions) {
    const ByteView bitcode = library.module_of(function).bitcode();
    modules.push_back({function.name, bitcode});
    llvm::LLVMContext context;
    const llvm::StringRef bytes(reinterpret_cast<const char*>(bitcode.data()), bitcode.size());
    auto module = llvm::parseBitcodeFile(llvm::MemoryBufferRef(bytes, function.name), context);
    if (!module) throw std::runtime_error(function.name + ": " + llvm::toString(module.takeError()));
    for (const llvm::Function& callee : **module)
      if (callee.getName().starts_with("air.")) {
        const auto known = aot::air::lookup(callee.getName().str(), target.air);
        if (known && !aot::air::agrees(*known, callee.getFunctionType()))
          throw std::runtime_error(callee.getName().str() + " is declared with another type than AIR's");
        operations.insert(callee.getName().str());
      }
  }
  aot::CpuOptions options;
  options.level = runnable_levels().front();
  options.threads = 2;
  auto compiled = aot::compile_cpu(modules, options);
  if (!compiled) throw std::runtime_error(compiled.error().message);
  if (!compiled->missing.empty())
    throw std::runtime_error(compiled->missing.front().name + ": " + compiled->missing.front().reason);
  return LoadedSlice(compiled->slice);
}

/// Words that are called: in front of a parenthesis, or of template arguments as in as_type<int>(x).
void note_calls(const std::string& text) {
  static const std::regex call(R"(((?:fast|precise)::)?\b([a-z]\w*)\s*(?:<[^<>();]*>)?\s*\()");
  for (auto found = std::sregex_iterator(text.begin(), text.end(), call); found != std::sregex_iterator(); ++found)
    calls_seen().insert((*found)[1].str() + (*found)[2].str());
}

LoadedSlice compile_and_load(std::string_view text, const MslSettings& settings, std::set<std::string>& operations) {
  auto compiled = compile_text(text, settings);
  if (!compiled) throw std::runtime_error(compiled.error().message + "\n" + std::string(text));
  LoadedSlice slice = load(compiled->targets.front().metallib, compiled->targets.front().target, operations);
  operations_seen().insert(operations.begin(), operations.end());
  note_calls(std::string(text));
  return slice;
}

}  // namespace

MslLibrary::MslLibrary(std::string_view text, const MslSettings& settings)
    : slice_(compile_and_load(text, settings, operations_)) {}

std::string msl_errors(std::string_view text, const MslSettings& settings) {
  const auto compiled = compile_text(text, settings);
  return compiled ? std::string() : compiled.error().message;
}

std::set<std::string>& operations_seen() {
  static std::set<std::string> seen;
  return seen;
}

std::set<std::string>& calls_seen() {
  static std::set<std::string> seen;
  return seen;
}

bool full_sweep() {
  const char* value = std::getenv("SMELT_FULL");
  return value != nullptr && *value != '\0' && *value != '0';
}

}  // namespace smelt::test
