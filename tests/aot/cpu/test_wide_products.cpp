// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels of products of 128 bits: threads one by one, which have an instruction for it, and lanes where those are
// asked for, which have not. Both give the same.
#include "launch.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace smelt::test {
namespace {

constexpr uint32_t kThreads = 70;

/// out[i] = (high half of a[i] * b) + a[i], thrice in a loop. `sign`: "s" or "u".
std::string products(std::string_view sign) {
  return fmt::format(R"({0}
declare i64 @air.mul_hi.{1}.i64(i64, i64) #1
declare i64 @air.mad_hi.{1}.i64(i64, i64, i64) #1
define void @k(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %i) #0 {{
entry:
  %wide = zext i32 %i to i64
  %from = getelementptr i64, ptr addrspace(1) %in, i64 %wide
  %first = load i64, ptr addrspace(1) %from, align 8
  br label %loop
loop:
  %r = phi i32 [ 0, %entry ], [ %next, %loop ]
  %a = phi i64 [ %first, %entry ], [ %c, %loop ]
  %b = call i64 @air.mul_hi.{1}.i64(i64 %a, i64 -7046029254386353131) #1
  %c = call i64 @air.mad_hi.{1}.i64(i64 %b, i64 %first, i64 %a) #1
  %next = add i32 %r, 1
  %more = icmp ult i32 %next, 3
  br i1 %more, label %loop, label %end
end:
  %to = getelementptr i64, ptr addrspace(1) %out, i64 %wide
  store i64 %c, ptr addrspace(1) %to, align 8
  ret void
}}
attributes #0 = {{ nounwind }}
attributes #1 = {{ nounwind readnone willreturn }}
!air.kernel = !{{!0}}
!0 = !{{ptr @k, !1, !2}}
!1 = !{{}}
!2 = !{{!3, !4, !5}}
!3 = !{{i32 0, !"air.buffer", !"air.location_index", i32 0, i32 1, !"air.read", !"air.address_space", i32 1}}
!4 = !{{i32 1, !"air.buffer", !"air.location_index", i32 1, i32 1, !"air.read_write", !"air.address_space", i32 1}}
!5 = !{{i32 2, !"air.thread_position_in_grid"}}
)",
                     kAirHeader, sign);
}

uint64_t high(uint64_t a, uint64_t b, bool is_signed) {
  if (is_signed)
    return static_cast<uint64_t>((static_cast<__int128>(static_cast<int64_t>(a)) * static_cast<int64_t>(b)) >> 64);
  return static_cast<uint64_t>((static_cast<unsigned __int128>(a) * b) >> 64);
}

std::string method_of(const Bytes& bitcode, aot::CpuMethod method) {
  const aot::AirModuleView view{"k", bitcode};
  aot::CpuOptions options;
  options.method = method;
  const auto compiled = aot::compile_cpu(std::span(&view, 1), options);
  REQUIRE(compiled);
  REQUIRE(compiled->missing.empty());
  return std::string(schema::read_cpu_slice(compiled->slice).value().kernels.front().method);
}

}  // namespace

TEST_CASE("products of 128 bits are computed by threads one by one, with the results of lanes") {
  for (const bool is_signed : {false, true}) {
    const Bytes bitcode = assemble(products(is_signed ? "s" : "u"));
    CHECK(method_of(bitcode, aot::CpuMethod::automatic) == "loop");
    CHECK(method_of(bitcode, aot::CpuMethod::lanes) == "lanes");
    for (const aot::CpuMethod method : {aot::CpuMethod::automatic, aot::CpuMethod::lanes, aot::CpuMethod::regions}) {
      CAPTURE(is_signed);
      CAPTURE(static_cast<int>(method));
      aot::CpuOptions options;
      options.method = method;
      options.verify_ir = true;
      const LoadedSlice slice = compile_one("k", bitcode, options);
      std::vector<uint64_t> in(kThreads), out(kThreads);
      for (uint64_t i = 0; i < kThreads; ++i) in[i] = i * 0x9e3779b97f4a7c15u + (i % 3 << 62);
      Launch launch;
      launch.grid = {kThreads, 1, 1};
      launch.group = {32, 1, 1};
      launch.bind(0, in);
      launch.bind(1, out);
      slice.run("k", launch);
      for (uint32_t i = 0; i < kThreads; ++i) {
        uint64_t wanted = in[i];
        for (int r = 0; r < 3; ++r)
          wanted += high(high(wanted, static_cast<uint64_t>(-7046029254386353131), is_signed), in[i], is_signed);
        CHECK(out[i] == wanted);
      }
    }
  }
}

}  // namespace smelt::test
