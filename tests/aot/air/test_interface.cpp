// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernel's interface: entries, builtins, arguments, threadgroup memory, constants, metadata, stamps.
#include "air_tools.hpp"

#include "llvm/IR/Module.h"

#include <doctest/doctest.h>

using namespace smelt;
using namespace smelt::test;

namespace {

constexpr const char* kVectorAdd = R"(
target datalayout = "e-p:64:64-i64:64"
target triple = "spir64-unknown-unknown"
define dso_local spir_kernel void @vadd(ptr noundef %a, ptr noundef readonly %b, float %scale, i32 %n) #0 !kernel_arg_addr_space !1 {
entry:
  %group = call i32 @smelt.builtin.threadgroup_position_in_grid.x()
  %size = call i32 @smelt.builtin.threads_per_threadgroup.x()
  %lane = call i32 @smelt.builtin.thread_position_in_threadgroup.x()
  %base = mul i32 %group, %size
  %id = add i32 %base, %lane
  %in = icmp ult i32 %id, %n
  br i1 %in, label %work, label %done
work:
  %wide = zext nneg i32 %id to i64
  %pa = getelementptr inbounds nuw float, ptr %a, i64 %wide
  %pb = getelementptr inbounds float, ptr %b, i64 %wide
  %x = load float, ptr %pa, align 4
  %y = load float, ptr %pb, align 4
  %s = fmul float %y, %scale
  %z = fadd float %x, %s
  store float %z, ptr %pa, align 4
  br label %done
done:
  ret void
}
declare i32 @smelt.builtin.threadgroup_position_in_grid.x()
declare i32 @smelt.builtin.threads_per_threadgroup.x()
declare i32 @smelt.builtin.thread_position_in_threadgroup.x()
attributes #0 = { convergent nounwind "smelt.kernel" "target-cpu"="gfx1030" }
!opencl.ocl.version = !{!0}
!0 = !{i32 2, i32 0}
!1 = !{i32 1, i32 1, i32 0, i32 0}
)";

}  // namespace

TEST_CASE("the module of one kernel has nothing of another") {
  const auto modules = must_legalise(
      "define void @first(ptr addrspace(1) %p) \"smelt.kernel\" { store float 1.0, ptr addrspace(1) %p\n ret void }\n"
      "define void @second(ptr addrspace(1) %p) \"smelt.kernel\" { call void @shared(ptr addrspace(1) %p)\n ret void "
      "}\n"
      "define void @shared(ptr addrspace(1) %p) noinline { store float 3.0, ptr addrspace(1) %p\n ret void }\n");
  REQUIRE(modules.size() == 2);
  for (const char* name : {"second", "shared"}) CHECK(modules[0].module->getFunction(name) == nullptr);
  CHECK(modules[1].module->getFunction("first") == nullptr);
  CHECK(modules[1].module->getFunction("shared") != nullptr);
}

TEST_CASE("plain GPU-style IR becomes a kernel with Apple's argument shapes") {
  const auto modules = must_legalise(kVectorAdd);
  REQUIRE(modules.size() == 1);
  CHECK(modules[0].function == "vadd");
  CHECK(modules[0].stage == "kernel");
  const std::string text = to_text(*modules[0].module);
  CAPTURE(text);
  CHECK(contains(text, "define void @vadd(ptr addrspace(1) noundef"));
  CHECK(contains(text, "ptr addrspace(2) nocapture noundef readonly align 4 dereferenceable(4) %scale"));
  CHECK(contains(text, "<3 x i32> noundef %thread_position_in_threadgroup"));
  CHECK_FALSE(contains(text, "smelt."));
  CHECK_FALSE(contains(text, "opencl"));
  CHECK_FALSE(contains(text, "gfx1030"));
  CHECK_FALSE(contains(text, "addrspacecast"));
  CHECK(contains(text,
                 R"(!{i32 0, !"air.buffer", !"air.location_index", i32 0, i32 1, !"air.read_write", )"
                 R"(!"air.address_space", i32 1, !"air.arg_type_size", i32 1, !"air.arg_type_align_size", i32 1, )"
                 R"(!"air.arg_type_name", !"char", !"air.arg_name", !"a"})"));
  CHECK(contains(text, R"(!{i32 1, !"air.buffer", !"air.location_index", i32 1, i32 1, !"air.read", )"));
  CHECK(contains(text,
                 R"(!{i32 2, !"air.buffer", !"air.buffer_size", i32 4, !"air.location_index", i32 2, i32 1, )"
                 R"(!"air.read", !"air.address_space", i32 2, !"air.arg_type_size", i32 4, )"
                 R"(!"air.arg_type_align_size", i32 4, !"air.arg_type_name", !"float", !"air.arg_name", !"scale"})"));
  CHECK(contains(text, R"(!"air.thread_position_in_threadgroup", !"air.arg_type_name", !"uint3")"));
  CHECK(contains(text, "target triple = \"air64-apple-macosx14.0.0\""));
}
