// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Vectors in buffers at multiples of their element only, though the kernel says that they are aligned: Apple's GPUs do
// not mind, and ggml's mat-mat kernels store float4 to rows of any length.
#include "launch.hpp"

#include <doctest/doctest.h>

namespace smelt::test {
namespace {

const char* const kScale = R"(
define void @scale(ptr addrspace(1) align 16 "air-buffer-no-alias" %in, ptr addrspace(1) align 16 "air-buffer-no-alias" %out, i32 %gid) {
  %i = zext i32 %gid to i64
  %p = getelementptr inbounds <4 x float>, ptr addrspace(1) %in, i64 %i
  %q = getelementptr inbounds <4 x float>, ptr addrspace(1) %out, i64 %i
  %x = load <4 x float>, ptr addrspace(1) %p, align 16
  %y = fmul <4 x float> %x, <float 2.0, float 2.0, float 2.0, float 2.0>
  store <4 x float> %y, ptr addrspace(1) %q, align 16
  ret void
}
!air.kernel = !{!0}
!0 = !{ptr @scale, !1, !2}
!1 = !{}
!2 = !{!3, !4, !5}
!3 = !{i32 0, !"air.buffer", !"air.location_index", i32 0, i32 1, !"air.read", !"air.address_space", i32 1}
!4 = !{i32 1, !"air.buffer", !"air.location_index", i32 1, i32 1, !"air.read_write", !"air.address_space", i32 1}
!5 = !{i32 2, !"air.thread_position_in_grid", !"air.arg_type_name", !"uint", !"air.arg_name", !"gid"}
)";

TEST_CASE("vectors need no more alignment than their elements") {
  const Bytes bitcode = assemble(kAirHeader + std::string(kScale));
  for (const aot::CpuLevel level : runnable_levels())
    for (const aot::CpuMethod method : {aot::CpuMethod::automatic, aot::CpuMethod::regions, aot::CpuMethod::lanes})
      for (const size_t skipped : {1u, 2u, 3u}) {
        aot::CpuOptions options;
        options.level = level;
        options.method = method;
        const LoadedSlice slice = compile_one("scale", bitcode, options);
        constexpr size_t kThreads = 7;
        alignas(64) float in[4 * kThreads + 3];
        alignas(64) float out[4 * kThreads + 3];
        for (size_t i = 0; i < std::size(in); ++i) in[i] = static_cast<float>(i);
        Launch launch;
        launch.grid = {kThreads, 1, 1};
        launch.group = {4, 1, 1};
        launch.buffers[0] = {in + skipped, 16 * kThreads};
        launch.buffers[1] = {out + skipped, 16 * kThreads};
        slice.run("scale", launch);
        for (size_t i = skipped; i < skipped + 4 * kThreads; ++i) CHECK(out[i] == 2.0f * static_cast<float>(i));
      }
}

}  // namespace
}  // namespace smelt::test
