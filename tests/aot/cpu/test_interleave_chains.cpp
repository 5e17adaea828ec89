// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The order of multiply-adds before and behind interleave_chains().
#include "codegen/interleave_chains.hpp"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"

#include <doctest/doctest.h>

#include <string>

namespace smelt::test {
namespace {

/// Names of the values of a function's only block, in their order, once chains go on in turns.
std::string order_of(const std::string& code) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  const std::string text =
      "define void @f(<32 x float> %a, <32 x float> %b, ptr %p) {\n" + code +
      "  ret void\n}\ndeclare <32 x float> @llvm.fma.v32f32(<32 x float>, <32 x float>, <32 x float>)\n";
  const auto module = llvm::parseAssemblyString(text, error, context);
  REQUIRE_MESSAGE(module, error.getMessage().str());
  llvm::Function& function = *module->getFunction("f");
  aot::cpu::interleave_chains(function.getEntryBlock());
  REQUIRE(!llvm::verifyFunction(function, &llvm::errs()));
  std::string names;
  for (const llvm::Instruction& instruction : function.getEntryBlock())
    names += instruction.hasName() ? instruction.getName().str() + " " : instruction.getOpcodeName() + std::string(" ");
  return names;
}

std::string link(const std::string& name, const std::string& sum) {
  return "  %" + name + " = call <32 x float> @llvm.fma.v32f32(<32 x float> %a, <32 x float> %b, <32 x float> " + sum +
         ")\n";
}

std::string chain(const std::string& name) {
  return link(name + "1", "%a") + link(name + "2", "%" + name + "1") + link(name + "3", "%" + name + "2");
}

std::string stored(const std::string& name) {
  return "  store <32 x float> %" + name + ", ptr %p\n";
}

}  // namespace

TEST_CASE("chains of multiply-adds go on in turns, as many as have registers") {
  const std::string all = chain("a") + chain("b") + chain("c") + chain("d") + chain("e");
  const std::string ends = stored("a3") + stored("b3") + stored("c3") + stored("d3") + stored("e3");
  CHECK(order_of(all + ends) == "a1 b1 c1 d1 a2 b2 c2 d2 a3 b3 c3 d3 e1 e2 e3 store store store store store ret ");
}

TEST_CASE("chains whose sum is read between them stay in their order") {
  CHECK(order_of(chain("a") + stored("a3") + chain("b") + chain("c") + stored("b3") + stored("c3")) ==
        "a1 a2 a3 store b1 c1 b2 c2 b3 c3 store store ret ");
  // The second chain begins with the first one's sum, which is stored too.
  CHECK(order_of(chain("a") + link("b1", "%a3") + link("b2", "%b1") + link("b3", "%b2") + stored("a3") +
                 stored("b3")) == "a1 a2 a3 b1 b2 b3 store store ret ");
}

TEST_CASE("chains of other lengths stay in their order") {
  CHECK(order_of(chain("a") + link("b1", "%b") + link("b2", "%b1") + stored("a3") + stored("b2")) ==
        "a1 a2 a3 b1 b2 store store ret ");
}

}  // namespace smelt::test
