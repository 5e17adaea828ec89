// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Apple's own libraries through our bitcode writer: the same instructions come back, and the same bits are computed.
//
// That the instructions are the same is settled without compiling: code is made from what parse_module() returns and
// from nothing else. What may differ is what computes nothing: the numbers of metadata nodes, and casts from a pointer
// type to itself, which writing typed pointers adds and removes.
#include "smelt/metallib/reader.hpp"

#include "call.hpp"
#include "files.hpp"
#include "ir_reader/parse.hpp"
#include "skips.hpp"

#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"

#include <doctest/doctest.h>

#include <regex>

namespace smelt::test {
namespace {

void drop_idle_casts(llvm::Function& function) {
  for (llvm::BasicBlock& block : function)
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(block)) {
      auto* const cast = llvm::dyn_cast<llvm::BitCastInst>(&instruction);
      if (cast == nullptr || cast->getSrcTy() != cast->getDestTy()) continue;
      cast->replaceAllUsesWith(cast->getOperand(0));
      cast->eraseFromParent();
    }
}

/// Every function as text: instructions, flags, attributes, and of each metadata node its kind.
std::string instructions_of(ByteView bitcode, const std::string& name) {
  const auto module = aot::input::parse_module(bitcode, name).value();
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (llvm::Function& function : *module.module) {
    if (function.isDeclaration()) continue;
    drop_idle_casts(function);
    function.print(stream);
  }
  for (const llvm::GlobalVariable& global : module.module->globals()) global.print(stream);
  static const std::regex number("![0-9]+");
  return std::regex_replace(text, number, "!");
}

void check_rewritten(const metallib::Library& library) {
  for (const metallib::Function& function : library.functions) {
    const ByteView bitcode = library.module_of(function).blob;
    INFO(function.name);
    const std::string original = instructions_of(bitcode, function.name);
    CHECK(original.find("define") != std::string::npos);
    CHECK(original == instructions_of(rewritten(function.name, bitcode), function.name));
  }
}

TEST_CASE("every kernel of ggml keeps its instructions through our writer") {
  if (!have_ggml()) return;
  const Bytes image = must_read(*corpus("llama.rn") / "cpp/ggml-metal/ggml-llama.metallib");
  const metallib::Library library = metallib::read(image).value();
  check_rewritten(library);
  MESSAGE(library.functions.size(), " kernels");
}

TEST_CASE("vadd of every generation, through our writer, gives the same bits") {
  const auto folder = shared("data/metallibs");
  if (!folder) {
    smelt::test::skipped("tests/data/metallibs is absent");
    return;
  }
  for (const char* version : {"11", "12", "13", "14", "15", "26"}) {
    CAPTURE(version);
    const Bytes image = must_read(*folder / fmt::format("constants.{}.metallib", version));
    const metallib::Library library = metallib::read(image).value();
    check_rewritten(library);
    const ByteView bitcode = library.module_of(*library.find("vadd")).blob;
    for (const aot::CpuLevel level : runnable_levels()) {
      aot::CpuOptions options;
      options.level = level;
      // Values that round, so that another order of the sum or a contraction would show.
      std::vector<float> a(1003), b(a.size()), original(a.size()), again(a.size());
      for (size_t i = 0; i < a.size(); ++i) {
        a[i] = 0.1f * static_cast<float>(i);
        b[i] = 1.0f / (1.0f + static_cast<float>(i));
      }
      const auto run = [&](ByteView code, std::vector<float>& out) {
        Launch launch;
        launch.grid = {static_cast<uint32_t>(a.size()), 1, 1};
        launch.group = {64, 1, 1};
        launch.bind(0, a).bind(1, b).bind(2, out).constant(0, 3.3f).constant(2, -0.7f);
        compile_one("vadd", code, options).run("vadd", launch);
      };
      run(bitcode, original);
      run(rewritten("vadd", bitcode), again);
      CHECK(original[1002] != 0);
      CHECK(std::memcmp(original.data(), again.data(), a.size() * sizeof(float)) == 0);
    }
  }
}

}  // namespace
}  // namespace smelt::test
