// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table against every declaration found in Apple's own bitcode, and against itself.
#include "harvest.hpp"
#include "ops/intrinsics.hpp"
#include "ops/intrinsics_table.hpp"

#include "llvm/IR/Function.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

using namespace smelt;
using namespace smelt::aot;
using namespace smelt::aot::air;

namespace {

constexpr Version kVersions[] = {{1, 8}, {2, 0}, {2, 2}, {2, 3}, {2, 4}, {2, 5}, {2, 6}, {2, 7}, {2, 8}};
constexpr Version kAllVersions[] = {{1, 8}, {1, 11}, {2, 0}, {2, 1}, {2, 2}, {2, 3},
                                    {2, 4}, {2, 5},  {2, 6}, {2, 7}, {2, 8}, {2, 9}};

/// Every type that a suffix may be, with and without signedness.
std::vector<std::string> single_types() {
  std::vector<std::string> all;
  for (const char* sign : {"", "s.", "u."})
    for (const char* lanes : {"", "v2", "v3", "v4", "v64"})
      for (const char* lane : {"i1", "i8", "i16", "i32", "i64", "f16", "bf16", "f32"})
        all.push_back(fmt::format("{}{}{}", sign, lanes, lane));
  return all;
}

/// A row's own name as modules spell it.
std::string spelled(const Row& row) {
  std::string name = fmt::format("air.{}", row.name);
  if (const size_t star = name.find('*'); star != std::string::npos) name.replace(star, 1, "global");
  return name;
}

size_t forms_in(const std::string& name, Version version) {
  const auto known = forms(name);
  return static_cast<size_t>(std::count_if(known.begin(), known.end(), [&](const Signature& form) {
    return version >= form.since && (form.until == Version{} || version <= form.until);
  }));
}

}  // namespace

TEST_CASE("no two rows have a name of one version and one type") {
  const std::vector<std::string> types = single_types();
  std::set<std::string> names;
  for (const OperationRow& row : operation_rows()) names.insert(row.examples.begin(), row.examples.end());
  for (const Row& row : table()) {
    names.insert(spelled(row));
    for (const std::string& type : types) names.insert(spelled(row) + "." + type);
  }
  size_t checked = 0;
  for (const std::string& name : names)
    for (const Version version : kAllVersions) {
      const size_t count = forms_in(name, version);
      if (count > 1) FAIL_CHECK(name, " in AIR ", version.major, ".", version.minor);
      checked += count;
    }
  CHECK(checked > 10000);
}

TEST_CASE("no row is there twice") {
  std::set<std::string> seen;
  for (const Row& row : table())
    CHECK_MESSAGE(seen.insert(fmt::format("{} {} {} {} {}.{}", row.name, static_cast<int>(row.suffix), row.signature,
                                          row.variants, row.since.major, row.since.minor))
                      .second,
                  row.name);
}

TEST_CASE("open rows pass as they came, foreign rows are no operations") {
  for (const Row& row : table()) {
    if ((row.variants & (kOpen | kForeign)) == 0) continue;
    CAPTURE(row.name);
    const auto known = lookup(spelled(row) + ".f32", {2, 8});
    if ((row.variants & kOpen) != 0) {
      REQUIRE(known);
      CHECK(known->family_only);
    } else if (row.name != "fract") {
      CHECK_FALSE(known);
    }
  }
}

TEST_CASE("every pointer of a row is to something") {
  for (const OperationRow& row : operation_rows())
    for (const std::string& name : row.examples)
      for (const Signature& form : forms(name))
        for (unsigned i = 0; i < form.parameters.size(); ++i) {
          const AirType& type = form.parameters[i].type;
          if (!type.is_pointer()) continue;
          CAPTURE(name);
          CHECK(type.kind != AirType::Kind::nothing);
          CHECK(pointer_operand(name, i, type.space) == type);
        }
  CHECK(pointer_operand("air.set_position_mesh", 0, 7)->handle_name == "mesh");
  CHECK(pointer_operand("air.intersect.instancing", 4, 1)->handle_name == "instance_acceleration_structure");
  CHECK(pointer_operand("air.intersect.instancing", 6, 1)->handle_name == "intersection_function_table");
  CHECK(pointer_result("air.get_null_depth_2d", 1)->handle_name == "depth_2d");
  CHECK_FALSE(pointer_operand("air.store.imageblock.mask", 1, 4));
  CHECK_FALSE(pointer_operand("air.frobnicate", 0, 1));
}

TEST_CASE("rows and families say where an operation may be called") {
  CHECK(word_of(stages_of("air.dfdx.f32")) == "fragment");
  CHECK(word_of(stages_of("air.get_num_samples.i32")) == "fragment");
  CHECK(word_of(stages_of("air.set_primitive_data_mesh.f32")) == "mesh");
  CHECK(word_of(stages_of("air.set_threadgroups_per_grid_mesh_properties")) == "object");
  CHECK(word_of(stages_of("air.write_imageblock_slice_to_texture_2d.i16.v4f32")) == "tile");
  CHECK(stages_of("air.some_imageblock") == kInTiles);
  CHECK(stages_of("air.exp.f32") == kEverywhere);
  CHECK(stages_of("air.frobnicate") == kEverywhere);
}

TEST_CASE("each air declaration of Apple's own bitcode has exactly our signature") {
  size_t checked = 0;
  for (const test::HarvestRow& row : test::harvest()) {
    if (!row.name.starts_with("air.")) continue;
    CAPTURE(row.name);
    CAPTURE(row.type);
    const auto known = forms(row.name);
    REQUIRE_FALSE(known.empty());
    bool found = false;
    for (const Signature& form : known) {
      CHECK_FALSE(form.family_only);
      if (typed_text(form) != row.type) continue;
      found = true;
      CHECK(form.evidence == Evidence::harvested);
    }
    CHECK(found);
    ++checked;
  }
  CHECK(checked == 158);
}

TEST_CASE("every row resolves, declares and verifies in each version that has it") {
  std::set<std::string> seen;
  for (const OperationRow& row : operation_rows()) {
    CAPTURE(row.name);
    CHECK_FALSE(row.examples.empty());
    for (const std::string& name : row.examples)
      for (const Version version : kVersions) {
        llvm::LLVMContext context;
        llvm::Module module("m", context);
        const auto declared = declare(module, name, version);
        if (!declared) {
          CHECK(declared.error().code == Errc::unsupported);
          continue;
        }
        CAPTURE(name);
        seen.insert(name);
        CHECK_FALSE(llvm::verifyModule(module));
        CHECK(*declare(module, name, version) == *declared);
      }
  }
  CHECK(seen.size() > 400);
}

TEST_CASE("a name that is not there says what is near") {
  const auto missing = lookup("air.simd_shufle.f32", {2, 6});
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == Errc::compile_failed);
  CHECK(missing.error().message.find("air.simd_shuffle") != std::string::npos);
  const auto types = lookup("air.simd_sum.s.i64", {2, 6});
  REQUIRE_FALSE(types);
  CHECK(types.error().message.find("does not exist for these types") != std::string::npos);
  CHECK_FALSE(lookup("air.fast_exp.f16", {2, 6}));
  CHECK_FALSE(lookup("air.sqrt.bf16", {2, 8}));
  CHECK_FALSE(lookup("air.convert.f.v4f32.s.v2i32", {2, 6}));
  CHECK_FALSE(lookup("air.simdgroup_matrix_8x8_load.v64f32.p2f32", {2, 6}));
  CHECK_FALSE(lookup("", {2, 6}));
  CHECK_FALSE(lookup("air.", {2, 6}));
  CHECK_FALSE(lookup("air..", {2, 6}));
}

TEST_CASE("a name of a newer AIR says which targets have it") {
  const auto fence = lookup("air.atomic.fence", {2, 6});
  REQUIRE_FALSE(fence);
  CHECK(fence.error().code == Errc::unsupported);
  CHECK(fence.error().message.find("macos15") != std::string::npos);
  CHECK(lookup("air.atomic.fence", {2, 7}));
  CHECK_FALSE(lookup("air.convert.f.v4bf16.f.v4f32", {2, 5}));
  CHECK(lookup("air.convert.f.v4bf16.f.v4f32", {2, 6}));
}

TEST_CASE("matrix memory forms change at 2.8") {
  const auto before = lookup("air.simdgroup_matrix_8x8_load.v64f16.p3f16", {2, 7});
  const auto after = lookup("air.simdgroup_matrix_8x8_load.v64f16.p3f16", {2, 8});
  REQUIRE(before);
  REQUIRE(after);
  CHECK(typed_text(*before) == "<64 x half> (half addrspace(3)*, i64, <2 x i64>, i1)");
  CHECK(typed_text(*after) == "<64 x half> (half addrspace(3)*, <2 x i64>, <2 x i64>, <2 x i64>)");
}

TEST_CASE("what AIR 2.9 changed has another form there") {
  const auto text = [](std::string_view name, Version air) {
    const auto signature = lookup(name, air);
    return signature ? typed_text(*signature) : signature.error().message;
  };
  CHECK(text("air.wg.barrier", {2, 8}) == "void (i32, i32)");
  CHECK(text("air.wg.barrier", {2, 9}) == "void (i32, i32, i32)");
  CHECK(text("air.atomic.global.add.u.i32", {2, 8}) == "i32 (i32 addrspace(1)*, i32, i32, i32, i1)");
  CHECK(text("air.atomic.global.add.u.i32", {2, 9}) == "i32 (i32 addrspace(1)*, i32, i32, i32, i32, i1)");
  CHECK_FALSE(lookup("air.atomic.local.add.f32", {2, 8}));
  CHECK(lookup("air.atomic.local.add.f32", {2, 9}));
  CHECK(lookup("air.sqrt.f32", {2, 9}));
}

TEST_CASE("types spell and read back") {
  for (const char* text : {"i1", "i8", "i64", "f16", "bf16", "f32", "v2i1", "v3f32", "v64bf16", "p1i8", "p3v2f32"}) {
    const auto type = parse_air_type(text);
    REQUIRE(type);
    CHECK(spell(*type) == text);
  }
  for (const char* text : {"", "i7", "f64", "v1f32", "v99999999999f32", "p", "p1", "p1p1i8", "vf32", "i32 ", "V2i32"})
    CHECK_FALSE(parse_air_type(text));
}
