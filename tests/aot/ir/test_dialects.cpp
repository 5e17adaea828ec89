// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels of other targets become kernel IR: marked, in AIR's address spaces, with hardware values, barriers and
// mathematics in AIR's words. The files are real output of Clang 14 and 22 (data/README.md).
#include "files.hpp"
#include "ir/dialect.hpp"
#include "ir/reader.hpp"

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"

#include <doctest/doctest.h>

#include <set>
#include <string>

using namespace smelt;
using namespace smelt::aot;
using namespace smelt::aot::input;

namespace {

Bytes data(const std::string& name) {
  return test::must_read(std::filesystem::path(SMELT_SOURCE_DIR) / "tests/aot/ir/data" / name);
}

std::string printed(const KernelModule& input) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  input.module->print(stream, nullptr);
  return stream.str();
}

std::set<std::string> kernels_of(const KernelModule& input) {
  std::set<std::string> names;
  for (const llvm::Function& function : *input.module)
    if (function.hasFnAttribute("smelt.kernel")) names.insert(function.getName().str());
  return names;
}

/// Declarations that are neither AIR's, LLVM's nor hardware values: what no one will translate.
std::set<std::string> strangers(const KernelModule& input) {
  std::set<std::string> names;
  for (const llvm::Function& function : *input.module)
    if (function.isDeclaration() && !function.getName().starts_with("air.") &&
        !function.getName().starts_with("smelt.builtin.") &&
        (!function.getName().starts_with("llvm.") || function.getName().starts_with("llvm.nvvm.")))
      names.insert(function.getName().str());
  return names;
}

bool holds(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("OpenCL kernels of Clang 14 (typed pointers) and 22") {
  for (const std::string name : {"llvm14-spir64.ll", "llvm22-spir64.ll"}) {
    CAPTURE(name);
    const auto input = read_input(data(name), name);
    if (!input) FAIL(input.error().message);
    CHECK_FALSE(llvm::verifyModule(*input->module));
    CHECK(kernels_of(*input) == std::set<std::string>{"misc", "row_sum", "saxpy"});
    CHECK(strangers(*input).empty());
    const std::string text = printed(*input);
    CAPTURE(text);
    for (const std::string_view part :
         {"@smelt.builtin.thread_position_in_grid.x()", "@smelt.builtin.threadgroup_position_in_grid.x()",
          "@air.wg.barrier(i32 2, i32 1)", "@air.exp2.f32(float", "@air.fma.f32(float",
          "atomicrmw umax ptr addrspace(1)", "\"smelt.max_threads_per_threadgroup\"=\"64\"",
          "\"smelt.arg_name\"=\"tmp\"", "\"smelt.arg_type_name\"=\"float4\""})
      CHECK_MESSAGE(holds(text, part), part);
    CHECK_FALSE(holds(text, "addrspace(4)"));  // generic is AIR's 0
    CHECK_FALSE(holds(text, "spir_"));
  }
}

TEST_CASE("NVVM of Clang 22") {
  const auto input = read_input(data("llvm22-nvptx64.ll"), "k.ll");
  if (!input) FAIL(input.error().message);
  CHECK(kernels_of(*input) == std::set<std::string>{"group_sum"});
  CHECK(strangers(*input).empty());
  const std::string text = printed(*input);
  CAPTURE(text);
  CHECK(holds(text, "@smelt.builtin.thread_position_in_threadgroup.x()"));
  CHECK(holds(text, "@air.simd_shuffle.f32(float"));
  CHECK(holds(text, "@air.wg.barrier(i32 3, i32 1)"));
}

TEST_CASE("bitcode of a newer LLVM says who made it and what to do") {
  const auto input = read_input(data("llvm22-spir64.bc"), "k.bc");
  REQUIRE_FALSE(input);
  CHECK(input.error().code == Errc::unsupported);
  CHECK(holds(input.error().message, "k.bc: this bitcode was written by LLVM22.1.8"));
  CHECK(holds(input.error().message, "llvm-dis"));
}

TEST_CASE("address spaces are renumbered everywhere") {
  const std::string_view text =
      "target triple = \"nvptx64-nvidia-cuda\"\n"
      "@table = addrspace(4) constant [2 x float] [float 1.0, float 2.0]\n"
      "%pair = type { ptr addrspace(4), ptr addrspace(5) }\n"
      "@addresses = addrspace(1) global ptr addrspacecast (ptr addrspace(4) @table to ptr)\n"
      "define void @k(ptr addrspace(1) %out, ptr addrspace(4) %in) {\n"
      "  %slot = alloca float, align 4, addrspace(5)\n"
      "  %generic = addrspacecast ptr addrspace(5) %slot to ptr\n"
      "  %v = load float, ptr addrspace(4) getelementptr (float, ptr addrspace(4) @table, i64 1)\n"
      "  store float %v, ptr %generic\n"
      "  call void @llvm.memcpy.p1.p4.i64(ptr addrspace(1) %out, ptr addrspace(4) %in, i64 16, i1 false)\n"
      "  call void @llvm.memcpy.p1.p5.i64(ptr addrspace(1) %out, ptr addrspace(5) %slot, i64 4, i1 false)\n"
      "  ret void\n}\n"
      "declare void @llvm.memcpy.p1.p4.i64(ptr addrspace(1), ptr addrspace(4), i64, i1)\n"
      "declare void @llvm.memcpy.p1.p5.i64(ptr addrspace(1), ptr addrspace(5), i64, i1)\n"
      "!nvvm.annotations = !{!0}\n!0 = !{ptr @k, !\"kernel\", i32 1, !\"maxntidx\", i32 32, !\"maxntidy\", i32 4}\n";
  const auto input = read_input(as_bytes(text), "spaces.ll");
  if (!input) FAIL(input.error().message);
  const std::string result = printed(*input);
  CAPTURE(result);
  CHECK_FALSE(holds(result, "addrspace(4)"));
  CHECK_FALSE(holds(result, "addrspace(5)"));
  CHECK(holds(result, "@llvm.memcpy.p1.p2.i64"));
  CHECK(holds(result, "@llvm.memcpy.p1.p0.i64"));
  CHECK(holds(result, "\"smelt.max_threads_per_threadgroup\"=\"128\""));
  CHECK_FALSE(llvm::verifyModule(*input->module));
}

TEST_CASE("kernels by name; and none is an error") {
  const std::string_view text = "define void @a() { ret void }\ndefine i32 @b() { ret i32 0 }\n";
  const auto none = read_input(as_bytes(text), "x.ll");
  REQUIRE_FALSE(none);
  CHECK(none.error().code == Errc::compile_failed);
  CHECK(holds(none.error().message, "x.ll: no kernel"));
  const auto one = read_input(as_bytes(text), "x.ll", {.kernels = {"a"}});
  REQUIRE(one);
  CHECK(kernels_of(*one) == std::set<std::string>{"a"});
  const auto wrong = read_input(as_bytes(text), "x.ll", {.kernels = {"c"}});
  REQUIRE_FALSE(wrong);
  CHECK(holds(wrong.error().message, "'c'"));
  CHECK(holds(wrong.error().message, "a, b"));
  const auto value = read_input(as_bytes(text), "x.ll", {.kernels = {"b"}});
  REQUIRE_FALSE(value);
  CHECK(holds(value.error().message, "line 2: kernel 'b' returns a value"));
}

TEST_CASE("AIR stays as it is, with entry metadata and without") {
  const std::string_view with =
      "target triple = \"air64-apple-macosx14.0.0\"\n"
      "define void @k(float addrspace(1)* %p) {\n  ret void\n}\n"
      "!air.kernel = !{!0}\n!0 = !{void (float addrspace(1)*)* @k, !1, !2}\n!1 = !{}\n!2 = !{!3}\n"
      "!3 = !{i32 0, !\"air.buffer\", !\"air.location_index\", i32 0, i32 1, !\"air.read\", !\"air.address_space\", "
      "i32 1, "
      "!\"air.arg_type_size\", i32 4, !\"air.arg_type_align_size\", i32 4, !\"air.arg_type_name\", !\"float\", "
      "!\"air.arg_name\", !\"p\"}\n";
  const auto complete = read_input(as_bytes(with), "air.ll");
  if (!complete) FAIL(complete.error().message);
  CHECK(kernels_of(*complete).empty());
  const std::string_view without =
      "define void @k(ptr addrspace(1) %p) \"smelt.kernel\" {\n"
      "  call void @air.wg.barrier(i32 2, i32 1)\n  ret void\n}\ndeclare void @air.wg.barrier(i32, i32)\n";
  const auto marked = read_input(as_bytes(without), "air.ll");
  if (!marked) FAIL(marked.error().message);
  CHECK(kernels_of(*marked) == std::set<std::string>{"k"});
}
