// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Hardware values at program scope: what reads them, and which parameters the kernel has for them.
#include "entry_text.hpp"

namespace smelt::test {
namespace {

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("vectors, shorts, a namespace, methods of an object in device memory; the parameters have their types") {
  const std::string text = R"(
ushort3 inside [[thread_position_in_threadgroup]];
const uint3 at [[thread_position_in_grid]];
namespace lanes { const uint index [[thread_index_in_simdgroup]]; }
struct Scale {
  uint factor;
  uint of() const device { return factor * (at.x + 10 * at.y) + 1000 * inside.y + 10000 * lanes::index; }
};
kernel void k(device uint* out, device const Scale& scale) { out[at.x + 4 * at.y] = scale.of(); }
kernel void none(device uint* out) { out[0] = 1; }
)";
  const Msl source(kHead + text);
  std::vector<uint32_t> out(16), factor{3};
  Launch launch{.grid = {4, 4, 1}, .group = {4, 2, 1}};
  source.run("k", launch.bind(0, out).bind(1, factor));
  for (uint32_t y = 0; y < 4; ++y)
    for (uint32_t x = 0; x < 4; ++x)
      CHECK(out[x + 4 * y] == 3 * (x + 10 * y) + 1000 * (y % 2) + 10000 * (x + 4 * (y % 2)));
  const std::string ir = ir_of(text, "k");
  CHECK(contains(ir, R"(!"air.thread_position_in_grid", !"air.arg_type_name", !"uint3")"));
  CHECK(contains(ir, R"(!"air.thread_position_in_threadgroup", !"air.arg_type_name", !"ushort3")"));
  CHECK(contains(ir, R"(!"air.thread_index_in_simdgroup", !"air.arg_type_name", !"uint")"));
  CHECK_FALSE(contains(ir_of(text, "none"), "thread_position"));
}

TEST_CASE("one value in two variables, and in a parameter besides") {
  const std::string text = R"(
const uint a [[thread_position_in_grid]];
const ushort b [[thread_position_in_grid]];
kernel void two(device uint* out) { out[a] = a + b; }
kernel void three(device uint* out, uint c [[thread_position_in_grid]]) { out[c] = a + b + c; }
)";
  const Msl source(kHead + text);
  for (const auto& [kernel, times] : {std::pair{"two", 2u}, {"three", 3u}}) {
    std::vector<uint32_t> out(70000);
    Launch launch{.grid = {70000, 1, 1}, .group = {32, 1, 1}};
    source.run(kernel, launch.bind(0, out));
    for (const uint32_t i : {0u, 1u, 65535u}) CHECK(out[i] == times * i);
    CHECK(out[65537] == (times - 1) * 65537 + 1);
  }
}

TEST_CASE("what has no such value, or another number of components, is an error by name") {
  const std::string scalar = "const uint at [[thread_position_in_grid]];\n",
                    three = "const uint3 at [[thread_position_in_grid]];\n";
  CHECK(contains(msl_error(kHead + scalar + "fragment float4 f() { return float4(at); }"),
                 "fragment function 'f' reads a variable with 'thread_position_in_grid', which only kernels get"));
  CHECK(contains(
      msl_error(kHead + three +
                "kernel void k(device uint* o, uint i [[thread_position_in_threadgroup]]) { o[i] = at.z; }"),
      "kernel 'k' reads a variable with 'thread_position_in_grid' that has 3 components; its parameter 'i' has 1"));
  CHECK(contains(msl_error(kHead + "const float at [[thread_position_in_grid]];\nkernel void k() {}"),
                 "type 'float' is not valid for attribute 'thread_position_in_grid'"));
  aot::CompileOptions older = msl_options();
  older.targets = {aot::parse_target("macos13").value()};
  older.language = Version{3, 0};
  CHECK(contains(msl_error(kHead + scalar + "kernel void k(device uint* o) { o[0] = at; }", older),
                 "program scope variable must reside in constant address space"));
}

}  // namespace smelt::test
