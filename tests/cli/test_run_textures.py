# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""smelt run with pictures: --texture and --sampler, PNG and .npy, and what is refused."""

import os
import struct
import subprocess
import unittest
import zlib

import npy
from smelt_cli import SANITIZED, SMELT, CliTest

SOURCE = """#include <metal_stdlib>
using namespace metal;
kernel void invert(texture2d<float, access::read> from [[texture(0)]], texture2d<float, access::write> to [[texture(1)]],
                   uint2 at [[thread_position_in_grid]]) {
  const float4 c = from.read(at);
  to.write(float4(1 - c.rgb, c.a), at);
}
kernel void half_size(texture2d<float> from [[texture(2)]], sampler by [[sampler(1)]],
                      texture2d<float, access::write> to [[texture(5)]], constant float& gain [[buffer(0)]],
                      uint2 at [[thread_position_in_grid]]) {
  to.write(gain * from.sample(by, (float2(at) + 0.5f) / float2(to.get_width(), to.get_height())), at);
}
kernel void race(texture2d<uint, access::write> to [[texture(0)]], uint at [[threadgroup_position_in_grid]]) {
  to.write(uint4(at), uint2(0));
}
"""


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def write_png(path, width, height, colour, rows, bits=8, palette=None):
    """colour: 0 grey, 2 RGB, 3 palette, 4 grey and alpha, 6 RGBA, as PNG numbers them. rows: bytes of each."""
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, bits, colour, 0, 0, 0))
    colours = chunk(b"PLTE", palette) if palette else b""
    pixels = chunk(b"IDAT", zlib.compress(b"".join(b"\0" + bytes(row) for row in rows)))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + header + colours + pixels + chunk(b"IEND", b""))
    return path


class RunTexturesTest(CliTest):
    def setUp(self):
        super().setUp()
        os.environ["SMELT_STORE"] = str(self.folder / "store")
        source = self.folder / "k.metal"
        source.write_text(SOURCE)
        self.package = self.folder / "k.smelt"
        self.succeed("compile", source, "-o", self.package)
        self.out = self.folder / "out.npy"

    def run_invert(self, picture, out, width=2, height=2):
        self.succeed("run", self.package, "invert", "--threads", f"{width},{height}", "--texture", f"from={picture}", "--texture", f"to={out}")

    def test_a_picture_comes_back_as_one(self):
        rows = [[1, 2, 3, 4, 5, 6, 7, 8], [250, 0, 255, 255, 9, 9, 9, 0]]
        picture = write_png(self.folder / "in.png", 2, 2, 6, rows)
        inverted = [254, 253, 252, 4, 250, 249, 248, 8, 5, 255, 0, 255, 246, 246, 246, 0]
        self.run_invert(picture, f"u8[2,2,4]={self.out}")
        self.assertEqual(npy.read(self.out), (inverted, (2, 2, 4)))
        for channels in (1, 2, 4):
            again = self.folder / f"again{channels}.png"
            self.run_invert(picture, f"u8[2,2,{channels}]={again}")
            self.assertEqual(again.read_bytes()[:8], b"\x89PNG\r\n\x1a\n")
            self.run_invert(again, f"f32[2,2,4]={self.out}")
            values, _ = npy.read(self.out)
            for at in range(4):
                want = 1 - inverted[4 * at] / 255
                self.assertAlmostEqual(values[4 * at], want, places=6)  # red; grey where there is one channel or two

    def test_kinds_of_pictures(self):
        out = f"u8[1,2,4]={self.out}"
        for colour, rows, palette, want in (
            (0, [[10, 20]], None, [245, 255, 255, 255, 235, 255, 255, 255]),
            (2, [[10, 20, 30, 40, 50, 60]], None, [245, 235, 225, 255, 215, 205, 195, 255]),
            (3, [[1, 0]], bytes([1, 2, 3, 255, 0, 0]), [0, 255, 255, 255, 254, 253, 252, 255]),
        ):
            with self.subTest(colour=colour):
                self.run_invert(write_png(self.folder / "k.png", 2, 1, colour, rows, palette=palette), out, 2, 1)
                self.assertEqual(npy.read(self.out)[0], want)

    def test_samplers_and_formats(self):
        picture = npy.write(self.folder / "in.npy", [0.0, 4.0, 8.0, 16.0], shape=(1, 4))
        run = ("run", self.package, "half_size", "--threads", "2,1", "f32:0.5", "--texture", f"from={picture}", "--texture", f"5=f32[1,2]={self.out}")
        self.succeed(*run, "--sampler", "by=filter::linear, address::clamp_to_edge")
        self.assertEqual(npy.read(self.out)[0], [1.0, 6.0])
        self.succeed(*run, "--sampler", "1=filter::nearest")
        self.assertEqual(npy.read(self.out)[0], [2.0, 8.0])
        grey = npy.write(self.folder / "grey.npy", [188, 188, 188, 188], dtype="|u1", shape=(1, 1, 4))
        self.succeed("run", self.package, "half_size", "--threads", "1,1", "f32:1", "--texture", f"from:rgba8unorm_srgb={grey}", "--texture",
                     f"to=f32[1,1,4]={self.out}", "--sampler", "by=")
        self.assertAlmostEqual(npy.read(self.out)[0][0], ((188 / 255 + 0.055) / 1.055) ** 2.4, places=5)
        self.assertAlmostEqual(npy.read(self.out)[0][3], 188 / 255, places=6)

    def test_an_order_that_shows(self):
        text = self.fail_with(2, "run", self.package, "race", "--threads", 64, "--group", 1, "--orders", 2, "--texture", "to=u32[1,1]")
        self.assertIn("depends on the order in which threadgroups run: texture 'to', element 0", text)

    def test_what_is_refused(self):
        run = ("run", self.package, "invert", "--threads", "1,1")
        to = ("--texture", "to=u8[1,1,4]")
        for words, arguments in (
            ("has no texture 'form'; it has from, to", ("--texture", "form=u8[1,1]")),
            ("want NAME=ARG", ("--texture", "u8[1,1]")),
            ("a texture must be an array, not a number", ("--texture", "from=f32:1")),
            ("three channels", ("--texture", "from=u8[1,1,3]")),
            ("no pixel format has elements of f64", ("--texture", "from=f64[1,1]")),
            ("the CPU does not support pixel format 'bc1'", ("--texture", "from:bc1=u8[1,1]")),
            ("want uint8 with 4 channels", ("--texture", "from:rgba8unorm=u8[1,1]")),
            ("uses texture 0 'from', which is not bound", ()),
            ("has no sampler 'by'; it has none", ("--texture", "from=u8[1,1]", "--sampler", "by=filter::linear")),
            ("'cubic' is not a value of filter", ("--sampler", "by=filter::cubic")),
            ("want u8 of height x width", ("--texture", f"from=f32[1,1]={self.folder}/o.png")),
        ):
            with self.subTest(words=words):
                asked_wrongly = words.startswith(("has no", "want NAME", "a texture must", "'cubic'"))
                self.assertIn(words, self.fail_with(2 if asked_wrongly else 1, *run, *arguments, *to))
        broken = self.folder / "broken.png"
        for data in (b"", b"\x89PNG\r\n\x1a\n", write_png(self.folder / "whole.png", 2, 2, 0, [[1, 2], [3, 4]]).read_bytes()[:-30]):
            broken.write_bytes(data)
            self.assertIn(f"{broken}", self.fail_with(1, *run, "--texture", f"from={broken}", *to))
        deep = write_png(self.folder / "deep.png", 1, 1, 0, [[1, 2]], bits=16)
        self.assertIn("16 bits a channel; want 8", self.fail_with(1, *run, "--texture", f"from={deep}", *to))

    @unittest.skipIf(SANITIZED, "a sanitizer has memory of its own")
    def test_a_small_picture_that_unpacks_to_much(self):
        """What a picture says of its size is looked at before it is unpacked, and texts beside it are not kept."""

        def picture(width, height, colour, pixels, *more):
            header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, colour, 0, 0, 0))
            path = self.folder / "bomb.png"
            path.write_bytes(b"\x89PNG\r\n\x1a\n" + header + b"".join(more) + chunk(b"IDAT", pixels) + chunk(b"IEND", b""))
            return path

        def most_bytes(path, wanted):
            command = [SMELT, "run", self.package, "invert", "--threads", "1", "--texture", f"from={path}", "--texture", "to=u8[1,1,4]"]
            process = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            said = process.stderr.read().decode()
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            process.stderr.close()
            self.assertIn(wanted, said)
            return used.ru_maxrss << 10

        few = zlib.compress(bytes(1 << 20), 9)
        usual = most_bytes(picture(1, 1, 0, zlib.compress(b"\0\7")), "")
        for size, words in (((100_000, 100_000), "more than 1073741824 bytes"), ((1 << 31, 1), ".png: "), ((1 << 20, 1 << 12), ".png: ")):
            self.assertLess(most_bytes(picture(*size, 6, few), words), usual + (64 << 20), size)
        bomb = zlib.compress(bytes(256 << 20), 9)
        for kind, data in ((b"zTXt", b"k\0\0" + bomb), (b"iTXt", b"k\0\1\0\0\0" + bomb), (b"iCCP", b"k\0\0" + bomb)):
            self.assertLess(most_bytes(picture(1, 1, 0, zlib.compress(b"\0\7"), chunk(kind, data)), ""), usual + (64 << 20), kind)


if __name__ == "__main__":
    unittest.main()
