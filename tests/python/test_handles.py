# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Made-up handles: checked code takes nothing for a texture, a sampler or memory that was not handed to it.

SMELT_HANDLES_COUNT: random ones; scripts/nightly takes thousands."""

import os
import random
import struct
import unittest

import support
from support import numpy as np

import smelt

COUNT = int(os.environ.get("SMELT_HANDLES_COUNT", "60"))
SEED = int(os.environ.get("SMELT_HANDLES_SEED", "1"))

HEAD = """#include <metal_stdlib>
using namespace metal;
struct Inner { uint more; texture2d<float, access::read_write> t; sampler s; device uint* p; };
struct Args {
  texture2d<float, access::read_write> t; texture2d<float> seen; sampler s; device uint* p;
  array<texture2d<float, access::read_write>, 3> many; array<sampler, 2> samplers; Inner inner;
  texture2d<uint, access::read_write> words;
};
"""
# Statements that use a handle, by its class. `@` stands for the handle.
USES = {
    "texture": ("@.write(float4(1.0f), uint2(i, 0));", "out[i] = uint(@.read(uint2(i, 0)).x * 255);", "out[i] = @.get_width();"),
    "seen": ("out[i] = uint(@.sample(sampler(filter::linear), float2(0.5f)).x * 255);", "out[i] = @.get_height();",
             "out[i] = uint(@.gather(sampler(filter::linear), float2(0.5f)).x * 255);"),
    "sampler": ("out[i] = uint(good.sample(@, float2(0.5f)).x * 255);",),
    "words": ("@.atomic_fetch_add(uint2(0, 0), uint4(1));", "out[i] = @.atomic_load(uint2(0, 0)).x;"),
    "pointer": ("@[i] = 7;", "out[i] = @[0];", "atomic_fetch_add_explicit((device atomic_uint*)@, 1u, memory_order_relaxed);"),
}  # fmt: skip
# Members of Args that hold a handle, by its class: the member, and its index in words of eight bytes.
PLACES = {
    "texture": (("t", 0), ("many[1 + z]", 5), ("many[z]", 4), ("inner.t", 10)),
    "seen": (("seen", 1),),
    "sampler": (("s", 2), ("samplers[z]", 7), ("inner.s", 11)),
    "pointer": (("p", 3), ("inner.p", 12)),
    "words": (("words", 13),),
}
# How the kernel comes to the argument buffer.
WAYS = (
    ("a->{0}", "device Args* a", ""),
    ("a->{0}", "constant Args* a", ""),
    ("copy.{0}", "device const Args* a", "Args copy = *a;"),
    ("copies[z].{0}", "device const Args* a", "Args copies[2] = {{*a, *a}};"),
    ("a->{0}", "device Args* a", "((device ulong*)a)[{1}] = handle[0];"),
)
WORDS = 14

# A texture made of a number, in AIR.
AIR = """
target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-f32:32:32-f64:64:64-v16:16:16-v24:32:32-v32:32:32-v48:64:64-v64:64:64-v96:128:128-v128:128:128-v192:256:256-v256:256:256-v512:512:512-v1024:1024:1024-n8:16:32"
target triple = "air64-apple-macosx14.0.0"
define void @k(ptr addrspace(1) nocapture noundef readonly "air-buffer-no-alias" %handle, ptr addrspace(1) nocapture noundef writeonly "air-buffer-no-alias" %out, ptr addrspace(1) %t, i32 noundef %i) local_unnamed_addr #0 {
  %number = load i64, ptr addrspace(1) %handle, align 8
  %made = inttoptr i64 %number to ptr addrspace(1)
  %1 = insertelement <2 x i32> <i32 poison, i32 0>, i32 %i, i64 0
  tail call void @air.write_texture_2d.v4f32(ptr addrspace(1) %made, <2 x i32> %1, <4 x float> <float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00>, i32 0, i32 3)
  %2 = tail call i32 @air.get_width_texture_2d(ptr addrspace(1) %made, i32 0)
  %3 = zext i32 %i to i64
  %4 = getelementptr inbounds i32, ptr addrspace(1) %out, i64 %3
  store i32 %2, ptr addrspace(1) %4, align 4
  ret void
}
declare void @air.write_texture_2d.v4f32(ptr addrspace(1) nocapture, <2 x i32>, <4 x float>, i32, i32) local_unnamed_addr #1
declare i32 @air.get_width_texture_2d(ptr addrspace(1) nocapture readonly, i32) local_unnamed_addr #2
attributes #0 = { mustprogress nounwind }
attributes #1 = { mustprogress nounwind willreturn memory(argmem: readwrite) }
attributes #2 = { mustprogress nofree nounwind willreturn memory(argmem: read) }
!air.kernel = !{!0}
!llvm.module.flags = !{!7, !8, !9, !10, !11, !12, !13, !14, !15}
!air.compile_options = !{!16, !17, !18}
!llvm.ident = !{!19}
!air.version = !{!20}
!air.language_version = !{!21}
!0 = !{ptr @k, !1, !2}
!1 = !{}
!2 = !{!3, !4, !5, !6}
!3 = !{i32 0, !"air.buffer", !"air.location_index", i32 0, i32 1, !"air.read", !"air.address_space", i32 1, !"air.arg_type_size", i32 8, !"air.arg_type_align_size", i32 8, !"air.arg_type_name", !"ulong", !"air.arg_name", !"handle"}
!4 = !{i32 1, !"air.buffer", !"air.location_index", i32 1, i32 1, !"air.read_write", !"air.address_space", i32 1, !"air.arg_type_size", i32 4, !"air.arg_type_align_size", i32 4, !"air.arg_type_name", !"uint", !"air.arg_name", !"out"}
!5 = !{i32 2, !"air.texture", !"air.location_index", i32 0, i32 1, !"air.read_write", !"air.arg_type_name", !"texture2d<float, read_write>", !"air.arg_name", !"t"}
!6 = !{i32 3, !"air.thread_position_in_grid", !"air.arg_type_name", !"uint", !"air.arg_name", !"i"}
!7 = !{i32 2, !"SDK Version", [2 x i32] [i32 14, i32 0]}
!8 = !{i32 1, !"wchar_size", i32 4}
!9 = !{i32 7, !"frame-pointer", i32 2}
!10 = !{i32 7, !"air.max_device_buffers", i32 31}
!11 = !{i32 7, !"air.max_constant_buffers", i32 31}
!12 = !{i32 7, !"air.max_threadgroup_buffers", i32 31}
!13 = !{i32 7, !"air.max_textures", i32 128}
!14 = !{i32 7, !"air.max_read_write_textures", i32 8}
!15 = !{i32 7, !"air.max_samplers", i32 16}
!16 = !{!"air.compile.denorms_disable"}
!17 = !{!"air.compile.fast_math_disable"}
!18 = !{!"air.compile.framebuffer_fetch_enable"}
!19 = !{!"smelt"}
!20 = !{i32 2, i32 6, i32 0}
!21 = !{!"Metal", i32 3, i32 1, i32 0}
"""
# Classes for which there is no place in memory, or no code: each is an error, and nothing runs.
CLASSES = {
    "function_table": ("struct A { visible_function_table<uint(uint)> t; };", "o[0] = a->t[0](1);", "'visible_function_table', which is not supported"),
    "function": ("struct A { ulong f; };", "using F = uint(uint); F* f = (F*)a->f; o[0] = f(1);", "calls through a pointer"),
    "tensor": ("#include <metal_tensor>\nstruct A { tensor<device float, dextents<int, 1>> t; };", "o[0] = uint(a->t[0]);", "'tensor', which is not supported"),
    "acceleration structure": (
        "#include <metal_raytracing>\nusing namespace raytracing;\nstruct A { instance_acceleration_structure s; };",
        "intersector<triangle_data, instancing> i; ray r; r.origin = 0; r.direction = 1; o[0] = uint(i.intersect(r, a->s).distance);", "no code for device cpu"),
    "command buffer": ("struct A { command_buffer c; };", "compute_command c(a->c, 0); c.reset();", "no code for device cpu"),
}  # fmt: skip
# The numbers that stand for a texture and for a sampler.
PEEK = """#include <metal_stdlib>
using namespace metal;
struct Two { texture2d<float, access::read_write> t; sampler s; };
kernel void peek(constant Two& a, device ulong* out) { for (uint k = 0; k < 2; ++k) out[k] = ((constant ulong*)&a)[k]; }
"""


def texture_at(data):
    """A description of 64 x 1 texels in RGBA8 at that address (smelt_cpu_texture)."""
    head = struct.pack("<QQ10I", data, 256, 0, 4, 0, 4, 64, 1, 1, 1, 1, 1)
    return np.frombuffer((head + struct.pack("<QQQ", 0, 256, 256) * 15).ljust(512, b"\0"), np.uint8).copy()


@support.needs_numpy
class HandlesTest(unittest.TestCase):
    def setUp(self):
        self.texture = smelt.Texture(np.full((1, 64, 4), 51, np.uint8))
        self.sampler = smelt.Sampler(filter="linear")
        # No kernel gets these two, except the one that reads their addresses.
        self.others = np.full((1, 64, 4), 99, np.uint8)
        self.other, self.other_sampler = smelt.Texture(self.others), smelt.Sampler(filter="linear", address="repeat")

    def addresses(self):
        out = np.zeros(2, np.uint64)
        smelt.compile_shader(PEEK).peek({"t": self.other, "s": self.other_sampler}, out, threads=1)
        return [int(x) for x in out]

    def kernel(self, kind, use, member, number, way):
        path, parameter, before = way
        handle = path.format(member, number)
        text = f"""kernel void k({parameter} [[buffer(0)]], device uint* out [[buffer(1)]], device const uchar* own [[buffer(2)]],
          device const ulong* handle [[buffer(3)]], texture2d<float> good [[texture(0)]], uint i [[thread_position_in_grid]]) {{
  const uint z = uint(handle[1]);
  {before.format(member, number)}
  {use.replace("@", handle)}
}}
"""
        return HEAD + text

    def run_with(self, library, handle, number, own):
        """Launch with a made-up handle, and return what checked code found."""
        arguments = np.zeros(WORDS, np.uint64)
        arguments[number] = handle
        out = np.zeros(64, np.uint32)
        try:
            library.k(arguments, out, own, np.array([handle, 0], np.uint64), self.texture, threads=4)
        except smelt.Error as error:
            return getattr(error, "findings", None) or [str(error)]
        return []

    def test_what_is_handed_over(self):
        text = """#include <metal_stdlib>
using namespace metal;
struct Two { texture2d<float> t; sampler s; };
kernel void k(constant Two& a [[buffer(0)]], device uint* out [[buffer(1)]], array<texture2d<float>, 2> more [[texture(0)]],
              device const uint* in [[buffer(2)]], uint i [[thread_position_in_grid]]) {
  constexpr sampler own(filter::nearest);
  const Two copy = a;
  texture2d<float> any = in[0] == 0 ? copy.t : more[1];
  out[i] = uint(any.sample(in[1] == 0 ? copy.s : own, float2(0.5f)).x * 255) + any.get_width() + more[in[0]].get_width()
      + (is_null_texture(a.t) ? 1000 : 0);
}
"""
        out = np.zeros(4, np.uint32)
        for checked in ("memory", True):
            library = smelt.compile_shader(text, checked=checked, store=False)
            for choice in (0, 1):
                chosen = np.full(2, choice, np.uint32)
                library.k(a={"t": self.texture, "s": self.sampler}, out=out, more=[self.texture, self.texture], **{"in": chosen}, threads=4)
                self.assertEqual(out.tolist(), [51 + 64 + 64] * 4)
            # None is no texture, and nothing is wrong with that; but there is no sampler.
            with self.assertRaises(smelt.Error):
                library.k(a={"t": self.texture, "s": None}, out=out, more=[self.texture] * 2, **{"in": np.zeros(2, np.uint32)}, threads=4)
            library.k(a={"t": None, "s": self.sampler}, out=out, more=[self.texture] * 2, **{"in": np.zeros(2, np.uint32)}, threads=4)
            self.assertEqual(out.tolist(), [1064] * 4)

    def test_only_what_a_launch_was_handed(self):
        """A texture of an earlier launch is none of this one's; one that is named is."""
        text = PEEK + """
kernel void write(device const ulong* handles, constant Two& named, device uint* out, device Two* made, uint i [[thread_position_in_grid]]) {
  ((device ulong*)made)[0] = handles[0];
  made->t.write(float4(1.0f), uint2(0));
  out[i] = uint(named.t.read(uint2(1, 0)).x * 255);
}
"""
        out, made = np.zeros(4, np.uint32), np.zeros(2, np.uint64)
        for checked in ("memory", True):
            library = smelt.compile_shader(text, checked=checked, store=False)
            handles = np.array(self.addresses(), np.uint64)
            with self.assertRaises(smelt.Error) as raised:
                library.write(handles, {"t": self.texture, "s": None}, out, made, threads=1)
            self.assertIn("the launch was handed none there", str(raised.exception))
            self.assertTrue((self.others == 99).all())
            library.write(handles, {"t": self.other, "s": None}, out, made, threads=1)
            self.assertEqual((self.others[0, 0].tolist(), out[0]), ([255] * 4, 99))
            self.others[:] = 99
            # The names of an earlier call are forgotten.
            with self.assertRaises(smelt.Error):
                library.write(handles, {"t": self.texture, "s": None}, out, made, threads=1)
            self.assertTrue((self.others == 99).all())

    def test_classes_that_memory_does_not_hold(self):
        for name, (before, body, words) in CLASSES.items():
            text = f"#include <metal_stdlib>\nusing namespace metal;\n{before}\nkernel void k(device A* a, device uint* o) {{ {body} }}\n"
            with self.subTest(name), self.assertRaises((smelt.Error, SyntaxError)) as raised:
                library = smelt.compile_shader(text, checked=True, store=False, target="macos26.2" if name == "tensor" else None)
                library.k(np.full(8, 0x12345678, np.uint64), np.zeros(1, np.uint32), threads=1)
            self.assertIn(words, str(raised.exception))

    def test_a_number_in_air(self):
        source = support.temporary("handles") / "made.ll"
        source.write_text(AIR)
        out = np.zeros(1, np.uint32)
        texture, _ = self.addresses()
        own = texture_at(self.others.ctypes.data)
        for checked in ("memory", True):
            library = smelt.load_metallib(smelt.compile(source, targets=["macos14"], checked=checked), checked=checked)
            for handle in (texture, own.ctypes.data, self.others.ctypes.data, 1, 0x1234567800):
                with self.assertRaises(smelt.Error):
                    library.k(np.array([handle], np.uint64), out, self.texture, threads=1)
                self.assertTrue((self.others == 99).all())

    def test_random_handles(self):
        choose = random.Random(SEED)
        texture, sampler = self.addresses()
        victim = np.zeros(1024, np.uint32)
        for _ in range(COUNT):
            kind = choose.choice(tuple(USES))
            use, (member, number), way = choose.choice(USES[kind]), choose.choice(PLACES[kind]), choose.choice(WAYS)
            text = self.kernel(kind, use, member, number, way)
            own = texture_at(victim.ctypes.data)
            handles = {
                "a description of its own": own.ctypes.data,
                "memory that is not bound": victim.ctypes.data,
                "any number": choose.getrandbits(64),
                "a small number": choose.randrange(1, 1 << choose.randrange(1, 20)),
                "code": id(self) + choose.randrange(64),
            }
            if kind == "pointer":
                del handles["a description of its own"]  # memory that is bound
            else:
                handles["another texture of the process"] = texture
                handles["another sampler of the process"] = sampler
            what, handle = choose.choice(tuple(handles.items()))
            with self.subTest(kind=kind, use=use, member=member, way=way, what=what):
                library = smelt.compile_shader(text, checked=choose.choice(("memory", True)), store=False)
                found = self.run_with(library, handle, number, own)
                self.assertTrue(found, text)
                self.assertFalse(victim.any(), text)
                self.assertTrue((self.others == 99).all(), text)
                victim[:] = 0


if __name__ == "__main__":
    unittest.main()
