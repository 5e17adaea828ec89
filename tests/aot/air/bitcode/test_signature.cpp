// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pointees by name against Apple's own declarations: tests/aot/data/air-harvest.tsv holds each that was ever seen,
// typed.
#include "bitcode/signature.hpp"
#include "bitcode/writer.hpp"
#include "canonical.hpp"
#include "files.hpp"
#include "oracle.hpp"
#include "skips.hpp"

#include <doctest/doctest.h>

#include <map>
#include <regex>
#include <set>
#include <sstream>

using namespace smelt;
using namespace smelt::test;

namespace {

struct Row {
  std::string name, result, parameters;
};

// "i32 (i32 addrspace(1)* nocapture, i1)" split at the parenthesis that opens the parameters.
std::vector<Row> harvest() {
  const Bytes file = must_read(std::string(SMELT_SOURCE_DIR) + "/tests/aot/data/air-harvest.tsv");
  std::istringstream lines{std::string(as_text(file))};
  std::vector<Row> rows;
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    const size_t a = line.find('\t'), b = line.find('\t', a + 1);
    const std::string signature = line.substr(b + 1);
    int depth = 0;
    size_t open = signature.size() - 1;
    for (;; --open) {
      if (signature[open] == ')') ++depth;
      if (signature[open] == '(' && --depth == 0) break;
    }
    rows.push_back({line.substr(a + 1, b - a - 1), signature.substr(0, open - 1), signature.substr(open)});
  }
  return rows;
}

std::string without_suffixes(std::string text) {
  return std::regex_replace(text, std::regex(R"((_t)(\.\d+)+)"), "$1");
}

}  // namespace

TEST_CASE("every harvested declaration comes back in Apple's types") {
  if (!have_llvm_14()) {
    smelt::test::skipped("llvm-dis-14 and opt-14 are not installed");
    return;
  }
  // LLVM 19 forgets the pointees as it parses; one module per overload of a name.
  std::map<std::string, int> seen;
  std::vector<std::vector<Row>> layers;
  for (const Row& row : harvest()) {
    const size_t layer = seen[row.name]++;
    if (layer == layers.size()) layers.emplace_back();
    layers[layer].push_back(row);
  }
  size_t compared = 0;
  for (const auto& layer : layers) {
    std::string source;
    std::set<std::string> structs;
    const std::regex name(R"(%(struct\._\w+?_t)(\.\d+)*\b)");
    for (const Row& row : layer) {
      const std::string line =
          without_suffixes(fmt::format("declare {} @{}{}\n", row.result, row.name, row.parameters));
      for (std::sregex_iterator at(line.begin(), line.end(), name), end; at != end; ++at) structs.insert((*at)[1]);
      source += line;
    }
    for (const std::string& one : structs) source += "%" + one + " = type opaque\n";
    llvm::LLVMContext context;
    const auto module = parse_19(source, context);
    REQUIRE(module);
    aot::bitcode::WriteOptions options;
    options.wrap = false;
    const auto bytes = aot::bitcode::write_bitcode(*module, options);
    REQUIRE_MESSAGE(bytes.has_value(), bytes.error().message);
    const Verdict verdict = judge_14(*bytes);
    REQUIRE_MESSAGE(verdict.accepted, verdict.error);
    for (const Row& row : layer) {
      // LLVM 14 knows the attributes of its own intrinsics' parameters; compare the types alone there.
      const bool own = row.name.starts_with("llvm.");
      std::string wanted = without_suffixes(fmt::format("declare {} @{}{}", row.result, row.name, row.parameters));
      const size_t at = verdict.text.find(fmt::format("@{}(", row.name));
      CAPTURE(wanted);
      REQUIRE(at != std::string::npos);
      const size_t start = verdict.text.rfind('\n', at) + 1, end = verdict.text.find('\n', at);
      std::string found = verdict.text.substr(start, end - start);
      if (const size_t group = found.find(" #"); group != std::string::npos) found.resize(group);
      if (own) {
        const std::regex words(" (nocapture|readonly|writeonly|noalias|immarg|noundef|readnone)\\b");
        wanted = std::regex_replace(wanted, words, "");
        found = std::regex_replace(found, words, "");
      }
      CHECK(found == wanted);
      ++compared;
    }
  }
  CHECK(compared == harvest().size());
  MESSAGE(compared, " declarations");
}

TEST_CASE("pointees beyond the harvest") {
  struct Case {
    const char* declaration;
    const char* wanted;
  };
  const Case cases[] = {
      {"declare i32 @air.atomic.local.add.u.i32(ptr addrspace(3), i32, i32, i32, i1)", "i32 addrspace(3)*"},
      {"declare float @air.atomic.global.add.f32(ptr addrspace(1), float, i32, i32, i1)", "float addrspace(1)*"},
      {"declare void @air.atomic.global.max.u.i64(ptr addrspace(1), i64, i32, i32, i1)", "i64 addrspace(1)*"},
      {"declare float @air.fast_sincos.f32(float, ptr)", "(float, float*)"},
      {"declare <4 x half> @air.sincos.v4f16(<4 x half>, ptr)", "(<4 x half>, <4 x half>*)"},
      {"declare float @air.frexp.f32(float, ptr)", "(float, i32*)"},
      {"declare <2 x float> @air.frexp.v2f32(<2 x float>, ptr)", "(<2 x float>, <2 x i32>*)"},
      {"declare <4 x float> @air.read_texture_2d_array.v4f32(ptr addrspace(1), <2 x i32>, i32, i32, i32)",
       "(%struct._texture_2d_array_t addrspace(1)*,"},
      {"declare void @air.write_texture_3d.v4f32(ptr addrspace(1), <3 x i32>, <4 x float>, i32)",
       "(%struct._texture_3d_t addrspace(1)*,"},
      {"declare i32 @air.get_width_texture_2d_ms(ptr addrspace(1), i32)", "(%struct._texture_2d_ms_t addrspace(1)*,"},
      {"declare float @air.sample_compare_depth_cube_array.f32(ptr addrspace(1), ptr addrspace(2), <3 x float>)",
       "(%struct._depth_cube_array_t addrspace(1)*, %struct._sampler_t addrspace(2)*,"},
      {"declare i1 @air.atomic_compare_exchange_weak_explicit_texture_2d.u.v4i32(ptr addrspace(1), <2 x i32>, ptr, <4 "
       "x "
       "i32>, i32, i32, i32)",
       "(%struct._texture_2d_t addrspace(1)*, <2 x i32>, <4 x i32>*, <4 x i32>,"},
      {"declare ptr @air.allocate_intersection_query.instancing()", "%struct._intersection_query_t* @air.allocate"},
      {"declare void @air.reset_intersection_query.instancing(ptr, <3 x float>, <3 x float>, float, float, ptr "
       "addrspace(1), i32)",
       "(%struct._intersection_query_t*, <3 x float>, <3 x float>, float, float, "
       "%struct._instance_acceleration_structure_t addrspace(1)*, i32)"},
      {"declare float @air.intersect.triangle_data(<3 x float>, <3 x float>, float, float, ptr addrspace(1), ptr "
       "addrspace(1), ptr, i64)",
       "%struct._primitive_acceleration_structure_t addrspace(1)*, %struct._intersection_function_table_t "
       "addrspace(1)*, i8*, i64)"},
      {"declare ptr addrspace(1) @air.get_primitive_acceleration_structure_instance_acceleration_structure(ptr "
       "addrspace(1), i32)",
       "%struct._primitive_acceleration_structure_t addrspace(1)* "
       "@air.get_primitive_acceleration_structure_instance_acceleration_structure(%struct._instance_acceleration_"
       "structure_t addrspace(1)*, i32)"},
      {"declare void @air.os_log(ptr addrspace(2), ptr addrspace(2), i32, ptr addrspace(2), ptr, i64)",
       "(i8 addrspace(2)*, i8 addrspace(2)*, i32, i8 addrspace(2)*, i8*, i64)"},
      {"declare <64 x bfloat> @air.simdgroup_matrix_8x8_load.v64bf16.p1bf16(ptr addrspace(1), <2 x i64>, <2 x i64>, <2 "
       "x i64>)",
       "(bfloat addrspace(1)*,"},
  };
  if (!have_llvm_14()) {
    smelt::test::skipped("llvm-dis-14 and opt-14 are not installed");
    return;
  }
  for (const Case& one : cases) {
    llvm::LLVMContext context;
    const auto module = parse_19(one.declaration, context);
    REQUIRE(module);
    const auto bytes = aot::bitcode::write_bitcode(*module, {});
    REQUIRE(bytes.has_value());
    const Verdict verdict = judge_14(*bytes);
    CAPTURE(verdict.text);
    CHECK(verdict.text.find(one.wanted) != std::string::npos);
  }
}

TEST_CASE("names of intrinsics in typed mangling") {
  using aot::bitcode::typed_intrinsic_name;
  CHECK(typed_intrinsic_name("llvm.memcpy.p3.p1.i64") == "llvm.memcpy.p3i8.p1i8.i64");
  CHECK(typed_intrinsic_name("llvm.lifetime.start.p0") == "llvm.lifetime.start.p0i8");
  CHECK(typed_intrinsic_name("llvm.masked.load.v4f32.p1") == "llvm.masked.load.v4f32.p1v4f32");
  CHECK(typed_intrinsic_name("llvm.masked.store.v2i64.p3") == "llvm.masked.store.v2i64.p3v2i64");
  CHECK(typed_intrinsic_name("llvm.fma.v4f32") == "llvm.fma.v4f32");
  CHECK(typed_intrinsic_name("llvm.ctpop.i32") == "llvm.ctpop.i32");
  CHECK(typed_intrinsic_name("llvm.assume") == "llvm.assume");
}
