// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every stage goes every way: source to library, that library to a library again, source to an object and its link. One
// function that a way refuses would stop a whole file.
#include "smelt/aot/object.hpp"

#include "entry_text.hpp"

namespace smelt::test {
namespace {

struct StageSource {
  const char* what;
  const char* text;
};

constexpr StageSource kStages[] = {
    {"kernel", "kernel void f(device int* out) { out[0] = 1; }"},
    {"implicit imageblock", R"(
struct Texel { half4 c [[color(0)]]; };
kernel void f(imageblock<Texel, imageblock_layout_implicit> b, ushort2 p [[thread_position_in_threadgroup]]) {
  Texel x = b.read(p);
  x.c *= 2;
  b.write(x, p);
})"},
    {"explicit imageblock", R"(
struct Kept { half4 a; float d; };
kernel void f(imageblock<Kept, imageblock_layout_explicit> b, ushort2 p [[thread_position_in_threadgroup]],
              texture2d<half, access::write> o [[texture(0)]]) {
  threadgroup_imageblock Kept* x = b.data(p);
  x->d = 1;
  o.write(x->a, p);
})"},
    {"pixel data types", R"(
struct Kept { rgba8unorm<half4> a; rg11b10f<float3> b; float d; };
kernel void f(imageblock<Kept, imageblock_layout_explicit> b, ushort2 p [[thread_position_in_threadgroup]]) {
  half4 a = b.data(p)->a;
  b.data(p)->a = a * 0.5h;
  b.data(p)->b = float3(a.xyz);
})"},
    {"vertex", "vertex float4 f(uint i [[vertex_id]]) { return float4(i); }"},
    {"fragment", "fragment half4 f(float4 at [[position]]) { return half4(at); }"},
    {"intersection", R"(
struct Hit { bool accept [[accept_intersection]]; float distance [[distance]]; };
[[intersection(bounding_box, triangle_data, instancing)]] Hit f(float3 o [[origin]], float3 d [[direction]]) {
  return {true, dot(o, d)};
})"},
    {"visible", "[[visible]] int f(int x) { return x + 1; }"},
    {"mesh", R"(
struct V { float4 position [[position]]; };
using M = metal::mesh<V, void, 3, 1, topology::triangle>;
[[mesh]] void f(M m) { m.set_primitive_count(1); V v; v.position = float4(1); m.set_vertex(0, v); m.set_index(0, 0); }
)"},
    {"object", R"(
struct P { uint n; };
[[object]] void f(object_data P& p [[payload]], mesh_grid_properties g) {
  p.n = 1;
  g.set_threadgroups_per_grid(uint3(1));
})"},
};

}  // namespace

TEST_CASE("every stage goes every way to a library") {
  for (const StageSource& stage : kStages) {
    CAPTURE(std::string(stage.what));
    const std::string text = kHead + stage.text;
    const auto first = compile_msl(text);
    REQUIRE_MESSAGE(first.has_value(), (first ? "" : first.error().message));
    const aot::CompileOptions options = msl_options();
    const auto again = [&](ByteView bytes, const char* name) {
      const aot::Source source{name, bytes};
      const auto made = aot::compile(std::span(&source, 1), options);
      CHECK_MESSAGE(made.has_value(), name << ": " << (made ? "" : made.error().message));
    };
    again(first->targets[0].metallib, "own.metallib");
    aot::CompileOptions object = options;
    object.object = true;
    const auto unit = compile_msl(text, object);
    REQUIRE_MESSAGE(unit.has_value(), (unit ? "" : unit.error().message));
    const auto air = aot::make_object(unit->targets[0].metallib, options.targets[0], options);
    REQUIRE_MESSAGE(air.has_value(), (air ? "" : air.error().message));
    again(*air, "unit.air");
    const aot::Source part{"unit.air", *air};
    const auto linked = aot::resolve_objects(std::span(&part, 1));
    REQUIRE_MESSAGE(linked.has_value(), (linked ? "" : linked.error().message));
    for (const aot::Linked& one : *linked) again(one.bytes, "linked.air");
  }
}

}  // namespace smelt::test
