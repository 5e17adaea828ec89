// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The CPU's column of ops/ops.def: no row without an answer, and names get the answer of their row.
#include "lower/collectives.hpp"
#include "lower/lower.hpp"
#include "lower/operation.hpp"
#include "lower/refusals.hpp"
#include "ops/intrinsics_table.hpp"

#include <doctest/doctest.h>

using namespace smelt;
using namespace smelt::aot;
using namespace smelt::aot::cpu;

namespace {

using AnswerOf = CpuAnswer::Kind;

Support support_by(const CpuAnswer& answer) {
  switch (answer.kind) {
    case AnswerOf::lowered:
    case AnswerOf::ahead:
      return Support::lowered;
    case AnswerOf::collective:
      return Support::collective;
    case AnswerOf::pipeline:
      return Support::pipeline;
    case AnswerOf::refused:
      return Support::unsupported;
  }
  return Support::unsupported;
}

/// Full names that each row is for.
std::vector<std::vector<std::string>> names_by_row() {
  std::vector<std::vector<std::string>> names;
  const auto declared = air::operation_rows();  // in the order of the rows
  auto next = declared.begin();
  for (const air::Row& row : air::table()) {
    if ((row.variants & (air::kOpen | air::kForeign)) != 0)
      names.push_back({"air." + std::string(row.name)});
    else
      names.push_back((next++)->examples);
  }
  REQUIRE(next == declared.end());
  return names;
}

}  // namespace

TEST_CASE("each row is lowered, or refused with words") {
  REQUIRE(cpu_answers().size() == air::table().size());
  size_t lowered = 0, refused = 0;
  for (size_t i = 0; i < air::table().size(); ++i) {
    const air::Row& row = air::table()[i];
    const CpuAnswer& answer = cpu_answers()[i];
    CAPTURE(row.name);
    CHECK((answer.kind == AnswerOf::lowered) == (answer.lower != nullptr));
    CHECK((answer.kind == AnswerOf::refused) == !answer.words.empty());
    // Of an operation of AIR that is known it is not said that it is not.
    if ((row.variants & air::kForeign) == 0) CHECK(answer.words != refusal::unknown);
    lowered += answer.kind == AnswerOf::lowered ? 1 : 0;
    refused += answer.kind == AnswerOf::refused ? 1 : 0;
  }
  CHECK(lowered > 400);
  CHECK(refused > 100);
}

TEST_CASE("a name gets the answer of its row") {
  const auto names = names_by_row();
  for (size_t i = 0; i < names.size(); ++i)
    for (const std::string& name : names[i]) {
      CAPTURE(name);
      const CpuAnswer& wanted = cpu_answers()[i];
      const SupportAnswer answer = support_of(name);
      CHECK(answer.support == support_by(wanted));
      CHECK(answer.reason == wanted.words);
      if (wanted.kind == AnswerOf::lowered) {
        const auto parsed = parse_air_name(name);
        REQUIRE(parsed);
        const Operation* const operation = find_operation(*parsed);
        REQUIRE(operation != nullptr);
        CHECK((operation->lower == wanted.lower));
      }
      if (wanted.kind == AnswerOf::collective) CHECK(parse_collective(name)->kind == wanted.collective);
    }
}

TEST_CASE("refusals say what it is that the CPU lacks") {
  const std::pair<const char*, std::string_view> cases[] = {
      {"air.dfdx.f32", "only fragment functions have derivatives"},
      {"air.discard_fragment", "only fragment functions discard"},
      {"air.calculate_clamped_lod_texture_2d", "this operation on textures is not supported on the CPU"},
      {"air.get_num_samples.i32", "this operation on textures is not supported on the CPU"},
      {"air.get_sample_position.v2f32", "samples of a pixel are not supported on the CPU"},
      {"air.interpolate_center_perspective.v2f32", "interpolants are not supported on the CPU"},
      {"air.simd_is_helper_thread", "only fragment functions have helper threads"},
      {"air.quad_is_helper_thread", "only fragment functions have helper threads"},
      {"air.get_null_texture_2d", "textures and tables are not supported on the CPU"},
      {"air.get_size_visible_function_table", "function tables are not supported on the CPU"},
      {"air.imageblock_data", "imageblocks are not supported on the CPU"},
      {"air.get_imageblock_width", "imageblocks are not supported on the CPU"},
      {"air.load.implicit_imageblock.v4f32", "imageblocks are not supported on the CPU"},
      {"air.store.imageblock.mask.f32", "imageblocks are not supported on the CPU"},
      {"air.set_vertex_data_mesh.v4f32", "mesh functions are not supported on the CPU"},
      {"air.intersect.instancing.triangle_data", "ray tracing is not supported on the CPU"},
      {"air.next_intersection_query.triangle_data", "ray tracing is not supported on the CPU"},
      {"air.get_instance_count_instance_acceleration_structure", "ray tracing is not supported on the CPU"},
      {"air.atomic.object_data.add.u.i32", "the CPU supports atomics only in device and threadgroup memory"},
      {"air.load.frobnicate.f32", "unknown operation"},
      {"air.simd_sum.f64", "unknown operation"},
      {"air.modf.f32", "unknown operation"},
  };
  for (const auto& [name, words] : cases) {
    CAPTURE(name);
    CHECK(support_of(name).support == Support::unsupported);
    CHECK(support_of(name).reason == words);
  }
}
