// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels whose threads exchange values thousands of times, as matrix products do that are written out: regions keep
// every live value across each exchange, so they take only so many; lanes take the kernel.
#include "launch.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace smelt::test {
namespace {

constexpr uint32_t kThreads = 32;

/// Thread i reads `values` words from in[i * values] on. Value k is then xored with value k of lane 5, again for each
/// of the `rounds`, and all of them live to the end: out[i] is their sum.
std::string kernel_with(uint32_t values, uint32_t rounds) {
  std::string body;
  for (uint32_t v = 0; v < values; ++v)
    body += fmt::format(
        "  %p{0} = getelementptr i32, ptr addrspace(1) %from, i64 {0}\n"
        "  %v{0}.0 = load i32, ptr addrspace(1) %p{0}, align 4\n",
        v);
  std::vector<uint32_t> last(values, 0);
  for (uint32_t r = 0; r < rounds; ++r) {
    const uint32_t v = r % values;
    body += fmt::format(
        "  %s{0} = call i32 @air.simd_shuffle.u.i32(i32 %v{1}.{2}, i16 5) #1\n"
        "  %v{1}.{3} = xor i32 %v{1}.{2}, %s{0}\n",
        r, v, last[v], last[v] + 1);
    ++last[v];
  }
  body += "  %sum0 = add i32 0, 0\n";
  for (uint32_t v = 0; v < values; ++v)
    body += fmt::format("  %sum{} = add i32 %sum{}, %v{}.{}\n", v + 1, v, v, last[v]);
  return fmt::format(R"({0}
declare i32 @air.simd_shuffle.u.i32(i32, i16) #1
define void @k(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %i) #0 {{
entry:
  %i.wide = zext i32 %i to i64
  %first = mul i64 %i.wide, {1}
  %from = getelementptr i32, ptr addrspace(1) %in, i64 %first
{2}
  %o = getelementptr i32, ptr addrspace(1) %out, i64 %i.wide
  store i32 %sum{1}, ptr addrspace(1) %o, align 4
  ret void
}}
attributes #0 = {{ convergent nounwind }}
attributes #1 = {{ convergent nounwind willreturn }}
!air.kernel = !{{!0}}
!0 = !{{ptr @k, !1, !2}}
!1 = !{{}}
!2 = !{{!3, !4, !5}}
!3 = !{{i32 0, !"air.buffer", !"air.location_index", i32 0, i32 1, !"air.read", !"air.address_space", i32 1}}
!4 = !{{i32 1, !"air.buffer", !"air.location_index", i32 1, i32 1, !"air.read_write", !"air.address_space", i32 1}}
!5 = !{{i32 2, !"air.thread_position_in_threadgroup"}}
)",
                     kAirHeader, values, body);
}

void check_results(uint32_t values, uint32_t rounds, aot::CpuMethod method) {
  CAPTURE(static_cast<int>(method));
  aot::CpuOptions options;
  options.method = method;
  options.verify_ir = true;
  options.effort = aot::CpuEffort::fast;
  const LoadedSlice slice = compile_one("k", assemble(kernel_with(values, rounds)), options);
  std::vector<uint32_t> in(size_t{kThreads} * values), out(kThreads);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<uint32_t>(i * 2654435761u);
  Launch launch;
  launch.grid = launch.group = {kThreads, 1, 1};
  launch.bind(0, in);
  launch.bind(1, out);
  slice.run("k", launch);
  std::vector<uint32_t> state = in;
  for (uint32_t r = 0; r < rounds; ++r) {
    const uint32_t v = r % values;
    const uint32_t sent = state[5 * values + v];
    for (uint32_t i = 0; i < kThreads; ++i) state[i * values + v] ^= sent;
  }
  for (uint32_t i = 0; i < kThreads; ++i) {
    uint32_t wanted = 0;
    for (uint32_t v = 0; v < values; ++v) wanted += state[i * values + v];
    CHECK(out[i] == wanted);
  }
}

size_t code_bytes(uint32_t values, uint32_t rounds) {
  const Bytes bitcode = assemble(kernel_with(values, rounds));
  const aot::AirModuleView view{"k", bitcode};
  aot::CpuOptions options;
  options.method = aot::CpuMethod::regions;
  const auto compiled = aot::compile_cpu(std::span(&view, 1), options);
  REQUIRE(compiled);
  REQUIRE(compiled->missing.empty());
  return compiled->slice.size();
}

}  // namespace

TEST_CASE("exchanges between threads give the same by lanes and by regions") {
  check_results(7, 100, aot::CpuMethod::regions);
  check_results(7, 100, aot::CpuMethod::lanes);
}

TEST_CASE("code between two exchanges does not grow with what lives across them") {
  const size_t few = code_bytes(8, 96), many = code_bytes(128, 96);
  CHECK_MESSAGE(2 * many < 3 * few, few, " and ", many);
}

TEST_CASE("thousands of exchanges with hundreds of live values are no matter for regions, but for lanes") {
  constexpr uint32_t kValues = 300, kRounds = 2000;
  const Bytes bitcode = assemble(kernel_with(kValues, kRounds));
  const aot::AirModuleView view{"k", bitcode};
  aot::CpuOptions options;
  options.method = aot::CpuMethod::regions;
  const auto compiled = aot::compile_cpu(std::span(&view, 1), options);
  REQUIRE(compiled);
  REQUIRE(compiled->missing.size() == 1);
  const std::string& reason = compiled->missing[0].reason;
  CHECK_MESSAGE(reason.find("2000 places where the threads of a simdgroup wait") != std::string::npos, reason);
  CHECK_MESSAGE(reason.find("a smaller tile for each threadgroup") != std::string::npos, reason);
  check_results(kValues, kRounds, aot::CpuMethod::automatic);
}

}  // namespace smelt::test
