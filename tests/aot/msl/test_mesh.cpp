// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Mesh and object functions: the forms of docs/formats/air.md 1.14.
#include "smelt/aot/verify.hpp"
#include "smelt/metallib/reader.hpp"

#include "entry_text.hpp"

namespace smelt::test {
namespace {

const std::string kMesh = R"(
struct Quads { uint numbers[4]; };
struct V { float4 pos [[position]]; float4 col; half2 uv [[user(uv)]]; };
struct P { float4 tint; uint id [[primitive_id]]; };
using Out = mesh<V, P, 8, 4, topology::triangle>;
[[object]] void o(object_data Quads& quads [[payload]], mesh_grid_properties grid,
                  uint thread_id [[thread_index_in_threadgroup]], uint group [[threadgroup_position_in_grid]]) {
  if (thread_id < 2) quads.numbers[thread_id] = group * 2 + thread_id;
  if (thread_id == 0) grid.set_threadgroups_per_grid(uint3(2, 1, 1));
}
[[mesh]] void m(Out out, const object_data Quads& quads [[payload]], constant float4* cols [[buffer(0)]],
                uint i [[thread_index_in_threadgroup]], uint group [[threadgroup_position_in_grid]]) {
  const uint quad = quads.numbers[group];
  if (i < 4) {
    V v;
    v.pos = float4(quad, i, 0, 1);
    v.col = cols[quad];
    v.uv = half2(i);
    out.set_vertex(i, v);
  }
  if (i < 2) {
    out.set_index(3 * i, 0);
    P p;
    p.tint = 1;
    p.id = quad;
    out.set_primitive(i, p);
  }
  out.set_indices(4, uchar4(0, 1, 2, 3));
  if (i == 0) out.set_primitive_count(2);
}
)";

}  // namespace

TEST_CASE("a mesh function: its mesh, its payload, and one operation for each member") {
  const EntryText made = entry_of(kMesh, "m", "mesh");
  CHECK(made.results.empty());
  REQUIRE(made.inputs.size() == 5);
  const auto inputs = operands_of(made.nodes.at(operands_of(made.entry)[1]));
  const std::string& mesh = made.nodes.at(inputs[0]);
  CHECK(mesh.ends_with(", !\"air.arg_type_name\", !\"mesh<V, P, 8, 4, triangle>\", !\"air.arg_name\", !\"out\"}"));
  CHECK(mesh.starts_with("!{i32 0, !\"air.mesh\", !"));
  const std::string& info = made.nodes.at(operands_of(mesh)[0]);
  CHECK(info.starts_with("!{!\"air.mesh_type_info\", !"));
  CHECK(info.ends_with(", i32 8, i32 4, !\"air.triangle\"}"));
  const auto lists = operands_of(info);
  const auto nodes_in = [&](const std::string& list) {
    Lines nodes;
    for (const std::string& one : operands_of(made.nodes.at(list))) nodes.push_back(made.nodes.at(one));
    return nodes;
  };
  const std::string named = ", !\"air.arg_type_name\", ";
  CHECK(nodes_in(lists[0]) ==
        Lines{"!{!\"air.position\"" + named + "!\"float4\", !\"air.arg_name\", !\"pos\"}",
              "!{!\"air.mesh_vertex_data\", i32 0, !\"generated(3colDv4_f)\"" + named +
                  "!\"float4\", !\"air.arg_name\", !\"col\"}",
              "!{!\"air.mesh_vertex_data\", i32 1, !\"user(uv)\"" + named + "!\"half2\", !\"air.arg_name\", !\"uv\"}"});
  CHECK(nodes_in(lists[1]) == Lines{"!{!\"air.mesh_primitive_data\", i32 0, !\"generated(4tintDv4_f)\"" + named +
                                        "!\"float4\", !\"air.arg_name\", !\"tint\"}",
                                    "!{!\"air.primitive_id\"" + named + "!\"uint\", !\"air.arg_name\", !\"id\"}"});
  const std::string& payload = made.nodes.at(inputs[1]);
  CHECK(payload.starts_with("!{i32 1, !\"air.payload\", !\"air.struct_type_info\", !"));
  CHECK(payload.ends_with(", !\"air.arg_type_size\", i32 16, !\"air.arg_type_align_size\", i32 4" + named +
                          "!\"Quads\", !\"air.arg_name\", !\"quads\"}"));
  CHECK(made.nodes.at(operands_of(payload)[0]) == "!{i32 0, i32 4, i32 4, !\"uint\", !\"numbers\"}");
  CHECK(made.signature.starts_with("void (ptr addrspace(7) %out, ptr addrspace(6) "));
  CHECK(made.signature.find("align 4 dereferenceable(16) %quads, ptr addrspace(2) ") != std::string::npos);
  const std::string ir = ir_of(kMesh, "m");
  for (const char* call :
       {"@air.set_position_mesh(ptr addrspace(7) %out, i32 %i, <4 x float>",
        "@air.set_vertex_data_mesh.v4f32(ptr addrspace(7) %out, i32 0, i32 %i, <4 x float>",
        "@air.set_vertex_data_mesh.v2f16(ptr addrspace(7) %out, i32 1, i32 %i, <2 x half>",
        "@air.set_primitive_data_mesh.v4f32(ptr addrspace(7) %out, i32 0, i32 %i, <4 x float>",
        "@air.set_primitive_id_mesh(ptr addrspace(7) %out, i32 %i, i32",
        "@air.set_index_mesh(ptr addrspace(7) %out, i32",
        "@air.set_indices_mesh.v4i8(ptr addrspace(7) %out, i32 4, <4 x i8> <i8 0, i8 1, i8 2, i8 3>)",
        "@air.set_primitive_count_mesh(ptr addrspace(7) %out, i32 2)", "load i32, ptr addrspace(6)"})
    CHECK_MESSAGE(ir.find(call) != std::string::npos, call);
  CHECK(ir.find("smelt.air") == std::string::npos);
}

TEST_CASE("an object function: the payload that it fills, and the grid of meshes") {
  const EntryText made = entry_of(kMesh, "o", "object");
  REQUIRE(made.inputs.size() == 4);
  CHECK(made.inputs[1] == "1, mesh_grid_properties, arg_type_name, mesh_grid_properties, arg_name, grid");
  CHECK(made.inputs[2] == "2, thread_index_in_threadgroup, arg_type_name, uint, arg_name, thread_id");
  CHECK(made.signature.starts_with("void (ptr addrspace(6) "));
  CHECK(made.signature.find(", ptr addrspace(3) %grid, i32 noundef %thread_id, ") != std::string::npos);
  const std::string ir = ir_of(kMesh, "o");
  CHECK(
      ir.find(
          "@air.set_threadgroups_per_grid_mesh_properties(ptr addrspace(3) %grid, <3 x i32> <i32 2, i32 1, i32 1>)") !=
      std::string::npos);
  CHECK(ir.find("store i32 %") != std::string::npos);
}

TEST_CASE("what is written verifies, and the container says mesh and object") {
  const auto compiled = compile_msl(kHead + kMesh);
  REQUIRE_MESSAGE(compiled.has_value(), (compiled ? "" : compiled.error().message));
  const auto& bytes = compiled->targets.at(0).metallib;
  for (const aot::Finding& finding : aot::verify_metallib(bytes)) CHECK_MESSAGE(false, finding.to_line());
  const auto library = metallib::read(bytes);
  REQUIRE(library.has_value());
  CHECK(library->functions.at(0).type == static_cast<uint8_t>(metallib::FunctionType::object));
  CHECK(library->functions.at(1).type == static_cast<uint8_t>(metallib::FunctionType::mesh));
}

TEST_CASE("a mesh without primitives' values, of lines; clip distances, layers, point sizes") {
  const std::string text = R"(
struct V { float4 p [[position]]; float size [[point_size]]; float clip [[clip_distance]] [2]; };
[[mesh]] void a(mesh<V, void, 3, 1, topology::line> out, uint i [[thread_position_in_grid]]) {
  V v = {};
  v.clip[1] = i;
  out.set_vertex(i, v);
  out.set_indices(0, uchar2(1, 2));
}
struct P { ushort layer [[render_target_array_index]]; uint view [[viewport_array_index]]; bool gone [[primitive_culled]]; };
[[mesh]] void b(mesh<float4, P, 256, 512, topology::point> out, uint i [[thread_position_in_grid]]) {
  out.set_vertex(i, float4(i));
  out.set_primitive(i, P{ushort(i), i, i > 3});
}
)";
  const std::string a = ir_of(text, "a");
  for (const char* part : {"@air.set_point_size_mesh(ptr addrspace(7) %out, i32 %i, float 0.000000e+00)",
                           "@air.set_clip_distance_mesh(ptr addrspace(7) %out, i32 1, i32 %i, float %",
                           "@air.set_indices_mesh.v2i8(ptr addrspace(7) %out, i32 0, <2 x i8> <i8 1, i8 2>)",
                           "!\"mesh<V, void, 3, 1, line>\"", "!\"air.clip_distance_array_size\", i32 2"})
    CHECK_MESSAGE(a.find(part) != std::string::npos, part);
  const std::string b = ir_of(text, "b");
  for (const char* part :
       {"@air.set_position_mesh(", "@air.set_render_target_array_index_mesh.i16(",
        "@air.set_viewport_array_index_mesh.i32(", "@air.set_primitive_culled_mesh(ptr addrspace(7) %out, i32 %i, i1 %",
        "!\"mesh<float4, P, 256, 512, point>\""})
    CHECK_MESSAGE(b.find(part) != std::string::npos, part);
}

TEST_CASE("a payload of vectors, matrices and structures; threadgroup variables of mesh and object functions") {
  const std::string text = R"(
struct Inner { float2 uv; float m; float get() const { return m; } };
struct Q { float4 v[4]; float4x4 m; Inner in; packed_float3 p; };
struct V { float4 pos [[position]]; };
[[object]] void o(object_data Q& q [[payload]], device float4* x, mesh_grid_properties grid,
                  uint i [[thread_index_in_threadgroup]]) {
  threadgroup float4 shared[4];
  shared[i] = x[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  q.v[i] = shared[3 - i];
  q.v[i].yz = x[i].xy * 2;
  q.v[0] += x[2];
  q.m = float4x4(2);
  q.m[1] = x[2];
  q.in.uv = x[3].xy;
  q.p = x[1].xyz;
  object_data Inner* p = &q.in;
  p->m += 3;
  Inner copy = *p;
  x[0].x = copy.m + p->get();
  grid.set_threadgroups_per_grid(uint3(1));
}
[[mesh]] void m(mesh<V, void, 8, 4, topology::triangle> out, const object_data Q& q [[payload]], device float4* x,
                uint i [[thread_index_in_threadgroup]]) {
  threadgroup float4 shared[4];
  shared[i] = q.v[i] + q.m * x[0] + q.m[2] + float4(q.p, 1) + q.v[1].wzyx;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  Q whole = q;
  V v;
  v.pos = shared[3 - i] + whole.v[3];
  v.pos.xy += q.in.uv * q.in.get();
  out.set_vertex(i, v);
}
)";
  for (const char* function : {"o", "m"}) {
    const std::string ir = ir_of(text, function);
    CHECK(ir.find("addrspace(3) global [4 x ") != std::string::npos);
    CHECK(ir.find("addrspacecast") == std::string::npos);
    CHECK(ir.find("ptr addrspace(6)") != std::string::npos);
  }
  CHECK(findings_of(text) == "");
  CHECK(error_of("struct Q { float x; };\nkernel void k(object_data Q& q [[buffer(0)]]) {}") ==
        "parameter 'q': a kernel function cannot take a reference to address space 'object_data'");
}

TEST_CASE("verify: a mesh is a mesh function's, a payload is in object_data") {
  const std::string ir = ir_of(
      "[[object]] void o(uint i [[thread_position_in_grid]], mesh_grid_properties grid) {\n"
      "  grid.set_threadgroups_per_grid(uint3(i)); }\n",
      "o");
  const auto finds = [&](const std::string& from, const std::string& to, const std::string& finding) {
    const std::string found = findings_with(ir, from, to);
    CHECK_MESSAGE(found.find(finding) != std::string::npos, found);
    CHECK(findings_with(ir, from, from).find(finding) == std::string::npos);
  };
  finds("!\"air.mesh_grid_properties\", !\"air.arg_type_name\"", "!\"air.mesh\", !\"air.arg_type_name\"",
        "argument 1: 'air.mesh' is not an argument of a object function");
  finds("!\"air.mesh_grid_properties\", !\"air.arg_type_name\"", "!\"air.payload\", !\"air.arg_type_name\"",
        "argument 1: a payload, but the parameter is not a pointer to space 6");
}

TEST_CASE("object_data is a name where it is no space") {
  const Msl source(kHead + R"(
template <class T> struct Box {
  T value;
  object_data T& get() object_data { return value; }
  thread T& get() thread { return value; }
};
kernel void k(device float* object_data [[buffer(0)]]) { Box<float> b = {2}; object_data[0] = b.get() + object_data[1]; }
)");
  std::vector<float> x{0, 3};
  source.run("k", Launch{.grid = {1, 1, 1}, .group = {1, 1, 1}}.bind(0, x));
  CHECK(x[0] == 5);
}

TEST_CASE("what a mesh cannot be is an error that names it") {
  struct Row {
    std::string text, error;
  };
  const std::string v = "struct V { float4 p [[position]]; };\n";
  const Row rows[] = {
      {v + "[[mesh]] void m(mesh<V, void, 257, 1, topology::point> o) {}",
       "'o': a mesh has 1 to 256 vertices and 1 to 512 primitives"},
      {v + "kernel void k(mesh<V, void, 3, 1, topology::point> o) {}",
       "parameter 'o': a mesh is not allowed in a kernel function"},
      {"[[mesh]] void m(mesh_grid_properties g) {}",
       "parameter 'g': 'mesh_grid_properties' is not allowed in a mesh function"},
      {"[[mesh]] float4 m() { return 0; }", "mesh function must have void return type"},
      {"[[object]] void o(device uint* p [[payload]]) {}", "'p': a payload is a reference or a pointer to object_data"},
      {"[[mesh]] void m(object_data uint& p [[payload]]) {}", "'p': the payload of a mesh function is const"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    CHECK(error_of(row.text) == row.error);
  }
}

}  // namespace smelt::test
