// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// <metal_command_buffer>: the forms of docs/formats/air.md 3.16.
#include "smelt/aot/verify.hpp"

#include "entry_text.hpp"

namespace smelt::test {
namespace {

/// The calls of AIR's operations on commands, a line each, without the command's two operands and names of values.
std::string commands(const std::string& ir) {
  std::string calls;
  const std::regex call(
      R"(call [^@\n]*@air\.(\w*command[\w.]*)\(ptr addrspace\(1\) %[\w.]+(?:, i32 %[\w.]+)?([^\n]*)\))");
  for (auto at = std::sregex_iterator(ir.begin(), ir.end(), call); at != std::sregex_iterator(); ++at)
    calls += fmt::format("{}{}\n", (*at)[1].str(), std::regex_replace((*at)[2].str(), std::regex(R"(%[\w.]+)"), "x"));
  return calls;
}

const std::string kLists = R"(
struct Dispatches { command_buffer list [[id(0)]]; compute_pipeline_state state [[id(1)]]; device float* out [[id(2)]]; };
struct Draws { command_buffer list; render_pipeline_state state; };
)";

}  // namespace

TEST_CASE("a command buffer and states are members of an argument buffer") {
  const EntryText made = entry_of(kLists + R"(
kernel void k(constant Dispatches& d [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  compute_command(d.list, i).set_compute_pipeline_state(d.state);
})",
                                  "k", "kernel");
  std::vector<std::string> members;
  for (const auto& [number, node] : made.nodes)
    if (node.find("\"air.command_buffer") != std::string::npos || node.find("\"air.compute_") != std::string::npos)
      members.push_back(node);
  std::sort(members.begin(), members.end());
  CHECK(members.at(0) ==
        "!{i32 0, !\"air.command_buffer\", !\"air.location_index\", i32 0, i32 1, "
        "!\"air.arg_type_name\", !\"command_buffer\", !\"air.arg_name\", !\"list\"}");
  CHECK(members.at(1) ==
        "!{i32 1, !\"air.compute_pipeline_state\", !\"air.location_index\", i32 1, i32 1, "
        "!\"air.arg_type_name\", !\"compute_pipeline_state\", !\"air.arg_name\", !\"state\"}");
}

TEST_CASE("commands of dispatches") {
  const std::string source = kLists + R"(
kernel void k(constant Dispatches& d [[buffer(0)]], constant uint& n [[buffer(1)]], device uint* seen [[buffer(2)]],
              uint i [[thread_position_in_grid]]) {
  seen[0] = d.list.size();
  compute_command one(d.list, i);
  one.set_compute_pipeline_state(d.state);
  one.set_kernel_buffer(d.out, 0);
  one.set_kernel_buffer(&n, 1);
  one.set_kernel_buffer(d.out, 16, 2);
  one.set_threadgroup_memory_length(256, 3);
  one.set_stage_in_region(uint3(1, 2, 3), uint3(4, 5, 6));
  one.set_imageblock_size(ushort2(16, 8));
  one.concurrent_dispatch_threadgroups(uint3(7, 8, 9), uint3(64, 1, 1));
  one.concurrent_dispatch_threads(uint3(10, 11, 12), uint3(32, 1, 1));
  one.set_barrier();
  one.clear_barrier();
  one.reset();
  one.copy_command(compute_command(d.list, 5));
})";
  CHECK(findings_of(source) == "");
  CHECK(commands(ir_of(source, "k")) == R"(get_size_command_buffer
set_pipeline_state_compute_command, ptr addrspace(1) x
set_kernel_buffer_compute_command.p1i8, ptr addrspace(1) x, i64 -1, i32 0
set_kernel_buffer_compute_command.p2i8, ptr addrspace(2) x, i64 -1, i32 1
set_kernel_buffer_compute_command.p1i8, ptr addrspace(1) x, i64 16, i32 2
set_threadgroup_memory_length_compute_command, i32 256, i32 3
set_stage_in_region_compute_command, <3 x i32> <i32 1, i32 2, i32 3>, <3 x i32> <i32 4, i32 5, i32 6>
set_imageblock_size_compute_command, <2 x i16> <i16 16, i16 8>
concurrent_dispatch_threadgroups_compute_command, <3 x i32> <i32 7, i32 8, i32 9>, <3 x i32> <i32 64, i32 1, i32 1>
concurrent_dispatch_threads_compute_command, <3 x i32> <i32 10, i32 11, i32 12>, <3 x i32> <i32 32, i32 1, i32 1>
set_barrier_compute_command
clear_barrier_compute_command
reset_compute_command
copy_compute_command, ptr addrspace(1) x, i32 5
)");
}

TEST_CASE("commands of draws") {
  const std::string source = kLists + R"(
kernel void k(device Draws& d [[buffer(0)]], device const float4* v [[buffer(1)]], constant ushort* few [[buffer(2)]],
              device uint* many [[buffer(3)]], uint i [[thread_position_in_grid]]) {
  render_command one(d.list, i);
  one.set_render_pipeline_state(d.state);
  one.set_vertex_buffer(v, 0);
  one.set_vertex_buffer(v, 32, 1);
  one.set_fragment_buffer(v, 2);
  one.set_object_buffer(v, 3);
  one.set_mesh_buffer(few, 4);
  one.set_object_threadgroup_memory_length(64, 5);
  one.draw_primitives(primitive_type::triangle_strip, 1, 2, 3, 4);
  one.draw_indexed_primitives(primitive_type::line, 6, few, 1, 0, 2);
  one.draw_indexed_primitives(primitive_type::point, 6, many, 1, 0, 2);
  one.draw_patches(4, 0, 1, many, 1, 0, v, 16);
  one.draw_indexed_patches(4, 0, 1, many, many, 1, 0, v);
  one.draw_mesh_threadgroups(uint3(1), uint3(2), uint3(3));
  one.draw_mesh_threads(uint3(1), uint3(2), uint3(3));
  one.set_barrier();
  one.clear_barrier();
  one.copy_command(render_command(d.list, 9));
  one.reset();
})";
  CHECK(findings_of(source) == "");
  CHECK(commands(ir_of(source, "k")) == R"(set_pipeline_state_render_command, ptr addrspace(1) x
set_vertex_buffer_render_command.p1i8, ptr addrspace(1) x, i64 -1, i32 0
set_vertex_buffer_render_command.p1i8, ptr addrspace(1) x, i64 32, i32 1
set_fragment_buffer_render_command.p1i8, ptr addrspace(1) x, i32 2
set_object_buffer_render_command.p1i8, ptr addrspace(1) x, i32 3
set_mesh_buffer_render_command.p2i8, ptr addrspace(2) x, i32 4
set_object_threadgroup_memory_length_render_command, i32 64, i32 5
draw_primitives_render_command, i32 4, i32 1, i32 2, i32 3, i32 4
draw_indexed_primitives_render_command.p2i16, i32 1, i32 6, ptr addrspace(2) x, i32 1, i32 0, i32 2
draw_indexed_primitives_render_command.p1i32, i32 0, i32 6, ptr addrspace(1) x, i32 1, i32 0, i32 2
draw_patches_render_command.p1i32.p1i8, i32 4, i32 0, i32 1, ptr addrspace(1) x, i32 1, i32 0, ptr addrspace(1) x, i32 16, float 1.000000e+00
draw_indexed_patches_render_command.p1i32.p1i8.p1i8, i32 4, i32 0, i32 1, ptr addrspace(1) x, ptr addrspace(1) x, i32 1, i32 0, ptr addrspace(1) x, i32 0, float 1.000000e+00
draw_mesh_threadgroups_render_command, <3 x i32> <i32 1, i32 1, i32 1>, <3 x i32> <i32 2, i32 2, i32 2>, <3 x i32> <i32 3, i32 3, i32 3>
draw_mesh_threads_render_command, <3 x i32> <i32 1, i32 1, i32 1>, <3 x i32> <i32 2, i32 2, i32 2>, <3 x i32> <i32 3, i32 3, i32 3>
set_barrier_render_command
clear_barrier_render_command
copy_render_command, ptr addrspace(1) x, i32 9
reset_render_command
)");
}

TEST_CASE("a command buffer is no argument") {
  CHECK(error_of("kernel void k(command_buffer list [[buffer(0)]]) {}") ==
        "parameter 'list': Metal has a 'command_buffer' in a structure that a buffer holds, not as an argument");
}

}  // namespace smelt::test
