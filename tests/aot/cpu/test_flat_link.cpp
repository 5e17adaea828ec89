// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The flat linker refuses whatever would tie code to a place or to a library, by name.
#include "codegen/flat_link.hpp"
#include "codegen/target.hpp"
#include "launch.hpp"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Target/TargetMachine.h"

#include <doctest/doctest.h>

namespace smelt::test {
namespace {

Bytes object_of(const std::string& text, aot::CpuLevel level) {
  auto target = aot::cpu::make_target_machine(level).value();
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  auto module = llvm::parseAssemblyString(text, diagnostic, context);
  REQUIRE(module != nullptr);
  module->setDataLayout(target->createDataLayout());
  module->setTargetTriple(target->getTargetTriple().str());
  module->setPICLevel(llvm::PICLevel::BigPIC);
  return aot::cpu::emit_object(*module, *target).value();
}

std::string refusal(const std::string& text, aot::CpuLevel level) {
  const auto linked = aot::cpu::flat_link(object_of(text, level), "entry");
  return linked ? "linked" : linked.error().message;
}

constexpr aot::CpuLevel kBoth[] = {aot::CpuLevel::x86_64_v3, aot::CpuLevel::aarch64};

TEST_CASE("code, constants and calls within link") {
  const std::string text =
      "@table = internal constant [4 x i32] [i32 3, i32 1, i32 4, i32 1]\n"
      "define internal i32 @pick(i32 %i) noinline nounwind {\n"
      "  %j = zext i32 %i to i64\n"
      "  %p = getelementptr [4 x i32], ptr @table, i64 0, i64 %j\n"
      "  %v = load i32, ptr %p\n"
      "  ret i32 %v\n}\n"
      "define hidden i32 @entry(i32 %i) nounwind {\n"
      "  %v = call i32 @pick(i32 %i)\n  %w = add i32 %v, 1\n  ret i32 %w\n}\n";
  for (const aot::CpuLevel level : kBoth) {
    const auto linked = aot::cpu::flat_link(object_of(text, level), "entry");
    REQUIRE(linked.has_value());
    CHECK(linked->entry_offset < linked->bytes.size());
  }
}

TEST_CASE("what needs the world outside is refused by name") {
  for (const aot::CpuLevel level : kBoth) {
    CAPTURE(std::string(to_string(level)));
    const std::string call = refusal(
        "declare float @fmaf(float, float, float)\n"
        "define hidden float @entry(float %x) nounwind {\n  %y = call float @fmaf(float %x, float %x, float %x)\n"
        "  ret float %y\n}\n",
        level);
    CHECK(call.find("fmaf") != std::string::npos);
    const std::string data = refusal(
        "@counter = internal global i32 7\n"
        "define hidden i32 @entry(i32 %x) nounwind {\n  %o = load i32, ptr @counter\n"
        "  store i32 %x, ptr @counter\n  ret i32 %o\n}\n",
        level);
    CHECK(data.find("writable") != std::string::npos);
    const std::string table = refusal(
        "@a = internal constant i32 1\n@pointers = internal constant [1 x ptr] [ptr @a]\n"
        "define hidden ptr @entry(i64 %i) nounwind {\n  %p = getelementptr [1 x ptr], ptr @pointers, i64 0, i64 %i\n"
        "  %v = load ptr, ptr %p\n  ret ptr %v\n}\n",
        level);
    CHECK(table.find(".data.rel.ro") != std::string::npos);
    const std::string nothing = refusal("define hidden void @other() nounwind {\n  ret void\n}\n", level);
    CHECK(nothing.find("no symbol entry") != std::string::npos);
  }
}

TEST_CASE("no prefix of an object links into something else") {
  const Bytes whole =
      object_of("define hidden i32 @entry(i32 %i) nounwind {\n  ret i32 %i\n}\n", aot::CpuLevel::x86_64_v3);
  const Bytes code = aot::cpu::flat_link(whole, "entry").value().bytes;
  for (size_t n = 0; n < whole.size(); ++n) {
    const auto linked = aot::cpu::flat_link(Bytes(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(n)), "entry");
    if (linked) CHECK(linked->bytes == code);
  }
}

}  // namespace
}  // namespace smelt::test
