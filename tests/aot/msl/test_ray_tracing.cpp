// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// <metal_raytracing>: the forms of docs/formats/air.md 3.15.
#include "smelt/aot/verify.hpp"

#include "entry_text.hpp"

namespace smelt::test {
namespace {

const std::string kUse = "using namespace raytracing;\n";

/// Names of AIR's operations that are called, sorted, without those of arithmetic.
std::vector<std::string> called(const std::string& ir) {
  std::vector<std::string> names;
  const std::regex call(R"(call [^@\n]*@(air\.[\w.]+)\()");
  for (auto at = std::sregex_iterator(ir.begin(), ir.end(), call); at != std::sregex_iterator(); ++at)
    names.push_back((*at)[1]);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

bool has(const std::string& ir, const std::string& part) {
  return ir.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("an intersection function: what it gets and gives, its kind and its tags") {
  const std::string source = kUse + R"(
struct Hit { bool accept [[accept_intersection]]; float distance [[distance]]; };
[[intersection(bounding_box, triangle_data, instancing)]] Hit ball(
    float3 o [[origin]], float3 d [[direction]], float near [[min_distance]], float far [[max_distance]],
    uint one [[primitive_id]], device const float4* places [[buffer(0)]]) {
  return {near < far, dot(o, d) + places[one].w};
}
[[intersection(triangle, triangle_data)]] bool leaf(float2 at [[barycentric_coord]], uint g [[geometry_id]]) {
  return at.x > 0.5f || g == 3;
})";
  const EntryText made = entry_of(source, "ball", "intersection");
  CHECK(made.results == std::vector<std::string>{"accept_intersection, arg_type_name, bool, arg_name, accept",
                                                 "distance, arg_type_name, float, arg_name, distance"});
  CHECK(made.inputs.at(0) == "0, origin, arg_type_name, float3, arg_name, o");
  CHECK(made.inputs.at(4) == "4, primitive_id, arg_type_name, uint, arg_name, one");
  CHECK(made.inputs.at(5).starts_with("5, buffer, location_index, 0, 1, read, "));
  CHECK(made.signature.starts_with("<{ i1, float }> (<3 x float> noundef "));
  CHECK(has(made.entry, "!\"air.bounding_box\", !\"air.instancing\", !\"air.triangle_data\"}"));
  const EntryText plain = entry_of(source, "leaf", "intersection");
  CHECK(plain.results == std::vector<std::string>{"accept_intersection, arg_type_name, bool"});
  CHECK(has(plain.entry, "!\"air.triangle\", !\"air.triangle_data\"}"));
  CHECK(findings_of(source) == "");
}

TEST_CASE("an intersector calls the functions of a table, and hands them a payload") {
  const std::string source = kUse + R"(
struct Seen { uint count; float far; };
kernel void k(instance_acceleration_structure s [[buffer(0)]],
              intersection_function_table<triangle_data, instancing> t [[buffer(1)]], device float* out [[buffer(2)]]) {
  intersector<triangle_data, instancing> it;
  Seen seen = {0, 1};
  out[0] = it.intersect(ray(float3(0), float3(0, 0, 1)), s, 0xFFu, t).distance;
  out[1] = it.intersect(ray(float3(1), float3(0, 0, 1)), s, t, seen).distance + seen.count;
  out[2] = is_null_intersection_function_table(t) ? 0 : t.size();
})";
  const EntryText made = entry_of(source, "k", "kernel");
  CHECK(made.inputs.at(1) ==
        "1, intersection_function_table, location_index, 1, 1, read_write, arg_type_name, "
        "intersection_function_table<instancing, triangle_data>, arg_name, t");
  const std::string ir = ir_of(source, "k");
  CHECK(called(ir) == std::vector<std::string>{"air.convert.f.f32.u.i32", "air.get_size_intersection_function_table",
                                               "air.intersect.instancing.triangle_data",
                                               "air.is_null_intersection_function_table"});
  CHECK_MESSAGE(has(ir, "i32 255, ptr addrspace(1) "), ir);
  CHECK_MESSAGE(has(ir, ", ptr null, i64 0, i32 0,"), ir);
  CHECK_MESSAGE(has(ir, ", i64 8, i32 0,"), ir);
  CHECK(findings_of(source) == "");
}

TEST_CASE("an intersector is one call, with its state in AIR's order") {
  const std::string source = kUse + R"(
kernel void k(instance_acceleration_structure scene [[buffer(3)]], device float* out, constant ray& r,
              uint i [[thread_position_in_grid]]) {
  intersector<instancing, triangle_data> it;
  it.set_triangle_front_facing_winding(winding::counterclockwise);
  it.set_triangle_cull_mode(triangle_cull_mode::back);
  it.set_geometry_cull_mode(geometry_cull_mode::curve);
  it.set_opacity_cull_mode(opacity_cull_mode::non_opaque);
  it.force_opacity(forced_opacity::opaque);
  it.assume_geometry_type(geometry_type::triangle | geometry_type::curve);
  it.assume_curve_basis(curve_basis::linear);
  it.assume_curve_type(curve_type::flat);
  it.assume_curve_control_point_count(3);
  it.assume_identity_transforms(true);
  it.accept_any_intersection(true);
  auto hit = it.intersect(r, scene, 0x7f);
  out[i] = hit.type == intersection_type::triangle && hit.triangle_front_facing ? hit.distance : hit.triangle_barycentric_coord.y;
  out[i] += hit.primitive_id + hit.geometry_id * 3 + hit.instance_id * 5 + hit.user_instance_id * 7;
})";
  const EntryText made = entry_of(source, "k", "kernel");
  CHECK(made.inputs[0] ==
        "0, instance_acceleration_structure, location_index, 3, 1, read, arg_type_name, "
        "acceleration_structure<instancing>, arg_name, scene");
  const std::string ir = ir_of(source, "k");
  CHECK(called(ir) == std::vector<std::string>{"air.convert.f.f32.u.i32", "air.get_null_intersection_function_table",
                                               "air.intersect.instancing.triangle_data"});
  CHECK_MESSAGE(has(ir, "i32 127, ptr addrspace(1) "), ir);
  CHECK_MESSAGE(has(ir,
                    ", ptr null, i64 0, i32 1, i32 2, i32 4, i32 2, i32 1, i32 5, i32 2, i32 1, i32 3, i1 true, "
                    "i1 true)"),
                ir);
  CHECK_MESSAGE(has(ir,
                    "declare { i32, float, i32, i32, ptr addrspace(1), i32, i32, <2 x float>, i1 } "
                    "@air.intersect.instancing.triangle_data(<3 x float>, <3 x float>, float, float, "
                    "ptr addrspace(1) readonly, i32, ptr addrspace(1) readonly, ptr, i64, i32, i32, i32, i32, i32, "
                    "i32, i32, i32, i32, i1, i1)"),
                ir);
  for (const char* field : {"0", "1", "2", "3", "5", "6", "7", "8"})
    CHECK(std::regex_search(ir, std::regex(fmt::format(R"(extractvalue \{{ i32, float[^\n]*, {}\n)", field))));
  CHECK(findings_of(source) == "");
}

TEST_CASE("without instances there is no mask; defaults; motion has a time; curves a parameter") {
  const std::string source = kUse + R"(
kernel void k(primitive_acceleration_structure a [[buffer(0)]], acceleration_structure<primitive_motion> b [[buffer(1)]],
              acceleration_structure<instancing, primitive_motion, instance_motion> c [[buffer(2)]], device float* out [[buffer(3)]]) {
  intersector<> one;
  out[0] = one.intersect(ray(float3(1), float3(2)), a).distance;
  intersector<primitive_motion, curve_data> two;
  out[1] = two.intersect(ray(), b, 0.25f).curve_parameter;
  intersector<instancing, triangle_data, primitive_motion, instance_motion, extended_limits> three;
  out[2] = three.intersect(ray(), c, 9, 0.75f).instance_id;
})";
  const EntryText made = entry_of(source, "k", "kernel");
  CHECK(made.inputs[0] ==
        "0, primitive_acceleration_structure, location_index, 0, 1, read, arg_type_name, acceleration_structure<>, "
        "arg_name, a");
  CHECK(made.inputs[2] ==
        "2, instance_acceleration_structure, location_index, 2, 1, read, arg_type_name, "
        "acceleration_structure<instancing, primitive_motion, instance_motion>, arg_name, c");
  const std::string ir = ir_of(source, "k");
  const std::string state =
      ", ptr null, i64 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 3, i32 -1, i32 -1, i32 0, i1 false";
  CHECK_MESSAGE(
      std::regex_search(
          ir,
          std::regex(
              R"(\{ i32, float, i32, i32, ptr addrspace\(1\) \} @air\.intersect\(<3 x float>[^\n]*0x7FF0000000000000, ptr addrspace\(1\) %?\w+, ptr addrspace\(1\) %\w+)")),
      ir);
  CHECK_MESSAGE(
      std::regex_search(
          ir,
          std::regex(
              R"(\{ i32, float, i32, i32, ptr addrspace\(1\), float \} @air\.intersect\.curve_data\.primitive_motion\([^\n]*, float 2\.500000e-01, ptr addrspace\(1\) )")),
      ir);
  CHECK_MESSAGE(
      std::regex_search(
          ir,
          std::regex(
              R"(@air\.intersect\.instancing\.triangle_data\.primitive_motion\.instance_motion\.extended_limits\([^\n]*, i32 9, float 7\.500000e-01, ptr addrspace\(1\) )")),
      ir);
  CHECK_MESSAGE(has(ir, state + ")"), ir);
  CHECK_MESSAGE(has(ir, state + ", i1 false)"), ir);
  CHECK(findings_of(source) == "");
}

TEST_CASE("tags stand in any order") {
  const std::string source = kUse + R"(
kernel void k(acceleration_structure<primitive_motion, instancing> s [[buffer(0)]], device float* out [[buffer(1)]]) {
  intersector<primitive_motion, triangle_data, instancing> it;
  out[0] = it.intersect(ray(), s, 1, 0.5f).distance;
})";
  CHECK(entry_of(source, "k", "kernel").inputs[0].find("0, instance_acceleration_structure, ") == 0);
  CHECK(has(ir_of(source, "k"), "@air.intersect.instancing.triangle_data.primitive_motion("));
}

TEST_CASE("a query: made, reset, walked and gone, with every fact by its name") {
  const std::string source = kUse + R"(
float sum(float4x3 m) { return m[0].x + m[1].y + m[2].z + m[3].x; }
void walk(thread intersection_query<instancing, triangle_data, curve_data>& q, device float* out) {
  while (q.next()) {
    out[0] += q.get_candidate_triangle_distance() + q.get_candidate_triangle_barycentric_coord().x;
    out[1] += q.get_candidate_curve_distance() + q.get_candidate_curve_parameter() + q.get_ray_min_distance();
    out[2] += q.get_candidate_ray_origin().x + q.get_candidate_ray_direction().y + sum(q.get_candidate_object_to_world_transform());
    out[3] += sum(q.get_candidate_world_to_object_transform()) + q.get_world_space_ray_origin().z;
    out[4] += q.get_candidate_instance_id() + q.get_candidate_user_instance_id() + q.get_candidate_geometry_id();
    out[5] += q.get_candidate_primitive_id() + q.get_world_space_ray_direction().x;
    out[6] += q.get_candidate_primitive_data() != nullptr;
    if (q.is_candidate_triangle_front_facing()) q.commit_triangle_intersection();
    if (q.is_candidate_non_opaque_bounding_box()) q.commit_bounding_box_intersection(out[7]);
    if (q.get_candidate_intersection_type() == intersection_type::curve) q.commit_curve_intersection();
    if (out[8] > 1) q.abort();
  }
}
kernel void k(acceleration_structure<instancing> scene [[buffer(0)]], device float* out [[buffer(1)]]) {
  intersection_params how;
  how.force_opacity(forced_opacity::non_opaque);
  intersection_query<instancing, triangle_data, curve_data> q(ray(float3(0), float3(0, 0, 1), 0.5f, 7.0f), scene, 3u, how);
  walk(q, out);
  out[9] = q.get_committed_intersection_type() == intersection_type::none ? 0 : q.get_committed_distance();
  out[10] = q.is_committed_triangle_front_facing() + q.get_committed_triangle_barycentric_coord().y + q.get_committed_curve_parameter();
  out[11] = q.get_committed_instance_id() + q.get_committed_user_instance_id() + q.get_committed_geometry_id() + q.get_committed_primitive_id();
  out[12] = sum(q.get_committed_object_to_world_transform()) + sum(q.get_committed_world_to_object_transform());
  out[13] = q.get_committed_ray_origin().x + q.get_committed_ray_direction().y + (q.get_committed_primitive_data() == nullptr);
})";
  const std::string ir = ir_of(source, "k");
  const std::string tags = ".instancing.triangle_data.curve_data";
  std::vector<std::string> wanted;
  for (const char* name : {"abort",
                           "allocate",
                           "commit_bounding_box_intersection",
                           "commit_curve_intersection",
                           "commit_triangle_intersection",
                           "deallocate",
                           "get_candidate_curve_distance",
                           "get_candidate_curve_parameter",
                           "get_candidate_geometry_id",
                           "get_candidate_instance_id",
                           "get_candidate_intersection_type",
                           "get_candidate_object_to_world_transform",
                           "get_candidate_primitive_data",
                           "get_candidate_primitive_id",
                           "get_candidate_ray_direction",
                           "get_candidate_ray_origin",
                           "get_candidate_triangle_barycentric_coord",
                           "get_candidate_triangle_distance",
                           "get_candidate_user_instance_id",
                           "get_candidate_world_to_object_transform",
                           "get_committed_curve_parameter",
                           "get_committed_distance",
                           "get_committed_geometry_id",
                           "get_committed_instance_id",
                           "get_committed_intersection_type",
                           "get_committed_object_to_world_transform",
                           "get_committed_primitive_data",
                           "get_committed_primitive_id",
                           "get_committed_ray_direction",
                           "get_committed_ray_origin",
                           "get_committed_triangle_barycentric_coord",
                           "get_committed_user_instance_id",
                           "get_committed_world_to_object_transform",
                           "get_ray_min_distance",
                           "get_world_space_ray_direction",
                           "get_world_space_ray_origin",
                           "is_candidate_non_opaque_bounding_box",
                           "is_candidate_triangle_front_facing",
                           "is_committed_triangle_front_facing",
                           "next",
                           "reset"})
    wanted.push_back(fmt::format("air.{}_intersection_query{}", name, tags));
  std::vector<std::string> found;
  for (const std::string& name : called(ir))
    if (has(name, "intersect")) found.push_back(name);
  CHECK(found == wanted);
  CHECK_MESSAGE(has(ir, ", float 5.000000e-01, float 7.000000e+00, ptr addrspace(1) "), ir);
  CHECK_MESSAGE(
      has(ir, ", i32 3, i32 0, i32 0, i32 0, i32 0, i32 2, i32 3, i32 -1, i32 -1, i32 0, i1 false, i1 false)"), ir);
  CHECK_MESSAGE(has(ir,
                    "declare { <3 x float>, <3 x float>, <3 x float>, <3 x float> } "
                    "@air.get_candidate_object_to_world_transform_intersection_query"),
                ir);
  CHECK(!has(ir, "= alloca "));
  CHECK(findings_of(source) == "");
}

TEST_CASE("structures in argument buffers, in structures, and what is asked of them") {
  const std::string source = kUse + R"(
struct Scene { device float* out [[id(2)]]; instance_acceleration_structure all [[id(5)]]; };
kernel void k(constant Scene& s [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  primitive_acceleration_structure one = s.all.get_acceleration_structure<>(i);
  s.out[i] = is_null_instance_acceleration_structure(s.all) + 2 * is_null_acceleration_structure(one) +
             s.all.get_instance_count() + is_null_primitive_acceleration_structure(one) +
             is_null_acceleration_structure(s.all.get_acceleration_structure<instancing>(i));
})";
  const std::string ir = ir_of(source, "k");
  CHECK_MESSAGE(has(ir, R"(!"acceleration_structure<instancing>", !"all", !"air.indirect_argument", )"), ir);
  CHECK_MESSAGE(has(ir, R"(!"air.instance_acceleration_structure", !"air.location_index", i32 5, i32 1, !"air.read")"),
                ir);
  std::vector<std::string> found;
  for (const std::string& name : called(ir))
    if (has(name, "acceleration")) found.push_back(name);
  CHECK(found == std::vector<std::string>{"air.get_instance_acceleration_structure_instance_acceleration_structure",
                                          "air.get_instance_count_instance_acceleration_structure",
                                          "air.get_primitive_acceleration_structure_instance_acceleration_structure",
                                          "air.is_null_instance_acceleration_structure",
                                          "air.is_null_primitive_acceleration_structure"});
  CHECK(findings_of(source) == "");
}

TEST_CASE("vertex and fragment functions trace too") {
  const std::string source = kUse + R"(
struct Out { float4 at [[position]]; float far; };
vertex Out v(uint i [[vertex_id]], instance_acceleration_structure scene [[buffer(1)]]) {
  intersector<instancing> it;
  return {float4(i), it.intersect(ray(float3(i), float3(1)), scene).distance};
}
fragment float4 f(Out in [[stage_in]], instance_acceleration_structure scene [[buffer(30)]]) {
  intersection_query<instancing> q;
  q.reset(ray(in.at.xyz, float3(1)), scene, intersection_params());
  if (q.next()) discard_fragment();
  return float4(q.get_committed_distance());
})";
  CHECK(has(entry_of(source, "v", "vertex").inputs[1], "instance_acceleration_structure, location_index, 1, 1, read"));
  CHECK(has(entry_of(source, "f", "fragment").inputs.back(), "instance_acceleration_structure, location_index, 30, 1"));
  CHECK(findings_of(source) == "");
}

TEST_CASE("what ray tracing has not is an error that says what") {
  struct Row {
    std::string text, error;
  };
  const std::string head =
      kUse + "kernel void k(instance_acceleration_structure s [[buffer(1)]], device float* x [[buffer(0)]]) {\n";
  const Row rows[] = {
      {head + "intersector<instancing, world_space_data> i; x[0] = i.intersect(ray(), s).distance; }",
       "world_space_data of an intersector is not supported"},
      {head + "intersection_query<instancing, primitive_motion> q; x[0] = q.next(); }",
       "intersection queries have neither motion nor world_space_data"},
      {head + "intersection_query<instancing> q; intersection_query<instancing> p = q; x[0] = p.next(); }",
       "deleted constructor"},
      {head + "intersection_query<instancing> q; q.reset(ray(), s); x[0] = "
              "q.get_committed_triangle_barycentric_coord().x; }",
       "get_committed_triangle_barycentric_coord"},
      {head + "intersector<> i; x[0] = i.intersect(ray(), s).distance; }", "no matching member function"},
      {head + "intersector<instancing, float> i; x[0] = i.intersect(ray(), s).distance; }",
       "a tag of this intersector is not supported"},
      {kUse + "kernel void k(intersection_function_table<instancing, float> t [[buffer(1)]], device uint* x) { x[0] = "
              "t.size(); }",
       "a tag of this intersection function table is not supported"},
      {"[[intersection(sphere)]] bool f() { return true; }",
       "'intersection' attribute requires bounding_box, triangle or curve, and tags"},
      {"[[intersection(triangle, max_levels<2>)]] bool f() { return true; }",
       "'max_levels<2>': this tag of an intersection function is not supported"},
      {"[[intersection(triangle)]] float f() { return 1; }",
       "the result of an intersection function 'float' needs an attribute"},
      {"[[intersection(triangle)]] bool f(float x) { return x > 1; }",
       "invalid type 'float' for input declaration in an intersection function"},
      {"[[intersection(triangle)]] bool f(float2 o [[origin]]) { return o.x > 1; }",
       "type 'float2' is not valid for attribute 'origin': it must be float3"},
      {kUse + "kernel void k(acceleration_structure<instancing, max_levels<2>> t [[buffer(1)]]) {}",
       "'max_levels': acceleration structures of many levels are not supported"},
      {kUse + "kernel void k(instance_acceleration_structure s [[texture(1)]]) {}",
       "'texture' attribute does not apply to a parameter of type 'acceleration_structure<instancing>'; it is "
       "'buffer'"},
      {kUse + "kernel void k(instance_acceleration_structure s [[buffer(1)]], device float* x [[buffer(1)]]) {}",
       "cannot reserve 'buffer' resource location at index 1: 's' has it"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const std::string error = error_of(row.text);
    CHECK_MESSAGE(has(error, row.error), error);
  }
}

}  // namespace smelt::test
