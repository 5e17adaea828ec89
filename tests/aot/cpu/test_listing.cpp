// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Listings: the code is that of compile_cpu to the byte, and lines lead back to the AIR and the source they were made
// of.
#include "smelt/aot/compile.hpp"
#include "smelt/aot/listing.hpp"
#include "smelt/metallib/reader.hpp"
#include "smelt/schema/cpu_slice.hpp"

#include "files.hpp"
#include "skips.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace smelt::test {
namespace {

constexpr std::string_view kSource =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "float twice(float x) {\n"
    "  return x * 2.5f;\n"
    "}\n"
    "kernel void straight(device const float* x, device float* y, uint i [[thread_position_in_grid]]) {\n"
    "  y[i] = fma(x[i], 3.0f, y[i]);\n"
    "}\n"
    "kernel void loop(device const float* x, device float* y, constant int& n, uint i [[thread_position_in_grid]]) {\n"
    "  float sum = 0;\n"
    "  for (int k = 0; k < n; ++k)\n"
    "    sum = fma(x[k], sum, twice(x[i]));\n"
    "  y[i] = sum;\n"
    "}\n"
    "kernel void meets(device const float* x, device float* y, uint i [[thread_index_in_threadgroup]]) {\n"
    "  threadgroup float t[64];\n"
    "  t[i & 63] = fma(x[i], 2.0f, 1.0f);\n"
    "  threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "  y[i] = simd_sum(t[63 - (i & 63)]);\n"
    "}\n";

std::vector<aot::CompiledFunction> compiled(bool debug_lines) {
  const std::vector<aot::Source> sources = {{"k.metal", as_bytes(kSource)}};
  auto result = aot::compile(sources, {.debug_lines = debug_lines});
  if (!result) FAIL(result.error().message);
  return std::move(result->targets.front().functions);
}

aot::CpuListing listed(const aot::AirModuleView& module, const aot::CpuOptions& options) {
  auto listing = aot::list_cpu(module, options);
  if (!listing) FAIL(listing.error().message);
  return std::move(*listing);
}

void check_same_code(const aot::AirModuleView& module, const aot::CpuOptions& options) {
  const std::vector<aot::AirModuleView> modules = {module};
  const aot::CpuCompiled code = aot::compile_cpu(modules, options).value();
  if (code.kernels.empty()) return;
  const aot::CpuListing listing = listed(module, options);
  const schema::CpuSlice slice = schema::read_cpu_slice(code.slice).value();
  CHECK(listing.code == slice.kernels.front().code_digest);
  CHECK(listing.code_bytes == slice.kernels.front().code_bytes);
}

TEST_CASE("a listing's code is the code of compile_cpu, with debug lines and without, at every level") {
  for (const aot::CompiledFunction& function : compiled(false)) {
    CAPTURE(function.info.name);
    for (const auto level : {aot::CpuLevel::x86_64_v3, aot::CpuLevel::x86_64_v4, aot::CpuLevel::aarch64})
      check_same_code({function.info.name, function.bitcode}, {.level = level});
    check_same_code({function.info.name, function.bitcode}, {.method = aot::CpuMethod::regions});
    check_same_code({function.info.name, function.bitcode}, {.checked = true});
  }
  for (const aot::CompiledFunction& function : compiled(true))
    check_same_code({function.info.name, function.bitcode}, {});
}

TEST_CASE("a listing begins with code; constants come after it") {
  const std::string_view text =
      "#include <metal_stdlib>\n"
      "kernel void k(device float* x, uint i [[thread_position_in_grid]]) { x[i] = metal::tanh(x[i]); }\n";
  const auto made = aot::compile(std::vector<aot::Source>{{"k.metal", as_bytes(text)}}, {});
  REQUIRE(made);
  const aot::CompiledFunction& function = made->targets.front().functions.front();
  for (const auto level : {aot::CpuLevel::x86_64_v3, aot::CpuLevel::x86_64_v4}) {  // aarch64 has its constants in code
    const aot::CpuListing listing = listed({function.info.name, function.bitcode}, {.level = level});
    const auto is_constant = [](const aot::CpuLine& line) { return line.text.starts_with("    ."); };
    const auto first = std::find_if(listing.lines.begin(), listing.lines.end(), is_constant);
    REQUIRE(first != listing.lines.end());
    const auto is_code = [&](const aot::CpuLine& line) { return line.text.starts_with("    ") && !is_constant(line); };
    CHECK(std::any_of(listing.lines.begin(), first, is_code));
    CHECK(std::none_of(first, listing.lines.end(), is_code));
  }
}

TEST_CASE("a listing's code of Apple-built kernels is the code of compile_cpu") {
  const auto folder = corpus("llama.rn");
  if (!folder) {
    smelt::test::skipped("llama.rn is not in the corpus (scripts/fetch-corpus)");
    return;
  }
  const Bytes image = must_read(files_below(*folder, ".metallib").front());
  const metallib::Library library = metallib::read(image).value();
  for (size_t i = 0; i < library.functions.size(); i += 72) {
    CAPTURE(library.functions[i].name);
    check_same_code({library.functions[i].name, library.module_of(library.functions[i]).blob}, {});
  }
}

TEST_CASE("lines lead from CPU code to AIR, and from AIR to the source") {
  const std::vector<uint32_t> wanted = {7, 12, 17};  // the line of each kernel's fma
  const auto functions = compiled(true);
  REQUIRE(functions.size() == wanted.size());
  for (size_t f = 0; f < functions.size(); ++f) {
    CAPTURE(functions[f].info.name);
    const auto air = aot::list_air(functions[f].bitcode, functions[f].info.name).value();
    REQUIRE(std::find(air.files.begin(), air.files.end(), "k.metal") != air.files.end());
    const aot::CpuListing cpu = listed({functions[f].info.name, functions[f].bitcode}, {});
    size_t found = 0;
    for (const aot::CpuLine& line : cpu.lines) {
      REQUIRE(line.air_line <= air.lines.size());
      if (line.text.find("vfmadd") == std::string::npos) continue;
      ++found;
      CAPTURE(line.text);
      REQUIRE(line.air_line != 0);
      const aot::AirLine& from = air.lines[line.air_line - 1];
      CHECK(from.text.find("@air.fma") != std::string::npos);
      CHECK(std::any_of(from.places.begin(), from.places.end(), [&](const aot::SourcePlace& place) {
        return air.files[place.file] == "k.metal" && place.line == wanted[f];
      }));
    }
    CHECK(found > 0);
  }
}

TEST_CASE("AIR without debug lines has text and no places") {
  const auto functions = compiled(false);
  const auto air = aot::list_air(functions.front().bitcode, "straight").value();
  CHECK(air.files.empty());
  CHECK(air.lines.size() > 10);
  for (const aot::AirLine& line : air.lines) {
    CHECK(line.places.empty());
    CHECK(line.text.find("!dbg") == std::string::npos);
  }
}

}  // namespace
}  // namespace smelt::test
