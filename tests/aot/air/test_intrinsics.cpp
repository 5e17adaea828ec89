// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table against every declaration found in Apple's own bitcode, and against itself.
#include "harvest.hpp"
#include "ops/intrinsics.hpp"

#include "llvm/IR/Function.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"

#include <doctest/doctest.h>

#include <set>
#include <string>

using namespace smelt;
using namespace smelt::aot;
using namespace smelt::aot::air;

namespace {

constexpr Version kVersions[] = {{1, 8}, {2, 0}, {2, 2}, {2, 3}, {2, 4}, {2, 5}, {2, 6}, {2, 7}, {2, 8}};

}  // namespace

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

TEST_CASE("what AIR 2.9 changed is not offered there") {
  CHECK_FALSE(lookup("air.wg.barrier", {2, 9}));
  CHECK_FALSE(lookup("air.atomic.global.add.u.i32", {2, 9}));
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
