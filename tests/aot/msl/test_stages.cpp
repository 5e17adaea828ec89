// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Vertex and fragment functions: the metadata and signatures that Apple's compiler writes (docs/formats/air.md 1.11).
#include "smelt/metallib/metadata.hpp"
#include "smelt/metallib/reader.hpp"

#include "entry_text.hpp"

#include <doctest/doctest.h>

#include <regex>

namespace smelt::test {

TEST_CASE("a vertex function: attributes of a structure, ids, a packed structure as the result") {
  const EntryText made = entry_of(R"(
struct In { float3 place [[attribute(0)]]; half2 uv [[attribute(3)]]; uchar4 bytes [[attribute(1)]]; };
struct Out {
  float4 position [[position]];
  float2 uv;
  half4 tint [[user(tint)]];
  uint kind [[flat]];
  float size [[point_size]];
};
vertex Out v(In in [[stage_in]], constant float4x4& m [[buffer(2)]], uint id [[vertex_id]],
             ushort instance [[instance_id]], uint base [[base_vertex]], uint first [[base_instance]]) {
  return {m * float4(in.place, 1), float2(in.uv), half4(id, instance, base, first), in.bytes.x, 2};
}
)",
                                  "v", "vertex");
  CHECK(made.results == Lines{"position, arg_type_name, float4, arg_name, position",
                              "vertex_output, generated(2uvDv2_f), arg_type_name, float2, arg_name, uv",
                              "vertex_output, user(tint), arg_type_name, half4, arg_name, tint",
                              "vertex_output, generated(4kindj), arg_type_name, uint, arg_name, kind",
                              "point_size, arg_type_name, float, arg_name, size"});
  REQUIRE(made.inputs.size() == 8);
  CHECK(made.inputs[0] == "0, vertex_input, location_index, 0, 1, arg_type_name, float3, arg_name, place");
  CHECK(made.inputs[1] == "1, vertex_input, location_index, 3, 1, arg_type_name, half2, arg_name, uv");
  CHECK(made.inputs[2] == "2, vertex_input, location_index, 1, 1, arg_type_name, uchar4, arg_name, bytes");
  CHECK(made.inputs[3].starts_with("3, buffer, buffer_size, 64, location_index, 2, 1, read, address_space, 2, "));
  CHECK(made.inputs[4] == "4, vertex_id, arg_type_name, uint, arg_name, id");
  CHECK(made.inputs[5] == "5, instance_id, arg_type_name, ushort, arg_name, instance");
  CHECK(made.inputs[6] == "6, base_vertex, arg_type_name, uint, arg_name, base");
  CHECK(made.inputs[7] == "7, base_instance, arg_type_name, uint, arg_name, first");
  CHECK(made.signature.starts_with("<{ <4 x float>, <2 x float>, <4 x half>, i32, float }> (<3 x float>"));
}

TEST_CASE("a fragment function: interpolation, hardware values, colours in and out, depth, stencil, mask") {
  const EntryText made = entry_of(R"(
struct In {
  float4 position [[position]];
  float2 plain;
  float a [[user(a), centroid_no_perspective]];
  half2 b [[user(b), sample_perspective]];
  float c [[user(c), flat]];
  uint d [[user(d)]];
};
struct Out {
  half4 first [[color(0)]];
  float4 second [[color(2), index(1)]];
  float depth [[depth(less)]];
  uint stencil [[stencil]];
  uint mask [[sample_mask]];
};
fragment Out f(In in [[stage_in]], bool front [[front_facing]], float2 point [[point_coord]],
               uint sample [[sample_id]], uint mask [[sample_mask]], uint shape [[primitive_id]],
               float3 where [[barycentric_coord]], half4 old [[color(0)]], uint lane [[thread_index_in_simdgroup]]) {
  Out out;
  out.first = old + half4(front ? in.plain.x : in.a);
  out.second = float4(point, float2(in.b)) + in.position + in.c + in.d + where.xyzx + lane;
  out.depth = 0.5;
  out.stencil = sample + shape;
  out.mask = mask;
  return out;
}
)",
                                  "f", "fragment");
  CHECK(made.results == Lines{"render_target, 0, 0, arg_type_name, half4, arg_name, first",
                              "render_target, 2, 1, arg_type_name, float4, arg_name, second",
                              "depth, depth_qualifier, less, arg_type_name, float, arg_name, depth",
                              "stencil, arg_type_name, uint, arg_name, stencil",
                              "sample_mask, arg_type_name, uint, arg_name, mask"});
  CHECK(made.inputs ==
        Lines{"0, position, center, no_perspective, arg_type_name, float4, arg_name, position",
              "1, fragment_input, generated(5plainDv2_f), center, perspective, arg_type_name, float2, arg_name, plain",
              "2, fragment_input, user(a), centroid, no_perspective, arg_type_name, float, arg_name, a",
              "3, fragment_input, user(b), sample, perspective, arg_type_name, half2, arg_name, b",
              "4, fragment_input, user(c), flat, arg_type_name, float, arg_name, c",
              "5, fragment_input, user(d), flat, arg_type_name, uint, arg_name, d",
              "6, front_facing, arg_type_name, bool, arg_name, front",
              "7, point_coord, arg_type_name, float2, arg_name, point",
              "8, sample_id, arg_type_name, uint, arg_name, sample",
              "9, sample_mask_in, arg_type_name, uint, arg_name, mask",
              "10, primitive_id, arg_type_name, uint, arg_name, shape",
              "11, barycentric_coord, center, perspective, arg_type_name, float3, arg_name, where",
              "12, render_target, 0, arg_type_name, half4, arg_name, old",
              "13, thread_index_in_simdgroup, arg_type_name, uint, arg_name, lane"});
  CHECK(made.signature.starts_with("<{ <4 x half>, <4 x float>, float, i32, i32 }> (<4 x float>"));
}

TEST_CASE("a structure of colours is a parameter without [[stage_in]]") {
  const EntryText made = entry_of(R"(
struct Kept { half4 albedo [[color(0)]]; float depth [[color(1)]]; };
struct Corner { float4 position [[position]]; float2 uv; };
fragment half4 f(Corner in [[stage_in]], Kept kept) { return kept.albedo * half(kept.depth + in.uv.x + in.position.x); }
)",
                                  "f", "fragment");
  CHECK(made.inputs == Lines{"0, position, center, no_perspective, arg_type_name, float4, arg_name, position",
                             "1, fragment_input, generated(2uvDv2_f), center, perspective, arg_type_name, float2, "
                             "arg_name, uv",
                             "2, render_target, 0, arg_type_name, half4, arg_name, albedo",
                             "3, render_target, 1, arg_type_name, float, arg_name, depth"});
}

TEST_CASE("results that are no structure, structures in structures, nothing at all") {
  const EntryText place = entry_of("vertex float4 v(uint i [[vertex_id]]) { return float4(i); }", "v", "vertex");
  CHECK(place.results == Lines{"position, arg_type_name, float4"});
  CHECK(place.signature.starts_with("<4 x float> ("));
  const EntryText colour = entry_of("fragment half4 f() { return half4(1); }", "f", "fragment");
  CHECK(colour.results == Lines{"render_target, 0, 0, arg_type_name, half4"});
  const EntryText one = entry_of("fragment float f() { return 1; }", "f", "fragment");
  CHECK(one.signature.starts_with("float ("));
  const EntryText nested = entry_of(R"(
struct Colours { float4 a [[color(0)]]; float4 b [[color(1)]]; };
struct Out { float d [[depth(any)]]; Colours c; };
fragment Out f() { Out o; o.d = 1; o.c.a = 2; o.c.b = 3; return o; }
)",
                                    "f", "fragment");
  CHECK(nested.results == Lines{"depth, depth_qualifier, any, arg_type_name, float, arg_name, d",
                                "render_target, 0, 0, arg_type_name, float4, arg_name, a",
                                "render_target, 1, 0, arg_type_name, float4, arg_name, b"});
  const EntryText nothing = entry_of(
      "[[early_fragment_tests]] fragment void f(device float* x [[buffer(0), raster_order_group(1)]]) { x[0] = 1; }",
      "f", "fragment");
  CHECK(nothing.results.empty());
  CHECK(nothing.signature.starts_with("void ("));
  CHECK(nothing.entry.find("\"early_fragment_tests\"") != std::string::npos);
  CHECK(nothing.inputs[0].find("read_write, raster_order_group, 1, address_space, 1,") != std::string::npos);
}

TEST_CASE("clip distances, invariance, layers; the container knows attributes and layers") {
  const std::string text = R"(
struct In { float2 a [[attribute(1)]]; float4 never [[attribute(4)]]; };
struct Out {
  float4 position [[position, invariant]];
  float clip [[clip_distance]] [2];
  ushort layer [[render_target_array_index]];
  uint view [[viewport_array_index]];
};
vertex Out v(In in [[stage_in]]) {
  Out out;
  out.position = float4(in.a, 0, 1);
  out.clip[0] = in.a.x;
  out.clip[1] = in.a.y;
  out.layer = 3;
  out.view = 4;
  return out;
}
)";
  const EntryText made = entry_of(text, "v", "vertex");
  CHECK(made.results == Lines{"position, invariant, arg_type_name, float4, arg_name, position",
                              "clip_distance, clip_distance_array_size, 2, arg_type_name, float, arg_name, clip",
                              "render_target_array_index, arg_type_name, ushort, arg_name, layer",
                              "viewport_array_index, arg_type_name, uint, arg_name, view"});
  CHECK(made.signature.starts_with("<{ <4 x float>, [2 x float], i16, i32 }> ("));
  CHECK(made.inputs[1].ends_with(", arg_name, never, arg_unused"));
  const auto compiled = compile_msl(kHead + text);
  REQUIRE(compiled.has_value());
  const auto library = metallib::read(compiled->targets.at(0).metallib);
  REQUIRE(library.has_value());
  const metallib::Function& function = library->functions.at(0);
  CHECK(function.type == static_cast<uint8_t>(metallib::FunctionType::vertex));
  CHECK(function.layer_type == 41);
  const auto attributes = metallib::vertex_attributes_of(library->public_of(function));
  REQUIRE(attributes.has_value());
  CHECK(*attributes == std::vector<metallib::VertexAttribute>{{"a", 1, 0, true, 4}, {"never", 4, 0, false, 6}});
}

TEST_CASE("a truth value goes from the vertex to the fragment, flat") {
  const std::string text =
      "struct V { float4 p [[position]]; bool repeat [[flat]]; bool plain; };\n"
      "vertex V v(uint i [[vertex_id]]) { return {float4(i), i > 3, i == 1}; }\n"
      "fragment half4 f(V in [[stage_in]]) { return in.repeat ? 1 : in.plain ? 2 : 3; }\n";
  const EntryText v = entry_of(text, "v", "vertex");
  CHECK(v.results == Lines{"position, arg_type_name, float4, arg_name, p",
                           "vertex_output, generated(6repeatb), arg_type_name, bool, arg_name, repeat",
                           "vertex_output, generated(5plainb), arg_type_name, bool, arg_name, plain"});
  CHECK(v.signature.starts_with("<{ <4 x float>, i1, i1 }> ("));
  const EntryText f = entry_of(text, "f", "fragment");
  CHECK(f.inputs[1] == "1, fragment_input, generated(6repeatb), flat, arg_type_name, bool, arg_name, repeat");
  CHECK(f.inputs[2] == "2, fragment_input, generated(5plainb), flat, arg_type_name, bool, arg_name, plain");
  CHECK(ir_of(text, "v").find("load i1") == std::string::npos);
  CHECK(findings_of(text) == "");
}

TEST_CASE("a member that a function constant decides") {
  const EntryText made = entry_of(R"(
constant bool second [[function_constant(3)]];
struct Out { float4 a [[color(0)]]; float4 b [[color(1), function_constant(second)]]; };
fragment Out f(float4 old [[color(1), function_constant(second)]]) {
  Out o;
  o.a = 1;
  o.b = second ? old : 0;
  return o;
}
)",
                                  "f", "fragment");
  REQUIRE(made.results.size() == 2);
  CHECK(std::regex_match(
      made.results[1],
      std::regex(R"(function_constant, \d+, render_target, 1, 0, arg_type_name, float4, arg_name, b)")));
  CHECK(std::regex_match(
      made.inputs[0],
      std::regex(R"(0, function_constant, \d+, render_target, 1, arg_type_name, float4, arg_name, old)")));
}

TEST_CASE("fragments are discarded and compare with their neighbours; nobody else does") {
  const std::string ir = ir_of(
      "fragment half4 f(float2 p [[point_coord]]) {\n"
      "  if (fwidth(p).x > 0.5) discard_fragment();\n"
      "  return half4(dfdx(half(p.x)), dfdy(p.y), 0, 1);\n}\n",
      "f");
  for (const char* call :
       {"call void @air.discard_fragment()", "@air.fwidth.v2f32(", "@air.dfdx.f16(", "@air.dfdy.f32("})
    CHECK_MESSAGE(ir.find(call) != std::string::npos, call);
  CHECK(msl_error(kHead + "kernel void k(device float* x) { x[0] = dfdx(x[1]); }")
            .find("kernel function 'k' calls 'dfdx', which only fragment functions may") != std::string::npos);
  CHECK(msl_error(kHead + "vertex float4 v() { discard_fragment(); return 0; }")
            .find("vertex function 'v' calls 'discard_fragment', which only fragment functions may") !=
        std::string::npos);
}

TEST_CASE("matrices of lists of numbers, names of parameters that mean nothing") {
  const std::string ir = ir_of(
      "struct M { uint n; };\n"
      "fragment float4 f(float4 p [[position]], constant M& m [[user(sizes)]]) {\n"
      "  const float3x3 a = {{0.5, 0.25, 1}, {1, 2, 3}, {4, 5, 6}};\n"
      "  return float4(a * p.xyz, m.n);\n}\n",
      "f");
  CHECK(ir.find("!\"air.buffer\"") != std::string::npos);
  CHECK(ir.find("float 2.500000e-01") != std::string::npos);
}

TEST_CASE("components and columns are no loops in AIR, where nothing unrolls them") {
  const std::string ir = ir_of(
      "struct M { float4x4 all; packed_float3 place; };\n"
      "fragment float4 f(float4 p [[position]], constant M* m [[buffer(0)]], device M* out [[buffer(1)]]) {\n"
      "  float4 v = m->all * p;\n"
      "  v.zyx = v.xyz * 2;\n"
      "  v.yw = m->place.zx;\n"
      "  out->place.xz = v.wy;\n"
      "  out->all = transpose(m->all) * 3 + m[1].all;\n"
      "  const float3x3 a(m->all[0].xyz, v.xyw, float3(p.xy, 1));\n"
      "  const bool same = all(bool4(bool2(v.xy == p.zw), v.zw < p.xy));\n"
      "  return float4(p.xyz * a, same || m->all == out->all);\n}\n",
      "f");
  for (const char* part : {" alloca ", "llvm.loop", " x i8>", "lshr"}) CHECK_MESSAGE(ir.find(part) == ir.npos, part);
}

TEST_CASE("a kernel gets stage_in: members with attributes, as parameters of their own") {
  const EntryText made = entry_of(R"(
struct In { float4 place [[attribute(0)]]; ushort2 uv [[attribute(3)]]; };
kernel void k(In in [[stage_in]], device float4* out [[buffer(0)]], uint3 size [[grid_size]],
              uint3 at [[thread_position_in_grid]]) {
  out[at.x + size.x * at.y] = in.place * float(in.uv.y);
}
)",
                                  "k", "kernel");
  REQUIRE(made.inputs.size() == 5);
  CHECK(made.inputs[0] == "0, stage_in, location_index, 0, 1, arg_type_name, float4, arg_name, place");
  CHECK(made.inputs[1] == "1, stage_in, location_index, 3, 1, arg_type_name, ushort2, arg_name, uv");
  CHECK(made.signature.starts_with("void (<4 x float> %place, <2 x i16> %uv, ptr addrspace(1) "));
  CHECK(error_of("struct I { float2 a; }; kernel void k(I i [[stage_in]]) {}") ==
        "invalid input declaration in a kernel function: 'a' needs an attribute(n)");
}

TEST_CASE("interpolants: a pointer that the fragment asks, by the name of the value") {
  const std::string text = R"(
struct In {
  float4 position [[position]];
  interpolant<float3, interpolation::perspective> a [[user(a)]];
  interpolant<half, interpolation::no_perspective> b;
};
fragment float4 f(In in [[stage_in]], uint s [[sample_id]]) {
  return float4(in.a.interpolate_at_centroid(), in.b.interpolate_at_sample(s)) +
         in.a.interpolate_at_offset(get_sample_position(s)).x + in.b.interpolate_at_center() * get_num_samples();
}
)";
  const EntryText made = entry_of(text, "f", "fragment");
  REQUIRE(made.inputs.size() == 4);
  CHECK(made.inputs[1] ==
        "1, fragment_input, user(a), interpolation_function, perspective, arg_type_name, float3, arg_name, a");
  CHECK(made.inputs[2] ==
        "2, fragment_input, generated(1bDh), interpolation_function, no_perspective, arg_type_name, "
        "half, arg_name, b");
  const std::string ir = ir_of(text, "f");
  for (const char* call : {"@air.interpolate_centroid_perspective.v3f32(ptr addrspace(1) ",
                           "@air.interpolate_sample_no_perspective.f16(ptr addrspace(1) ",
                           "@air.interpolate_offset_perspective.v3f32(", "@air.interpolate_center_no_perspective.f16(",
                           "@air.get_sample_position.v2f32(i32 %", "@air.get_num_samples.i32(i32 0)"}) {
    CAPTURE(call);
    CHECK(ir.find(call) != std::string::npos);
  }
  CHECK(error_of("struct O { float4 p [[position]]; interpolant<float, interpolation::perspective> a; };\n"
                 "vertex O v() { return {}; }") ==
        "invalid type 'interpolant<float, perspective>' for output declaration in a vertex function");
  CHECK(error_of("kernel void k(device uint* x) { x[0] = get_num_samples(); }")
            .find("kernel function 'k' calls 'get_num_samples', which only fragment functions may") !=
        std::string::npos);
}

TEST_CASE("the level that a sample takes, in fragments alone") {
  const std::string ir = ir_of(
      "fragment float f(texture2d_array<half> t [[texture(0)]], depthcube<float> d [[texture(1)]],\n"
      "                 sampler s [[sampler(0)]], float4 p [[position]]) {\n"
      "  return t.calculate_clamped_lod(s, p.xy) + d.calculate_unclamped_lod(s, p.xyz);\n}\n",
      "f");
  CHECK(ir.find("@air.calculate_clamped_lod_texture_2d_array(ptr addrspace(1) ") != std::string::npos);
  CHECK(ir.find("@air.calculate_unclamped_lod_depth_cube(ptr addrspace(1) ") != std::string::npos);
  CHECK(error_of("kernel void k(texture2d<float> t, sampler s, device float* x) {\n"
                 "  x[0] = t.calculate_clamped_lod(s, float2(0)); }")
            .find("which only fragment functions may") != std::string::npos);
}

TEST_CASE("what decides over an argument may be computed from function constants") {
  const std::string text = R"(
constant bool has_mask [[function_constant(0)]];
constant int kind [[function_constant(1)]];
constant bool has_both = has_mask && kind == 2;
constant bool has_other = is_function_constant_defined(has_mask) ? !has_mask : true;
fragment float4 f(texture2d<float> a [[texture(0), function_constant(has_both)]],
                  texturecube<float> b [[texture(0), function_constant(has_other)]]) {
  return has_both ? a.read(uint2(0)) : b.read(uint2(0), 1);
}
)";
  const std::string ir = ir_of(text, "f");
  for (const char* part : {"@__metal_implicit_fc_pred_0 = internal", "@__metal_implicit_fc_pred_1 = internal",
                           "section \"air.static_init\"", "@llvm.global_ctors", "!\"bool\", !\"has_both\"}",
                           "!\"bool\", !\"has_other\"}", "store i8 %"}) {
    CAPTURE(part);
    CHECK(ir.find(part) != std::string::npos);
  }
  CHECK(ir.find("smelt.predicate") == std::string::npos);
  CHECK(error_of("fragment void f(texture2d<float> a [[texture(0), function_constant(nobody)]]) {}") ==
        "'function_constant' attribute parameter 'nobody' in 'f' must be a function constant, or a bool constant that "
        "is computed from such");
}

TEST_CASE("what Metal does not allow is an error in its words") {
  struct Row {
    std::string text, error;
  };
  const Row rows[] = {
      {"vertex float4 v(float2 i [[vertex_id]]) { return 0; }",
       "type 'float2' is not valid for attribute 'vertex_id': it must be ushort or uint"},
      {"vertex float4 v(float2 i) { return 0; }", "invalid type 'float2' for input declaration in a vertex function"},
      {"struct I { float2 a; }; vertex float4 v(I i [[stage_in]]) { return 0; }",
       "invalid input declaration in a vertex function: 'a' needs an attribute(n)"},
      {"struct I { float2 a [[attribute(31)]]; }; vertex float4 v(I i [[stage_in]]) { return 0; }",
       "'attribute' attribute parameter is out of bounds: must be between 0 and 30"},
      {"struct I { float2 a [[attribute(1)]]; float b [[attribute(1)]]; };\n"
       "vertex float4 v(I i [[stage_in]]) { return 0; }",
       "'v' takes 'b' from a place that another input has already"},
      {"vertex float2 v() { return 0; }", "invalid return type 'float2' for vertex function"},
      {"struct O { float4 p [[position]]; float4x4 m; }; vertex O v() { return {}; }",
       "invalid type 'float4x4' for output declaration in a vertex function"},
      {"struct O { float4 c; }; fragment O f() { return {}; }",
       "invalid return type for fragment function: member 'c' needs an attribute: color(n), depth(any), stencil or "
       "sample_mask"},
      {"struct O { float4 c [[color(8)]]; }; fragment O f() { return {}; }",
       "'color' attribute parameter is out of bounds: must be between 0 and 7"},
      {"struct O { float d [[depth(more)]]; }; fragment O f() { return {}; }",
       "'depth' attribute requires 'any', 'greater' or 'less'"},
      {"struct I { int n [[center_perspective]]; }; fragment void f(I i [[stage_in]]) {}",
       "'center_perspective' attribute does not apply to an integer, which is always 'flat'"},
      {"kernel void k(device float* x, uint i [[vertex_id]]) {}",
       "'vertex_id' attribute does not apply to a parameter of a kernel function"},
      {"fragment void f(device float* x, uint i [[thread_position_in_grid]]) {}",
       "'thread_position_in_grid' attribute does not apply to a parameter of a fragment function"},
      {"vertex void v(threadgroup float* x) {}", "parameter 'x': a vertex function cannot take threadgroup memory"},
      {"struct S { vertex float4 v() { return 0; } };", "vertex function 'v' cannot be a member function"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    CHECK(error_of(row.text) == row.error);
  }
}

}  // namespace smelt::test
