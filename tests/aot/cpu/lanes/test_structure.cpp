// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rewrites of control flow are valid for single threads, whatever lanes do with them later: tested there, on random
// kernels. Also: that a broken mask would be noticed.
#include "harness.hpp"
#include "lanes/prepare.hpp"
#include "lanes/specialise.hpp"
#include "lanes/structure.hpp"
#include "random_kernel.hpp"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <doctest/doctest.h>

#include <cstring>

using namespace smelt;
using namespace smelt::aot::cpu;
using namespace smelt::test;
using lanes::Shape;

namespace {

std::string problems_of(const llvm::Function& function) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  return llvm::verifyFunction(function, &stream) ? text : "";
}

}  // namespace

TEST_CASE("structured and specialised functions still do what a thread did") {
  unsigned rewritten = 0;
  unsigned copied = 0;
  for (uint32_t seed = 100; seed < 124; ++seed) {
    CAPTURE(seed);
    auto context = std::make_unique<llvm::LLVMContext>();
    auto module = random_kernel(*context, seed, /*flat=*/true);
    llvm::Function* original = module->getFunction("kernel");
    llvm::ValueToValueMapTy map;
    llvm::Function* changed = llvm::CloneFunction(original, map);
    changed->setName("changed");
    const std::vector<Shape> shapes = {Shape::uniform(), Shape::uniform(), Shape::uniform(),
                                       Shape::linear(1, 0xffffffff)};
    REQUIRE(lanes::normalise(*changed));
    const size_t before = changed->size();
    REQUIRE(lanes::structurise(*changed, shapes, 32));
    rewritten += changed->size() != before;
    REQUIRE(problems_of(*changed) == "");
    const lanes::Analysis analysis(*changed, shapes, 32);
    for (const lanes::Level& level : analysis.levels->inner_first()) {
      for (unsigned node = 0; node < level.end(); ++node) {
        if (!analysis.shapes->divergent(level.nodes[node])) continue;
        CHECK((lanes::arm_of(level, node).first || (level.loop && lanes::is_latch_exit(*level.loop))));
      }
    }
    if (lanes::specialise(*changed, shapes, 32, /*spread=*/true)) {
      ++copied;
      REQUIRE(problems_of(*changed) == "");
      // A thread by itself is all the lanes there are.
      llvm::Function* all = module->getFunction(lanes::kAllLanes);
      llvm::IRBuilder<> builder(llvm::BasicBlock::Create(*context, "entry", all));
      builder.CreateRet(all->getArg(0));
      all->setLinkage(llvm::GlobalValue::InternalLinkage);
    }
    // Run it in place of a gang: a gang of one thread, given as a "full" function, thread after thread.
    LaneKernel kernel(std::move(context), std::move(module), "kernel");
    const std::string difference = kernel.compare_with(
        "changed", {random_kernel_inputs(96, 0), random_kernel_inputs(96, 5), random_kernel_inputs(96, 6)},
        {{77, 1, 1}});
    CHECK_MESSAGE(difference.empty(), difference);
  }
  CHECK(rewritten > 5);
  CHECK(copied > 0);
}

// Breaks one kind of mask in all gang functions of a module; false if there is none to break.
bool break_masks(llvm::Module& module, llvm::StringRef kind) {
  std::vector<llvm::Instruction*> found;
  for (llvm::Function& function : module) {
    if (!function.getName().contains(".row") && !function.getName().contains(".linear")) continue;
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      if (kind == "store") {
        auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
        if (call && call->getIntrinsicID() == llvm::Intrinsic::masked_store) found.push_back(&instruction);
      } else if (llvm::isa<llvm::SelectInst>(instruction) && instruction.getName().starts_with(kind)) {
        found.push_back(&instruction);
      }
    }
  }
  for (llvm::Instruction* instruction : found) {
    if (kind == "store") {
      instruction->setOperand(3, llvm::Constant::getAllOnesValue(instruction->getOperand(3)->getType()));
    } else {
      instruction->replaceAllUsesWith(instruction->getOperand(1));
      instruction->eraseFromParent();
    }
  }
  return !found.empty();
}

TEST_CASE("broken masks are noticed") {
  for (const char* kind : {"narrow", "blend", "kept", "store"}) {
    CAPTURE(kind);
    unsigned tried = 0;
    unsigned noticed = 0;
    for (uint32_t seed = 200; seed < 230 && noticed < 3; ++seed) {
      auto context = std::make_unique<llvm::LLVMContext>();
      auto module = random_kernel(*context, seed, /*flat=*/true);
      LaneKernel kernel(std::move(context), std::move(module), "kernel");
      REQUIRE(kernel.vectorise());
      if (!break_masks(kernel.module(), kind)) continue;
      ++tried;
      kernel.compile();
      std::string difference;
      for (uint32_t uniform : {0u, 5u, 6u}) {
        if (difference.empty()) difference = compare(kernel, random_kernel_inputs(96, uniform), {{{77, 1, 1}}});
      }
      noticed += !difference.empty();
    }
    MESSAGE(std::string(kind) << ": " << noticed << " of " << tried << " mutants noticed");
    CHECK(noticed > 0);
  }
}
