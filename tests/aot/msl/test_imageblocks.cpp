// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tile functions and their imageblocks: the forms of docs/formats/air.md 1.15.
#include "smelt/aot/verify.hpp"

#include "entry_text.hpp"

namespace smelt::test {
namespace {

const std::string kThree = R"(
struct Block { float scale [[color(0)]]; half weight [[color(1)]]; uint tag [[color(2)]]; };
kernel void three(imageblock<Block, imageblock_layout_implicit> blk, device uint* out [[buffer(0)]],
                  ushort2 pos [[thread_position_in_threadgroup]]) {
  Block b = blk.read(pos);
  out[0] = b.tag;
  b.scale += 1;
  b.weight *= 2;
  b.tag += 100;
  blk.write(b, pos);
}
)";

const std::string kCell = R"(
struct Cell { float4 colour; float weight; };
kernel void tile(texture2d<float, access::write> first [[texture(0)]], texture2d<float, access::write> second [[texture(1)]],
                 imageblock<Cell> img, ushort2 lid [[thread_position_in_threadgroup]],
                 ushort2 gid [[thread_position_in_grid]], uint2 wide [[threads_per_grid]]) {
  threadgroup_imageblock Cell* cell = img.data(lid);
  cell->colour = float4(lid.x, lid.y, 0, 1);
  cell->colour.yz *= 2;
  cell->weight = dot(cell->colour, cell->colour);
  threadgroup_barrier(mem_flags::mem_threadgroup_imageblock);
  if (all(lid == 0)) {
    const threadgroup_imageblock Cell* all = img.data(ushort2(0));
    first.write(img.slice(all->colour), gid);
    second.write(img.slice(all->weight, ushort2(4, 5)), wide);
  }
}
)";

void check_parts(const std::string& ir, std::initializer_list<const char*> parts) {
  for (const char* part : parts) CHECK_MESSAGE(ir.find(part) != std::string::npos, part, "\n", ir);
}

}  // namespace

TEST_CASE("an implicit imageblock: its node, and one operation for each member") {
  const EntryText made = entry_of(kThree, "three", "kernel");
  REQUIRE(made.inputs.size() == 3);
  const std::string& block = made.nodes.at(operands_of(made.nodes.at(operands_of(made.entry)[1]))[0]);
  CHECK(block.starts_with("!{i32 0, !\"air.imageblock\", !\"implicit\", !\"air.struct_type_info\", !"));
  CHECK(
      block.ends_with(", !\"air.arg_type_align_size\", i32 4, !\"air.arg_type_name\", "
                      "!\"imageblock<Block, layout_implicit>\", !\"air.arg_name\", !\"blk\"}"));
  CHECK(made.nodes.at(operands_of(block)[0]) ==
        "!{i32 0, i32 4, i32 0, !\"float\", !\"scale\", !\"air.render_target\", i32 0, i32 4, i32 2, i32 0, !\"half\", "
        "!\"weight\", !\"air.render_target\", i32 1, i32 8, i32 4, i32 0, !\"uint\", !\"tag\", !\"air.render_target\", "
        "i32 2}");
  CHECK(made.signature.starts_with("void (%\"struct.metal::_imageblock_base\" %blk, ptr addrspace(1) "));
  check_parts(ir_of(kThree, "three"),
              {"%\"struct.metal::_imageblock_base\" = type { ptr addrspace(4) }",
               "call float @air.load.implicit_imageblock.f32(i32 0, <2 x i16> %pos, i32 0, i16 0)",
               "call half @air.load.implicit_imageblock.f16(i32 1, <2 x i16> %pos, i32 0, i16 0)",
               "call i32 @air.load.implicit_imageblock.i32(i32 2, <2 x i16> %pos, i32 0, i16 0)",
               "call void @air.store.implicit_imageblock.f32(float %", ", i32 0, <2 x i16> %pos, i32 0, i16 0)",
               "call void @air.store.implicit_imageblock.f16(half %", ", i32 1, <2 x i16> %pos, i32 0, i16 0)",
               "call void @air.store.implicit_imageblock.i32(i32 %", ", i32 2, <2 x i16> %pos, i32 0, i16 0)"});
}

TEST_CASE("pixel data types in an explicit imageblock are the words of their formats") {
  const std::string source = R"(
struct Kept { rgba8unorm<half4> a; float d; };
kernel void f(imageblock<Kept, imageblock_layout_explicit> b, ushort2 p [[thread_position_in_threadgroup]]) {
  const half4 seen = b.data(p)->a;
  b.data(p)->a = seen * 0.5h;
})";
  check_parts(ir_of(source, "f"), {"!\"air.imageblock_data_size\", i32 8,", "!\"rgba8unorm<half4>\", !\"a\"",
                                   "@air.unpack.unorm4x8.v4f32(i32 ", "@air.pack.unorm4x8.v4f32("});
  CHECK(findings_of(source) == "");
}

TEST_CASE("rates, masks, sizes, and slices of colours") {
  const std::string ir = ir_of(R"(
struct A { half4 x [[color(3)]]; int2 y [[color(1)]]; };
kernel void k(imageblock<A> b, texture2d_array<half, access::write> t, device uint* out,
              ushort2 p [[thread_position_in_threadgroup]], ushort2 g [[thread_position_in_grid]]) {
  A a = b.read(p, 2, imageblock_data_rate::sample);
  b.write(a, p, 1, imageblock_data_rate::color);
  b.write(a, p, ushort(b.get_color_coverage_mask(p, 5)));
  out[0] = b.get_width() + b.get_height() * b.get_num_samples() + b.get_num_colors(p);
  t.write(b.slice<half4>(3), g, 7, 1);
}
)",
                               "k");
  check_parts(ir,
              {"<4 x half> @air.load.implicit_imageblock.v4f16(i32 3, <2 x i16> %p, i32 2, i16 2)",
               "<2 x i32> @air.load.implicit_imageblock.v2i32(i32 1, <2 x i16> %p, i32 2, i16 2)",
               "@air.store.implicit_imageblock.v4f16(<4 x half> %", "i32 3, <2 x i16> %p, i32 1, i16 1)",
               "@air.store.implicit_imageblock.mask.v2i32(<2 x i32> %", "i32 1, <2 x i16> %p, i16 %",
               "i16 @air.get_color_coverage_mask(<2 x i16> %p, i16 5)", "i16 @air.get_imageblock_width()",
               "i16 @air.get_imageblock_height()", "i16 @air.get_imageblock_samples()",
               "i16 @air.get_imageblock_num_colors(<2 x i16> %p)",
               "@air.implicit_imageblock_data(i32 3, <2 x i16> zeroinitializer, i32 0, i16 0)",
               "@air.write_imageblock_slice_to_texture_2d_array.i16.v4f16(ptr addrspace(1) %t, ptr addrspace(4) ",
               ", i1 false, <2 x i16> zeroinitializer, <2 x i16> undef, <2 x i16> %g, i16 7, i16 1, i1 true, i32 2)"});
  CHECK(ir.find("smelt.air") == std::string::npos);
}

TEST_CASE("an explicit imageblock: data in its own space, vectors and swizzles there, slices of members") {
  const EntryText made = entry_of(kCell, "tile", "kernel");
  const std::string& block = made.nodes.at(operands_of(made.nodes.at(operands_of(made.entry)[1]))[2]);
  CHECK(
      block.starts_with("!{i32 2, !\"air.imageblock\", !\"explicit\", !\"air.imageblock_data_size\", i32 32, "
                        "!\"air.struct_type_info\", !"));
  CHECK(
      block.ends_with(", !\"air.arg_type_align_size\", i32 16, !\"air.arg_type_name\", "
                      "!\"imageblock<Cell, layout_explicit>\", !\"air.arg_name\", !\"img\"}"));
  CHECK(made.nodes.at(operands_of(block)[0]) ==
        "!{i32 0, i32 16, i32 0, !\"float4\", !\"colour\", i32 16, i32 4, i32 0, !\"float\", !\"weight\"}");
  const std::string ir = ir_of(kCell, "tile");
  check_parts(ir, {"ptr addrspace(4) @air.imageblock_data(<2 x i16> %lid, i32 0, i16 0)",
                   "ptr addrspace(4) @air.imageblock_data(<2 x i16> zeroinitializer, i32 0, i16 0)",
                   "store <4 x float> %", "call void @air.wg.barrier(i32 8, i32 1)",
                   "@air.write_imageblock_slice_to_texture_2d.i16.v4f32(ptr addrspace(1) %first, ptr addrspace(4) ",
                   ", i1 false, <2 x i16> zeroinitializer, <2 x i16> undef, <2 x i16> %gid, i16 0, i1 false, i32 2)",
                   "@air.write_imageblock_slice_to_texture_2d.f32(ptr addrspace(1) %second, ptr addrspace(4) ",
                   ", i1 true, <2 x i16> zeroinitializer, <2 x i16> <i16 4, i16 5>, <2 x i32> %wide, i32 0, i1 false, "
                   "i32 2)"});
  CHECK(ir.find("addrspacecast") == std::string::npos);
}

TEST_CASE("an explicit imageblock written with a mask, member by member; one that shares the colours' memory") {
  const std::string text = R"(
struct Inner { half4 a; int b; };
struct Cell { Inner in; float c[2]; };
kernel void k(imageblock<Cell, imageblock_layout_explicit> img [[alias_implicit_imageblock]],
              ushort2 p [[thread_position_in_threadgroup]]) {
  Cell cell = {{half4(1), 2}, {3, 4}};
  img.write(cell, p, ushort(0xffff));
}
)";
  const EntryText made = entry_of(text, "k", "kernel");
  const std::string& block = made.nodes.at(operands_of(made.nodes.at(operands_of(made.entry)[1]))[0]);
  CHECK(block.find(", !\"air.alias_implicit_imageblock\", !\"air.arg_type_align_size\", i32 8, ") != std::string::npos);
  const std::string& fields = made.nodes.at(operands_of(block)[0]);
  CHECK(fields.starts_with("!{!\"air.struct_type_info\", !"));
  CHECK(fields.ends_with(", i32 0, i32 16, i32 0, !\"Inner\", !\"in\", i32 16, i32 4, i32 2, !\"float\", !\"c\"}"));
  check_parts(ir_of(text, "k"),
              {"@air.store.imageblock.mask.v4f16(<4 x half> ", ", i16 -1, i32 8, i1 false)",
               "@air.store.imageblock.mask.i32(i32 2, ptr addrspace(4) ",
               "@air.store.imageblock.mask.f32(float 3.000000e+00, ptr addrspace(4) ",
               "@air.store.imageblock.mask.f32(float 4.000000e+00, ptr addrspace(4) ", ", i16 -1, i32 4, i1 false)"});
}

TEST_CASE("one of each layout in a tile function; what is written verifies") {
  const std::string both = R"(
struct Material { half4 compact; };
struct Final { half4 colour [[color(0)]]; };
half light(threadgroup_imageblock Material* m) { return m->compact.a * 0.5h; }
kernel void shade(imageblock<Material, imageblock_layout_explicit> m, imageblock<Final, imageblock_layout_implicit> f,
                  ushort2 p [[thread_position_in_threadgroup]]) {
  Final out = f.read(p);
  out.colour *= light(m.data(p));
  f.write(out, p);
}
)";
  for (const std::string& text : {kThree, kCell, both}) {
    CHECK(findings_of(text) == "");
  }
}

TEST_CASE("what an imageblock cannot be is an error that names it") {
  struct Row {
    std::string text, error;
  };
  const std::string c = "struct C { half4 c [[color(0)]]; };\nstruct E { half4 c; };\n";
  const Row rows[] = {
      {c + "fragment void f(imageblock<C> b) {}",
       "parameter 'b': a fragment function cannot take an imageblock; it gets its own element as [[imageblock_data]]"},
      {c + "kernel void k(imageblock<C, imageblock_layout_explicit> b) {}",
       "parameter 'b': [[color(n)]] needs a member of an imageblock with implicit layout"},
      {c + "kernel void k(imageblock<E, imageblock_layout_implicit> b) {}",
       "parameter 'b': each member of an imageblock with implicit layout needs a [[color(n)]]"},
      {c + "kernel void k(imageblock<C> a, imageblock<C> b) {}",
       "parameter 'b': 'a' is the imageblock with implicit layout already"},
      {"kernel void k(imageblock<float4> b) {}",
       "parameter 'b': the type of an imageblock must be a structure with members and without bases"},
      {"struct D { half4 c [[color(0)]]; half4 d; };\nkernel void k(imageblock<D> b) {}",
       "member 'd' of an imageblock with implicit layout needs a [[color(n)]] from 0 to 7"},
      {"struct D { half4 c [[color(0)]]; half4 d [[color(0)]]; };\nkernel void k(imageblock<D> b) {}",
       "'c' and 'd' have the same [[color(0)]]"},
      {c + "kernel void k(threadgroup_imageblock E* e [[buffer(0)]]) {}",
       "parameter 'e': a kernel function cannot take a pointer to address space 'threadgroup_imageblock'"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    CHECK(error_of(row.text) == row.error);
  }
  CHECK(error_of(c + "kernel void k(imageblock<C> b, ushort2 p [[thread_position_in_threadgroup]]) {\n"
                     "  b.data(p)->c = 0; }")
            .find("calls 'data' of an imageblock with explicit layout, which it is not given") != std::string::npos);
  CHECK(error_of(c + "kernel void k(imageblock<C> b, texture2d<half, access::write> t) {\n"
                     "  t.write(b.slice<half>(0), ushort2(0)); }")
            .find("the slice of 'c' is of type 'half4'") != std::string::npos);
}

}  // namespace smelt::test
