// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Vertex functions of tessellated patches: the forms of docs/formats/air.md 1.13.
#include "smelt/aot/stage_info.hpp"
#include "smelt/aot/verify.hpp"
#include "smelt/metallib/metadata.hpp"
#include "smelt/metallib/reader.hpp"

#include "entry_text.hpp"

namespace smelt::test {
namespace {

const std::string kPatch = R"(
struct Point { float3 place [[attribute(0)]]; half2 uv [[attribute(2)]]; float never [[attribute(3)]]; };
struct Patch { patch_control_point<Point> points; float4 tint [[attribute(5)]]; };
struct Out { float4 position [[position]]; half2 uv; };
[[patch(triangle, 3)]] vertex Out v(Patch in [[stage_in]], float3 at [[position_in_patch]], uint id [[patch_id]]) {
  Out out;
  out.position = float4(in.points[0].place * at.x + in.points[1].place * at.y + in.points[2].place * at.z, 1) + in.tint;
  out.uv = in.points[id % 3].uv;
  return out;
}
)";

}  // namespace

TEST_CASE("a patch: its control points are one parameter, which a function reads by number") {
  const EntryText made = entry_of(kPatch, "v", "vertex");
  REQUIRE(made.inputs.size() == 4);
  CHECK(made.inputs[1] == "1, patch_input, location_index, 5, 1, arg_type_name, float4, arg_name, tint");
  CHECK(made.inputs[2] == "2, position_in_patch, arg_type_name, float3, arg_name, at");
  CHECK(made.inputs[3] == "3, patch_id, arg_type_name, uint, arg_name, id");
  CHECK(made.signature.find("(ptr %points, <4 x float> %tint, <3 x float> noundef %at, i32 noundef %id)") !=
        std::string::npos);
  const auto lists = operands_of(made.entry);
  REQUIRE(lists.size() == 3);
  CHECK(made.nodes.at(lists[2]) == "!{!\"air.patch\", !\"triangle\", !\"air.patch_control_point\", i32 3}");
  const std::string& points = made.nodes.at(operands_of(made.nodes.at(lists[1]))[0]);
  CHECK(points.starts_with("!{i32 0, !\"air.patch_control_point_input\", !"));
  const auto nodes = operands_of(points);
  REQUIRE(nodes.size() == 4);
  CHECK(made.nodes.at(nodes[0]) == "!{!\"air.patch_control_point_function\", ptr @_Z5Point.MTL_CONTROL_POINT_FN}");
  CHECK(made.nodes.at(nodes[1]) ==
        "!{!\"air.location_index\", i32 0, i32 1, !\"air.arg_type_name\", !\"float3\", !\"air.arg_name\", !\"place\"}");
  CHECK(made.nodes.at(nodes[2]) ==
        "!{!\"air.location_index\", i32 2, i32 1, !\"air.arg_type_name\", !\"half2\", !\"air.arg_name\", !\"uv\"}");
  CHECK(made.nodes.at(nodes[3]) ==
        "!{!\"air.location_index\", i32 3, i32 1, !\"air.arg_type_name\", !\"float\", !\"air.arg_name\", !\"never\", "
        "!\"air.arg_unused\"}");
  const std::string ir = ir_of(kPatch, "v");
  CHECK(ir.find("declare { <3 x float>, <2 x half>, float } @_Z5Point.MTL_CONTROL_POINT_FN(i32, ptr)") !=
        std::string::npos);
  CHECK(ir.find("section \"air.externally_defined\"") != std::string::npos);
}

TEST_CASE("the container knows the patch and whose each attribute is; what is written verifies") {
  const auto compiled = compile_msl(kHead + kPatch);
  REQUIRE(compiled.has_value());
  const auto& bytes = compiled->targets.at(0).metallib;
  CHECK(aot::verify_metallib(bytes).empty());
  const auto library = metallib::read(bytes);
  REQUIRE(library.has_value());
  const metallib::Function& function = library->functions.at(0);
  CHECK(function.tessellation == (1 | 3 << 2));
  const auto attributes = metallib::vertex_attributes_of(library->public_of(function));
  REQUIRE(attributes.has_value());
  CHECK(*attributes ==
        std::vector<metallib::VertexAttribute>{
            {"tint", 5, 1, true, 6}, {"place", 0, 2, true, 5}, {"uv", 2, 2, true, 17}, {"never", 3, 2, false, 3}});
  const auto stages = aot::describe_stages(library->module_of(function).bitcode(), "v");
  REQUIRE(stages.has_value());
  CHECK(stages->at(0).patch == "triangle");
  CHECK(stages->at(0).control_points == 3);
  REQUIRE(stages->at(0).control_point_attributes.size() == 3);
  CHECK(stages->at(0).control_point_attributes[2] == aot::StageAttributeInfo{3, "never", "float", true});
}

TEST_CASE("points as a parameter of their own, of a quad without a number, and none that is read") {
  const EntryText made = entry_of(
      "namespace n { struct C { float4 p [[attribute(0)]]; }; }\n"
      "[[patch(quad)]] vertex float4 v(patch_control_point<n::C> c [[stage_in]], float2 at [[position_in_patch]]) {\n"
      "  return at.xyxy; }\n",
      "v", "vertex");
  const auto lists = operands_of(made.entry);
  CHECK(made.nodes.at(lists[2]) == "!{!\"air.patch\", !\"quad\"}");
  const std::string& points = made.nodes.at(operands_of(made.nodes.at(lists[1]))[0]);
  CHECK(points.ends_with(", !\"air.arg_unused\"}"));
  CHECK(made.nodes.at(operands_of(points)[0]) == "!{!\"air.patch_control_point_function\", null}");
  const EntryText read = entry_of(
      "namespace n { struct C { float4 p [[attribute(0)]]; }; }\n"
      "float4 of(thread const patch_control_point<n::C>& c, uint i) { return c[i].p; }\n"
      "[[patch(quad, 0)]] vertex float4 v(patch_control_point<n::C> c [[stage_in]]) { return of(c, 7); }\n",
      "v", "vertex");
  CHECK(read.nodes.at(operands_of(read.nodes.at(operands_of(read.nodes.at(operands_of(read.entry)[1]))[0]))[0]) ==
        "!{!\"air.patch_control_point_function\", ptr @_ZN1n1CE.MTL_CONTROL_POINT_FN}");
  CHECK(read.nodes.at(operands_of(read.entry)[2]) ==
        "!{!\"air.patch\", !\"quad\", !\"air.patch_control_point\", i32 0}");
}

TEST_CASE("factors of a tessellator are what a kernel writes") {
  const Msl source(kHead + R"(
kernel void k(device MTLQuadTessellationFactorsHalf* f [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  for (int e = 0; e < 4; ++e) f[i].edgeTessellationFactor[e] = half(e + i);
  f[i].insideTessellationFactor[0] = 8.0h;
  f[i].insideTessellationFactor[1] = 9.0h;
}
)");
  std::vector<uint16_t> factors(12);
  source.run("k", Launch{.grid = {2, 1, 1}, .group = {2, 1, 1}}.bind(0, factors));
  CHECK(factors == std::vector<uint16_t>{0, 0x3C00, 0x4000, 0x4200, 0x4800, 0x4880, 0x3C00, 0x4000, 0x4200, 0x4400,
                                         0x4800, 0x4880});
}

TEST_CASE("what a patch cannot be is an error that names it") {
  struct Row {
    std::string text, error;
  };
  const std::string point = "struct C { float4 p [[attribute(0)]]; };\n";
  const Row rows[] = {
      {"vertex float4 v(uint i [[patch_id]]) { return i; }",
       "'patch_id' attribute needs a vertex function with [[patch(...)]]"},
      {"[[patch(line, 2)]] vertex float4 v() { return 0; }", "'patch' attribute requires 'quad' or 'triangle'"},
      {"[[patch(quad, 33)]] vertex float4 v() { return 0; }", "'patch' attribute requires 0 to 32 control points"},
      {"[[patch(quad, 4)]] fragment float4 f() { return 0; }", "'patch' attribute only goes on a vertex function"},
      {"[[patch(quad, 4)]] vertex float4 v(float3 at [[position_in_patch]]) { return at.xyzx; }",
       "type 'float3' is not valid for attribute 'position_in_patch' of a quad"},
      {point + "vertex float4 v(patch_control_point<C> c [[stage_in]]) { return c[0].p; }",
       "'c': control points need a vertex function with [[patch(...)]]"},
      {point + "struct P { patch_control_point<C> a, b; };\n"
               "[[patch(quad, 4)]] vertex float4 v(P p [[stage_in]]) { return p.a[0].p; }",
       "'b': 'a' has the control points already"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    CHECK(error_of(row.text) == row.error);
  }
}

}  // namespace smelt::test
