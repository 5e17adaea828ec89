// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "warm_up.hpp"

#include "smelt/schema/package.hpp"

#include "build_package.hpp"

namespace smelt::service {
namespace {

constexpr std::string_view kKernel = R"(
target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-f32:32:32-f64:64:64-v16:16:16-v24:32:32-v32:32:32-v48:64:64-v64:64:64-v96:128:128-v128:128:128-v192:256:256-v256:256:256-v512:512:512-v1024:1024:1024-n8:16:32"
target triple = "air64_v27-apple-macosx15.0.0"
define void @warm(ptr addrspace(1) %x, i32 %i) {
entry:
  %wide = zext i32 %i to i64
  %p = getelementptr float, ptr addrspace(1) %x, i64 %wide
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %next, %loop ]
  %v = load float, ptr addrspace(1) %p, align 4
  %w = fmul float %v, 2.0
  store float %w, ptr addrspace(1) %p, align 4
  %next = add i32 %k, 1
  %more = icmp ult i32 %next, %i
  br i1 %more, label %loop, label %done
done:
  ret void
}
!air.kernel = !{!0}
!0 = !{ptr @warm, !1, !2}
!1 = !{}
!2 = !{!3, !4}
!3 = !{i32 0, !"air.buffer", !"air.location_index", i32 0, i32 1, !"air.read_write", !"air.address_space", i32 1}
!4 = !{i32 1, !"air.thread_position_in_grid"}
)";

}  // namespace

void WarmUp::run() {
  Request request;
  request.sources.push_back({"warm", as_bytes(kKernel)});
  const auto built = build_package(request, 1, {}, KernelStore());
  if (!built) return;
  const auto package = schema::Package::open(built->package);
  if (!package || package->library_count() == 0) return;
  library_ = to_bytes(package->slice(package->library(0).slices.first).part.bytes);
  run_again(aot::CpuEffort::balanced);
}

void WarmUp::run_again(aot::CpuEffort effort) const {
  if (library_.empty()) return;
  Request request;
  request.sources.push_back({"warm", library_});
  request.effort = effort;
  (void)build_package(request, 1, {}, KernelStore());
}

}  // namespace smelt::service
