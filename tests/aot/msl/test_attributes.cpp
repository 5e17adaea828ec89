// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attributes of AIR's operations as Apple's modules have them.
#include "msl.hpp"

#include <doctest/doctest.h>

#include <map>
#include <regex>

namespace smelt::test {

TEST_CASE("only operations between lanes are convergent") {
  const std::string text = R"(
#include <metal_stdlib>
using namespace metal;
kernel void f(device float* x, device atomic_uint* n, uint i [[thread_position_in_grid]]) {
  float a = sin(x[i]) + fma(x[i], 2.0f, exp2(x[i])) + float(popcount(i));
  a = simd_sum(a) + quad_broadcast(a, 1);
  threadgroup_barrier(mem_flags::mem_device);
  x[i] = clamp(a, 0.0f, 1.0f);
  atomic_fetch_add_explicit(n, 1u, memory_order_relaxed);
}
)";
  const aot::Source source{"test.metal", as_bytes(text)};
  const auto made = aot::emit_ll(std::span(&source, 1), msl_options(), "f");
  REQUIRE(made.has_value());
  const std::string& ir = *made;
  std::map<std::string, bool> convergent;  // by operation
  const auto is_convergent = [&](const std::string& number) {
    const size_t at = ir.find("attributes #" + number + " = ");
    return at != std::string::npos && ir.substr(at, ir.find('\n', at) - at).find(" convergent ") != std::string::npos;
  };
  const std::regex use(R"((?:call|declare)[^\n]*@air\.(\w+)[^\n]*?(?: #(\d+))?\n)");
  for (auto at = std::sregex_iterator(ir.begin(), ir.end(), use); at != std::sregex_iterator(); ++at)
    convergent[(*at)[1]] |= (*at)[2].matched && is_convergent((*at)[2]);
  for (const char* pure : {"sin", "fma", "exp2", "popcount", "clamp", "atomic"}) {
    CAPTURE(std::string(pure));
    REQUIRE(convergent.count(pure) == 1);
    CHECK_FALSE(convergent[pure]);
  }
  for (const char* together : {"simd_sum", "quad_broadcast", "wg"}) {
    CAPTURE(std::string(together));
    REQUIRE(convergent.count(together) == 1);
    CHECK(convergent[together]);
  }
}

TEST_CASE("#pragma METAL fp: what it says of contraction is in the code, from there to the end of its block") {
  const std::string text = R"(
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp contract(off)
kernel void apart(device float* x, uint i [[thread_position_in_grid]]) { x[i] = x[i] * x[i + 1] + x[i + 2]; }
kernel void joined(device float* x, uint i [[thread_position_in_grid]]) {
#pragma METAL fp contract(fast) math_mode(relaxed)
  x[i] = x[i] * x[i + 1] + x[i + 2];
}
kernel void after(device float* x, uint i [[thread_position_in_grid]]) { x[i] = x[i] * x[i + 1] + x[i + 2]; }
)";
  const aot::Source source{"test.metal", as_bytes(text)};
  const auto product_of = [&](std::string_view kernel) {
    const auto ir = aot::emit_ll(std::span(&source, 1), msl_options(), kernel);
    REQUIRE_MESSAGE(ir.has_value(), (ir ? "" : ir.error().message));
    const size_t at = ir->find("= fmul ");
    REQUIRE(at != std::string::npos);
    return ir->substr(at, ir->find('\n', at) - at);
  };
  CHECK(product_of("apart").find("contract") == std::string::npos);
  CHECK(product_of("joined").find("reassoc arcp contract") != std::string::npos);
  CHECK(product_of("after").find("contract") == std::string::npos);

  const std::string fast_text = R"(
#include <metal_stdlib>
using namespace metal;
kernel void safe(device float* x, uint i [[thread_position_in_grid]]) {
#pragma METAL fp math_mode(safe)
  x[i] = (x[i + 1] - x[i + 2]) / fabs(x[i + 3]);
}
kernel void after(device float* x, uint i [[thread_position_in_grid]]) { x[i] = x[i + 1] / x[i + 2]; }
#pragma METAL fp math_mode(relaxed)
kernel void relaxed(device float* x, uint i [[thread_position_in_grid]]) { x[i] = x[i + 1] / x[i + 2]; }
)";
  const aot::Source fast_source{"fast.metal", as_bytes(fast_text)};
  auto fast = msl_options();
  fast.math = {aot::MathMode::fast, true};
  const auto quotient_of = [&](std::string_view kernel) {
    const auto ir = aot::emit_ll(std::span(&fast_source, 1), fast, kernel);
    REQUIRE_MESSAGE(ir.has_value(), (ir ? "" : ir.error().message));
    const size_t at = ir->find("= fdiv ");
    REQUIRE(at != std::string::npos);
    return ir->substr(at, ir->find('\n', at) - at);
  };
  CHECK(quotient_of("safe").starts_with("= fdiv float "));
  CHECK(quotient_of("after").starts_with("= fdiv fast float "));
  CHECK(quotient_of("relaxed").starts_with("= fdiv reassoc arcp contract float "));
  const std::string said =
      msl_error("#pragma METAL fp contract(maybe)\nkernel void f(device float* x) { x[0] = 1; }\n");
  CHECK(said.find("test.metal:1:18: error: '#pragma METAL fp' takes contract(off|on|fast)") != std::string::npos);
}

TEST_CASE("coherent in front of device and behind it") {
  aot::CompileOptions options = msl_options();
  options.targets = {*aot::parse_target("macos15")};
  CHECK(compile_msl(
            "kernel void f(coherent(device) device float* x [[buffer(0)]], device coherent float* y [[buffer(1)]],"
            " coherent device float* z [[buffer(2)]]) { int coherent = 1; x[0] = y[0] + z[coherent]; }",
            options)
            .has_value());
}

TEST_CASE("text of a kernel can be read again, whatever its parameters point to") {
  const std::string text = R"(
#include <metal_stdlib>
using namespace metal;
kernel void f(device float* out, device float2x2& m [[buffer(1)]]) { out[0] = m[1][1]; }
)";
  const aot::Source source{"test.metal", as_bytes(text)};
  const auto made = aot::emit_ll(std::span(&source, 1), msl_options(), "f");
  REQUIRE(made.has_value());
  CHECK(made->find("type 0x") == std::string::npos);
  const aot::Source again{"test.ll", as_bytes(*made)};
  CHECK(aot::compile(std::span(&again, 1), msl_options()).has_value());
}

}  // namespace smelt::test
