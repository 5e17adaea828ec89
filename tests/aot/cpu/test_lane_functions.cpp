// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions in which lanes exchange values: regions inline them, lanes call them, and both give the same, whether a
// simdgroup is full, has threads for some of its lanes, or calls with some lanes off.
#include "launch.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace smelt::test {
namespace {

constexpr uint32_t kElements = 4;

/// <4 x i32> (<4 x i32> %a, <2 x i16> %b, i32 %n, i32 %lane): in each round an element is mixed with that of another
/// lane, which is the same for eight lanes in a row, or differs from lane to lane by a constant, or is only known at
/// run time. In the first rounds what is moved is an argument as it came.
std::string mix(uint32_t rounds) {
  std::string body;
  std::vector<std::string> now;
  for (uint32_t e = 0; e < kElements; ++e) {
    body += fmt::format("  %a{0} = extractelement <4 x i32> %a, i32 {0}\n", e);
    now.push_back(fmt::format("%a{}", e));
  }
  body += "  %b0 = extractelement <2 x i16> %b, i32 1\n  %row = lshr i32 %lane, 3\n";
  for (uint32_t r = 0; r < rounds; ++r) {
    const uint32_t e = r % kElements;
    const std::string moved = r < 2 * kElements ? fmt::format("%a{}", (e + 1) % kElements) : now[(e + 1) % kElements];
    if (r % 3 == 0) body += fmt::format("  %l{0} = add i32 %row, {0}\n", r);
    if (r % 3 == 1) body += fmt::format("  %l{0} = xor i32 %lane, {0}\n", r);
    if (r % 3 == 2) body += fmt::format("  %l{0} = add i32 %n, {0}\n", r);
    body += fmt::format(
        "  %t{0} = trunc i32 %l{0} to i16\n"
        "  %s{0} = call i32 @air.simd_shuffle.u.i32(i32 {1}, i16 %t{0}) #1\n"
        "  %m{0} = mul i32 {2}, 5\n"
        "  %x{0} = add i32 %m{0}, %s{0}\n",
        r, moved, now[e]);
    now[e] = fmt::format("%x{}", r);
  }
  body +=
      "  %u = call i16 @air.simd_shuffle_down.u.i16(i16 %b0, i16 3) #1\n"
      "  %u.wide = zext i16 %u to i32\n"
      "  %last = xor i32 " +
      now[0] + ", %u.wide\n";
  now[0] = "%last";
  std::string vector = "poison";
  for (uint32_t e = 0; e < kElements; ++e) {
    body += fmt::format("  %r{0} = insertelement <4 x i32> {1}, i32 {2}, i32 {0}\n", e, vector, now[e]);
    vector = fmt::format("%r{}", e);
  }
  return fmt::format(
      "define internal fastcc <4 x i32> @mix(<4 x i32> %a, <2 x i16> %b, i32 %n, i32 %lane) #0 {{\n{}  ret <4 x i32> "
      "{}\n}}\n",
      body, vector);
}

/// Thread i mixes in[4 i] to in[4 i + 3] `calls` times, every second time in its first 20 lanes alone.
std::string kernel_with(uint32_t calls) {
  std::string body;
  std::string value = "%v";
  for (uint32_t c = 0; c < calls; ++c) {
    if (c % 2 == 0) {
      body += fmt::format("  %c{0} = call fastcc <4 x i32> @mix(<4 x i32> {1}, <2 x i16> %b, i32 %n, i32 %lane) #0\n",
                          c, value);
    } else {
      body += fmt::format(
          "  br label %from{0}\n"
          "from{0}:\n"
          "  br i1 %first, label %some{0}, label %all{0}\n"
          "some{0}:\n"
          "  %s{0} = call fastcc <4 x i32> @mix(<4 x i32> {1}, <2 x i16> %b, i32 %n, i32 %lane) #0\n"
          "  br label %all{0}\n"
          "all{0}:\n"
          "  %c{0} = phi <4 x i32> [ %s{0}, %some{0} ], [ {1}, %from{0} ]\n",
          c, value);
    }
    value = fmt::format("%c{}", c);
  }
  return fmt::format(R"({0}
declare i32 @air.simd_shuffle.u.i32(i32, i16) #1
declare i16 @air.simd_shuffle_down.u.i16(i16, i16) #1
{1}
define void @k(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %i, i32 %lane) #0 {{
entry:
  %i.wide = zext i32 %i to i64
  %from = getelementptr <4 x i32>, ptr addrspace(1) %in, i64 %i.wide
  %v = load <4 x i32>, ptr addrspace(1) %from, align 16
  %n = extractelement <4 x i32> %v, i32 2
  %small = trunc <4 x i32> %v to <4 x i16>
  %b = shufflevector <4 x i16> %small, <4 x i16> poison, <2 x i32> <i32 3, i32 0>
  %first = icmp ult i32 %lane, 20
{2}
  %to = getelementptr <4 x i32>, ptr addrspace(1) %out, i64 %i.wide
  store <4 x i32> {3}, ptr addrspace(1) %to, align 16
  ret void
}}
attributes #0 = {{ convergent nounwind }}
attributes #1 = {{ convergent nounwind willreturn }}
!air.kernel = !{{!0}}
!0 = !{{ptr @k, !1, !2}}
!1 = !{{}}
!2 = !{{!3, !4, !5, !6}}
!3 = !{{i32 0, !"air.buffer", !"air.location_index", i32 0, i32 1, !"air.read", !"air.address_space", i32 1}}
!4 = !{{i32 1, !"air.buffer", !"air.location_index", i32 1, i32 1, !"air.read_write", !"air.address_space", i32 1}}
!5 = !{{i32 2, !"air.thread_index_in_threadgroup"}}
!6 = !{{i32 3, !"air.thread_index_in_simdgroup"}}
)",
                     kAirHeader, mix(40), body, value);
}

std::vector<uint32_t> results(const LoadedSlice& slice, Size3 group) {
  const size_t threads = size_t{group[0]} * group[1] * group[2];
  std::vector<uint32_t> in(threads * kElements), out(threads * kElements);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<uint32_t>((i + 1) * 2654435761u);
  Launch launch;
  launch.grid = launch.group = group;
  launch.bind(0, in);
  launch.bind(1, out);
  slice.run("k", launch);
  return out;
}

size_t code_bytes(const Bytes& bitcode) {
  const aot::AirModuleView view{"k", bitcode};
  const auto compiled = aot::compile_cpu(std::span(&view, 1), {});
  REQUIRE(compiled);
  REQUIRE(compiled->missing.empty());
  const schema::CpuKernel kernel = schema::read_cpu_slice(compiled->slice).value().kernels.front();
  CHECK(kernel.method == "lanes");
  return kernel.code_bytes;
}

}  // namespace

TEST_CASE("functions that exchange values give the same called by lanes as inlined by regions") {
  const Bytes bitcode = assemble(kernel_with(3));
  aot::CpuOptions options;
  options.method = aot::CpuMethod::regions;
  const LoadedSlice by_regions = compile_one("k", bitcode, options);
  for (const aot::CpuLevel level : runnable_levels())
    for (const auto effort : {aot::CpuEffort::fast, aot::CpuEffort::balanced}) {
      CAPTURE(static_cast<int>(level));
      CAPTURE(static_cast<int>(effort));
      options.method = aot::CpuMethod::automatic;
      options.level = level;
      options.effort = effort;
      options.verify_ir = true;
      const LoadedSlice by_lanes = compile_one("k", bitcode, options);
      CHECK(by_lanes.find("k")->method == "lanes");
      for (const Size3 group : {Size3{32, 1, 1}, Size3{96, 1, 1}, Size3{64, 2, 1}, Size3{8, 8, 1}, Size3{37, 1, 1},
                                Size3{5, 1, 1}, Size3{20, 3, 1}}) {
        CAPTURE(group[0]);
        CAPTURE(group[1]);
        CHECK(results(by_lanes, group) == results(by_regions, group));
      }
    }
}

TEST_CASE("a call by lanes is no copy of the function") {
  // The two functions, one under a mask, are there in each.
  CHECK(code_bytes(assemble(kernel_with(32))) < 3 * code_bytes(assemble(kernel_with(4))));
}

}  // namespace smelt::test
