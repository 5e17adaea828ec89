// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The runtime is for vectorisers: a loop over each math function becomes vector code, and nothing is called.
#include "jit.hpp"
#include "math_cases.hpp"

#include <doctest/doctest.h>

#include <set>

using namespace smelt::test;

namespace {

/// Four wide where the function works in double.
bool is_vector_code(const Compiled& compiled) {
  return compiled.ir.find("load <8 x float>") != std::string::npos ||
         compiled.ir.find("load <4 x float>") != std::string::npos;
}

}  // namespace

TEST_CASE("a loop over each function becomes vector code") {
  std::set<std::string> operations = {"fast_exp10", "fast_sinh", "fast_cosh", "fast_sinpi", "fast_cospi", "fast_tanpi"};
  for (const UnaryCase& c : unary_cases()) operations.insert(c.operation);
  for (const std::string& operation : operations) {
    const Compiled compiled = compile(loop_over("f", "air." + operation + ".f32", "float", {"float"}));
    REQUIRE(compiled.error == "");
    CHECK_MESSAGE(is_vector_code(compiled), operation << " stays scalar");
    CHECK_MESSAGE(compiled.undefined.empty(), operation);
    CHECK_MESSAGE(compiled.ir.find("call float @smelt_rt") == std::string::npos, operation);
  }
  // fmod is a loop for quotients past 2^29; its fast form is not.
  for (const std::string operation : {"pow", "fast_pow", "powr", "atan2", "fast_fmod", "fmin", "fmax", "nextafter"}) {
    const Compiled compiled = compile(loop_over("f", "air." + operation + ".f32", "float", {"float", "float"}));
    REQUIRE(compiled.error == "");
    CHECK_MESSAGE(is_vector_code(compiled), operation << " stays scalar");
    CHECK_MESSAGE(compiled.undefined.empty(), operation);
  }
}

TEST_CASE("math that library calls would serve is served on every level") {
  std::string air;
  const std::vector<std::string> unary = {"exp", "exp2", "exp10", "log",  "log2", "log10", "sin", "cos",
                                          "tan", "asin", "acos",  "atan", "sinh", "cosh",  "tanh"};
  for (const std::string& name : unary) {
    air += loop_over(name + "_f32", "llvm." + name + ".f32", "float", {"float"});
    air += loop_over(name + "_v4f16", "llvm." + name + ".v4f16", "<4 x half>", {"<4 x half>"});
  }
  air += loop_over("pow", "llvm.pow.f32", "float", {"float", "float"});
  air += R"(
define float @rem(float %x, float %y) {
  %r = frem float %x, %y
  ret float %r
}
declare float @llvm.powi.f32.i32(float, i32)
define float @powi(float %x, i32 %n) {
  %r = call float @llvm.powi.f32.i32(float %x, i32 %n)
  ret float %r
}
declare void @llvm.memcpy.p0.p1.i64(ptr, ptr addrspace(1), i64, i1)
declare void @llvm.memset.p3.i64(ptr addrspace(3), i8, i64, i1)
declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)
define void @memory(ptr %a, ptr addrspace(1) %b, ptr addrspace(3) %c, i64 %n, ptr %d) {
  call void @llvm.memcpy.p0.p1.i64(ptr %a, ptr addrspace(1) %b, i64 %n, i1 false)
  call void @llvm.memcpy.p0.p1.i64(ptr %a, ptr addrspace(1) %b, i64 5000, i1 false)
  call void @llvm.memset.p3.i64(ptr addrspace(3) %c, i8 0, i64 %n, i1 false)
  call void @llvm.memset.p3.i64(ptr addrspace(3) %c, i8 7, i64 100, i1 false)
  call void @llvm.memmove.p0.p0.i64(ptr %a, ptr %d, i64 %n, i1 false)
  ret void
}
)";
  for (const std::string level : {"x86-64-v3", "x86-64-v4", "generic"}) {
    const Compiled compiled = compile(air, level);
    CHECK(compiled.error == "");
    for (const std::string& symbol : compiled.undefined) FAIL_CHECK(level << " wants " << symbol);
  }
  CHECK(lowering_error("declare double @llvm.exp.f64(double)\ndefine double @f(double %x) {\n"
                       "  %r = call double @llvm.exp.f64(double %x)\n  ret double %r\n}\n")
            .find("double") != std::string::npos);
}
