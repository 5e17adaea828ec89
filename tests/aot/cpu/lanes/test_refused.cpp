// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels that have no lane form are refused with a reason, and nothing of the attempt stays behind.
#include "harness.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace smelt;
using namespace smelt::test;

namespace {

std::string kernel(const std::string& body, const std::string& declarations = "") {
  return fmt::format(R"(
{}
define void @kernel(ptr addrspace(1) %buffer0, ptr addrspace(1) %buffer1, i32 %gid.x) {{
entry:
  %i = zext i32 %gid.x to i64
  %from = getelementptr i32, ptr addrspace(1) %buffer0, i64 %i
  %x = load i32, ptr addrspace(1) %from
  %odd = icmp ugt i32 %x, 3
{}
}}
)",
                     declarations, body);
}

}  // namespace

TEST_CASE("what lanes cannot do is refused before anything is written") {
  const struct {
    const char* what;
    std::string text;
    const char* reason;
  } cases[] = {
      {"a call", kernel("  call void @helper(i32 %x)\n  ret void", "declare void @helper(i32)"), "a call to 'helper'"},
      {"a call through a pointer", kernel("  %p = inttoptr i64 %i to ptr\n  call void %p()\n  ret void"),
       "an indirect call"},
      {"an endless loop", kernel("  br label %loop\nloop:\n  br label %loop"), "never ends"},
      {"a loop that ends only by an endless one",
       kernel("  br i1 %odd, label %loop, label %end\nloop:\n  br label %loop\nend:\n  ret void"), "never ends"},
      {"wide integers",
       kernel("  %w = zext i32 %x to i128\n  %m = mul i128 %w, %w\n  %t = trunc i128 %m to i32\n"
              "  store i32 %t, ptr addrspace(1) %from\n  ret void"),
       "does not fit in a lane"},
      {"packed bits in memory",
       kernel("  %v = load <8 x i1>, ptr addrspace(1) %from\n  store <8 x i1> %v, ptr addrspace(1) %from\n  ret void"),
       "odd width"},
      {"private memory of unknown size",
       kernel("  %m = alloca i32, i32 %x\n  store i32 %x, ptr %m\n  %y = load i32, ptr %m\n"
              "  store i32 %y, ptr addrspace(1) %from\n  ret void"),
       "unknown size"},
      {"a comparison of whole matrices",
       kernel("  %p = getelementptr <64 x float>, ptr addrspace(1) %buffer0, i64 0\n"
              "  %m = load <64 x float>, ptr addrspace(1) %p\n  %c = fcmp olt <64 x float> %m, zeroinitializer\n"
              "  %n = select <64 x i1> %c, <64 x float> %m, <64 x float> zeroinitializer\n"
              "  store <64 x float> %n, ptr addrspace(1) %p\n  ret void"),
       "not the thread's own"},
      {"inline assembly", kernel("  call void asm sideeffect \"nop\", \"\"()\n  ret void"), "an indirect call"},
      {"a texture",
       kernel("  %t = call i32 @air.sample_texture_2d.v4f32(i32 %x)\n"
              "  store i32 %t, ptr addrspace(1) %from\n  ret void",
              "declare i32 @air.sample_texture_2d.v4f32(i32)"),
       "air.sample_texture_2d"},
  };
  for (const auto& one : cases) {
    CAPTURE(one.what);
    LaneKernel refused(one.text, "kernel");
    const std::string before = refused.text_of("kernel");
    const size_t functions = refused.module().size();
    const auto made = refused.vectorise();
    REQUIRE_FALSE(made);
    CHECK(made.error().code == Errc::unsupported);
    CHECK_MESSAGE(made.error().message.find(one.reason) != std::string::npos, made.error().message);
    CHECK(refused.text_of("kernel") == before);
    CHECK(refused.module().size() == functions);
  }
}

TEST_CASE("code that cannot be reached, and traps, do not matter") {
  LaneKernel fine(kernel("  br i1 %odd, label %bad, label %good\nbad:\n  call void @llvm.trap()\n  unreachable\n"
                         "good:\n  store i32 %gid.x, ptr addrspace(1) %from\n  ret void",
                         "declare void @llvm.trap()"),
                  "kernel");
  CHECK(fine.vectorise());
}
