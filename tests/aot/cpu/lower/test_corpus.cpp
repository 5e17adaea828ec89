// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every kernel of an Apple-built library lowers, verifies, and keeps no air.* call but those of collectives and of the
// pipeline; no half or bfloat arithmetic is left, and no intrinsic that a code generator turns into a library call.
#include "smelt/metallib/library.hpp"
#include "smelt/metallib/reader.hpp"

#include "files.hpp"
#include "lower/collectives.hpp"
#include "lower/lower.hpp"
#include "skips.hpp"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"

#include <doctest/doctest.h>

#include <map>
#include <set>

using namespace smelt;
using namespace smelt::test;
using namespace smelt::aot::cpu;

namespace {

/// What is wrong with a lowered module, or "".
std::string leftover(const llvm::Module& module) {
  for (const llvm::Function& function : module) {
    if (function.isDeclaration()) {
      const llvm::StringRef name = function.getName();
      if (name.starts_with("llvm.")
              ? support_of(std::string_view(name)).support == Support::lowered
              : !parse_collective(name) && support_of(std::string_view(name)).support != Support::pipeline)
        return "still declares " + name.str();
      continue;
    }
    for (const llvm::Instruction& instruction : llvm::instructions(function)) {
      if (!instruction.isBinaryOp() && instruction.getOpcode() != llvm::Instruction::FNeg) continue;
      const llvm::Type* type = instruction.getType()->getScalarType();
      if (type->isHalfTy() || type->isBFloatTy() || instruction.getOpcode() == llvm::Instruction::FRem)
        return "arithmetic that should be gone in " + function.getName().str();
    }
  }
  return {};
}

/// Reasons by count of modules; "" for those that lower.
std::map<std::string, int> lower_all(const std::filesystem::path& path) {
  std::map<std::string, int> outcome;
  auto library = metallib::read_owned(must_read(path));
  REQUIRE_MESSAGE(library.has_value(), path.string());
  std::set<std::string> seen;
  for (const metallib::Module& module : library->modules) {
    const ByteView bitcode = module.bitcode();
    if (!seen.insert(std::string(as_text(bitcode))).second) continue;
    llvm::LLVMContext context;
    auto parsed = llvm::parseBitcodeFile(llvm::MemoryBufferRef(llvm::StringRef(as_text(bitcode)), "module"), context);
    REQUIRE(!!parsed);
    if (!(*parsed)->getNamedMetadata("air.kernel")) continue;
    if (auto lowered = lower_air_operations(**parsed); !lowered) {
      ++outcome[lowered.error().message];
      continue;
    }
    std::string message;
    llvm::raw_string_ostream stream(message);
    if (!llvm::verifyModule(**parsed, &stream)) message = leftover(**parsed);
    ++outcome[message];
  }
  return outcome;
}

void check_all(const std::filesystem::path& path) {
  const auto outcome = lower_all(path);
  int lowered = 0;
  for (const auto& [message, count] : outcome) {
    if (message.empty())
      lowered = count;
    else
      FAIL_CHECK(path.filename().string() << ": " << count << " modules: " << message);
  }
  MESSAGE(path.filename().string() << ": " << lowered << " kernels lowered");
  CHECK(lowered > 0);
}

}  // namespace

TEST_CASE("all kernels of Apple-built libraries lower") {
  const auto llama = corpus("llama.rn/cpp/ggml-metal/ggml-llama.metallib");
  const auto whisper = corpus("whisper.rn/cpp/ggml-whisper.metallib");
  if (!llama || !whisper) {
    smelt::test::skipped("no corpus (scripts/fetch-corpus)");
    return;
  }
  check_all(*llama);
  check_all(*whisper);
}

TEST_CASE("the small Apple-built libraries lower") {
  const auto folder = shared("data/metallibs");
  if (!folder) {
    smelt::test::skipped("no tests/data/metallibs");
    return;
  }
  for (const auto& path : files_below(*folder, ".metallib")) {
    if (path.filename() == "dummy.metallib") continue;
    const auto outcome = lower_all(path);
    for (const auto& [message, count] : outcome) CHECK_MESSAGE(message == "", path.filename().string());
  }
}
